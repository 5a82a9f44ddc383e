/* exporter/http/web_access.c: when a changed configuration takes effect, and which configuration
 * applies until then. */
#include "tests/unit/test_main.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "exporter/http/web_access.h"

#define NO_USERS  "# nobody is asked\n"
#define HASH      "$2b$04$u8vOThsn0r9KAgkKR8QFIOXU8wJ4ibNrjImnQYNIChUuO0aOzcImW"
#define ONE_USER  "basic_auth_users:\n  ann: " HASH "\n"
#define TWO_USERS ONE_USER "  bob: " HASH "\n"

struct fixture {
	char folder[64], path[80], aside[80];
	struct web_access *web;
};

/* Seconds that this program's clocks are ahead of the clock of file times. */
static _Atomic long ahead, wall_ahead;

int clock_gettime(clockid_t id, struct timespec *ret)
{
	int code = (int)syscall(SYS_clock_gettime, id, ret);

	ret->tv_sec += ahead + (id == CLOCK_REALTIME ? wall_ahead : 0);
	return code;
}

static void put(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void put_in_its_place(struct fixture *f, const char *text)
{
	put(f->aside, text, O_CREAT | O_TRUNC);
	assert_int_equal(rename(f->aside, f->path), 0);
}

static int begin(void **state)
{
	static struct fixture f;
	struct err e = {0};

	ahead = wall_ahead = 0;
	snprintf(f.folder, sizeof f.folder, "/tmp/rightsize-web-XXXXXX");
	assert_non_null(mkdtemp(f.folder));
	snprintf(f.path, sizeof f.path, "%s/web.yml", f.folder);
	snprintf(f.aside, sizeof f.aside, "%s/web.yml~", f.folder);
	put(f.path, ONE_USER, O_CREAT);
	if (web_access_open(&f.web, f.path, &e))
		fail_msg("%s", e.text);
	*state = &f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	web_access_stop(f->web);
	web_access_close(f->web);
	unlink(f->path);
	unlink(f->aside);
	return rmdir(f->folder);
}

/* Returns the number of users in force now; -1 = the file is invalid. */
static int users(struct fixture *f)
{
	struct web_version *v = web_access_hold(f->web);
	struct web_question q = {0};
	int n = (int)web_access_config(v)->n_users;

	/* No user has this password. */
	if (web_access_check(f->web, v, &q, false) == WEB_NO_CONFIG)
		n = -1;
	web_access_drop(v);
	return n;
}

/* Returns the same as users(), two seconds later. */
static int users_then(struct fixture *f)
{
	ahead += 2;
	int n = users(f);

	ahead -= 2;
	return n;
}

static void a_change_holds_when_it_has_settled(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(users(f), 1);
	put_in_its_place(f, TWO_USERS);
	assert_int_equal(users(f), 1);
	assert_int_equal(users_then(f), 2);
	put(f->path, NO_USERS, O_TRUNC);
	assert_int_equal(users(f), 2);
	assert_int_equal(users_then(f), 0);
}

/* An editor moves the old file aside, and the new file is empty at first. */
static void a_file_that_is_made_anew_opens_no_door(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(rename(f->path, f->aside), 0);
	put(f->path, "", O_CREAT | O_EXCL);
	assert_int_equal(users(f), 1);
	put(f->path, "basic_auth_users:\n", O_APPEND);
	assert_int_equal(users(f), 1);
	put(f->path, "  ann: " HASH "\n  bob: " HASH "\n", O_APPEND);
	assert_int_equal(users(f), 1);
	assert_int_equal(users_then(f), 2);
}

/* A request arrives after the old file was moved aside and before the new file exists. */
static void nor_does_one_that_was_not_there(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(rename(f->path, f->aside), 0);
	assert_int_equal(users(f), -1);
	put(f->path, "", O_CREAT | O_EXCL);
	assert_int_equal(users(f), -1);
	put(f->path, TWO_USERS, O_APPEND);
	assert_int_equal(users(f), -1);
	assert_int_equal(users_then(f), 2);
}

/* The file's time is in the future when a file server's clock is ahead or our clock was set
 * back. */
static void a_time_to_come_is_waited_for_no_longer_than_others(void **state)
{
	struct fixture *f = *state;

	wall_ahead = -3600;
	put(f->path, NO_USERS, O_TRUNC);
	assert_int_equal(users(f), 1);
	ahead += 2;
	put(f->path, TWO_USERS, O_TRUNC);
	assert_int_equal(users(f), 1);
	ahead += 2;
	assert_int_equal(users(f), 2);
}

static void a_bad_one_refuses_until_it_is_mended(void **state)
{
	struct fixture *f = *state;

	put_in_its_place(f, "basic_auth_users: [\n");
	assert_int_equal(users(f), 1);
	assert_int_equal(users_then(f), -1);
	put_in_its_place(f, ONE_USER);
	assert_int_equal(users(f), -1);
	assert_int_equal(users_then(f), 1);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_change_holds_when_it_has_settled),
		CASE(a_file_that_is_made_anew_opens_no_door),
		CASE(nor_does_one_that_was_not_there),
		CASE(a_time_to_come_is_waited_for_no_longer_than_others),
		CASE(a_bad_one_refuses_until_it_is_mended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
