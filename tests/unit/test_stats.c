/* recommender/stats.c: distributions over time, and rates. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/run.h"

#define NEAR 1e-9

static void assert_near(double got, double expected)
{
	if (isnan(expected) ? !isnan(got) : !(fabs(got - expected) <= NEAR))
		fail_msg("%.17g is not %.17g", got, expected);
}

static void assert_distribution(struct distribution got, struct distribution expected)
{
	assert_int_equal(got.n, expected.n);
	assert_near(got.mean, expected.mean);
	assert_near(got.min, expected.min);
	assert_near(got.max, expected.max);
	assert_near(got.p50, expected.p50);
	assert_near(got.p95, expected.p95);
	assert_near(got.p99, expected.p99);
	assert_near(got.sum, expected.sum);
}

static void distribution_weighs_values_by_the_time_they_held(void **state)
{
	static const struct {
		const char *what;
		size_t n;
		double value[5], weight[5];
		struct distribution expected;
	} table[] = {
		{"nothing", 0, {0}, {0}, {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN}},
		{"all unknown", 2, {NAN, NAN}, {1, 1}, {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN}},
		{"one", 1, {7}, {3}, {1, 7, 7, 7, 7, 7, 7, 7}},
		{"equal times", 4, {4, 1, 3, 2}, {1, 1, 1, 1}, {4, 2.5, 1, 4, 2, 4, 4, 10}},
		{"unequal times", 2, {10, 20}, {9, 1}, {2, 11, 10, 20, 10, 20, 20, 30}},
		{"unknown left out", 3, {1, NAN, 3}, {1, 100, 1}, {2, 2, 1, 3, 1, 3, 3, 4}},
		{"no time: n, sum and max only", 3, {5, 1, 9}, {1, 0, 0},
			{3, 5, 5, 9, 5, 5, 5, 15}},
		{"no time at all: all alike", 2, {2, 4}, {0, 0}, {2, 3, 2, 4, 2, 4, 4, 6}},
		{"negative", 2, {-2, -4}, {1, 1}, {2, -3, -4, -2, -4, -2, -2, -6}},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		print_message("%s\n", table[i].what);
		assert_distribution(stats_distribution(table[i].value, table[i].weight, table[i].n),
			table[i].expected);
	}
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Returns the nearest rank by its textbook definition. Each value is repeated as many times as its
 * weight. */
static double textbook_percentile(const double *value, const double *weight, size_t n,
	double percent)
{
	double all[1000];
	size_t total = 0;

	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < (int)weight[i]; k++)
			all[total++] = value[i];
	qsort(all, total, sizeof *all, by_value);
	return all[(size_t)ceil(percent * (double)total / 100) - 1];
}

static void percentiles_are_nearest_ranks(void **state)
{
	uint32_t random = 1;
	double value[100], weight[100], tenth[100];

	for (int round = 0; round < 200; round++) {
		size_t n = 1 + (size_t)round % 100;

		for (size_t i = 0; i < n; i++) {
			random = random * 1664525 + 1013904223;
			value[i] = (double)(random >> 24);
			weight[i] = 1 + (double)((random >> 16) & 7);
			/* The same weights divided by 10, which have no exact binary value. */
			tenth[i] = weight[i] / 10;
		}
		struct distribution d = stats_distribution(value, tenth, n);

		assert_near(d.p50, textbook_percentile(value, weight, n, 50));
		assert_near(d.p95, textbook_percentile(value, weight, n, 95));
		assert_near(d.p99, textbook_percentile(value, weight, n, 99));
	}
}

static void null_weights_are_all_alike(void **state)
{
	assert_distribution(stats_distribution((double[]){1, 2, 6}, NULL, 3),
		(struct distribution){3, 3, 1, 6, 2, 6, 6, 9});
}

static const struct distribution *find(const struct column_stats *stats, size_t n,
	const char *column)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(stats[i].column, column) == 0)
			return &stats[i].d;
	return NULL;
}

static void rates_join_what_is_too_short_to_divide_by(void **state)
{
	static const struct {
		const char *what;
		size_t n;
		double duration[6], cpu[6];
		double mean, min, max; /* of cpu_cores */
		uint64_t rates;
	} table[] = {
		{"regular", 4, {1, 1, 1, 1}, {1, 2, 3, 2}, 2, 1, 3, 4},
		{"two seconds", 2, {2, 2}, {1, 3}, 1, 0.5, 1.5, 2},
		{"a short one at the end joins the one before", 4, {1, 1, 1, 0.01}, {1, 1, 1, 0.02},
			3.02 / 3.01, 1, 1.02 / 1.01, 3},
		{"a short one at the start joins the next", 3, {0.01, 1, 1}, {0.03, 1, 1},
			2.03 / 2.01, 1, 1.03 / 1.01, 2},
		{"a correction at the end counts in the mean alone", 4, {1, 1, 1, 0}, {1, 1, 1, 3},
			2, 1, 1, 3},
		{"a job of one short interval", 1, {0.004}, {0.002}, 0.5, 0.5, 0.5, 1},
		{"unknown growth is no time either", 3, {1, 1, 1}, {2, NAN, 4}, 3, 2, 4, 2},
		{"only the end tells the total: only the mean", 3, {1, 1, 0}, {NAN, NAN, 3}, 1.5,
			NAN, NAN, 1},
		{"nothing known: no rate", 2, {1, 1}, {NAN, NAN}, NAN, NAN, NAN, 0},
		{"no time at all: no rate", 1, {0}, {1}, NAN, NAN, NAN, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(arena_done) struct arena arena = {0};
		double cpu[6];
		double *const values[] = {memcpy(cpu, table[i].cpu, sizeof cpu)};
		const struct series s = {table[i].n, 1, (const char *const[]){"cpu_seconds"}, NULL,
			table[i].duration, values};
		struct column_stats *stats;
		size_t n = stats_of_series(&s, &arena, &stats);
		const struct distribution *d = find(stats, n, "cpu_cores");

		print_message("%s\n", table[i].what);
		if (table[i].rates == 0) {
			assert_null(d);
			continue;
		}
		assert_non_null(d);
		assert_int_equal(d->n, table[i].rates);
		assert_near(d->mean, table[i].mean);
		assert_near(d->min, table[i].min);
		assert_near(d->max, table[i].max);
		assert_true(isnan(d->sum));
	}
}

static void stats_are_sorted_and_leave_out_unknown_columns(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	double read[] = {10, 30}, memory[] = {5, 6}, unknown[] = {NAN, NAN}, cpu[] = {1, 1};
	double *const values[] = {read, memory, unknown, cpu};
	static const char *const columns[] = {
		"disk_read_bytes", "memory_bytes", "gpu_usage", "cpu_seconds"};
	static const char *const expected[] = {"cpu_cores", "cpu_seconds", "disk_read_bytes",
		"disk_read_bytes_per_second", "memory_bytes"};
	const struct series s = {2, 4, columns, NULL, (double[]){10, 10}, values};
	struct column_stats *stats;
	size_t n = stats_of_series(&s, &arena, &stats);

	assert_int_equal(n, ARRAY_LEN(expected));
	for (size_t i = 0; i < n; i++)
		assert_string_equal(stats[i].column, expected[i]);

	const struct run r = {.n_stats = n, .stats = stats};

	assert_near(run_total(&r, "cpu_seconds"), 2);
	assert_near(run_peak(&r, "disk_read_bytes_per_second"), 3);
	assert_near(run_mean(&r, "disk_read_bytes_per_second"), 2);
	assert_true(isnan(run_peak(&r, "gpu_usage")));
}

static void a_series_without_samples_has_no_stats(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	double *const values[] = {NULL};
	const struct series s = {0, 1, (const char *const[]){"cpu_seconds"}, NULL, NULL, values};
	struct column_stats *stats;

	assert_int_equal(stats_of_series(&s, &arena, &stats), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distribution_weighs_values_by_the_time_they_held),
		cmocka_unit_test(percentiles_are_nearest_ranks),
		cmocka_unit_test(null_weights_are_all_alike),
		cmocka_unit_test(rates_join_what_is_too_short_to_divide_by),
		cmocka_unit_test(stats_are_sorted_and_leave_out_unknown_columns),
		cmocka_unit_test(a_series_without_samples_has_no_stats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
