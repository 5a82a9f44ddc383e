/* Opening the history: creating, migrating, and files that are not a history. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "tests/support/test_history.h"

#define NOBODY 65534

static void what_was_written_is_there_after_reopening(void **state)
{
	struct test_folder *f = *state;
	struct history *h = test_history(f->file);

	test_write_run(h, "r1", "job", 1, 3, OUTCOME_SUCCEEDED);
	history_close(h);
	assert_int_equal(test_folder_count(f), 1); /* no -wal, no -shm */
	h = test_history(f->file);
	assert_int_equal(test_count_runs(h, "job"), 1);
	history_close(h);
}

static int add_line(void *context, int n, char **value, char **name)
{
	(void)n;
	(void)name;
	buf_addf(context, "%s\n", value[0]);
	return 0;
}

static void the_schema_is_the_golden_one(void **state)
{
	struct test_folder *f = *state;
	AUTO(buf_done) struct buf schema = BUF_MAX(1 << 16);
	static char golden[1 << 16];
	sqlite3 *db;

	history_close(test_history(f->file));
	assert_int_equal(sqlite3_open(f->file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				 "SELECT sql || ';' FROM sqlite_schema WHERE sql NOT NULL"
				 " AND name NOT LIKE 'sqlite%' UNION ALL SELECT 'PRAGMA "
				 "user_version = ' || user_version || ';' FROM pragma_user_version",
				 add_line, &schema, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	if (getenv("UPDATE_GOLDEN"))
		test_write_file(TEST_GOLDEN "/history_schema.sql", buf_text(&schema), schema.len);
	golden[test_read_file(TEST_GOLDEN "/history_schema.sql", golden, sizeof golden - 1)] = '\0';
	assert_string_equal(buf_text(&schema), golden);
}

static void new_columns_are_added_and_old_ones_stay(void **state)
{
	struct test_folder *f = *state;
	static const struct metric fresh = {.fold = FOLD_VALUE, .column = "gpu_usage"};
	const struct metric *const few[] = {test_columns.metric[TEST_MEMORY_BYTES], &fresh};
	const struct metric *pointers[] = {few[0], few[1]};
	const struct columns columns = {2, pointers};
	AUTO(arena_done) struct arena arena = {0};
	struct history *h = test_history(f->file);
	double value[] = {5, 0.25};
	struct sample s = {.run_id = "r1", .at = 9, .duration = 1, .value = value};
	struct series series;

	test_write_run(h, "r1", "job", 0, 1, OUTCOME_RUNNING);
	history_close(h);
	assert_int_equal(history_open(&h, f->file, HISTORY_WRITE, &columns, NULL, NULL), 0);
	assert_int_equal(history_transaction(h, NULL), 0);
	assert_int_equal(history_samples(h, &s, 1, NULL), 0);
	assert_int_equal(history_commit(h, NULL), 0);
	history_close(h);
	assert_int_equal(history_open(&h, f->file, HISTORY_READ, NULL, NULL, NULL), 0);
	assert_int_equal(history_series(h, "r1", NULL, &arena, &series, NULL), 0);
	assert_int_equal(series.n, 2);
	assert_int_equal(series.n_columns, TEST_COLUMNS + 1);
	assert_string_equal(series.columns[TEST_COLUMNS], "gpu_usage");
	assert_near(series.values[TEST_CPU_SECONDS][0], 0.5, 0);
	assert_true(series.values[TEST_CPU_SECONDS][1] != series.values[TEST_CPU_SECONDS][1]);
	assert_near(series.values[TEST_MEMORY_BYTES][1], 5, 0);
	assert_near(series.values[TEST_COLUMNS][1], 0.25, 0);
	history_close(h);
}

static void illegal_column_names_are_refused(void **state)
{
	struct test_folder *f = *state;
	static const char *const names[] = {"", "CPU", "a b", "a\"b", "at", "id", "samples", "kind",
		"duration", "a_name_of_sixty_four_bytes_which_is_one_more_than_are_accepted_xx"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct metric m = {.fold = FOLD_VALUE, .column = names[i]};
		const struct metric *pointer = &m;
		const struct columns columns = {1, &pointer};
		struct history *h;
		struct err e = {0};

		assert_int_equal(history_open(&h, f->file, HISTORY_WRITE, &columns, NULL, &e),
			-EINVAL);
		assert_non_null(strstr(e.text, names[i]));
	}
}

/* ---- files of other programs, and files without permission ---- */

static void another_programs_database_is_left_alone(void **state)
{
	struct test_folder *f = *state;
	static char before[1 << 16], after[1 << 16];
	static const enum history_mode modes[] = {HISTORY_READ, HISTORY_WRITE};

	test_run_sql(f->file, "CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)");
	size_t n = test_read_file(f->file, before, sizeof before);

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		struct history *h;
		struct err e = {0};

		assert_int_equal(history_open(&h, f->file, modes[i], &test_columns, NULL, &e),
			-ENOTSUP);
		assert_non_null(strstr(e.text, "another program"));
	}
	assert_int_equal(test_read_file(f->file, after, sizeof after), n);
	assert_memory_equal(before, after, n);
}

/* The number of migrations in exporter/history/schema.c. */
#define TEST_SCHEMA_VERSION "19"

static void a_newer_schema_is_left_alone(void **state)
{
	struct test_folder *f = *state;
	static const enum history_mode modes[] = {HISTORY_READ, HISTORY_WRITE};

	test_make_history(f->file);
	test_run_sql(f->file, "PRAGMA user_version = 99");
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		struct history *h;
		struct err e = {0};

		assert_int_equal(history_open(&h, f->file, modes[i], &test_columns, NULL, &e),
			-ENOTSUP);
		assert_non_null(strstr(e.text, "newer"));
		assert_non_null(strstr(e.text, "99"));
	}
	test_run_sql(f->file, "PRAGMA user_version = " TEST_SCHEMA_VERSION);
	AUTO(history_closep) struct history *h = test_history(f->file);

	assert_int_equal(test_count_runs(h, NULL), 40);
}

/* Ends a run of the job `load` with these labels. */
static void add_labelled(struct history *h, const char *run_id, const char *labels,
	enum outcome outcome)
{
	struct run_begin b = test_begin(run_id, "load", 1000);
	struct run_finish end = test_finish(run_id, 1001, outcome);

	b.labels = labels;
	assert_int_equal(history_transaction(h, NULL), 0);
	assert_int_equal(history_run_begin(h, &b, NULL), 0);
	assert_int_equal(history_run_finish(h, &end, NULL), 0);
	assert_int_equal(history_commit(h, NULL), 0);
}

static void assert_job(struct history *h, const char *job, uint64_t runs, uint64_t failed,
	size_t listed)
{
	AUTO(arena_done) struct arena arena = {0};
	struct run_query of_job = {.job_name = job};
	struct job_row *row;
	struct runs found;
	size_t n, i = 0;

	assert_int_equal(history_jobs(h, 0, &arena, &row, &n, NULL), 0);
	while (i < n && strcmp(row[i].job_name, job) != 0)
		i++;
	assert_in_range(i, 0, n - 1);
	assert_int_equal(row[i].runs, runs);
	assert_int_equal(row[i].outcomes[OUTCOME_FAILED], failed);
	assert_int_equal(row[i].outcomes[OUTCOME_SUCCEEDED], runs - failed);
	assert_int_equal(history_runs(h, &of_job, &arena, &found, NULL), 0);
	assert_int_equal(found.n, listed);
}

/* Jobs of one name in several namespaces were one job up to version 15. */
static void namespaces_of_an_older_file_become_part_of_the_job(void **state)
{
	struct test_folder *f = *state;
	struct history *h = test_history(f->file);

	add_labelled(h, "a", "{\"namespace\": \"etl\"}", OUTCOME_SUCCEEDED);
	add_labelled(h, "b", "{\"app\": \"load\", \"namespace\": \"ml\"}", OUTCOME_FAILED);
	add_labelled(h, "c", "{\"namespace\": \"ml\"}", OUTCOME_SUCCEEDED);
	add_labelled(h, "d", NULL, OUTCOME_FAILED);
	add_labelled(h, "e", "no JSON", OUTCOME_SUCCEEDED);
	history_close(h);
	test_run_sql(f->file,
		TEST_TAKE_BACK_SCHEMA_19 TEST_TAKE_BACK_SCHEMA_17 "PRAGMA user_version = 15");
	h = test_history(f->file);
	assert_job(h, "load\037etl", 1, 0, 1);
	assert_job(h, "load\037ml", 2, 1, 2);
	assert_job(h, "load", 2, 1, 2);
	history_close(h);
	test_jobs_fit_runs(f);
}

/* If all runs of a job name the same namespace, the counts of removed runs stay with the job. */
static void one_namespace_of_an_older_file_renames_the_job(void **state)
{
	struct test_folder *f = *state;
	struct history *h = test_history(f->file);

	add_labelled(h, "a", "{\"namespace\": \"etl\"}", OUTCOME_SUCCEEDED);
	add_labelled(h, "b", NULL, OUTCOME_SUCCEEDED);
	history_close(h);
	test_run_sql(f->file, TEST_TAKE_BACK_SCHEMA_19 TEST_TAKE_BACK_SCHEMA_17
		"UPDATE job SET runs = 9; UPDATE job_outcome SET runs = 9;"
		"PRAGMA user_version = 15");
	h = test_history(f->file);
	assert_job(h, "load\037etl", 9, 0, 2);
	history_close(h);
}

/* The GPUs of a run were added in version 19. The texts of older runs are found again. */
static void texts_of_an_older_file_are_shared_with_new_runs(void **state)
{
	struct test_folder *f = *state;
	struct history *h = test_history(f->file);

	add_labelled(h, "a", "{\"namespace\": \"etl\"}", OUTCOME_SUCCEEDED);
	history_close(h);
	test_run_sql(f->file, TEST_TAKE_BACK_SCHEMA_19 "PRAGMA user_version = 18");
	h = test_history(f->file);
	add_labelled(h, "b", "{\"namespace\": \"etl\"}", OUTCOME_SUCCEEDED);
	history_close(h);
	assert_int_equal(test_count_rows(f, "circumstances"), 1);
}

static void a_file_of_the_first_version_is_brought_up_to_date(void **state)
{
	static const char *const indexes_since[] = {"run_unforwarded", "run_unwritten", "run_ended",
		"run_oldest", "run_to_minutes", "run_to_hours"};
	static const char *const since[] = {"network_source", "architecture", "vendor",
		"instance_type", "region", "zone", "allocation", "forwarded_at", "written_at",
		"system", "system_run", "labels", "cpu_level", "cpu_foreign_seconds",
		"machine_cpus", "machine_memory_bytes", "disk_source", "not_measured",
		"address_limit_bytes", "address_peak_bytes", "end_reason"};
	struct test_folder *f = *state;
	struct arena arena = {0};

	test_make_history(f->file);
	test_run_sql(f->file, TEST_TAKE_BACK_SCHEMA_14 TEST_TAKE_BACK_SCHEMA_18);
	for (size_t i = 0; i < ARRAY_LEN(indexes_since); i++) {
		char sql[80];

		snprintf(sql, sizeof sql, "DROP INDEX %s", indexes_since[i]);
		test_run_sql(f->file, sql);
	}
	for (size_t i = 0; i < ARRAY_LEN(since); i++) {
		char sql[80];

		snprintf(sql, sizeof sql, "ALTER TABLE run DROP COLUMN %s", since[i]);
		test_run_sql(f->file, sql);
	}
	test_run_sql(f->file, "DROP TABLE forgotten");
	test_run_sql(f->file, "DROP TABLE note");
	test_run_sql(f->file, "DROP TABLE age_clock");
	test_run_sql(f->file, "PRAGMA user_version = 1");
	struct err e = {0};
	struct history *h;

	assert_int_equal(history_open(&h, f->file, HISTORY_READ, NULL, NULL, &e), -ENOTSUP);
	assert_non_null(strstr(e.text,
		"older version (schema 1, this one reads " TEST_SCHEMA_VERSION));
	h = test_history(f->file);
	const struct run_query newest = {.limit = 1};
	struct runs runs;

	assert_int_equal(test_count_runs(h, NULL), 40);
	assert_int_equal(history_runs(h, &newest, &arena, &runs, NULL), 0);
	assert_null(runs.run[0].vendor_id);
	assert_int_equal(runs.run[0].architecture, ARCHITECTURE_UNKNOWN);
	arena_done(&arena);
	history_close(h);
}

static void an_empty_file_becomes_a_history(void **state)
{
	struct test_folder *f = *state;
	struct history *h;

	test_write_file(f->file, "", 0);
	assert_int_equal(history_open(&h, f->file, HISTORY_READ, NULL, NULL, NULL), -ENOENT);
	test_opens_empty(f->file);
	assert_int_equal(test_folder_aside(f, NULL, 0), 0);
}

static void places_that_cannot_be_are_told(void **state)
{
	struct test_folder *f = *state;
	struct err e = {0};
	struct history *h;
	char path[400];

	assert_int_equal(history_open(&h, f->file, HISTORY_READ, NULL, NULL, &e), -ENOENT);
	assert_int_equal(history_open(&h, f->path, HISTORY_WRITE, &test_columns, NULL, &e),
		-EISDIR);
	assert_non_null(strstr(e.text, "directory"));
	assert_int_equal(history_open(&h, "", HISTORY_WRITE, &test_columns, NULL, &e), -EISDIR);
	snprintf(path, sizeof path, "%s/missing/history.db", f->path);
	assert_int_equal(history_open(&h, path, HISTORY_WRITE, &test_columns, NULL, &e), -ENOENT);
	assert_non_null(strstr(e.text, path));
	snprintf(path, sizeof path, "%s/pipe", f->path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(history_open(&h, path, HISTORY_WRITE, &test_columns, NULL, &e), -EINVAL);
	assert_int_equal(history_open(&h, path, HISTORY_READ, NULL, NULL, &e), -EINVAL);
	assert_int_equal(history_open(&h, "/dev/null", HISTORY_WRITE, &test_columns, NULL, &e),
		-EINVAL);
}

/* Root may write everywhere, so the test changes to another user. */
static bool become_nobody(const struct test_folder *f)
{
	if (geteuid() != 0)
		return false;
	assert_int_equal(chown(f->path, NOBODY, NOBODY), 0);
	if (access(f->file, F_OK) == 0)
		assert_int_equal(chown(f->file, NOBODY, NOBODY), 0);
	assert_int_equal(seteuid(NOBODY), 0);
	return true;
}

static void a_file_that_may_not_be_written_is_told(void **state)
{
	struct test_folder *f = *state;
	struct history *h;
	struct err e = {0};

	test_make_history(f->file);
	assert_int_equal(chmod(f->file, 0444), 0);
	bool was_root = become_nobody(f);
	int code = history_open(&h, f->file, HISTORY_WRITE, &test_columns, NULL, &e);
	int read_code = history_open(&h, f->file, HISTORY_READ, NULL, NULL, NULL);
	size_t runs = read_code ? 0 : test_count_runs(h, NULL);

	if (read_code == 0)
		history_close(h);
	if (was_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(code, -EACCES);
	assert_non_null(strstr(e.text, "may not write"));
	assert_int_equal(read_code, 0);
	assert_int_equal(runs, 40);
}

static void a_folder_in_which_none_can_be_made_is_named(void **state)
{
	struct test_folder *f = *state;
	struct history *h;
	struct err e = {0};
	bool was_root = become_nobody(f);

	assert_int_equal(chmod(f->path, 0555), 0);
	int code = history_open(&h, f->file, HISTORY_WRITE, &test_columns, NULL, &e);

	assert_int_equal(chmod(f->path, 0755), 0);
	if (was_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(code, -EACCES);
	assert_non_null(strstr(e.text, "may not write into"));
	assert_non_null(strstr(e.text, f->path));
	assert_non_null(strstr(e.text, "Permission denied"));
}

static void a_folder_that_is_not_there_is_told(void **state)
{
	const struct test_folder *f = *state;
	char path[sizeof f->path + 16];
	struct history *h;
	struct err e = {0};

	snprintf(path, sizeof path, "%s/none/h.db", f->path);
	assert_int_equal(history_open(&h, path, HISTORY_WRITE, &test_columns, NULL, &e), -ENOENT);
	assert_non_null(strstr(e.text, "there is no folder"));
	assert_non_null(strstr(e.text, "/none"));
}

static void a_folder_that_may_not_be_written_is_told_but_read(void **state)
{
	struct test_folder *f = *state;
	struct history *h;
	struct err e = {0};

	test_make_history(f->file);
	bool was_root = become_nobody(f);

	assert_int_equal(chmod(f->path, 0555), 0);
	int code = history_open(&h, f->file, HISTORY_WRITE, &test_columns, NULL, &e);
	int read_code = history_open(&h, f->file, HISTORY_READ, NULL, NULL, NULL);
	size_t runs = read_code ? 0 : test_count_runs(h, NULL);

	if (read_code == 0)
		history_close(h);
	assert_int_equal(chmod(f->path, 0755), 0);
	if (was_root)
		assert_int_equal(seteuid(0), 0);
	assert_true(code == -EACCES || code == -EROFS);
	assert_non_null(strstr(e.text, f->file));
	assert_int_equal(read_code, 0);
	assert_int_equal(runs, 40);
}

static void a_file_deleted_while_open_is_noticed(void **state)
{
	struct test_folder *f = *state;
	AUTO(arena_done) struct arena arena = {0};
	struct history *h = test_history(f->file), *reader;
	struct open_run *run;
	struct err e = {0};
	size_t n;

	test_write_run(h, "r1", "job", 1, 1, OUTCOME_RUNNING);
	assert_int_equal(history_open(&reader, f->file, HISTORY_READ, NULL, NULL, NULL), 0);
	assert_int_equal(unlink(f->file), 0);
	assert_int_equal(history_transaction(h, &e), -ESTALE);
	assert_non_null(strstr(e.text, f->file));
	assert_int_equal(history_version(reader), -ESTALE);
	assert_int_equal(history_open_runs(reader, &arena, &run, &n, NULL), -ESTALE);

	/* Closing the old handles must not damage the new file. */
	struct history *fresh = test_history(f->file);

	test_write_run(fresh, "r2", "job", 1, 1, OUTCOME_RUNNING);
	history_close(h);
	history_close(reader);
	assert_int_equal(history_check(fresh, NULL), 0);
	test_write_samples(fresh, "r2", 1, 1, 5);
	history_close(fresh);
	fresh = test_history(f->file);
	assert_int_equal(test_count_runs(fresh, NULL), 1);
	assert_int_equal(test_read_run(fresh, "r2", &arena).samples, 6);
	history_close(fresh);
}

static void memory_is_shared_by_the_handles_of_the_process(void **state)
{
	struct history *writer, *reader;

	assert_int_equal(history_open(&reader, ":memory:", HISTORY_READ, NULL, NULL, NULL),
		-ENOENT);
	writer = test_history(":memory:");
	test_write_run(writer, "r1", "job", 1, 3, OUTCOME_SUCCEEDED);
	assert_int_equal(history_open(&reader, ":memory:", HISTORY_READ, NULL, NULL, NULL), 0);
	assert_int_equal(test_count_runs(reader, NULL), 1);
	test_write_run(writer, "r2", "job", 5, 3, OUTCOME_SUCCEEDED);
	assert_int_equal(test_count_runs(reader, NULL), 2);
	assert_true(history_bytes(writer) > 4096);
	history_close(reader);
	history_close(writer);
	assert_int_equal(history_open(&reader, ":memory:", HISTORY_READ, NULL, NULL, NULL),
		-ENOENT);
}

static void readers_leave_no_trace(void **state)
{
	struct test_folder *f = *state;
	struct history *h;

	test_make_history(f->file);
	assert_int_equal(history_open(&h, f->file, HISTORY_READ, NULL, NULL, NULL), 0);
	assert_int_equal(test_count_runs(h, NULL), 40);
	assert_int_equal(history_transaction(h, NULL), -EROFS);
	history_close(h);
}

static void odd_paths_are_paths(void **state)
{
	struct test_folder *f = *state;
	static const char *const names[] = {"file:x?mode=memory", "100%", "a b#c?d", "caf\xc3\xa9"};
	char path[400];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct stat st;

		snprintf(path, sizeof path, "%s/%s", f->path, names[i]);
		test_opens_empty(path);
		assert_int_equal(stat(path, &st), 0);
	}
	bool was_root = become_nobody(f);
	size_t runs[ARRAY_LEN(names)] = {0};

	/* The path is passed to SQLite as a URI. Nothing in the path may become a parameter of the
	 * URI. */
	assert_int_equal(chmod(f->path, 0555), 0);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct history *h;

		snprintf(path, sizeof path, "%s/%s", f->path, names[i]);
		if (history_open(&h, path, HISTORY_READ, NULL, NULL, NULL) == 0) {
			runs[i] = test_count_runs(h, NULL);
			history_close(h);
		}
	}
	assert_int_equal(chmod(f->path, 0755), 0);
	if (was_root)
		assert_int_equal(seteuid(0), 0);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_int_equal(runs[i], 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_folder_set_up, test_folder_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_was_written_is_there_after_reopening),
		TEST(the_schema_is_the_golden_one),
		TEST(new_columns_are_added_and_old_ones_stay),
		TEST(illegal_column_names_are_refused),
		TEST(another_programs_database_is_left_alone),
		TEST(a_newer_schema_is_left_alone),
		TEST(a_file_of_the_first_version_is_brought_up_to_date),
		TEST(namespaces_of_an_older_file_become_part_of_the_job),
		TEST(one_namespace_of_an_older_file_renames_the_job),
		TEST(texts_of_an_older_file_are_shared_with_new_runs),
		TEST(an_empty_file_becomes_a_history),
		TEST(places_that_cannot_be_are_told),
		TEST(a_file_that_may_not_be_written_is_told),
		TEST(a_folder_in_which_none_can_be_made_is_named),
		TEST(a_folder_that_is_not_there_is_told),
		TEST(a_folder_that_may_not_be_written_is_told_but_read),
		TEST(a_file_deleted_while_open_is_noticed),
		TEST(memory_is_shared_by_the_handles_of_the_process),
		TEST(readers_leave_no_trace),
		TEST(odd_paths_are_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
