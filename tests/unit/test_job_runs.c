/* exporter/answers/job_runs.h: how many runs an answer reads, however many the history keeps. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>

#include "exporter/answers/job_runs.h"
#include "recommender/sizing/rule.h"
#include "tests/support/test_history.h"

static double at = 1795250000; /* start of the next run, seconds since 1970 UTC */

static void add(struct test_place *p, size_t n, enum outcome outcome, double limit,
	const char *not_measured)
{
	struct err e = {0};

	assert_int_equal(history_transaction(p->h, &e), 0);
	for (size_t i = 0; i < n; i++) {
		struct column_stats peak = {"memory_peak_bytes", {.n = 1, .max = 1e9}};
		char id[32];

		snprintf(id, sizeof id, "run-%.0f", at);
		const struct run run = {.run_id = id,
			.job_name = "job",
			.started_at = at,
			.ended_at = at + 60,
			.duration_seconds = 60,
			.outcome = outcome,
			.exit_code = NAN,
			.exit_signal = NAN,
			.requested_cpu_cores = NAN,
			.requested_memory_bytes = NAN,
			.memory_limit_bytes = limit > 0 ? limit : (double)NAN,
			.input_bytes = NAN,
			.attempt = NAN,
			.cpu_missed_seconds = NAN,
			.cpu_foreign_seconds = NAN,
			.machine_cpus = NAN,
			.machine_memory_bytes = NAN,
			.address_limit_bytes = NAN,
			.address_peak_bytes = NAN,
			.n_stats = not_measured ? 0 : 1,
			.stats = &peak,
			.not_measured = not_measured};

		at += 100;
		assert_int_equal(history_run_add(p->h, &run, &e), 1);
	}
	assert_int_equal(history_commit(p->h, &e), 0);
}

static struct runs read_runs(struct test_place *p, size_t measured)
{
	struct runs runs;
	struct err e = {0};

	if (job_runs_to_size(p->h, "job", measured, &p->arena, &runs, &e))
		fail_msg("%s", e.text);
	for (size_t i = 1; i < runs.n; i++)
		assert_true(runs.run[i].started_at < runs.run[i - 1].started_at);
	return runs;
}

static void reading_ends_at_the_last_measured_success(void **state)
{
	struct test_place *p = *state;

	assert_int_equal(read_runs(p, 0).n, 0);
	add(p, PEAKS_SEEN_MAX, OUTCOME_SUCCEEDED, 0, NULL);
	assert_int_equal(read_runs(p, 0).n, PEAKS_SEEN_MAX);
	add(p, 7, OUTCOME_FAILED, 0, NULL);
	add(p, 5, OUTCOME_SUCCEEDED, 0, "nobody looked");
	add(p, 10, OUTCOME_SUCCEEDED, 0, NULL);
	/* Ten newer successful runs were added, so the ten oldest are no longer read. */
	assert_int_equal(read_runs(p, 0).n, PEAKS_SEEN_MAX + 7 + 5);
	assert_int_equal(read_runs(p, 10).n, 10);
	assert_int_equal(read_runs(p, 11).n, 10 + 5 + 7 + 1);
}

static void failed_runs_are_read_up_to_a_bound(void **state)
{
	struct test_place *p = *state;

	add(p, 1, OUTCOME_SUCCEEDED, 0, NULL);
	add(p, RUNS_PER_SUCCESS * PEAKS_SEEN_MAX - 1, OUTCOME_FAILED, 0, NULL);
	struct runs runs = read_runs(p, 0);

	assert_int_equal(runs.n, RUNS_PER_SUCCESS * PEAKS_SEEN_MAX);
	assert_int_equal(runs.run[runs.n - 1].outcome, OUTCOME_SUCCEEDED);
	add(p, 1, OUTCOME_FAILED, 0, NULL);
	runs = read_runs(p, 0);
	assert_int_equal(runs.n, RUNS_PER_SUCCESS * PEAKS_SEEN_MAX);
	assert_int_equal(runs.run[runs.n - 1].outcome, OUTCOME_FAILED);
}

/* The history keeps one run under another limit, and the answer reads it. */
static void the_newest_run_under_another_limit_is_among_them(void **state)
{
	struct test_place *p = *state;
	const struct history_limits limits = {.runs_per_job = PEAKS_SEEN_MAX};

	add(p, 1, OUTCOME_SUCCEEDED, 3e9, NULL);
	add(p, 1, OUTCOME_SUCCEEDED, 2e9, NULL);
	add(p, 1, OUTCOME_FAILED, 4e9, NULL);
	add(p, 2 * PEAKS_SEEN_MAX, OUTCOME_SUCCEEDED, 1e9, NULL);
	add(p, 1, OUTCOME_SUCCEEDED, 1.04e9, NULL); /* this limit differs too little */
	for (int pruned = 0; pruned < 2; pruned++) {
		struct runs runs = read_runs(p, 0);

		assert_int_equal(runs.n, PEAKS_SEEN_MAX + 1);
		assert_near(runs.run[runs.n - 1].memory_limit_bytes, 2e9, 1);
		test_prune(p->h, &limits, at);
		assert_int_equal(test_count_runs(p->h, "job"), PEAKS_SEEN_MAX + 1);
	}
	/* A newer run under another limit replaces the run that was kept. It is one of the newest
	 * runs, which are kept anyway. */
	add(p, 1, OUTCOME_SUCCEEDED, 5e9, NULL);
	add(p, 1, OUTCOME_SUCCEEDED, 1e9, NULL);
	test_prune(p->h, &limits, at);
	struct runs runs = read_runs(p, 0);

	assert_int_equal(test_count_runs(p->h, "job"), PEAKS_SEEN_MAX);
	assert_int_equal(runs.n, PEAKS_SEEN_MAX);
	assert_near(runs.run[1].memory_limit_bytes, 5e9, 1);
	/* The run under another limit is removed when it is too old. */
	add(p, PEAKS_SEEN_MAX, OUTCOME_SUCCEEDED, 1e9, NULL);
	test_prune(p->h, &limits, at);
	assert_int_equal(test_count_runs(p->h, "job"), PEAKS_SEEN_MAX + 1);
	test_prune(p->h,
		&(struct history_limits){.runs_per_job = PEAKS_SEEN_MAX,
			.retention_seconds = 100.0 * PEAKS_SEEN_MAX + 50},
		at);
	assert_int_equal(test_count_runs(p->h, "job"), PEAKS_SEEN_MAX);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, test_place_make, test_place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reading_ends_at_the_last_measured_success),
		TEST(failed_runs_are_read_up_to_a_bound),
		TEST(the_newest_run_under_another_limit_is_among_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
