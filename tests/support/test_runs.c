#include "tests/support/test_runs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct run *test_run_add(struct test_runs *t, enum outcome o)
{
	size_t i = t->runs.n++;

	assert(i < TEST_RUNS_MAX);
	t->runs.run = t->run;
	t->run[i] = (struct run){
		.run_id = "a-run",
		.job_name = "a-job",
		.started_at = 1e9 - 1000.0 * (double)i,
		.ended_at = NAN,
		.duration_seconds = 100,
		.outcome = o,
		.exit_code = NAN,
		.exit_signal = NAN,
		.samples = 10,
		.interval_seconds = 1,
		.requested_cpu_cores = NAN,
		.requested_memory_bytes = NAN,
		.memory_limit_bytes = NAN,
		.input_bytes = NAN,
		.attempt = NAN,
		.cpu_missed_seconds = NAN,
		.cpu_foreign_seconds = NAN,
		.machine_cpus = NAN,
		.machine_memory_bytes = NAN,
		.address_limit_bytes = NAN,
		.address_peak_bytes = NAN,
		.stats = t->stats[i],
	};
	return &t->run[i];
}

static int by_name(const void *a, const void *b)
{
	const struct column_stats *left = a, *right = b;

	return strcmp(left->column, right->column);
}

void test_run_column(struct run *r, const char *column, double mean, double max)
{
	assert(r->n_stats < TEST_COLUMNS_MAX);
	r->stats[r->n_stats++] = (struct column_stats){
		.column = column,
		.d = {.n = 10,
			.mean = mean,
			.min = 0,
			.max = max,
			.p50 = mean,
			.p95 = max,
			.p99 = max,
			.sum = 10 * mean},
	};
	qsort(r->stats, r->n_stats, sizeof *r->stats, by_name);
}

void test_run_peak(struct run *r, double bytes)
{
	for (size_t i = 0; i < r->n_stats; i++)
		if (strcmp(r->stats[i].column, "memory_peak_bytes") == 0)
			r->stats[i].d.max = bytes;
}

struct run *test_run_succeeded(struct test_runs *t, double cores, double peak_bytes)
{
	struct run *r = test_run_add(t, OUTCOME_SUCCEEDED);

	if (!isnan(cores))
		test_run_column(r, "cpu_cores", cores, cores);
	if (!isnan(peak_bytes))
		test_run_column(r, "memory_peak_bytes", peak_bytes, peak_bytes);
	return r;
}

static void add_burst(struct run *r)
{
	r->stats[r->n_stats++] = (struct column_stats){"cpu_cores",
		{.n = 100, .mean = 1.7, .min = 1, .max = 8, .p50 = 1, .p95 = 8, .p99 = 8}};
}

void test_runs_steady(struct test_runs *t, size_t n, double mib)
{
	for (size_t i = 0; i < n; i++) {
		struct run *r = test_run_add(t, OUTCOME_SUCCEEDED);

		add_burst(r);
		test_run_column(r, "memory_peak_bytes", (mib + (double)(i % 3)) * 1048576,
			(mib + (double)(i % 3)) * 1048576);
		r->duration_seconds = 600 + 10 * (double)(i % 5);
	}
}
