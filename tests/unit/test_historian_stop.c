/* Stopping the historian: a slow or hanging disk does not delay the exit, and everything that can
 * be written is written. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <sqlite3.h>

#include "exporter/history/batch_writer.h"
#include "tests/support/failing_vfs.h"
#include "tests/support/historian_world.h"

static void stopping_writes_what_is_left(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);

	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	begin(f, "r1");
	add_samples(f, "r1", 0, 2000);
	finish(f, "r1");
	historian_stop(f->h);
	f->h = NULL;
	/* The file was closed properly: no -wal, no -shm. */
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
	/* The remaining rows are written when the disk answers again. */
	failing_vfs_heal();
	while (historian_stop(f->h))
		;
	f->h = NULL;
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_RUNNING);
}

/* Heals the disk at the given time. A historian that gives up would have given up by then. */
static void *heal_after_the_time(void *context)
{
	const double *at = context;

	while (batch_writer_clock() < *at)
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
	add_samples(f, "r1", 0, 1);
	failing_vfs_wait_hanging();
	finish(f, "r1");
	double later = batch_writer_clock() + 0.05;

	assert_int_equal(pthread_create(&thread, NULL, heal_after_the_time, &later), 0);
	assert_int_equal(historian_stop(f->h), 0);
	f->h = NULL;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_SUCCEEDED);
}

static void what_was_waited_for_in_vain_is_not_waited_for_again(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);

	/* If the historian waited a second time, it would wait this long and the test would time
	 * out. */
	c.stop_seconds = c.leave_seconds = 1000 * LONG;
	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	failing_vfs_fail(VFS_WRITE, 1, SQLITE_FULL, true);
	begin(f, "r1");
	assert_false(historian_settle(f->h, 0.02));
	assert_false(historian_settle(f->h, 1000 * LONG));
	assert_false(historian_flush(f->h, 1000 * LONG));
	assert_int_equal(historian_stop(f->h), 0);
	f->h = NULL;
	failing_vfs_heal();
}

static void after_giving_up_what_can_be_written_is(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);

	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	failing_vfs_fail(VFS_WRITE, 1, SQLITE_FULL, true);
	begin(f, "r1");
	while (historian_health(f->h).errors < 3)
		assert_false(historian_flush(f->h, 0.02));
	assert_false(historian_settle(f->h, 0));
	failing_vfs_heal();
	finish(f, "r1");
	assert_int_equal(historian_stop(f->h), 0);
	f->h = NULL;
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_SUCCEEDED);
}

static void start_hasty(struct fixture *f)
{
	struct historian_config c = config_of(f);

	c.hasty = true;
	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	begin(f, "r1");
	assert_true(historian_settle(f->h, LONG));
	assert_false(historian_gave_up(f->h));
}

/* Calls `historian_settle`, which must fail with the error `why`. Returns the seconds that it
 * took. */
static double settle_in_vain(struct fixture *f, int why)
{
	double begun = batch_writer_clock();
	struct err e = {0};

	assert_false(historian_settle(f->h, 1000 * LONG));
	assert_true(historian_gave_up(f->h));
	double seconds = batch_writer_clock() - begun;

	historian_why(f->h, &e);
	print_message("%.2f s: %s\n", seconds, e.text);
	assert_int_equal(e.code, why);
	return seconds;
}

static void a_hasty_wait_ends_soon_after_an_error(void **state)
{
	struct fixture *f = *state;

	start_hasty(f);
	failing_vfs_fail(VFS_WRITE, 1, SQLITE_FULL, true);
	finish(f, "r1");
	double seconds = settle_in_vain(f, -ENOSPC);

	assert_true(seconds >= HISTORIAN_GRACE_SECONDS && seconds < HISTORIAN_HANG_SECONDS);
}

static void a_hasty_wait_is_long_enough_for_another_attempt(void **state)
{
	struct fixture *f = *state;

	start_hasty(f);
	failing_vfs_fail(VFS_WRITE, 1, SQLITE_FULL, false);
	finish(f, "r1");
	assert_true(historian_settle(f->h, LONG));
	assert_int_equal(historian_health(f->h).errors, 1);
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_SUCCEEDED);
}

static void a_hasty_wait_ends_when_the_holder_of_a_lock_writes_nothing(void **state)
{
	struct fixture *f = *state;
	sqlite3 *other;

	start_hasty(f);
	assert_int_equal(sqlite3_open(f->folder.file, &other), SQLITE_OK);
	/* The historian may still be writing what start_hasty gave it. */
	sqlite3_busy_timeout(other, 30000);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	finish(f, "r1");
	double seconds = settle_in_vain(f, -EBUSY);

	assert_true(seconds >= HISTORIAN_GRACE_SECONDS && seconds < HISTORIAN_HANG_SECONDS);
	sqlite3_close(other);
}

static void a_hasty_wait_ends_when_a_write_hangs(void **state)
{
	struct fixture *f = *state;

	start_hasty(f);
	failing_vfs_hang(VFS_WRITE);
	finish(f, "r1");
	failing_vfs_wait_hanging();
	assert_true(settle_in_vain(f, -ETIMEDOUT) >= HISTORIAN_HANG_SECONDS - 0.5);
}

static void a_hasty_wait_ends_at_once_when_a_write_hung_before(void **state)
{
	struct fixture *f = *state;

	start_hasty(f);
	failing_vfs_hang(VFS_WRITE);
	add_samples(f, "r1", 0, 1);
	failing_vfs_wait_hanging();
	double known = batch_writer_clock() + HISTORIAN_HANG_SECONDS;

	while (batch_writer_clock() < known)
		sched_yield();
	finish(f, "r1");
	assert_true(settle_in_vain(f, -ETIMEDOUT) < HISTORIAN_HANG_SECONDS / 2);
}

static void a_hasty_wait_lasts_as_long_as_a_slow_write(void **state)
{
	struct fixture *f = *state;
	pthread_t thread;

	start_hasty(f);
	failing_vfs_hang(VFS_WRITE);
	finish(f, "r1");
	failing_vfs_wait_hanging();
	double later = batch_writer_clock() + 2 * HISTORIAN_GRACE_SECONDS;

	assert_int_equal(pthread_create(&thread, NULL, heal_after_the_time, &later), 0);
	assert_true(historian_settle(f->h, LONG));
	assert_true(batch_writer_clock() >= later);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_SUCCEEDED);
}

/* Calls historian_start with `hasty`. Returns the seconds that it took. */
static double start_beside_trouble(struct fixture *f)
{
	struct historian_config c = config_of(f);
	double begun = batch_writer_clock();

	c.hasty = true;
	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	return batch_writer_clock() - begun;
}

static void a_hasty_start_does_not_wait_for_a_disk_that_hangs(void **state)
{
	struct fixture *f = *state;

	failing_vfs_hang(VFS_OPEN);
	double seconds = start_beside_trouble(f);

	failing_vfs_wait_hanging();
	assert_true(seconds >= HISTORIAN_OPEN_SECONDS && seconds < 2 * HISTORIAN_OPEN_SECONDS);
	begin(f, "r1");
	finish(f, "r1");
	assert_true(settle_in_vain(f, -ETIMEDOUT) < HISTORIAN_HANG_SECONDS / 2);
}

static void a_disk_that_answers_later_gets_what_waited(void **state)
{
	struct fixture *f = *state;

	failing_vfs_hang(VFS_OPEN);
	start_beside_trouble(f);
	begin(f, "r1");
	finish(f, "r1");
	failing_vfs_heal();
	assert_true(historian_settle(f->h, LONG));
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_SUCCEEDED);
}

static void a_hasty_start_does_not_wait_for_a_lock(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);
	sqlite3 *other;

	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	assert_int_equal(historian_stop(f->h), 0);
	assert_int_equal(sqlite3_open(f->folder.file, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE; CREATE TABLE other(x)", NULL, NULL,
				 NULL),
		SQLITE_OK);
	assert_true(start_beside_trouble(f) < 2 * HISTORIAN_OPEN_SECONDS);
	begin(f, "r1");
	assert_false(historian_flush(f->h, 0.05));
	assert_int_equal(sqlite3_close(other), SQLITE_OK);
	finish(f, "r1");
	assert_true(historian_settle(f->h, LONG));
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_SUCCEEDED);
}

static void a_hasty_wait_ends_when_a_lock_lets_no_file_be_opened(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);
	sqlite3 *other;

	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	assert_int_equal(historian_stop(f->h), 0);
	assert_int_equal(sqlite3_open(f->folder.file, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE; CREATE TABLE other(x)", NULL, NULL,
				 NULL),
		SQLITE_OK);
	start_beside_trouble(f);
	begin(f, "r1");
	finish(f, "r1");
	assert_true(settle_in_vain(f, -ETIMEDOUT) < HISTORIAN_HANG_SECONDS / 2);
	assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

static void a_signal_ends_the_waiting(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);
	sigset_t hurry;

	sigemptyset(&hurry);
	sigaddset(&hurry, SIGTERM);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &hurry, NULL), 0);
	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	failing_vfs_hang(VFS_WRITE);
	begin(f, "r1");
	failing_vfs_wait_hanging();

	timer_t timer;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM};
	const struct timespec pause = {.tv_nsec = 20000000};
	const struct itimerspec again = {pause, pause};
	double begun = batch_writer_clock();

	/* A signal from before the wait does not end it. */
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	assert_int_equal(timer_settime(timer, 0, &again, NULL), 0);
	assert_false(historian_settle(f->h, 1000 * LONG));
	assert_true(batch_writer_clock() - begun >= 0.02);
	assert_int_equal(timer_delete(timer), 0);
	failing_vfs_heal();
	assert_int_equal(historian_stop(f->h), 0);
	f->h = NULL;
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_RUNNING);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(stopping_writes_what_is_left),
		TEST(a_disk_that_hangs_does_not_hold_the_end),
		TEST(a_slow_disk_loses_no_end_that_can_be_written),
		TEST(what_was_waited_for_in_vain_is_not_waited_for_again),
		TEST(after_giving_up_what_can_be_written_is),
		TEST(a_hasty_wait_ends_soon_after_an_error),
		TEST(a_hasty_wait_is_long_enough_for_another_attempt),
		TEST(a_hasty_wait_ends_when_the_holder_of_a_lock_writes_nothing),
		TEST(a_hasty_wait_ends_when_a_write_hangs),
		TEST(a_hasty_wait_ends_at_once_when_a_write_hung_before),
		TEST(a_hasty_wait_lasts_as_long_as_a_slow_write),
		TEST(a_hasty_start_does_not_wait_for_a_disk_that_hangs),
		TEST(a_disk_that_answers_later_gets_what_waited),
		TEST(a_hasty_start_does_not_wait_for_a_lock),
		TEST(a_hasty_wait_ends_when_a_lock_lets_no_file_be_opened),
		TEST(a_signal_ends_the_waiting),
	};

	failing_vfs_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
