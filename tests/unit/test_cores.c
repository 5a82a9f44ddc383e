/* Tests recommender/sizing/cpu.c: how many cores a job needs, and how long a job takes with a
 * number of cores. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "recommender/servers/job_profile.h"
#include "recommender/sizing/cpu.h"
#include "recommender/sizing/strategy.h"
#include "tests/support/test_runs.h"

static struct sizing sized(const struct test_runs *t, struct arena *arena)
{
	static const struct sizing_options defaults;
	struct sizing s = {0};
	struct err e = {0};

	assert_int_equal(strategy_find("auto")->size(&t->runs, &defaults, arena, &s, &e), 0);
	return s;
}

static void a_short_burst_is_not_a_mean(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s;

	test_runs_steady(&t, 10, 1000);
	s = sized(&t, &arena);
	assert_int_equal(s.resources.cpu, 1);
	assert_true(s.cpu_cores_for_speed >= 6);
	assert_true(s.cpu_cores_limit == s.cpu_cores_for_speed);
	assert_true(s.at_cores[0].cores == 1 && s.at_cores[4].cores == 16);
	assert_true(fabs(s.at_cores[0].seconds / s.demand.duration_seconds - 1.7) < 0.05);
	assert_true(s.at_cores[1].seconds < s.at_cores[0].seconds);
	assert_true(fabs(s.at_cores[4].seconds - s.demand.duration_seconds) < 1e-6);
	/* The forecast duration is that with the requested cores: 17 min instead of 10.2 min. */
	assert_true(fabs(s.cpu_slowdown - 1.7) < 0.05);
	assert_non_null(strstr(s.summary, "Ask for 1 CPU and "));
	assert_non_null(strstr(s.summary, " for about 17."));

	static struct test_runs large; /* memory costs more than CPUs here */

	test_runs_steady(&large, 10, 400.0 * 1024);
	s = sized(&large, &arena);
	assert_true(s.resources.cpu >= 4);
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
		double cores = sized(&t, &arena).demand.cpu_cores;

		if (!(cores >= table[i].least && cores <= table[i].most))
			fail_msg("row %zu: %g", i, cores);
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
			1e-9}, /* impossible input */
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

/* With only one run the forecast gives a band around its duration. More runs of the same duration
 * make the band narrower. */
static void the_band_of_one_run_is_not_its_duration(void **state)
{
	static struct test_runs t;

	test_run_succeeded(&t, 1, 100 * MIB)->duration_seconds = 100;
	struct job_profile one = job_profile_of(&t.runs);

	assert_true(one.duration_seconds == 100);
	assert_true(one.duration_low < 95 && one.duration_high > 105);
	for (int i = 0; i < 30; i++)
		test_run_succeeded(&t, 1, 100 * MIB)->duration_seconds = 100;
	struct job_profile many = job_profile_of(&t.runs);

	assert_true(many.duration_high >= 100 && many.duration_high < one.duration_high);
	test_run_add(&t, OUTCOME_FAILED);
	t = (struct test_runs){0};
	assert_true(isnan(job_profile_of(&t.runs).duration_high));
}

static void who_waited_for_a_cpu_wanted_more_than_it_got(void **state)
{
	static const struct {
		double busy, wanted, cores, stretch;
	} table[] = {
		{0.25, 1, 1, 1},
		{0.25, 1, 0.125, 2},
		{0.25, 2, 0.25, 1}, /* it runs, waits for a CPU, and sleeps */
		{0.25, 2, 1, 0.75}, /* it no longer waits for a CPU */
		{0.5, 2, 0.5, 1},   /* it always runs or waits for a CPU */
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
	assert_true(s.at_cores[0].seconds < 0.7 * s.demand.duration_seconds);
	for (size_t i = 0; i < s.n_explain; i++)
		assert_null(strstr(s.explain[i], "do not slow it down"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_burst_is_not_a_mean),
		cmocka_unit_test(unknown_memory_is_no_reason_to_be_slow),
		cmocka_unit_test(stretch_follows_the_shape_over_time),
		cmocka_unit_test(the_band_of_one_run_is_not_its_duration),
		cmocka_unit_test(who_waited_for_a_cpu_wanted_more_than_it_got),
		cmocka_unit_test(a_starved_job_is_given_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
