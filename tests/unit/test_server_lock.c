/* exporter/history/server_lock.c: only one of a machine's servers records into a history. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/history/server_lock.h"
#include "tests/support/test_history.h"

static const struct run_root here = {.pid_namespace = 4026531836, .boot_id = "a-boot"};

/* Returns the descriptor of the lock; -1 = another server has it. */
static int take(const char *path, const struct run_root *root)
{
	struct err e = {0};
	int fd = -1, code = server_lock(&fd, path, root, &e);

	if (code == 0)
		return fd;
	assert_int_equal(code, -EBUSY);
	assert_non_null(strstr(e.text, path));
	close(fd);
	return -1;
}

static void one_server_has_it_until_it_ends(void **state)
{
	struct test_place *p = *state;
	int first = take(p->folder.file, &here);

	assert_true(first >= 0);
	assert_int_equal(take(p->folder.file, &here), -1);
	close(first);
	first = take(p->folder.file, &here);
	assert_true(first >= 0);
	close(first);
}

static void a_server_that_asks_again_gets_it_later(void **state)
{
	struct test_place *p = *state;
	int first = take(p->folder.file, &here), second = -1;

	assert_int_equal(server_lock(&second, p->folder.file, &here, NULL), -EBUSY);
	int kept = second;

	assert_int_equal(server_lock(&second, p->folder.file, &here, NULL), -EBUSY);
	close(first);
	for (int i = 0; i < 2; i++)
		assert_int_equal(server_lock(&second, p->folder.file, &here, NULL), 0);
	assert_int_equal(second, kept);
	assert_int_equal(take(p->folder.file, &here), -1);
	close(second);
}

static void servers_of_other_places_have_their_own(void **state)
{
	const struct run_root container = {.pid_namespace = 4026532500, .boot_id = "a-boot"},
			      machine = {.pid_namespace = 4026531836, .boot_id = "b-boot"};
	struct test_place *p = *state;
	int fds[] = {take(p->folder.file, &here), take(p->folder.file, &container),
		take(p->folder.file, &machine)};

	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		assert_true(fds[i] >= 0);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
}

/* SQLite's own locks are not affected: every process can still write the history. */
static void it_is_in_nobodys_way_who_writes(void **state)
{
	struct test_place *p = *state;
	int fd = take(p->folder.file, &here);

	test_write_run(p->h, "20260101T000000Z-00000001", "etl", 100, 3, OUTCOME_SUCCEEDED);

	struct history *other = test_history(p->folder.file);

	test_write_run(other, "20260101T000000Z-00000002", "etl", 200, 3, OUTCOME_SUCCEEDED);
	assert_int_equal(test_count_runs(p->h, "etl"), 2);
	history_close(other);
	close(fd);
}

static void histories_in_memory_have_none(void **state)
{
	int fd = -1;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(server_lock(&fd, ":memory:", &here, NULL), 0);
		assert_int_equal(fd, -1);
	}
}

static void a_file_that_may_not_be_opened_is_an_error(void **state)
{
	struct err e = {0};
	int fd = -1;

	assert_int_equal(server_lock(&fd, "/nowhere/history.db", &here, &e), -ENOENT);
	assert_int_equal(fd, -1);
	assert_non_null(strstr(e.text, "/nowhere/history.db"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, test_place_make, test_place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_server_has_it_until_it_ends),
		TEST(a_server_that_asks_again_gets_it_later),
		TEST(servers_of_other_places_have_their_own),
		TEST(it_is_in_nobodys_way_who_writes),
		cmocka_unit_test(histories_in_memory_have_none),
		cmocka_unit_test(a_file_that_may_not_be_opened_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
