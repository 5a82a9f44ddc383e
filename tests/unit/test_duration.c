/* Tests recommender/sizing/duration.c: how long the next run takes, and how sure that is. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "recommender/behaviour/running.h"
#include "recommender/servers/job_profile.h"
#include "recommender/sizing/duration.h"
#include "recommender/sizing/strategy.h"
#include "tests/support/test_runs.h"

#define DAY 86400.0

/* Adds `n` older runs that took `seconds` each. */
static void add_runs(struct test_runs *t, size_t n, double seconds)
{
	for (size_t i = 0; i < n; i++)
		test_run_succeeded(t, 1, 100 * MIB)->duration_seconds = seconds;
}

static struct sizing sized(const struct test_runs *t, double input, struct arena *arena)
{
	const struct sizing_options options = {.input_bytes = input, .input_given = input >= 0};
	struct sizing s = {0};
	struct err e = {0};

	assert_int_equal(strategy_find("auto")->size(&t->runs, &options, arena, &s, &e), 0);
	return s;
}

static void one_run_is_expected_again(void **state)
{
	static const double seconds[] = {0.013, 1, 59.9, 600, 30 * DAY, 3e9};

	for (size_t i = 0; i < ARRAY_LEN(seconds); i++) {
		struct duration_forecast f =
			duration_forecast(&(struct duration_seen){seconds[i], NAN}, 1, NAN);

		assert_true(f.seconds == seconds[i]);
		assert_true(isnan(f.low) && isnan(f.high));
	}
	struct duration_forecast none = duration_forecast(NULL, 0, 5);

	assert_true(isnan(none.seconds) && isnan(none.high));
	assert_true(isnan(duration_quantile(&none, 0.5)));
}

static void a_range_is_told_from_four_runs_on(void **state)
{
	static struct test_runs t;

	for (size_t n = 1; n <= 40; n++) {
		AUTO(arena_done) struct arena arena = {0};

		t = (struct test_runs){0};
		add_runs(&t, n, 100);
		struct sizing s = sized(&t, NAN, &arena);

		assert_true(s.demand.duration_seconds == 100);
		assert_int_equal(isnan(s.duration_low), n < DURATION_RANGE_MIN);
		assert_int_equal(isnan(s.duration_high), n < DURATION_RANGE_MIN);
		if (n < DURATION_RANGE_MIN) {
			assert_true(s.duration_bound == 150);
			continue;
		}
		assert_true(s.duration_low <= 100 && s.duration_high >= 100);
		assert_true(s.duration_bound == s.duration_high);
		/* All runs took the same time, so the range is narrow. */
		assert_true(s.duration_high < (n < 10 ? 120 : 101));
		assert_true(s.duration_low > (n < 10 ? 80 : 99));
	}
}

static void the_newest_level_is_expected(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};

	add_runs(&t, 5, 35);
	add_runs(&t, 9, 4);
	struct sizing s = sized(&t, NAN, &arena);

	assert_true(s.demand.duration_seconds == 35);

	/* All parts of an answer use the same expected duration. Only the speed of a server changes
	 * it. */
	struct job_profile p = job_profile_of(&t.runs, &s);
	struct forecast f = forecast_on(NULL, &p, NULL);

	assert_true(p.duration_seconds == 35 && f.seconds == 35);
	assert_true(p.duration_low == s.duration_low && f.high == s.duration_high);
	assert_true(isnan(job_profile_of(&t.runs, NULL).duration_seconds));

	/* A run that has just begun is expected to take as long as the next run. */
	const struct sizing_options options = {.input_bytes = NAN};
	struct running_progress began = {.seconds = 0, .memory_limit_bytes = NAN};
	static struct prospect prospect;
	struct running running;

	running_prospect(&t.runs, &options, &prospect);
	running_outlook(&prospect, &began, &running);
	assert_true(running.expected_duration_seconds == 35);
}

/* One run of unusual length does not change the expected duration of a steady job. */
static void an_odd_run_changes_little(void **state)
{
	struct duration_seen seen[30];

	for (size_t i = 0; i < ARRAY_LEN(seen); i++)
		seen[i] = (struct duration_seen){100 + (double)(i * 7 % 5), NAN};
	seen[ARRAY_LEN(seen) - 1].seconds = 5000;
	struct duration_forecast f = duration_forecast(seen, ARRAY_LEN(seen), NAN);

	assert_true(f.seconds >= 100 && f.seconds <= 104);
	assert_true(f.high < 5000);
}

/* Returns reproducible noise from -1 to 1. */
static double noise(size_t i)
{
	return sin((double)(i * i) * 12.9898);
}

static void durations_follow_the_input_up_and_down(void **state)
{
	static struct test_runs t;
	const double gib = 1024 * MIB;

	for (size_t i = 0; i < 40; i++) {
		double size = pow(20, (double)(i * 13 % 40) / 39) * gib;

		add_runs(&t, 1, 250 * size / gib * (1 + 0.02 * noise(i)));
		t.run[i].input_bytes = size;
	}
	static const double inputs[] = {1, 2.7, 9, 20, 0.3, 120};

	for (size_t i = 0; i < ARRAY_LEN(inputs); i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = sized(&t, inputs[i] * gib, &arena);
		double expected = 250 * inputs[i];
		double within = inputs[i] >= 1 && inputs[i] <= 20 ? 0.1 : 0.3;

		assert_true(fabs(s.demand.duration_seconds / expected - 1) < within);
		assert_true(s.duration_low < s.demand.duration_seconds);
		assert_true(s.duration_high > s.demand.duration_seconds);
		assert_true(s.duration_high < 1.5 * s.demand.duration_seconds);
		assert_true(job_profile_of(&t.runs, &s).duration_high == s.duration_high);
	}
	/* Without an announced input the range is wide. */
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s = sized(&t, NAN, &arena);

	assert_true(s.duration_high > 4 * s.duration_low);
}

/* Input sizes that have nothing to do with the durations hardly change the forecast. */
static void wrong_inputs_do_no_harm(void **state)
{
	struct duration_seen with[60], without[60];
	double worst = 0;

	for (size_t i = 0; i < ARRAY_LEN(with); i++) {
		double seconds = 300 * exp(0.1 * noise(i));

		with[i] = (struct duration_seen){seconds, exp(20 + 3 * noise(7 * i + 3))};
		without[i] = (struct duration_seen){seconds, NAN};
	}
	for (int k = -3; k <= 3; k++) {
		struct duration_forecast a =
			duration_forecast(with, ARRAY_LEN(with), exp(20 + (double)k));
		struct duration_forecast b = duration_forecast(without, ARRAY_LEN(without), NAN);

		worst = fmax(worst, fabs(log(a.seconds / b.seconds)));
	}
	assert_true(worst < 0.1);
}

/* Forecasts each run of a job from the runs before it, while the durations drift, jump and vary.
 * Counts the runs that lie inside the range. */
static void four_of_five_runs_are_inside_the_range(void **state)
{
	static const struct {
		const char *name;
		double drift, jump, spread;
	} jobs[] = {
		{"steady", 0, 0, 0.05},
		{"wide", 0, 0, 0.8},
		{"growing", 0.02, 0, 0.1},
		{"jumping", 0, 0.7, 0.1},
	};

	for (size_t j = 0; j < ARRAY_LEN(jobs); j++) {
		struct duration_seen seen[DURATION_RUNS_MAX];
		size_t told = 0, inside = 0;

		for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
			double level =
				jobs[j].drift * (double)i + jobs[j].jump * (double)(i / 25 % 2);
			double seconds = 100 * exp(level + jobs[j].spread * noise(i));

			if (i > 30) {
				struct duration_forecast f = duration_forecast(seen, i, NAN);

				told++;
				inside += seconds >= f.low && seconds <= f.high ? 1 : 0;
			}
			seen[i] = (struct duration_seen){seconds, NAN};
		}
		/* 95 % confidence interval of a share of 80 %, with 169 runs */
		if ((double)inside < 0.74 * (double)told || (double)inside > 0.87 * (double)told)
			fail_msg("%s: %zu of %zu", jobs[j].name, inside, told);
	}
}

static void quantiles_ascend_around_the_forecast(void **state)
{
	struct duration_seen seen[60];

	for (size_t n = 1; n <= ARRAY_LEN(seen); n++) {
		double before = 0;

		seen[n - 1] = (struct duration_seen){100 * exp(0.3 * noise(n)), NAN};
		struct duration_forecast f = duration_forecast(seen, n, NAN);

		for (int i = 1; i < 100; i++) {
			double q = duration_quantile(&f, i / 100.0);

			assert_true(q >= before && q > 10 && q < 1000);
			before = q;
		}
		assert_true(duration_quantile(&f, 0.05) < f.seconds * 1.2);
		assert_true(duration_quantile(&f, 0.95) > f.seconds / 1.2);
	}
}

/* A run that was cut by a time limit shows only that the job needs at least that much time. */
static void a_time_limit_leaves_room_for_runs_that_were_cut(void **state)
{
	for (size_t successes = 1; successes <= 8; successes += 7) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};

		t = (struct test_runs){0};
		add_runs(&t, successes, 3600);
		struct run *cut = test_run_add(&t, OUTCOME_FAILED);

		cut->exit_code = 124;
		cut->duration_seconds = 7200;
		struct sizing s = sized(&t, NAN, &arena);

		assert_true(s.demand.duration_seconds == 3600);
		assert_true(s.duration_bound == 7200);
		assert_true(successes < DURATION_RANGE_MIN ? isnan(s.duration_high) :
							     s.duration_high == 7200);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run_is_expected_again),
		cmocka_unit_test(a_range_is_told_from_four_runs_on),
		cmocka_unit_test(the_newest_level_is_expected),
		cmocka_unit_test(an_odd_run_changes_little),
		cmocka_unit_test(durations_follow_the_input_up_and_down),
		cmocka_unit_test(wrong_inputs_do_no_harm),
		cmocka_unit_test(four_of_five_runs_are_inside_the_range),
		cmocka_unit_test(quantiles_ascend_around_the_forecast),
		cmocka_unit_test(a_time_limit_leaves_room_for_runs_that_were_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
