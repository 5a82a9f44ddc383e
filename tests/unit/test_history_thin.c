/* Old samples become one-minute and then one-hour buckets, and the statistics stay the same. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "tests/support/test_history.h"

#define HOUR 3600.0

static void assert_like(const struct distribution *got, const struct distribution *expected,
	double most)
{
	assert_near(got->sum, expected->sum, 1e-6 * fabs(expected->sum));
	assert_near(got->mean, expected->mean, 1e-6 * fabs(expected->mean));
	assert_near(got->min, expected->min, 1e-9);
	assert_near(got->max, expected->max, 1e-9);
	assert_near(got->p50, expected->p50, most);
	assert_near(got->p95, expected->p95, most);
	assert_near(got->p99, expected->p99, most);
}

/* Writes a run of `n` samples that uses 0.9 cores, but 4 cores in one second of each minute. Its
 * memory rises by 0.1 per sample in the first half and falls again in the second half. It reads all
 * its data in the first second. */
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
	struct test_place *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};
	/* `most` is how far percentiles may move. Memory changes by 6 within a minute. */
	static const struct {
		const char *column;
		double most;
	} table[] = {
		{"cpu_seconds", INFINITY}, /* one value per bucket after thinning */
		{"cpu_cores", 1e-9},
		{"memory_bytes", 6},
		{"memory_peak_bytes", 60},
		{"system_load1", 1e-9},
	};

	write_uneven_run(f->h, "r", 0, 6000);
	struct run before = test_read_run(f->h, "r", &f->arena);

	assert_in_range(test_prune(f->h, &l, 6000 + 2 * HOUR), 3, 100);
	assert_int_equal(test_count_samples(f, "r"),
		101); /* the first sample is alone in its minute */
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
	struct test_place *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};

	write_uneven_run(f->h, "r", 0, 6000);
	test_prune(f->h, &l, 6000 + 2 * HOUR);
	int64_t rows = test_count_rows(&f->folder, "sample");
	struct run before = test_read_run(f->h, "r", &f->arena);

	assert_int_equal(test_prune(f->h, &l, 6000 + 3 * HOUR), 0);
	assert_int_equal(test_count_rows(&f->folder, "sample"), rows);
	struct run after = test_read_run(f->h, "r", &f->arena);

	for (size_t i = 0; i < before.n_stats; i++)
		assert_like(&after.stats[i].d, &before.stats[i].d, 1e-9);
}

static void a_thinned_series_gives_means(void **state)
{
	struct test_place *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};
	struct series s;

	test_write_run(f->h, "r", "job", 59, 120, OUTCOME_SUCCEEDED); /* at 60, 61, ... 179 */
	test_prune(f->h, &l, 3 * HOUR);
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
	struct test_place *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};

	/* An open run is thinned up to the last whole minute before the limit. The limit is 3590 s,
	 * so the samples before 3540 s = 59 minutes are thinned. */
	test_write_run(f->h, "open", "job", -1, 4000, OUTCOME_RUNNING); /* samples at 0, 1, ... */
	test_prune(f->h, &l, 3590 + HOUR);
	assert_int_equal(test_count_samples(f, "open"), 59 + 4000 - 59 * 60);
	/* The limit is now 3605 s, so one more minute is thinned. */
	test_write_samples(f->h, "open", -1, 4000, 100);
	test_prune(f->h, &l, 3605 + HOUR);
	assert_int_equal(test_count_samples(f, "open"), 60 + 4100 - 3600);
	/* Thinning saves nothing with three or fewer samples in a minute. */
	test_write_run(f->h, "few", "job", -1, 3, OUTCOME_SUCCEEDED);
	test_prune(f->h, &l, 3605 + HOUR);
	assert_int_equal(test_count_samples(f, "few"), 3);
}

static void very_old_samples_become_hours(void **state)
{
	struct test_place *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};

	write_uneven_run(f->h, "r", -1, 8 * 3600);
	struct run before = test_read_run(f->h, "r", &f->arena);

	test_prune(f->h, &l, 50 * HOUR);
	assert_int_equal(test_count_samples(f, "r"), 8);
	struct run after = test_read_run(f->h, "r", &f->arena);

	assert_int_equal(after.samples, 8 * 3600);
	assert_near(after.duration_seconds, before.duration_seconds, 1e-6);
	assert_near(run_total(&after, "cpu_seconds"), run_total(&before, "cpu_seconds"), 1e-6);
	assert_near(run_peak(&after, "cpu_cores"), 4, 1e-9);
	assert_near(run_mean(&after, "cpu_cores"), run_mean(&before, "cpu_cores"), 1e-9);
	assert_near(run_column(&after, "memory_bytes")->min,
		run_column(&before, "memory_bytes")->min, 0);
	assert_near(run_peak(&after, "memory_bytes"), run_peak(&before, "memory_bytes"), 1e-9);
	assert_near(run_mean(&after, "memory_bytes"), run_mean(&before, "memory_bytes"), 1e-6);
}

static void an_open_run_is_bounded_whatever_its_age(void **state)
{
	struct test_place *f = *state;
	const struct history_limits l = {0};

	test_write_run(f->h, "r", "job", -1, 106000, OUTCOME_RUNNING);
	test_prune(f->h, &l, 106000);
	assert_in_range(test_count_rows(&f->folder, "sample"), 100000,
		100000 + 6000 / 60 * 3 + 120);
	assert_int_equal(test_read_run(f->h, "r", &f->arena).samples, 106000);
}

static void a_correction_survives_thinning(void **state)
{
	struct test_place *f = *state;
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
	test_prune(f->h, &l, 3 * HOUR);
	assert_int_equal(test_count_samples(f, "r"), 2);

	struct run r = test_read_run(f->h, "r", &f->arena);

	assert_near(run_total(&r, "cpu_seconds"), 100, 1e-9);
	assert_near(run_mean(&r, "cpu_cores"), 1, 1e-9);
	assert_near(run_peak(&r, "memory_peak_bytes"), 1e6, 0);
	/* The added sample is a correction, with memory 0 and no duration. The mean of the second
	 * minute is still that of its measured samples, 60 to 99. */
	struct series series;

	assert_int_equal(history_series(f->h, "r", NULL, &f->arena, &series, NULL), 0);
	assert_near(series.values[TEST_MEMORY_BYTES][1], (60 + 99) / 2.0, 1e-9);
}

static void columns_of_others_are_thinned_too(void **state)
{
	struct test_place *f = *state;
	static const struct metric theirs = {.fold = FOLD_DELTA, .column = "gpu_seconds"};
	const struct metric *pointer = &theirs;
	const struct columns columns = {1, &pointer};
	const struct history_limits l = {.full_rate_seconds = HOUR};
	const struct run_begin b = test_begin("r", "job", 0);
	struct history *other;

	/* `other` was opened after `f->h`, whose list of columns is now old. */
	assert_int_equal(history_open(&other, f->folder.file, HISTORY_WRITE, &columns, NULL, NULL),
		0);
	assert_int_equal(history_transaction(other, NULL), 0);
	assert_int_equal(history_run_begin(other, &b, NULL), 0);
	for (int i = 0; i < 60; i++) {
		double value = 2;
		const struct sample s = {.run_id = "r", .at = i, .duration = 1, .value = &value};

		assert_int_equal(history_samples(other, &s, 1, NULL), 0);
	}
	assert_int_equal(history_commit(other, NULL), 0);
	history_close(other);
	test_prune(f->h, &l, 3 * HOUR);
	assert_int_equal(test_count_samples(f, "r"), 1);
	struct run r = test_read_run(f->h, "r", &f->arena);

	assert_near(run_total(&r, "gpu_seconds"), 120, 1e-9);
}

static void a_clock_that_stands_still_does_no_harm(void **state)
{
	struct test_place *f = *state;
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
	test_prune(f->h, &l, 3 * HOUR);
	assert_in_range(test_count_samples(f, "r"), 1, 5);
	struct run r = test_read_run(f->h, "r", &f->arena);

	assert_near(run_total(&r, "cpu_seconds"), 2500, 1e-6);
}

/* No program writes such sample counts. Buckets and runs add them up, and the sum must not
 * overflow. */
static void counts_of_a_damaged_file_stay_counts(void **state)
{
	struct test_place *f = *state;
	const struct history_limits l = {.full_rate_seconds = HOUR};
	static const struct {
		const char *run_id, *damage;
		uint64_t least, most;
	} table[] = {
		{"a", "UPDATE sample SET samples = 9223372036854775807", INT64_MAX, INT64_MAX},
		{"b", "UPDATE sample SET samples = -9223372036854775807 - 1", 0, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		test_write_run(f->h, table[i].run_id, "job", -1, 100, OUTCOME_RUNNING);
		test_run_sql(f->folder.file, table[i].damage);
		test_prune(f->h, &l, 3 * HOUR);
		assert_int_equal(test_count_samples(f, table[i].run_id), 2);
		struct run r = test_read_run(f->h, table[i].run_id, &f->arena);

		assert_in_range(r.samples, table[i].least, table[i].most);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_place_make, test_place_remove)
	const struct CMUnitTest tests[] = {
		TEST(thinning_keeps_what_statistics_need),
		TEST(thinning_again_changes_nothing),
		TEST(a_thinned_series_gives_means),
		TEST(young_samples_and_lone_ones_stay),
		TEST(very_old_samples_become_hours),
		TEST(an_open_run_is_bounded_whatever_its_age),
		TEST(a_correction_survives_thinning),
		TEST(columns_of_others_are_thinned_too),
		TEST(a_clock_that_stands_still_does_no_harm),
		TEST(counts_of_a_damaged_file_stay_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
