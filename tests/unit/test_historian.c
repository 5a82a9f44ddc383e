/* Tests the historian. While the disk fails, events wait in its queue. No event may be lost as long
 * as the queue is within its limit. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/failing_vfs.h"
#include "tests/support/historian_world.h"

static pid_t nobody = 0, we = 4712;

static void start(struct fixture *f)
{
	const struct historian_config c = config_of(f);
	struct err e = {0};

	if (historian_start(&f->h, &c, &e))
		fail_msg("%s", e.text);
}

static void what_is_handed_over_is_committed(void **state)
{
	struct fixture *f = *state;

	start(f);
	begin(f, "r1");
	add_samples(f, "r1", 0, 10);
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(read_run(f, "r1").samples, 10);
	finish(f, "r1");
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_SUCCEEDED);

	struct historian_health health = historian_health(f->h);

	assert_int_equal(health.samples_written, 10);
	assert_int_equal(health.samples_dropped, 0);
	assert_int_equal(health.samples_waiting, 0);
	assert_int_equal(health.errors, 0);
	assert_true(health.last_commit_seconds >= 0);
	assert_true(health.bytes_on_disk >= 4096);
}

static void memory_serves_readers_of_the_process(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);
	AUTO(history_closep) struct history *reader = NULL;

	c.path = ":memory:";
	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	begin(f, "r1");
	add_samples(f, "r1", 0, 5);
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(history_open(&reader, ":memory:", HISTORY_READ, NULL, NULL, NULL), 0);
	assert_int_equal(test_read_run(reader, "r1", &f->arena).samples, 5);
	add_samples(f, "r1", 5, 5);
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(test_read_run(reader, "r1", &f->arena).samples, 10);
}

static void a_bad_path_is_an_error_at_the_start(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);
	char below[sizeof f->folder.file + 16];
	struct err e = {0};

	c.path = f->folder.path;
	assert_int_equal(historian_start(&f->h, &c, &e), -EISDIR);
	assert_non_null(strstr(e.text, f->folder.path));
	/* A missing folder is created, but not below a file. */
	test_write_file(f->folder.file, "x", 1);
	snprintf(below, sizeof below, "%s/history.db", f->folder.file);
	c.path = below;
	assert_int_equal(historian_start(&f->h, &c, &e), -ENOTDIR);
	assert_null(f->h);
}

static void a_corrupt_file_at_the_start_is_set_aside(void **state)
{
	struct fixture *f = *state;
	FILE *garbage = fopen(f->folder.file, "w");

	assert_non_null(garbage);
	assert_true(fputs("this is not a database, and longer than a header would be: "
			  "this is not a database, and longer than a header would be",
			    garbage) >= 0);
	assert_int_equal(fclose(garbage), 0);
	start(f);
	begin(f, "r1");
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_RUNNING);
	assert_int_equal(test_folder_aside(&f->folder, NULL, 0), 1);
}

static void damage_in_use_loses_no_queued_row(void **state)
{
	struct fixture *f = *state;

	start(f);
	begin(f, "r1");
	add_samples(f, "r1", 0, 3000);
	assert_true(historian_flush(f->h, LONG));
	/* The -wal file would hide the damage, so it is emptied first. */
	test_run_sql(f->folder.file, "PRAGMA wal_checkpoint(TRUNCATE)");
	test_damage(f->folder.file);
	add_samples(f, "r1", 3000, 20);
	begin(f, "r2");
	add_samples(f, "r2", 0, 5);
	historian_suspect(f->h);
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(test_folder_aside(&f->folder, NULL, 0), 1);
	/* The open run continues in the new file. */
	assert_int_equal(read_run(f, "r1").samples, 20);
	assert_int_equal(read_run(f, "r2").samples, 5);
	finish(f, "r1");
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_SUCCEEDED);
	assert_true(historian_health(f->h).errors > 0);
	assert_int_equal(historian_health(f->h).samples_dropped, 0);
}

static void suspicion_without_cause_changes_nothing(void **state)
{
	struct fixture *f = *state;

	start(f);
	begin(f, "r1");
	historian_suspect(f->h);
	add_samples(f, "r1", 0, 3);
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(read_run(f, "r1").samples, 3);
	assert_int_equal(test_folder_aside(&f->folder, NULL, 0), 0);
	assert_int_equal(historian_health(f->h).errors, 0);
}

static void a_deleted_file_is_made_anew(void **state)
{
	struct fixture *f = *state;

	start(f);
	begin(f, "r1");
	begin(f, "ended");
	add_samples(f, "r1", 0, 3);
	finish(f, "ended");
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(unlink(f->folder.file), 0);
	add_samples(f, "r1", 3, 4);
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(read_run(f, "r1").samples, 4);
	assert_int_equal(historian_health(f->h).samples_dropped, 0);

	AUTO(history_closep) struct history *h = NULL;

	assert_int_equal(history_open(&h, f->folder.file, HISTORY_READ, NULL, NULL, NULL), 0);
	assert_int_equal(test_count_runs(h, NULL), 1);
}

static void a_deleted_folder_is_made_anew_with_its_file(void **state)
{
	struct fixture *f = *state;

	start(f);
	begin(f, "r1");
	add_samples(f, "r1", 0, 3);
	assert_true(historian_flush(f->h, LONG));
	test_folder_remove(&f->folder);
	add_samples(f, "r1", 3, 4);
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(read_run(f, "r1").samples, 4);
	finish(f, "r1");
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_SUCCEEDED);
}

static sqlite3 *lock_file(const char *path)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, 10000);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	return db;
}

static void unlock_file(sqlite3 *db)
{
	assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void while_another_holds_the_lock_rows_wait(void **state)
{
	struct fixture *f = *state;

	start(f);
	begin(f, "r1");
	assert_true(historian_flush(f->h, LONG));
	sqlite3 *locked = lock_file(f->folder.file);

	add_samples(f, "r1", 0, 10);
	assert_false(historian_flush(f->h, 0.05));
	assert_int_equal(historian_health(f->h).samples_waiting, 10);
	unlock_file(locked);
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(read_run(f, "r1").samples, 10);
	assert_int_equal(historian_health(f->h).samples_waiting, 0);
}

static void past_the_bound_the_oldest_samples_go_but_no_run(void **state)
{
	struct fixture *f = *state;
	const size_t more = 1000;

	start(f);
	begin(f, "r1");
	assert_true(historian_flush(f->h, LONG));
	sqlite3 *locked = lock_file(f->folder.file);

	begin(f, "r2");
	add_samples(f, "r2", 0, HISTORIAN_QUEUE_SAMPLES + more);
	finish(f, "r2");
	finish(f, "r1");
	assert_true(historian_health(f->h).samples_waiting <= HISTORIAN_QUEUE_SAMPLES + more);
	unlock_file(locked);
	assert_true(historian_flush(f->h, LONG));

	struct historian_health health = historian_health(f->h);
	struct run r = read_run(f, "r2");

	assert_int_equal(health.samples_written + health.samples_dropped,
		HISTORIAN_QUEUE_SAMPLES + more);
	assert_in_range(health.samples_written, HISTORIAN_QUEUE_SAMPLES,
		HISTORIAN_QUEUE_SAMPLES + more - 1);
	assert_int_equal(r.samples, health.samples_written);
	assert_int_equal(r.outcome, OUTCOME_SUCCEEDED);
	assert_int_equal(read_run(f, "r1").outcome, OUTCOME_SUCCEEDED);
	/* The CPU time of the dropped samples is added to a later sample. */
	assert_near(run_total(&r, "cpu_seconds"), 0.5 * (double)(HISTORIAN_QUEUE_SAMPLES + more),
		1e-6);
	/* The newest sample is kept. */
	assert_near(run_peak(&r, "memory_bytes"), (double)(HISTORIAN_QUEUE_SAMPLES + more - 1), 0);
	assert_int_equal(health.runs_dropped, 0);
}

static void a_full_disk_makes_rows_wait(void **state)
{
	struct fixture *f = *state;
	static const struct {
		unsigned calls;
		int code;
	} table[] = {
		{VFS_WRITE, SQLITE_FULL},
		{VFS_WRITE | VFS_SYNC | VFS_TRUNCATE, SQLITE_IOERR},
		{VFS_WRITE | VFS_OPEN | VFS_READ | VFS_SHARED_MEMORY, SQLITE_IOERR},
	};

	start(f);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char run_id[16];

		snprintf(run_id, sizeof run_id, "r%zu", i);
		begin(f, run_id);
		assert_true(historian_flush(f->h, LONG));
		failing_vfs_fail(table[i].calls, 1, table[i].code, true);
		add_samples(f, run_id, 0, 10);
		/* A flush makes the historian try again at once, so several attempts fail here. */
		for (int k = 0; k < 5; k++)
			assert_false(historian_flush(f->h, 0.02));
		assert_int_equal(historian_health(f->h).samples_waiting, 10);
		assert_true(historian_health(f->h).errors > 0);
		failing_vfs_heal();
		assert_true(historian_flush(f->h, LONG));
		assert_int_equal(read_run(f, run_id).samples, 10);
		assert_int_equal(historian_health(f->h).samples_dropped, 0);
	}
	assert_int_equal(test_folder_aside(&f->folder, NULL, 0), 0);
}

static void what_cannot_be_written_holds_nothing_up(void **state)
{
	struct fixture *f = *state;

	start(f);
	add_samples(f, "nobody", 0, 3);
	begin(f, "r1");
	add_samples(f, "r1", 0, 2);
	add_samples(f, "nobody", 3, 1);
	add_samples(f, "r1", 2, 2);
	finish(f, "nobody");
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(read_run(f, "r1").samples, 4);
	assert_int_equal(historian_health(f->h).samples_written, 4);
	assert_int_equal(historian_health(f->h).samples_dropped, 4);
}

/* The historian does its upkeep after it has written the queued rows. A second flush therefore
 * returns only after the upkeep. */
static void wait_for_upkeep(struct fixture *f, const char *run_id, enum outcome expected)
{
	for (int i = 0; i < 10000; i++) {
		assert_true(historian_flush(f->h, LONG));
		if (read_run(f, run_id).outcome == expected)
			return;
		arena_reset(&f->arena);
	}
	fail_msg("run %s is not %s", run_id, run_outcome_name(expected));
}

static void runs_that_were_open_are_closed_at_the_start(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);
	struct history *h = test_history(f->folder.file);

	test_write_run(h, "orphan", "job", 10, 5, OUTCOME_RUNNING);
	history_close(h);
	c.alive_context = &nobody;
	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	wait_for_upkeep(f, "orphan", OUTCOME_INTERRUPTED);
	struct run r = read_run(f, "orphan");

	assert_near(r.ended_at, 15, 0);
	assert_near(run_total(&r, "cpu_seconds"), 2.5, 1e-9);
}

/* A server that has just started may continue runs of the previous server. The historian must not
 * close these runs before the server has had time to do so. */
static void runs_are_closed_only_when_those_that_go_on_were_handed_over(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);
	struct history *h = test_history(f->folder.file);
	struct run_begin again = test_begin("continued", "job", 10);

	test_write_run(h, "continued", "job", 10, 5, OUTCOME_RUNNING);
	test_write_run(h, "orphan", "job", 10, 5, OUTCOME_RUNNING);
	history_close(h);
	c.alive_context = &we;
	c.upkeep_waits = true;
	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	begin(f, "other");
	assert_true(historian_flush(f->h, LONG));
	assert_true(historian_flush(f->h, LONG));
	assert_int_equal(read_run(f, "orphan").outcome, OUTCOME_RUNNING);

	again.owner_pid = we;
	historian_run_begin(f->h, &again);
	historian_upkeep(f->h);
	wait_for_upkeep(f, "orphan", OUTCOME_INTERRUPTED);
	assert_int_equal(read_run(f, "continued").outcome, OUTCOME_RUNNING);
}

static void limits_are_enforced_at_the_start(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);
	AUTO(history_closep) struct history *h = test_history(f->folder.file);
	size_t n = 0;

	for (int i = 0; i < 6; i++) {
		char run_id[16];

		snprintf(run_id, sizeof run_id, "r%d", i);
		test_write_run(h, run_id, "job", i * 10, 5, OUTCOME_SUCCEEDED);
	}
	c.limits.runs_per_job = 2;
	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	for (int i = 0; i < 10000 && (n = test_count_runs(h, NULL)) > 2; i++)
		assert_true(historian_flush(f->h, LONG));
	assert_int_equal(n, 2);
}

static void limits_are_enforced_at_the_end(void **state)
{
	struct fixture *f = *state;
	struct historian_config c = config_of(f);

	c.limits.runs_per_job = 2;
	c.last_upkeep_seconds = c.leave_seconds = LONG;
	assert_int_equal(historian_start(&f->h, &c, NULL), 0);
	for (int i = 0; i < 6; i++) {
		char run_id[16];

		snprintf(run_id, sizeof run_id, "r%d", i);
		begin(f, run_id);
		add_samples(f, run_id, 0, 3);
		finish(f, run_id);
	}
	historian_stop(f->h);
	f->h = NULL;
	assert_int_equal(test_count_rows(&f->folder, "run"), 2);
	assert_int_equal(test_count_rows(&f->folder, "sample"), 6);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_is_handed_over_is_committed),
		TEST(memory_serves_readers_of_the_process),
		TEST(a_bad_path_is_an_error_at_the_start),
		TEST(a_corrupt_file_at_the_start_is_set_aside),
		TEST(damage_in_use_loses_no_queued_row),
		TEST(suspicion_without_cause_changes_nothing),
		TEST(a_deleted_file_is_made_anew),
		TEST(a_deleted_folder_is_made_anew_with_its_file),
		TEST(while_another_holds_the_lock_rows_wait),
		TEST(past_the_bound_the_oldest_samples_go_but_no_run),
		TEST(a_full_disk_makes_rows_wait),
		TEST(what_cannot_be_written_holds_nothing_up),
		TEST(runs_that_were_open_are_closed_at_the_start),
		TEST(runs_are_closed_only_when_those_that_go_on_were_handed_over),
		TEST(limits_are_enforced_at_the_start),
		TEST(limits_are_enforced_at_the_end),
	};

	failing_vfs_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
