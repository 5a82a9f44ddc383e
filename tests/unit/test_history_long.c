/* exporter/history/series.c: a run with more samples than fit into memory at once. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>

#include "tests/support/test_history.h"

/* When the buffer is full, pairs of rows are joined and half of the buffer becomes free. This
 * number of rows fills the buffer twice, so each remaining row consists of four measured rows. */
#define MEASURED (3 * (HISTORY_SERIES_MAX / 2) + 1)
#define BUCKETS  HISTORY_SERIES_MAX /* number of thinned buckets of three rows each */

/* Adds rows 1 to `rows` to a run. `columns` are the names, and `values` are SQL expressions of the
 * row's number i. */
static void fill(struct test_place *p, const char *run_id, unsigned rows, const char *columns,
	const char *values)
{
	char sql[2000];

	test_write_run(p->h, run_id, "job", 0, 0, OUTCOME_RUNNING);
	snprintf(sql, sizeof sql,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u) "
		"INSERT INTO sample(id, at, duration, %s) SELECT (SELECT id << 32 FROM run WHERE "
		"run_id = '%s') + i, %s FROM n",
		rows, columns, run_id, values);
	test_run_sql(p->folder.file, sql);
}

static double sum(const double *v, size_t n)
{
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += isnan(v[i]) ? 0 : v[i];
	return all;
}

static void fill_measured(struct test_place *p)
{
	/* Two values are unusual: `memory_peak_bytes` is 7e9 in row 1000, and `memory_bytes` is
	 * 1000 in row 5. */
	fill(p, "r", MEASURED, "cpu_seconds, memory_peak_bytes, memory_bytes, disk_read_bytes",
		"i, 1, 0.25, iif(i = 1000, 7e9, i % 1000), iif(i = 5, 1000, 2), iif(i % 2, NULL, "
		"10)");
}

static void a_long_run_is_joined_to_so_many(void **state)
{
	struct test_place *p = *state;
	struct series s;

	fill_measured(p);
	assert_int_equal(history_series(p->h, "r", NULL, &p->arena, &s, NULL), 0);
	assert_int_equal(s.n, 3 * (HISTORY_SERIES_MAX / 8) + 1);
	assert_near(sum(s.duration, s.n), MEASURED, 1e-6);
	assert_near(sum(s.values[TEST_CPU_SECONDS], s.n), MEASURED * 0.25, 1e-6);
	assert_near(sum(s.values[TEST_DISK_READ_BYTES], s.n), MEASURED / 2 * 10.0, 1e-3);
	assert_near(s.at[s.n - 1], MEASURED, 0);
	assert_near(s.duration[0], 4, 0);
	assert_near(s.duration[s.n - 1], 1, 0);
	for (size_t i = 1; i < s.n; i++)
		assert_near(s.at[i] - s.at[i - 1], s.duration[i], 0);
	assert_near(s.values[TEST_MEMORY_PEAK_BYTES][249], 7e9, 0);
	assert_near(s.values[TEST_MEMORY_PEAK_BYTES][250], 4, 0);
	assert_near(s.values[TEST_MEMORY_BYTES][0], 2, 0);
	assert_near(s.values[TEST_MEMORY_BYTES][1], (1000 + 3 * 2) / 4.0, 1e-9);
	for (size_t i = 0; i < s.n; i++)
		assert_true(isnan(s.values[TEST_LOAD][i]));
}

static void its_statistics_keep_sums_means_and_peaks(void **state)
{
	struct test_place *p = *state;

	fill_measured(p);
	struct run r = test_read_run(p->h, "r", &p->arena);

	assert_near(run_total(&r, "cpu_seconds"), MEASURED * 0.25, 1e-6);
	assert_near(run_mean(&r, "cpu_cores"), 0.25, 1e-9);
	assert_near(run_peak(&r, "memory_peak_bytes"), 7e9, 0);
	assert_near(run_mean(&r, "memory_bytes"), 2 + 998.0 / MEASURED, 1e-9);
	assert_near(run_total(&r, "disk_read_bytes"), MEASURED / 2 * 10.0, 1e-3);
}

/* Each bucket is one minute and has three rows: a mean of 10 s of CPU time, a minimum of 5 s and a
 * maximum of 20 s. */
static void so_are_the_buckets_of_one_that_was_thinned(void **state)
{
	struct test_place *p = *state;
	struct series s;

	fill(p, "r", 3 * BUCKETS, "kind, samples, cpu_seconds, memory_peak_bytes",
		"60 * ((i + 2) / 3), 60, (i - 1) % 3 + 1, 60, CASE (i - 1) % 3 WHEN 0 THEN 10 WHEN "
		"1 THEN 5 ELSE 20 END, i");
	assert_int_equal(history_series(p->h, "r", NULL, &p->arena, &s, NULL), 0);
	assert_int_equal(s.n, BUCKETS); /* one row per bucket; all of them fit */
	struct run r = test_read_run(p->h, "r", &p->arena);

	assert_near(run_total(&r, "cpu_seconds"), 10.0 * BUCKETS, 1e-3);
	assert_near(run_mean(&r, "cpu_cores"), 1 / 6.0, 1e-9);
	assert_near(run_peak(&r, "memory_peak_bytes"), 3 * BUCKETS, 0);
}

static void as_many_as_are_held_stay_as_they_are(void **state)
{
	struct test_place *p = *state;
	struct series s;

	fill(p, "r", HISTORY_SERIES_MAX, "cpu_seconds", "i, 1, i");
	assert_int_equal(history_series(p->h, "r", NULL, &p->arena, &s, NULL), 0);
	assert_int_equal(s.n, HISTORY_SERIES_MAX);
	for (size_t i = 0; i < s.n; i++)
		assert_near(s.values[TEST_CPU_SECONDS][i], (double)(i + 1), 0);
}

/* CSV and live streams read the series in parts, one after the other. No samples are joined. */
static void in_parts_every_sample_is_there(void **state)
{
	struct test_place *p = *state;
	int64_t position = 0;
	size_t n = 0;
	struct series s;

	fill_measured(p);
	do {
		AUTO(arena_done) struct arena part = {0};

		assert_int_equal(history_series_after(p->h, "r", &position, 50000, NULL, &part, &s,
					 NULL),
			1);
		n += s.n;
		assert_near(sum(s.duration, s.n), (double)s.n, 0);
	} while (s.n);
	assert_int_equal(n, MEASURED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_place_make, test_place_remove)
	const struct CMUnitTest tests[] = {
		TEST(a_long_run_is_joined_to_so_many),
		TEST(its_statistics_keep_sums_means_and_peaks),
		TEST(so_are_the_buckets_of_one_that_was_thinned),
		TEST(as_many_as_are_held_stay_as_they_are),
		TEST(in_parts_every_sample_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
