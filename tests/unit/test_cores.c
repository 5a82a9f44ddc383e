/* Tests recommender/sizing/cpu.c, cpu_speed.c and cores.c: how many cores a job needs, and how long a
 * job takes with a number of cores. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "recommender/sizing/cpu.h"
#include "recommender/sizing/cpu_speed.h"
#include "recommender/sizing/strategy.h"
#include "tests/support/test_runs.h"

static struct sizing sized_for(const struct test_runs *t, enum cpu_for purpose, struct arena *arena)
{
	const struct sizing_options options = {.cpu_for = purpose};
	struct sizing s = {0};
	struct err e = {0};

	assert_int_equal(strategy_find("auto")->size(&t->runs, &options, arena, &s, &e), 0);
	return s;
}

static struct sizing sized(const struct test_runs *t, struct arena *arena)
{
	return sized_for(t, CPU_FOR_SPEED, arena);
}

static double seconds_with(const struct sizing *s, double cores)
{
	for (size_t i = 0; i < s->n_at_cores; i++)
		if (s->at_cores[i].cores == cores)
			return s->at_cores[i].seconds;
	fail_msg("no duration with %g cores", cores);
	return NAN;
}

static void a_short_burst_is_not_a_mean(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;

	test_runs_steady(&t, 10, 1000);
	s = sized_for(&t, CPU_FOR_COST, &arena);
	assert_int_equal(s.resources.cpu, 1);
	assert_true(s.cpu_cores_limit >= 6);
	assert_true(fabs(seconds_with(&s, 1) / s.demand.duration_seconds - 1.7) < 0.05);
	assert_true(seconds_with(&s, 2) < seconds_with(&s, 1));
	assert_true(fabs(seconds_with(&s, 8) - s.demand.duration_seconds) < 1e-6);
	/* The forecast duration is that with the requested cores: 17 min instead of 10 min. */
	assert_true(fabs(s.cpu_slowdown - 1.7) < 0.05);
	assert_non_null(strstr(s.summary, "Request 1 CPU and "));
	assert_non_null(strstr(s.summary, " for about 17.0 min"));

	/* The default request does not slow the job down, although the job rarely uses that many
	 * cores. */
	s = sized(&t, &arena);
	assert_in_range(s.resources.cpu, 4, 6);
	assert_true(s.cpu_slowdown < 1.11);
	assert_true(s.cpu_cores_limit >= s.demand.cpu_cores);

	static struct test_runs large; /* memory costs more than CPUs here */

	test_runs_steady(&large, 10, 400.0 * 1024);
	assert_true(sized_for(&large, CPU_FOR_COST, &arena).resources.cpu >= 4);
}

/* If the memory is unknown or tiny, only the cores cost something. A tenth of the cores for ten
 * times as long would cost the same. The sizing must still not request so few cores. */
static void unknown_memory_is_no_reason_to_be_slow(void **state)
{
	static const struct {
		double memory, mean, most, least; /* least = fewest cores requested */
	} table[] = {{NAN, 2.5, 2.5, 2.25}, {MIB, 2.5, 2.5, 2.25}, {NAN, 2.5, 4, 1},
		{MIB, 2.5, 4, 1}, {NAN, 16, 16, 15}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};

		t = (struct test_runs){0};
		for (int k = 0; k < 5; k++)
			test_run_column(test_run_succeeded(&t, NAN, table[i].memory), "cpu_cores",
				table[i].mean, table[i].most);
		double cores = sized_for(&t, CPU_FOR_COST, &arena).demand.cpu_cores;

		if (!(cores >= table[i].least && cores <= table[i].most))
			fail_msg("row %zu: %g", i, cores);
	}
}

/* Adds a run that keeps `level` cores busy for most of its time, as a sampler sees it. */
static void add_plateau(struct test_runs *t, double level)
{
	struct run *r = test_run_succeeded(t, NAN, NAN);

	r->stats[r->n_stats++] = (struct column_stats){"cpu_cores", {.n = 60,
									    .mean = 0.95 * level,
									    .min = 0.1,
									    .max = 1.02 * level,
									    .p50 = level,
									    .p95 = 1.005 * level,
									    .p99 = 1.01 * level}};
	test_run_column(r, "memory_peak_bytes", 1024 * MIB, 1024 * MIB);
}

static void cores_that_are_kept_busy_are_asked_for(void **state)
{
	static const struct {
		double level;
		unsigned whole;
		double fraction;
	} table[] = {{6, 6, 6}, {48, 48, 48}, {1.02, 1, 1}, {1.08, 1, 1}, {1.4, 2, 1.5}, {2, 2, 2},
		{0.3, 1, 0.5}, {200, 201, 201}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		for (int runs = 1; runs <= 30; runs += 29) {
			static struct test_runs t;
			AUTO(arena_done) struct arena arena = {0};
			struct sizing s;

			t = (struct test_runs){0};
			for (int k = 0; k < runs; k++)
				add_plateau(&t, table[i].level);
			s = sized(&t, &arena);
			if (s.resources.cpu != table[i].whole ||
				fabs(s.demand.cpu_cores - table[i].fraction) > 1e-9)
				fail_msg("row %zu, %d runs: %u, %g", i, runs,
					(unsigned)s.resources.cpu, s.demand.cpu_cores);
			assert_true(s.cpu_slowdown < 1.1);
		}
}

/* Returns the whole cores requested after runs of which only the mean cores are known. `mean` has
 * the oldest run first. */
static unsigned asked_after(const double *mean, size_t n, double machine_cpus)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};

	t = (struct test_runs){0};
	for (size_t i = n; i-- > 0;)
		test_run_succeeded(&t, mean[i], 1024 * MIB)->machine_cpus = machine_cpus;
	return (unsigned)sized(&t, &arena).resources.cpu;
}

static unsigned asked_after_steady(double mean, size_t n, double machine_cpus)
{
	double all[TEST_RUNS_MAX];

	for (size_t i = 0; i < n; i++)
		all[i] = mean;
	return asked_after(all, n, machine_cpus);
}

/* A single mean says little about the next run. The request is therefore above the mean, and comes
 * closer to it with each run. */
static void room_shrinks_with_what_is_known(void **state)
{
	static const double varied[] = {4, 7, 5, 8, 4, 6, 8, 5, 7, 4};
	unsigned before = 100;

	for (size_t n = 1; n <= 20; n++) {
		unsigned cores = asked_after_steady(6, n, NAN);

		assert_true(cores >= 6 && cores <= before);
		before = cores;
	}
	assert_int_equal(before, 6);
	assert_in_range(asked_after_steady(6, 1, NAN), 12, 18);
	assert_in_range(asked_after_steady(6, 6, NAN), 6, 7);
	assert_true(asked_after(varied, ARRAY_LEN(varied), NAN) >
		    asked_after_steady(8, ARRAY_LEN(varied), NAN));
	/* The request is at most the CPUs that the machine had, but at least the measured mean. A
	 * job of many cores gets only a little more than its mean. */
	assert_int_equal(asked_after_steady(6, 1, 8), 8);
	assert_int_equal(asked_after_steady(6, 1, 4), 6);
	assert_in_range(asked_after_steady(48, 6, NAN), 48, 52);
	/* A job of one thread gets no second core. */
	for (size_t n = 1; n <= 20; n++) {
		assert_int_equal(asked_after_steady(1.02, n, NAN), 1);
		assert_int_equal(asked_after_steady(0.1, n, NAN), 1);
	}
}

/* A batch system knows the mean of a run and, at best, what the run requested. The room for a wider run
 * stays within that request, and the answer says what it does not know. */
static void a_mean_alone_asks_for_no_more_than_was_requested(void **state)
{
	static const struct {
		double mean, requested, machine_cpus;
		unsigned cores;
	} table[] = {{1.5, 2, NAN, 2}, {1.5, 2, 64, 2}, {6, 8, NAN, 8}, {6, 8, 4, 6},
		{6, 4, NAN, 6}, {0.4, 2, NAN, 1}, {1.5, NAN, NAN, 2}, {1.5, NAN, 64, 2},
		{6, NAN, NAN, 6}, {0.4, NAN, NAN, 1}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};

		t = (struct test_runs){0};
		struct run *r = test_run_succeeded(&t, table[i].mean, 1024 * MIB);

		r->stats[0].d =
			(struct distribution){.n = 1, table[i].mean, NAN, NAN, NAN, NAN, NAN, NAN};
		r->requested_cpu_cores = table[i].requested;
		r->machine_cpus = table[i].machine_cpus;
		struct sizing s = sized(&t, &arena);

		if (s.resources.cpu != table[i].cores || s.demand.cpu_cores > table[i].cores)
			fail_msg("row %zu: %u, %g", i, (unsigned)s.resources.cpu,
				s.demand.cpu_cores);
		assert_true(warnings_have(&s.warnings, WARNING_CPU_PEAK_UNKNOWN));
		test_run_succeeded(&t, table[i].mean, 1024 * MIB);
		s = sized(&t, &arena);
		assert_false(warnings_have(&s.warnings, WARNING_CPU_PEAK_UNKNOWN));
	}
}

static void wider_and_narrower_runs_are_followed(void **state)
{
	double mean[90];

	for (size_t i = 0; i < ARRAY_LEN(mean); i++)
		mean[i] = i < 20 ? 4 : 8;
	assert_int_equal(asked_after(mean, 20, NAN), 4);
	assert_true(asked_after(mean, 21, NAN) >= 8);
	assert_in_range(asked_after(mean, 30, NAN), 8, 10);
	for (size_t i = 0; i < ARRAY_LEN(mean); i++)
		mean[i] = i < 20 ? 8 : 4;
	/* Four lower runs are not yet a lasting fall. */
	assert_in_range(asked_after(mean, 24, NAN), 8, 9);
	assert_in_range(asked_after(mean, 25, NAN), 4, 5);
	for (size_t n = 30; n <= ARRAY_LEN(mean); n++)
		assert_int_equal(asked_after(mean, n, NAN), 4);
}

/* The request is at least the largest need, or half of it for a job of one core. It is at most 4
 * times the largest need, or one core. Rounding changes it by 10 % or one core at most. */
static void cores_for_speed_have_their_bounds(void **state)
{
	double need[SPEED_RUNS];

	for (size_t n = 1; n <= SPEED_RUNS; n++)
		for (double level = 0.01; level < 20000; level *= 1.7) {
			double most = 0;

			for (size_t i = 0; i < n; i++) {
				need[i] = level * (1 + 0.3 * (double)(i * 7 % 5));
				most = fmax(most, need[i]);
			}
			double cores = cpu_speed_cores(need, n, INFINITY);
			double fraction = cpu_speed_fraction(cores);
			double whole = (double)cpu_speed_whole(cores);

			assert_true(cores >= (most <= 1.05 && n == SPEED_RUNS ? 0.5 : 1) * most);
			assert_true(cores <= fmax(1, 4 * most));
			assert_true(fraction <= whole && whole >= 1 && fraction >= 0.25);
			assert_true(fraction * 1.1 >= cores - 1e-9);
			assert_true(whole <= fmax(1, cores + 1));
			assert_true(cpu_speed_cores(need, n, most) == most || most <= 1.05);
		}
}

static void the_price_of_the_other_purpose_is_told(void **state)
{
	static const struct {
		double level;
		const char *speed, *cost;
	} table[] = {
		{6, "cpu: With cpu_for cost, a run has ", "cpu: With cpu_for speed, a run has "},
		{1, "cpu: With cpu_for cost, the request is the same.",
			"cpu: With cpu_for speed, the request is the same."},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};

		t = (struct test_runs){0};
		for (int k = 0; k < 10; k++) {
			struct run *r = test_run_succeeded(&t, NAN, NAN);

			/* For a third of the time, the run uses one core. */
			r->stats[r->n_stats++] = (struct column_stats){
				"cpu_cores", {.n = 60,
						     .mean = (1 + 2 * table[i].level) / 3,
						     .min = 1,
						     .max = table[i].level,
						     .p50 = table[i].level,
						     .p95 = table[i].level,
						     .p99 = table[i].level}};
			test_run_column(r, "memory_peak_bytes", 1024 * MIB, 1024 * MIB);
		}
		struct sizing speed = sized_for(&t, CPU_FOR_SPEED, &arena),
			      cost = sized_for(&t, CPU_FOR_COST, &arena);
		const char *told = NULL, *other = NULL;

		for (size_t k = 0; k < speed.n_explain; k++)
			told = told ? told : strstr(speed.explain[k], table[i].speed);
		for (size_t k = 0; k < cost.n_explain; k++)
			other = other ? other : strstr(cost.explain[k], table[i].cost);
		assert_non_null(told);
		assert_non_null(other);
		assert_true(cost.resources.cpu <= speed.resources.cpu);
		assert_true(cost.cpu_cores_for_speed == speed.demand.cpu_cores);
		assert_true(cost.cpu_cores_limit == speed.cpu_cores_limit);
		if (table[i].level <= 1)
			continue;
		char words[100];

		snprintf(words, sizeof words,
			"cpu: With cpu_for cost, a run has %u CPU%s, takes %.2f times as long and costs ",
			(unsigned)cost.resources.cpu, cost.resources.cpu > 1 ? "s" : "",
			cost.cpu_slowdown / speed.cpu_slowdown);
		assert_non_null(strstr(told, words));
		assert_non_null(strstr(told, " % less"));
		assert_non_null(strstr(other, " % more"));
	}
}

static void durations_reach_the_cores_that_the_job_used(void **state)
{
	static const struct {
		double level;
		double cores[10]; /* numbers of cores that have a duration; ends with 0 */
	} table[] = {
		{48, {1, 2, 4, 8, 16, 32, 48, 64}},
		{6, {1, 2, 4, 6, 8}},
		{1, {1}},
		{0.3, {0.5, 1}},
		{64, {1, 2, 4, 8, 16, 32, 64}},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};
		size_t n = 0;

		t = (struct test_runs){0};
		for (int k = 0; k < 20; k++)
			test_run_column(test_run_succeeded(&t, NAN, MIB), "cpu_cores",
				0.999 * table[i].level, table[i].level);
		struct sizing s = sized(&t, &arena);

		for (; table[i].cores[n] > 0; n++) {
			double fewer = fmax(1, 0.999 * table[i].level / table[i].cores[n]);

			assert_true(n < s.n_at_cores);
			assert_true(s.at_cores[n].cores == table[i].cores[n]);
			assert_true(fabs(s.at_cores[n].seconds / (100 * fewer) - 1) < 0.01);
		}
		assert_int_equal(s.n_at_cores, n);
	}
}

static void unknown_cores_have_no_durations(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};

	t = (struct test_runs){0};
	test_run_succeeded(&t, NAN, MIB);
	assert_int_equal(sized(&t, &arena).n_at_cores, 0);
	t = (struct test_runs){0};
	test_run_succeeded(&t, 16000, MIB)->duration_seconds = NAN;
	struct sizing s = sized(&t, &arena);

	assert_in_range(s.n_at_cores, 15, AT_CORES_MAX);
	for (size_t i = 0; i < s.n_at_cores; i++) {
		assert_true(isnan(s.at_cores[i].seconds));
		assert_true(i == 0 || s.at_cores[i].cores > s.at_cores[i - 1].cores);
	}
}

static void need_is_what_does_not_slow_a_run_down(void **state)
{
	static const struct {
		struct distribution d;
		double need;
		bool varied;
	} table[] = {
		{{.mean = 6, .min = 6, .p50 = 6, .p95 = 6, .p99 = 6, .max = 6}, 6, false},
		{{.mean = 6, .min = NAN, .p50 = NAN, .p95 = NAN, .p99 = NAN, .max = NAN}, 6, false},
		/* the job is idle half of the time */
		{{.mean = 3, .min = 0, .p50 = 0, .p95 = 6, .p99 = 6, .max = 6}, 6, true},
		/* 1 % of the time 8 cores, and 4 % between 1 and 8, else 1 */
		{{.mean = 1.21, .min = 1, .p50 = 1, .p95 = 1, .p99 = 8, .max = 8}, 1.74, true},
		{{.mean = 1, .min = 1, .p50 = 1, .p95 = 1, .p99 = 1, .max = 1.1}, 1, true},
		{{.mean = 0, .min = 0, .p50 = 0, .p95 = 0, .p99 = 0, .max = 0}, CORES_MIN, false},
	};
	struct parallel p;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		assert_true(cpu_parallel_of(&table[i].d, &p));
		double need = cpu_parallel_need(&p);

		if (!(fabs(need / table[i].need - 1) < 0.05) || p.varied != table[i].varied)
			fail_msg("row %zu: %g", i, need);
		if (need > CORES_MIN)
			assert_true(cpu_parallel_stretch(&p, need) <= 1.1 * (1 + 1e-3));
	}
}

static void stretch_follows_the_shape_over_time(void **state)
{
	static const struct {
		struct distribution d;
		double cores, stretch, within;
	} table[] = {
		{{.mean = 4, .min = 4, .p50 = 4, .p95 = 4, .p99 = 4, .max = 4}, 2, 2, 1e-9},
		{{.mean = 4, .min = 4, .p50 = 4, .p95 = 4, .p99 = 4, .max = 4}, 8, 1, 1e-9},
		{{.mean = 4, .min = NAN, .p50 = NAN, .p95 = NAN, .p99 = NAN, .max = NAN}, 1, 4,
			1e-9},
		{{.mean = 1.7, .min = 1, .p50 = 1, .p95 = 8, .p99 = 8, .max = 8}, 1, 1.7, 0.03},
		{{.mean = 1.7, .min = 1, .p50 = 1, .p95 = 8, .p99 = 8, .max = 8}, 4, 1.1, 0.05},
		{{.mean = 3.9, .min = 0, .p50 = 4, .p95 = 4, .p99 = 4, .max = 4}, 2, 1.96, 0.02},
		{{.mean = 2, .min = 0, .p50 = 0, .p95 = 4, .p99 = 4, .max = 4}, 2, 1.5, 0.1},
		{{.mean = 1, .min = 5, .p50 = 4, .p95 = 3, .p99 = 2, .max = 1}, 1000, 1,
			1e-9}, /* a distribution that cannot exist */
	};
	struct parallel p;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		assert_true(cpu_parallel_of(&table[i].d, &p));
		if (!(fabs(cpu_parallel_stretch(&p, table[i].cores) - table[i].stretch) <=
			    table[i].within))
			fail_msg("row %zu: %g", i, cpu_parallel_stretch(&p, table[i].cores));
		for (size_t k = 1; k < PARALLEL_POINTS; k++)
			assert_true(p.cores[k] >= p.cores[k - 1]);
	}
	assert_false(cpu_parallel_of(&(struct distribution){.mean = NAN}, &p));
	assert_false(cpu_parallel_of(&(struct distribution){.mean = 1e9}, &p));
}

static void who_waited_for_a_cpu_wanted_more_than_it_got(void **state)
{
	/* Each row: cores that are busy; CPU time wanted / CPU time received; available cores; and
	 * duration with these cores / measured duration. */
	static const struct {
		double busy, wanted, cores, stretch;
	} table[] = {
		{0.25, 1, 1, 1},
		{0.25, 1, 0.125, 2},
		{0.25, 2, 0.25, 1}, /* the job runs, waits for a CPU, and sleeps */
		{0.25, 2, 1, 0.75}, /* with one core, it no longer waits */
		{0.5, 2, 0.5, 1},   /* the job always runs or waits for a CPU */
		{0.5, 2, 1, 0.5},
		{0.5, 2, INFINITY, 0.5},
		{4, 2, 4, 1},
		{4, 2, 6, 4 / 6.0},
		{4, 2, 16, 0.5},
		{0.3, 6, 1, 0.5}, /* at most half of the duration is saved */
		{0, 2, 1, 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct parallel p = {.wanted = table[i].wanted};

		for (size_t k = 0; k < PARALLEL_POINTS; k++)
			p.cores[k] = table[i].busy;
		if (!(fabs(cpu_parallel_stretch(&p, table[i].cores) - table[i].stretch) < 1e-9))
			fail_msg("row %zu: %g", i, cpu_parallel_stretch(&p, table[i].cores));
	}
}

static void a_starved_job_is_given_room(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;

	for (int i = 0; i < 3; i++) {
		struct run *r = test_run_add(&t, OUTCOME_SUCCEEDED);

		r->duration_seconds = 100;
		test_run_column(r, "cpu_cores", 0.3, 0.3);
		test_run_column(r, "cpu_seconds", 30, 30);
		test_run_column(r, "cpu_wait_seconds", 160, 160);
		test_run_column(r, "memory_peak_bytes", 256 * MIB, 256 * MIB);
		for (size_t k = 0; k < r->n_stats; k++)
			r->stats[k].d.sum = r->stats[k].d.max;
	}
	s = sized(&t, &arena);
	assert_true(s.demand.cpu_cores >= 0.5 && s.cpu_cores_limit >= 0.6);
	assert_true(seconds_with(&s, 1) < 0.7 * s.demand.duration_seconds);
	bool told = false;

	for (size_t i = 0; i < s.n_explain; i++)
		told |= strstr(s.explain[i], "threads had to wait for a CPU") != NULL;
	assert_true(told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_burst_is_not_a_mean),
		cmocka_unit_test(unknown_memory_is_no_reason_to_be_slow),
		cmocka_unit_test(cores_that_are_kept_busy_are_asked_for),
		cmocka_unit_test(room_shrinks_with_what_is_known),
		cmocka_unit_test(a_mean_alone_asks_for_no_more_than_was_requested),
		cmocka_unit_test(wider_and_narrower_runs_are_followed),
		cmocka_unit_test(cores_for_speed_have_their_bounds),
		cmocka_unit_test(the_price_of_the_other_purpose_is_told),
		cmocka_unit_test(durations_reach_the_cores_that_the_job_used),
		cmocka_unit_test(unknown_cores_have_no_durations),
		cmocka_unit_test(need_is_what_does_not_slow_a_run_down),
		cmocka_unit_test(stretch_follows_the_shape_over_time),
		cmocka_unit_test(who_waited_for_a_cpu_wanted_more_than_it_got),
		cmocka_unit_test(a_starved_job_is_given_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
