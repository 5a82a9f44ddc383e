/* recommender/sizing/cost_aware.c on invented jobs that come from no trace. For every kind of job,
 * the request of `auto` has the size of the observed peaks, and costs less than the baseline. */
#include "tests/unit/test_main.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "recommender/sizing/cost_aware.h"
#include "recommender/sizing/strategy.h"

#define GIB  (1024 * MIB)
#define RUNS 60

/* Returns a reproducible number between 0 and 1 for each `n` (splitmix64). */
static double uniform(uint64_t n)
{
	n += 0x9e3779b97f4a7c15u;
	n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9u;
	n = (n ^ (n >> 27)) * 0x94d049bb133111ebu;
	return ((double)((n ^ (n >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t n)
{
	return sqrt(-2 * log(uniform(2 * n))) * cos(2 * M_PI * uniform(2 * n + 1));
}

static double constant(unsigned i)
{
	(void)i;
	return 3 * GIB;
}

static double large_and_steady(unsigned i)
{
	return 30 * GIB * (1 + 0.005 * normal(i));
}

static double small(unsigned i)
{
	return (5 + uniform(i)) * MIB;
}

static double heavy_tailed(unsigned i)
{
	return GIB * exp(normal(i));
}

static double rare_giant(unsigned i)
{
	return i % 20 == 17 ? 40 * GIB : GIB * (1 + 0.1 * uniform(i));
}

static double two_levels(unsigned i)
{
	return uniform(i) < 0.5 ? GIB : 8 * GIB;
}

static double growing(unsigned i)
{
	return GIB * pow(1.03, i) * (1 + 0.01 * normal(i));
}

static double shifted_up(unsigned i)
{
	return (i < RUNS / 2 ? 1 : 3) * GIB * (1 + 0.02 * normal(i));
}

static double shifted_down(unsigned i)
{
	return (i < RUNS / 2 ? 8 : 1) * GIB * (1 + 0.02 * normal(i));
}

static double wide(unsigned i)
{
	return 100 * MIB * pow(500, uniform(i));
}

static double input_of_wide(unsigned i)
{
	return wide(i) / 3;
}

static double random_input(unsigned i)
{
	return 1e9 * uniform(i + 1000);
}

struct job {
	const char *name;
	double (*peak)(unsigned i), (*input)(unsigned i);
	/* Largest accepted results at the risk "balanced". `waste`: wasted memory / used memory.
	 * `failures`: failed attempts per run. */
	double waste, failures;
};

static const struct job jobs[] = {
	{"constant", constant, NULL, 0.15, 0},
	{"large and steady", large_and_steady, NULL, 0.15, 0.02},
	{"small", small, NULL, 1.5, 0},
	{"heavy-tailed", heavy_tailed, NULL, 2.2, 0.2},
	{"rare giant", rare_giant, NULL, 1.3, 0.07},
	{"two levels", two_levels, NULL, 0.7, 0.02},
	{"growing", growing, NULL, 0.12, 0.02},
	{"shifted up", shifted_up, NULL, 0.25, 0.04},
	{"shifted down", shifted_down, NULL, 0.4, 0.04},
	{"wide", wide, NULL, 2.8, 0.22},
	{"wide, with its input", wide, input_of_wide, 0.45, 0.02},
	{"two levels, with an input that says nothing", two_levels, random_input, 0.75, 0.02},
};

static struct replay_record replay(const struct sizing_rule *rule, const struct job *j)
{
	AUTO(freep) void *state = xcalloc(1, rule->state_size);
	struct replay_record r = {0};
	double least = INFINITY, largest = 0;

	rule->start(state, &rule->defaults);
	for (unsigned i = 0; i < RUNS; i++) {
		struct observation o =
			rule_observation(j->peak(i), j->input ? j->input(i) : NAN, 100);
		double asked = rule_replay(rule, state, &o, &r);

		if (i == 0)
			assert_true(isnan(asked));
		else if (!(asked > least / 2 && asked < 4 * largest + 512 * MIB))
			fail_msg("%s, run %u: %g GiB after %g to %g", j->name, i, asked / GIB,
				least / GIB, largest / GIB);
		least = fmin(least, o.peak);
		largest = fmax(largest, o.peak);
	}
	return r;
}

static void what_is_asked_for_is_of_the_order_of_what_was_seen(void **state)
{
	for (size_t k = 0; k < ARRAY_LEN(jobs); k++)
		for (unsigned risk = 0; risk < RISK_COUNT; risk++)
			replay(&cost_aware_rules[risk], &jobs[k]);
}

static void waste_and_failures_are_bounded(void **state)
{
	for (size_t k = 0; k < ARRAY_LEN(jobs); k++) {
		struct replay_record own = replay(&cost_aware_rules[RISK_BALANCED], &jobs[k]);
		double waste = own.wasted / own.used;
		double failures = (double)own.failures / (double)own.runs;

		if (waste > jobs[k].waste || failures > jobs[k].failures)
			fail_msg("%s: waste %g, failures %g", jobs[k].name, waste, failures);
	}
}

/* Returns the wasted memory / used memory, plus the failed attempts per run. A failed attempt thus
 * costs as much as the use of a whole run. */
static double felt_cost(const struct replay_record *r)
{
	return r->wasted / r->used + (double)r->failures / (double)r->runs;
}

static void it_costs_less_than_the_baseline(void **state)
{
	for (size_t k = 0; k < ARRAY_LEN(jobs); k++) {
		struct replay_record own = replay(&cost_aware_rules[RISK_BALANCED], &jobs[k]),
				     seeds = {0};
		AUTO(freep) void *rule_state = xcalloc(1, rule_baseline.state_size);

		rule_baseline.start(rule_state, &rule_baseline.defaults);
		for (unsigned i = 0; i < RUNS; i++) {
			struct observation o = rule_observation(jobs[k].peak(i), NAN, 100);

			rule_replay(&rule_baseline, rule_state, &o, &seeds);
		}
		if (felt_cost(&own) > felt_cost(&seeds))
			fail_msg("%s: %g, the baseline %g", jobs[k].name, felt_cost(&own),
				felt_cost(&seeds));
	}
}

/* After one, two or three runs the request is above the peak, but not much more than twice the
 * peak. */
static void short_histories_are_met_with_a_margin(void **state)
{
	static const double peaks[] = {10 * MIB, GIB, 30 * GIB, 500 * GIB};
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];

	for (size_t k = 0; k < ARRAY_LEN(peaks); k++) {
		AUTO(freep) void *rule_state = xcalloc(1, rule->state_size);

		rule->start(rule_state, &rule->defaults);
		for (unsigned i = 0; i < 3; i++) {
			struct observation o = rule_observation(peaks[k], NAN, 100);

			rule->learn(rule_state, &o);
			double asked = rule->allocate(rule_state, NAN);

			assert_true(asked > peaks[k] && asked < 2.1 * peaks[k] + 64 * MIB);
		}
	}
}

/* Forwarded runs may contain any number. There must be no endless loop and no write out of
 * bounds. */
static void figures_beyond_all_bounds_have_an_answer(void **state)
{
	static const double figures[] = {
		1e308, DBL_MAX, 1e200, 1e154, 5e-324, 1e-300, 1, GIB, INFINITY, NAN};
	enum { N = ARRAY_LEN(figures) };

	for (size_t k = 0; k < N * N * N; k++) {
		const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
		AUTO(freep) void *rule_state = xcalloc(1, rule->state_size);
		double quantile[8];
		struct cost_aware_outlook outlook;

		rule->start(rule_state, &rule->defaults);
		for (unsigned i = 0; i < 9; i++) {
			double peak = i % 2 ? figures[k % N] : 50 + i;
			struct observation o = rule_observation(peak,
				i % 3 ? figures[k / N % N] : i, figures[(k / N / N + i) % N]);

			rule->learn(rule_state, &o);
			double asked = rule->allocate(rule_state, figures[(k + i) % N]);

			double above = cost_aware_quantile(rule_state, NAN, 0.9);

			cost_aware_outlook(rule_state, NAN, asked, &outlook);
			cost_aware_quantiles(rule_state, NAN, ARRAY_LEN(quantile), quantile);
			/* Only an infinite peak gives an unknown request. */
			if ((isnan(asked) && !isinf(figures[k % N])) || asked < 0 || above < 0 ||
				outlook.too_small < 0 || outlook.too_small > 1 ||
				outlook.leading >= EXPERT_COUNT || outlook.runs < 1 ||
				outlook.runs > i + 1 || outlook.moved > outlook.runs)
				fail_msg("figures %zu, run %u: %g asked, too small by %g", k, i,
					asked, outlook.too_small);
			for (size_t q = 0; q < ARRAY_LEN(quantile); q++)
				if (quantile[q] < (q > 0 ? quantile[q - 1] : 0))
					fail_msg("figures %zu, run %u: part %zu is %g", k, i, q,
						quantile[q]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_for_is_of_the_order_of_what_was_seen),
		cmocka_unit_test(waste_and_failures_are_bounded),
		cmocka_unit_test(it_costs_less_than_the_baseline),
		cmocka_unit_test(short_histories_are_met_with_a_margin),
		cmocka_unit_test(figures_beyond_all_bounds_have_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
