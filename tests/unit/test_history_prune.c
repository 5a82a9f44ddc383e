/* The history stays within its limits, and loses what is missed least first. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test_history.h"

#define MINUTE 60.0
#define HOUR   3600.0

struct fixture {
	struct test_folder folder;
	struct history *h;
	struct arena arena;
};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	test_folder_make(&f.folder);
	f.h = test_history(f.folder.file);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(history_check(f->h, NULL), 0);
	history_close(f->h);
	arena_done(&f->arena);
	test_folder_remove(&f->folder);
	return 0;
}

/* Returns the number of steps. */
static int prune(struct history *h, const struct history_limits *l, double now)
{
	struct err e = {0};
	int steps = 0, code;

	while ((code = history_prune(h, l, now, &e)) > 0)
		assert_in_range(++steps, 1, 100000);
	if (code < 0)
		fail_msg("%s", e.text);
	return steps;
}

/* Ids of all runs, newest first, each of one letter. */
static const char *all_runs(struct fixture *f)
{
	static char ids[64];
	const struct run_query all = {0};
	struct runs runs;

	assert_int_equal(history_runs(f->h, &all, &f->arena, &runs, NULL), 0);
	assert_true(runs.n < sizeof ids);
	for (size_t i = 0; i < runs.n; i++)
		ids[i] = runs.run[i].run_id[0];
	ids[runs.n] = '\0';
	return ids;
}

static size_t samples_of(struct fixture *f, const char *run_id)
{
	struct series s;

	assert_int_equal(history_series(f->h, run_id, NULL, &f->arena, &s, NULL), 0);
	return s.n;
}

static int64_t count_rows(const struct fixture *f, const char *table)
{
	sqlite3 *db;
	sqlite3_stmt *q;
	char text[80];

	snprintf(text, sizeof text, "SELECT count(*) FROM %s", table);
	assert_int_equal(sqlite3_open(f->folder.file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, text, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	int64_t n = sqlite3_column_int64(q, 0);

	sqlite3_finalize(q);
	sqlite3_close(db);
	return n;
}

static void limits_decide_which_runs_stay(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *what;
		struct history_limits limits;
		const char *stay; /* newest first */
	} table[] = {
		{"no limits", {0}, "hgfedcba"},
		{"ample limits", {.runs_per_job = 5, .retention_seconds = 1e6}, "hgfedcba"},
		/* x: a b d f (h is open); y: c e; z: g, started at 700 */
		{"three of a job", {.runs_per_job = 3}, "hgfedcb"},
		{"one of a job: the open run and the newest ended one", {.runs_per_job = 1}, "hgfe"},
		{"age, but never the newest of a job", {.retention_seconds = 1}, "hgfe"},
		{"age", {.retention_seconds = 1000 - 405}, "hgfed"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		print_message("%s\n", table[i].what);
		test_write_run(f->h, "a", "x", 100, 10, OUTCOME_SUCCEEDED);
		test_write_run(f->h, "b", "x", 200, 10, OUTCOME_FAILED);
		test_write_run(f->h, "c", "y", 300, 10, OUTCOME_SUCCEEDED);
		test_write_run(f->h, "d", "x", 400, 10, OUTCOME_SUCCEEDED);
		test_write_run(f->h, "e", "y", 500, 10, OUTCOME_SUCCEEDED);
		test_write_run(f->h, "f", "x", 600, 10, OUTCOME_SUCCEEDED);
		test_write_run(f->h, "g", "z", 700, 10, OUTCOME_INTERRUPTED);
		test_write_run(f->h, "h", "x", 50, 10, OUTCOME_RUNNING);
		test_write_samples(f->h, "h", 50, 10, 1);
		prune(f->h, &table[i].limits, 1000);
		/* h began first, so that it comes last. */
		char stay[16];

		snprintf(stay, sizeof stay, "%sh", table[i].stay + 1);
		assert_string_equal(all_runs(f), stay);
		assert_int_equal(prune(f->h, &table[i].limits, 1000), 0);
		assert_int_equal(count_rows(f, "sample"), 10 * strlen(stay) + 1);
		assert_int_equal(count_rows(f, "run_stat"), 6 * (strlen(stay) - 1));

		history_close(f->h);
		assert_int_equal(unlink(f->folder.file), 0);
		f->h = test_history(f->folder.file);
	}
}

static void pruned_runs_still_count(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {.runs_per_job = 2};
	struct job_row *job;
	size_t n;

	for (int i = 0; i < 10; i++) {
		char id[16];

		snprintf(id, sizeof id, "r%d", i);
		test_write_run(f->h, id, "job", i * 100, 1, i % 2 ? OUTCOME_SUCCEEDED : OUTCOME_FAILED);
	}
	prune(f->h, &l, 1e6);
	assert_int_equal(test_count_runs(f->h, NULL), 2);
	assert_int_equal(history_jobs(f->h, &f->arena, &job, &n, NULL), 0);
	assert_int_equal(job->runs, 10);
	assert_int_equal(job->outcomes[OUTCOME_SUCCEEDED], 5);
	assert_int_equal(job->outcomes[OUTCOME_FAILED], 5);
}

static void one_step_is_bounded(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {.runs_per_job = 1};

	test_write_run(f->h, "a", "job", 0, 9000, OUTCOME_SUCCEEDED);
	test_write_run(f->h, "b", "job", 10000, 10, OUTCOME_SUCCEEDED);
	assert_int_equal(history_prune(f->h, &l, 1e6, NULL), 1);
	assert_int_equal(samples_of(f, "a"), 7000);
	assert_in_range(prune(f->h, &l, 1e6), 4, 1000);
	assert_string_equal(all_runs(f), "b");
}

/* ---- size ---- */

static uint64_t file_size(const struct fixture *f)
{
	struct stat st;

	assert_int_equal(stat(f->folder.file, &st), 0);
	return (uint64_t)st.st_size;
}

static void checkpoint(const struct fixture *f)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->folder.file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void a_file_that_is_too_long_shrinks_from_the_oldest_samples_on(void **state)
{
	struct fixture *f = *state;
	/* About 33 bytes a sample. */
	const struct history_limits l = {.max_bytes = 1 << 20};

	for (char c = 'a'; c <= 'd'; c++)
		test_write_run(f->h, (char[]){c, '\0'}, "job", (c - 'a') * 1e5, 20000, OUTCOME_SUCCEEDED);
	checkpoint(f);
	assert_true(file_size(f) > 2 << 20);
	prune(f->h, &l, 1e7);
	checkpoint(f);
	assert_true(file_size(f) <= 1 << 20);
	assert_true(file_size(f) > 1 << 19);
	assert_string_equal(all_runs(f), "dcba");
	assert_int_equal(samples_of(f, "a"), 0);
	assert_int_equal(samples_of(f, "b"), 0);
	assert_in_range(samples_of(f, "c"), 1, 19999);
	assert_int_equal(samples_of(f, "d"), 20000);

	/* The summary outlives the samples. */
	struct run r = test_read_run(f->h, "a", &f->arena);

	assert_int_equal(r.samples, 20000);
	assert_near(run_total(&r, "cpu_seconds"), 10000, 1e-6);
	assert_near(run_peak(&r, "memory_bytes"), 19999, 0);
}

static void then_go_old_runs_and_last_the_samples_of_the_newest(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {.max_bytes = 100000};

	for (char c = 'a'; c <= 'j'; c++)
		test_write_run(f->h, (char[]){c, '\0'}, c == 'j' ? "other" : "job", (c - 'a') * 1e5, 3000,
			OUTCOME_SUCCEEDED);
	prune(f->h, &l, 1e7);
	assert_string_equal(all_runs(f), "ji");
	assert_int_equal(samples_of(f, "i"), 0);
	assert_true(samples_of(f, "j") < 3000);
	checkpoint(f);
	assert_true(file_size(f) <= 100000);
}

static void an_open_run_is_never_dropped_for_size(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {.max_bytes = 100000};

	test_write_run(f->h, "a", "job", 0, 20000, OUTCOME_RUNNING);
	prune(f->h, &l, 20000);

	struct run r = test_read_run(f->h, "a", &f->arena);

	assert_int_equal(r.samples, 20000);
	assert_near(run_total(&r, "cpu_seconds"), 10000, 1e-6);
	assert_near(r.duration_seconds, 20000, 1e-6);
	/* Its newest samples stay at full rate, the others became minutes. */
	assert_in_range(samples_of(f, "a"), 1000 + 19000 / 60, 1000 + 19000 / 60 + 120);
}

/* ---- thinning ---- */

static void assert_like(const struct distribution *got, const struct distribution *expected, double most)
{
	assert_near(got->sum, expected->sum, 1e-6 * fabs(expected->sum));
	assert_near(got->mean, expected->mean, 1e-6 * fabs(expected->mean));
	assert_near(got->min, expected->min, 1e-9);
	assert_near(got->max, expected->max, 1e-9);
	assert_near(got->p50, expected->p50, most);
	assert_near(got->p95, expected->p95, most);
	assert_near(got->p99, expected->p99, most);
}

/*
 * An hour of a job that computes a little less than one core, with one second of 4 cores each minute, whose
 * memory goes up to i / 10 and down again, and that reads all of its data in the first second.
 */
static void write_uneven_run(struct history *h, const char *run_id, double start, size_t n)
{
	const struct run_begin b = test_begin(run_id, "job", start);

	assert_int_equal(history_transaction(h, NULL), 0);
	assert_int_equal(history_run_begin(h, &b, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		double value[TEST_COLUMNS];
		struct sample s;

		test_sample(&s, value, run_id, start, i);
		value[TEST_CPU_SECONDS] = i % 60 == 17 ? 4 : 0.9;
		value[TEST_MEMORY_BYTES] = i < n / 2 ? (double)i / 10 : (double)(n - i) / 10;
		value[TEST_MEMORY_PEAK_BYTES] = (double)(i < n / 2 ? i : n / 2);
		value[TEST_DISK_READ_BYTES] = i ? 0 : 1e9;
		value[TEST_LOAD] = i % 100 < 50 ? NAN : 3;
		assert_int_equal(history_samples(h, &s, 1, NULL), 0);
	}
	assert_int_equal(history_commit(h, NULL), 0);
}

static void thinning_keeps_what_statistics_need(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};
	/* How far percentiles may move: within a minute memory moves by 6. */
	static const struct {
		const char *column;
		double most;
	} table[] = {
		{"cpu_seconds", INFINITY}, /* its values are per bucket now */
		{"cpu_cores", 1e-9},
		{"memory_bytes", 6},
		{"memory_peak_bytes", 60},
		{"system_load1", 1e-9},
	};

	write_uneven_run(f->h, "r", 0, 6000);
	struct run before = test_read_run(f->h, "r", &f->arena);

	assert_in_range(prune(f->h, &l, 6000 + 2 * HOUR), 3, 100);
	assert_int_equal(samples_of(f, "r"), 101); /* the first second after 0 is alone in no minute */
	struct run after = test_read_run(f->h, "r", &f->arena);

	assert_int_equal(after.samples, 6000);
	assert_near(after.duration_seconds, 6000, 1e-6);
	assert_int_equal(after.n_stats, before.n_stats);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct distribution *x = run_column(&after, table[i].column);

		print_message("%s\n", table[i].column);
		assert_non_null(x);
		if (isinf(table[i].most))
			assert_near(x->sum, run_total(&before, table[i].column), 1e-6);
		else if (strcmp(table[i].column, "cpu_cores") == 0)
			assert_near(x->max, 4, 1e-9);
		else
			assert_near(x->max, run_peak(&before, table[i].column), 1e-9);
		if (isinf(table[i].most))
			continue;
		const struct distribution *y = run_column(&before, table[i].column);

		assert_near(x->mean, y->mean, fabs(y->mean) * 0.01);
		assert_near(x->min, y->min, 1e-9);
		assert_near(x->p50, y->p50, table[i].most + 0.06);
		assert_near(x->p99, y->p99, table[i].most + 0.06);
	}
	assert_near(run_mean(&after, "cpu_cores"), run_mean(&before, "cpu_cores"), 1e-9);
	assert_near(run_total(&after, "disk_read_bytes"), 1e9, 1e-3);
	assert_near(run_peak(&after, "disk_read_bytes_per_second"), 1e9, 1e-3);
}

static void thinning_again_changes_nothing(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};

	write_uneven_run(f->h, "r", 0, 6000);
	prune(f->h, &l, 6000 + 2 * HOUR);
	int64_t rows = count_rows(f, "sample");
	struct run before = test_read_run(f->h, "r", &f->arena);

	assert_int_equal(prune(f->h, &l, 6000 + 3 * HOUR), 0);
	assert_int_equal(count_rows(f, "sample"), rows);
	struct run after = test_read_run(f->h, "r", &f->arena);

	for (size_t i = 0; i < before.n_stats; i++)
		assert_like(&after.stats[i].d, &before.stats[i].d, 1e-9);
}

static void a_thinned_series_gives_means(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};
	struct series s;

	test_write_run(f->h, "r", "job", 59, 120, OUTCOME_SUCCEEDED); /* at 60, 61, ... 179 */
	prune(f->h, &l, 3 * HOUR);
	assert_int_equal(history_series(f->h, "r", NULL, &f->arena, &s, NULL), 0);
	assert_int_equal(s.n, 2);
	assert_near(s.at[0], 119, 0);
	assert_near(s.at[1], 179, 0);
	assert_near(s.duration[0], 60, 1e-9);
	assert_near(s.values[TEST_CPU_SECONDS][0], 30, 1e-9);
	assert_near(s.values[TEST_MEMORY_BYTES][0], 29.5, 1e-9);
	assert_near(s.values[TEST_MEMORY_PEAK_BYTES][0], 59, 0);
	assert_near(s.values[TEST_MEMORY_BYTES][1], 89.5, 1e-9);
	assert_true(isnan(s.values[TEST_LOAD][0]));
}

static void young_samples_and_lone_ones_stay(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};

	/* Of an open run whole minutes alone: up to 3600 of 4000 + HOUR - HOUR. */
	test_write_run(f->h, "open", "job", -1, 4000, OUTCOME_RUNNING); /* at 0, 1, ... */
	prune(f->h, &l, 3590 + HOUR);
	assert_int_equal(samples_of(f, "open"), 59 + 4000 - 59 * 60);
	/* Later the next ones. */
	test_write_samples(f->h, "open", -1, 4000, 100);
	prune(f->h, &l, 3605 + HOUR);
	assert_int_equal(samples_of(f, "open"), 60 + 4100 - 3600);
	/* Three or fewer in a minute gain nothing from it. */
	test_write_run(f->h, "few", "job", -1, 3, OUTCOME_SUCCEEDED);
	prune(f->h, &l, 3605 + HOUR);
	assert_int_equal(samples_of(f, "few"), 3);
}

static void very_old_samples_become_hours(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};

	write_uneven_run(f->h, "r", -1, 8 * 3600);
	struct run before = test_read_run(f->h, "r", &f->arena);

	prune(f->h, &l, 50 * HOUR);
	assert_int_equal(samples_of(f, "r"), 8);
	struct run after = test_read_run(f->h, "r", &f->arena);

	assert_int_equal(after.samples, 8 * 3600);
	assert_near(after.duration_seconds, before.duration_seconds, 1e-6);
	assert_near(run_total(&after, "cpu_seconds"), run_total(&before, "cpu_seconds"), 1e-6);
	assert_near(run_peak(&after, "cpu_cores"), 4, 1e-9);
	assert_near(run_mean(&after, "cpu_cores"), run_mean(&before, "cpu_cores"), 1e-9);
	assert_near(run_column(&after, "memory_bytes")->min, run_column(&before, "memory_bytes")->min, 0);
	assert_near(run_peak(&after, "memory_bytes"), run_peak(&before, "memory_bytes"), 1e-9);
	assert_near(run_mean(&after, "memory_bytes"), run_mean(&before, "memory_bytes"), 1e-6);
}

static void an_open_run_is_bounded_whatever_its_age(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {0};

	test_write_run(f->h, "r", "job", -1, 106000, OUTCOME_RUNNING);
	prune(f->h, &l, 106000);
	assert_in_range(count_rows(f, "sample"), 100000, 100000 + 6000 / 60 * 3 + 120);
	assert_int_equal(test_read_run(f->h, "r", &f->arena).samples, 106000);
}

static void a_correction_survives_thinning(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};
	double value[TEST_COLUMNS];
	struct sample s;

	test_write_run(f->h, "r", "job", -1, 100, OUTCOME_RUNNING);
	test_sample(&s, value, "r", -1, 99);
	s.duration = 0;
	value[TEST_CPU_SECONDS] = 50;
	value[TEST_MEMORY_BYTES] = 0;
	value[TEST_MEMORY_PEAK_BYTES] = 1e6;
	assert_int_equal(history_transaction(f->h, NULL), 0);
	assert_int_equal(history_samples(f->h, &s, 1, NULL), 0);
	assert_int_equal(history_commit(f->h, NULL), 0);
	prune(f->h, &l, 3 * HOUR);
	assert_int_equal(samples_of(f, "r"), 2);

	struct run r = test_read_run(f->h, "r", &f->arena);

	assert_near(run_total(&r, "cpu_seconds"), 100, 1e-9);
	assert_near(run_mean(&r, "cpu_cores"), 1, 1e-9);
	assert_near(run_peak(&r, "memory_peak_bytes"), 1e6, 0);
	/* Minimum of the readings that held for a time: the first sample has 0. */
	struct series series;

	assert_int_equal(history_series(f->h, "r", NULL, &f->arena, &series, NULL), 0);
	assert_near(series.values[TEST_MEMORY_BYTES][1], (60 + 99) / 2.0, 1e-9);
}

static void columns_of_others_are_thinned_too(void **state)
{
	struct fixture *f = *state;
	static const struct metric theirs = {.fold = FOLD_DELTA, .column = "gpu_seconds"};
	const struct metric *pointer = &theirs;
	const struct columns columns = {1, &pointer};
	const struct history_limits l = {.full_rate_seconds = HOUR};
	const struct run_begin b = test_begin("r", "job", 0);
	struct history *other;

	/* Opened after ours, whose list of columns is now old. */
	assert_int_equal(history_open(&other, f->folder.file, HISTORY_WRITE, &columns, NULL, NULL), 0);
	assert_int_equal(history_transaction(other, NULL), 0);
	assert_int_equal(history_run_begin(other, &b, NULL), 0);
	for (int i = 0; i < 60; i++) {
		double value = 2;
		const struct sample s = {.run_id = "r", .at = i, .duration = 1, .value = &value};

		assert_int_equal(history_samples(other, &s, 1, NULL), 0);
	}
	assert_int_equal(history_commit(other, NULL), 0);
	history_close(other);
	prune(f->h, &l, 3 * HOUR);
	assert_int_equal(samples_of(f, "r"), 1);
	struct run r = test_read_run(f->h, "r", &f->arena);

	assert_near(run_total(&r, "gpu_seconds"), 120, 1e-9);
}

static void a_clock_that_stands_still_does_no_harm(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};
	const struct run_begin b = test_begin("r", "job", 0);

	assert_int_equal(history_transaction(f->h, NULL), 0);
	assert_int_equal(history_run_begin(f->h, &b, NULL), 0);
	for (size_t i = 0; i < 5000; i++) {
		double value[TEST_COLUMNS];
		struct sample s;

		test_sample(&s, value, "r", 0, i);
		s.at = 7;
		assert_int_equal(history_samples(f->h, &s, 1, NULL), 0);
	}
	assert_int_equal(history_commit(f->h, NULL), 0);
	prune(f->h, &l, 3 * HOUR);
	assert_in_range(samples_of(f, "r"), 1, 5);
	struct run r = test_read_run(f->h, "r", &f->arena);

	assert_near(run_total(&r, "cpu_seconds"), 2500, 1e-6);
}

static void a_replaced_file_is_not_pruned(void **state)
{
	struct fixture *f = *state;
	const struct history_limits l = {.runs_per_job = 1};

	assert_int_equal(unlink(f->folder.file), 0);
	assert_int_equal(history_prune(f->h, &l, 1e6, NULL), -ESTALE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(limits_decide_which_runs_stay),
		TEST(pruned_runs_still_count),
		TEST(one_step_is_bounded),
		TEST(a_file_that_is_too_long_shrinks_from_the_oldest_samples_on),
		TEST(then_go_old_runs_and_last_the_samples_of_the_newest),
		TEST(an_open_run_is_never_dropped_for_size),
		TEST(thinning_keeps_what_statistics_need),
		TEST(thinning_again_changes_nothing),
		TEST(a_thinned_series_gives_means),
		TEST(young_samples_and_lone_ones_stay),
		TEST(very_old_samples_become_hours),
		TEST(an_open_run_is_bounded_whatever_its_age),
		TEST(a_correction_survives_thinning),
		TEST(columns_of_others_are_thinned_too),
		TEST(a_clock_that_stands_still_does_no_harm),
		TEST(a_replaced_file_is_not_pruned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
