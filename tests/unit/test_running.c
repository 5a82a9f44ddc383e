/* recommender/behaviour/running.c: the forecast for a run that has not ended. */
#include "tests/unit/test_main.h"

#include <math.h>

#include "recommender/behaviour/running.h"
#include "recommender/sizing/strategy.h"
#include "tests/support/test_runs.h"

/* Makes 40 runs with peaks of 1000 to 1950 MiB and durations of 100 to 195 s. */
static struct prospect prospect_of_history(void)
{
	static struct test_runs t;
	struct prospect p;

	t = (struct test_runs){0};
	for (unsigned i = 0; i < 40; i++)
		test_run_succeeded(&t, 2, (1000 + 50 * (double)(i * 7 % 20)) * MIB)
			->duration_seconds = 100 + 5 * (double)(i * 9 % 20);
	running_prospect(&t.runs, &(struct sizing_options){0}, &p);
	return p;
}

static struct running outlook(const struct prospect *p, double peak_mib, double half_mib,
	double seconds, double limit_mib)
{
	struct running_progress now = {
		.started_at = 1e9,
		.seconds = seconds,
		.peak_bytes = peak_mib * MIB,
		.peak_at_half_bytes = half_mib * MIB,
		.cores = 2,
		.requested_cpu_cores = 8,
		.requested_memory_bytes = NAN,
		.memory_limit_bytes = limit_mib * MIB,
	};
	struct running r;

	running_outlook(p, &now, &r);
	return r;
}

static void the_points_ascend_around_the_past(void **state)
{
	struct prospect p = prospect_of_history();

	for (size_t i = 1; i < PROSPECT_POINTS; i++) {
		assert_true(p.peak[i] >= p.peak[i - 1]);
		assert_true(p.duration[i] >= p.duration[i - 1]);
	}
	assert_true(p.peak[20] > 800 * MIB && p.peak[20] < 1200 * MIB);
	assert_true(p.peak[180] > 1750 * MIB && p.peak[180] < 2200 * MIB);
	assert_true(p.duration[100] > 130 && p.duration[100] < 165);
}

/* Runs without numbers do not count among the newest runs. */
static void the_forecast_looks_at_as_many_measured_runs_as_the_sizing(void **state)
{
	static struct test_runs t;
	struct prospect all, newest;

	t = (struct test_runs){0};
	for (unsigned i = 0; i < 100; i++)
		test_run_succeeded(&t, 1, NAN)->not_measured = "nobody looked";
	for (unsigned i = 0; i < PEAKS_SEEN_MAX; i++)
		test_run_succeeded(&t, 1, (i < PEAKS_SEEN_MAX / 2 ? 100 : 200) * MIB);
	running_prospect(&t.runs, &(struct sizing_options){0}, &all);
	test_run_succeeded(&t, 1, 9000 * MIB); /* one run more than is read */
	running_prospect(&t.runs, &(struct sizing_options){0}, &newest);
	assert_memory_equal(&all, &newest, sizeof all);
	t.runs.n = 100 + PEAKS_SEEN_MAX / 2;
	running_prospect(&t.runs, &(struct sizing_options){0}, &newest);
	assert_memory_not_equal(&all, &newest, sizeof all);
}

static void the_risk_of_a_kill_follows_mark_limit_and_trend(void **state)
{
	/* Each row: the peak so far, and at half of the time so far, in MiB; the time so far in
	 * seconds; the memory limit in MiB; and the range of the risk. NaN = unknown. */
	static const struct {
		double peak, half, seconds, limit, least, most;
	} table[] = {
		{300, NAN, 10, 1800, .1, .35},   /* a fifth of the past peaks reached 1800 MiB */
		{1750, NAN, 10, 1800, .5, 1},    /* most past peaks are already exceeded */
		{300, NAN, 10, 20000, 0, .01},   /* the limit is far away */
		{1801, NAN, 10, 1800, 1, 1},     /* the limit is reached */
		{300, 150, 10, 1800, .1, .35},   /* early growth is normal */
		{2500, 2500, 120, 4000, 0, .01}, /* above all past peaks, but no growth */
		{2500, 1250, 100, 2600, .85, 1}, /* above all past peaks; the limit is 4 s away */
		{2500, 2490, 120, 4000, 0,
			.05}, /* above all past peaks; the limit is 9000 s away */
		{9000, NAN, 120, 12000, .5, .5}, /* peak and trend are beyond all experience */
	};
	struct prospect p = prospect_of_history();

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct running r =
			outlook(&p, table[i].peak, table[i].half, table[i].seconds, table[i].limit);

		if (!(r.oom_risk >= table[i].least && r.oom_risk <= table[i].most))
			fail_msg("row %zu: risk %g", i, r.oom_risk);
	}
}

static void what_is_left_over_is_a_share_of_what_was_used(void **state)
{
	struct prospect p = prospect_of_history();
	struct running r = outlook(&p, 300, NAN, 10, 1800);

	assert_true(fabs(r.overprovisioned_memory - 6) < 1e-9);
	assert_true(fabs(r.overprovisioned_cpu - 4) < 1e-9);
	assert_true(r.expected_peak_bytes > 1300 * MIB && r.expected_peak_bytes < 1600 * MIB);
	assert_true(outlook(&p, 1750, NAN, 10, 1800).expected_peak_bytes >= 1750 * MIB);
}

static void the_expected_end_moves_with_the_time_taken(void **state)
{
	struct prospect p = prospect_of_history();
	struct running early = outlook(&p, 300, NAN, 10, NAN),
		       late = outlook(&p, 300, NAN, 180, NAN);

	assert_true(early.expected_duration_seconds > 130 && early.expected_duration_seconds < 165);
	assert_true(late.expected_duration_seconds >= 180 && late.expected_duration_seconds < 260);
	assert_true(outlook(&p, 300, NAN, 5000, NAN).expected_duration_seconds >= 5000);
	assert_true(fabs(early.expected_end - 1e9 - early.expected_duration_seconds) < 1e-6);
	assert_true(isnan(early.oom_risk)); /* no limit */
}

static void without_a_past_nothing_is_expected(void **state)
{
	struct runs none = {0};
	struct prospect p;
	struct running r;

	running_prospect(&none, &(struct sizing_options){0}, &p);
	r = outlook(&p, NAN, NAN, 10, 1800);
	assert_true(isnan(r.oom_risk) && isnan(r.expected_peak_bytes));
	assert_true(isnan(r.expected_duration_seconds) && isnan(r.expected_end));
	assert_true(isnan(r.overprovisioned_memory));
	assert_true(fabs(r.overprovisioned_cpu - 4) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_points_ascend_around_the_past),
		cmocka_unit_test(the_forecast_looks_at_as_many_measured_runs_as_the_sizing),
		cmocka_unit_test(the_risk_of_a_kill_follows_mark_limit_and_trend),
		cmocka_unit_test(what_is_left_over_is_a_share_of_what_was_used),
		cmocka_unit_test(the_expected_end_moves_with_the_time_taken),
		cmocka_unit_test(without_a_past_nothing_is_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
