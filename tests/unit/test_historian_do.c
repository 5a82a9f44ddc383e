/* Tests calls to the historian. A call must return success only when its work is on disk. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <semaphore.h>
#include <sqlite3.h>
#include <string.h>

#include "exporter/history/historian.h"
#include "tests/support/failing_vfs.h"
#include "tests/support/test_history.h"

#define SHORT 0.05

struct fixture {
	struct test_folder folder;
	struct historian *h;
};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	test_folder_make(&f.folder);
	const struct historian_config c = {
		.path = f.folder.file,
		.columns = &test_columns,
		.here = test_begin("", "", 0).root,
	};

	assert_int_equal(historian_start(&f.h, &c, NULL), 0);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	failing_vfs_heal();
	historian_stop(f->h);
	test_folder_remove(&f->folder);
	return 0;
}

struct work {
	const char *run_id;
	int result;
};

/* Begins a run, and then returns `result`. */
static int do_begin(struct history *h, void *context, struct err *e)
{
	const struct work *w = context;
	struct run_begin b = test_begin(w->run_id, "job", 0);
	int code = history_run_begin(h, &b, e);

	if (code)
		return code;
	return w->result < 0 ? err_set(e, w->result, "as told") : w->result;
}

static void what_was_done_is_on_disk(void **state)
{
	struct fixture *f = *state;
	struct work w = {"r1", 7};

	assert_int_equal(historian_do(f->h, do_begin, &w, NULL), 0);
	assert_int_equal(test_count_rows(&f->folder, "run"), 1);
}

static void what_fails_leaves_nothing_and_says_why(void **state)
{
	struct fixture *f = *state;
	struct work bad = {"r1", -EINVAL}, good = {"r2", 0};
	struct err e = {0};

	assert_int_equal(historian_do(f->h, do_begin, &bad, &e), -EINVAL);
	assert_string_equal(e.text, "as told");
	assert_int_equal(test_count_rows(&f->folder, "run"), 0);
	assert_int_equal(historian_do(f->h, do_begin, &good, NULL), 0);
	assert_int_equal(test_count_rows(&f->folder, "run"), 1);
}

/* A task that hangs until the test releases it. */
struct hanging {
	struct work work;
	sem_t began, go_on;
};

static int do_hang(struct history *h, void *context, struct err *e)
{
	struct hanging *w = context;

	sem_post(&w->began);
	while (sem_wait(&w->go_on) < 0 && errno == EINTR)
		;
	return do_begin(h, &w->work, e);
}

static void who_gives_up_leaves_what_goes_on_and_has_the_rest_not_done(void **state)
{
	struct fixture *f = *state;
	struct hanging w = {.work = {"r1", 0}};
	struct work never = {"r2", 0}, last = {"r3", 0};
	struct err e = {0};
	int code;

	sem_init(&w.began, 0, 0);
	sem_init(&w.go_on, 0, 0);
	/* On a busy machine the historian may not start the task in time. */
	do
		code = historian_do_within(f->h, do_hang, &w, SHORT, &e);
	while (code == -ETIMEDOUT);
	assert_int_equal(code, -EINPROGRESS);
	assert_non_null(strstr(e.text, "does not answer"));
	assert_int_equal(historian_do_within(f->h, do_begin, &never, SHORT, &e), -ETIMEDOUT);
	sem_post(&w.go_on);
	assert_int_equal(historian_do_within(f->h, do_begin, &last, INFINITY, &e), 0);
	assert_int_equal(test_count_rows(&f->folder, "run"), 2);
	sem_destroy(&w.began);
	sem_destroy(&w.go_on);
}

static void a_full_disk_is_said_and_tried_once(void **state)
{
	struct fixture *f = *state;
	struct work w = {"r1", 0};
	struct err e = {0};

	failing_vfs_fail(VFS_WRITE | VFS_TRUNCATE | VFS_SHARED_MEMORY, 1, SQLITE_FULL, true);
	assert_true(historian_do(f->h, do_begin, &w, &e) < 0);
	assert_true(e.text[0]);
	failing_vfs_heal();
	assert_int_equal(historian_do(f->h, do_begin, &w, NULL), 0);
	assert_int_equal(test_count_rows(&f->folder, "run"), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_was_done_is_on_disk),
		TEST(what_fails_leaves_nothing_and_says_why),
		TEST(who_gives_up_leaves_what_goes_on_and_has_the_rest_not_done),
		TEST(a_full_disk_is_said_and_tried_once),
	};

	failing_vfs_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
