/* The historian's end: neither slow disks nor those that hang hold it up, and what can be written is. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "exporter/historian.h"
#include "exporter/writer.h"
#include "tests/support/failing_vfs.h"
#include "tests/support/test_history.h"

#define LONG 60.0 /* seconds that never pass in a test that passes */

struct fixture {
	struct test_folder folder;
	struct historian *h;
	struct arena arena;
};

static bool everybody_lives(void *context, pid_t pid, uint64_t start_ticks)
{
	(void)context;
	(void)pid;
	(void)start_ticks;
	return true;
}

static struct historian_config config_of(const struct fixture *f)
{
	return (struct historian_config){
		.path = f->folder.file,
		.columns = &test_columns,
		.here = test_begin("", "", 0).root,
		.alive = everybody_lives,
	};
}

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	test_folder_make(&f.folder);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	failing_vfs_heal();
	historian_stop(f->h);
	arena_done(&f->arena);
	test_folder_remove(&f->folder);
	return 0;
}

static void begin(struct fixture *f, const char *run_id)
{
	const struct run_begin b = test_begin(run_id, "job", 0);

	historian_run_begin(f->h, &b);
}

static void add_samples(struct fixture *f, const char *run_id, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double value[TEST_COLUMNS];
		struct sample s;

		test_sample(&s, value, run_id, 0, i);
		historian_samples(f->h, &s, 1);
	}
}

static void finish(struct fixture *f, const char *run_id)
{
	const struct run_finish end = test_finish(run_id, 100, OUTCOME_SUCCEEDED);

	historian_run_finish(f->h, &end);
}

static struct run read_run(struct fixture *f, const char *run_id)
{
	AUTO(history_closep) struct history *h = NULL;
	struct err e = {0};

	if (history_open(&h, f->folder.file, HISTORY_READ, NULL, NULL, &e))
		fail_msg("%s", e.text);
	return test_read_run(h, run_id, &f->arena);
}

static void stopping_writes_what_is_left(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);

	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	begin(f, "r1");
	add_samples(f, "r1", 2000);
	finish(f, "r1");
	historian_stop(f->h);
	f->h = NULL;
	/* Closed properly: no -wal, no -shm. */
	assert_int_equal(test_folder_count(&f->folder), 1);
	struct run r = read_run(f, "r1");

	assert_int_equal(r.outcome, OUTCOME_SUCCEEDED);
	assert_int_equal(r.samples, 2000);
}

static void a_disk_that_hangs_does_not_hold_the_end(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);

	c.leave_seconds = 0.02;
	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	failing_vfs_hang(VFS_WRITE);
	begin(f, "r1");
	failing_vfs_wait_hanging();
	assert_int_equal(historian_stop(f->h), -ETIMEDOUT);
	/* Once the disk answers again, the rest is written all the same. */
	failing_vfs_heal();
	while (historian_stop(f->h))
		;
	f->h = NULL;
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_RUNNING);
}

/* The historian has given up by then, were it to give up. */
static void *heal_after_the_time(void *context)
{
	const double *at = context;

	while (writer_clock() < *at)
		sched_yield();
	failing_vfs_heal();
	return NULL;
}

static void a_slow_disk_loses_no_end_that_can_be_written(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);
	pthread_t thread;

	c.stop_seconds = 0.001;
	c.leave_seconds = LONG;
	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	begin(f, "r1");
	assert_true(historian_flush(f->h, LONG));
	failing_vfs_hang(VFS_WRITE);
	add_samples(f, "r1", 1);
	failing_vfs_wait_hanging();
	finish(f, "r1");
	double later = writer_clock() + 0.05;

	assert_int_equal(pthread_create(&thread, NULL, heal_after_the_time, &later), 0);
	assert_int_equal(historian_stop(f->h), 0);
	f->h = NULL;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_SUCCEEDED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(stopping_writes_what_is_left),
		TEST(a_disk_that_hangs_does_not_hold_the_end),
		TEST(a_slow_disk_loses_no_end_that_can_be_written),
	};

	failing_vfs_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
