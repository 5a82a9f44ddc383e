/* recommender/sizing/neighbours.h: what other jobs teach about a job with few runs. */
#include "tests/unit/test_main.h"

#include <math.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/cost_aware.h"
#include "recommender/sizing/job_prior.h"
#include "recommender/sizing/neighbours.h"
#include "recommender/sizing/strategy.h"

static double noise(unsigned i)
{
	return fmod(i * 0.6180339887498949, 1) - 0.5; /* spread evenly over -0.5 to 0.5 */
}

/* Makes a history of jobs whose peaks differ by this share. */
static struct neighbours *jobs_with_spread(unsigned jobs, double spread)
{
	struct neighbours *n = neighbours_new();

	for (unsigned j = 0; j < jobs; j++) {
		struct neighbour_run run[12];

		for (unsigned i = 0; i < ARRAY_LEN(run); i++)
			run[i] = (struct neighbour_run){
				(100 + 50 * j) * MIB * exp(2 * spread * noise(j * 37 + i)), NAN, 60,
				false};
		neighbours_add_job(n, run, ARRAY_LEN(run));
	}
	neighbours_finish(n);
	return n;
}

static double asked_after(const struct neighbours *n, unsigned runs, double *ret_chance)
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	AUTO(freep) void *state = xcalloc(1, rule->state_size);
	struct rule_options options = {.prior = neighbours_prior(n)};
	struct cost_aware_outlook o;

	rule->start(state, &options);
	for (unsigned i = 0; i < runs; i++)
		rule->learn(state, &(struct observation){1000 * MIB, NAN, 60});
	double asked = rule->allocate(state, NAN);

	cost_aware_outlook(state, NAN, 1100 * MIB, &o);
	*ret_chance = o.too_small;
	return asked;
}

static void steady_neighbours_make_the_first_request_small(void **state)
{
	struct neighbours *steady = jobs_with_spread(30, 0.005), *wild = jobs_with_spread(30, 0.8);
	double chance[3];
	double alone = asked_after(NULL, 1, &chance[0]);
	double near_steady = asked_after(steady, 1, &chance[1]);
	double near_wild = asked_after(wild, 1, &chance[2]);

	assert_true(near_steady >= 1000 * MIB && near_steady <= 1100 * MIB);
	assert_true(alone > 1200 * MIB && alone < 1600 * MIB);
	assert_true(near_wild > near_steady + 200 * MIB && near_wild < 4000 * MIB);
	assert_true(chance[1] < chance[2]);
	neighbours_free(steady);
	neighbours_free(wild);
}

static void own_runs_outweigh_the_neighbours(void **state)
{
	struct neighbours *wild = jobs_with_spread(30, 0.8);
	double chance;
	double asked = asked_after(wild, 100, &chance);

	assert_true(asked >= 1000 * MIB && asked < 1100 * MIB);
	neighbours_free(wild);
}

static void nothing_is_learnt_of_no_or_single_runs(void **state)
{
	struct neighbours *n = neighbours_new();

	neighbours_add_job(n, NULL, 0);
	neighbours_add_job(n, &(struct neighbour_run){1e9, NAN, 60, false}, 1);
	neighbours_add_job(n, &(struct neighbour_run){NAN, NAN, NAN, false}, 1);
	neighbours_finish(n);
	assert_null(neighbours_prior(n));
	assert_null(neighbours_prior(NULL));
	neighbours_free(n);
}

/* Runs may lack their peak, input size or duration, and some were killed. The requests must stay
 * sensible. */
static void odd_runs_are_taken(void **state)
{
	struct neighbours *n = neighbours_new();
	double chance;

	for (unsigned j = 0; j < 300; j++) {
		struct neighbour_run run[40];

		for (unsigned i = 0; i < ARRAY_LEN(run); i++)
			run[i] =
				(struct neighbour_run){i % 7 ? 1e6 * (1 + j * i % 97) : (double)NAN,
					i % 3 ? 1e3 * i : (double)NAN,
					i % 5 ? (double)i : (double)NAN, i % 11 == 10};
		neighbours_add_job(n, run, ARRAY_LEN(run));
	}
	neighbours_finish(n);
	for (unsigned runs = 1; runs < 50; runs++) {
		double asked = asked_after(n, runs, &chance);

		if (!(asked >= 100 * MIB && asked < 100 * 1000 * MIB))
			fail_msg("%u runs: %g MiB", runs, asked / MIB);
		assert_true(chance > 0 && chance < 1);
	}
	neighbours_free(n);
}

/* The built-in ratios and their deviation are constants in the same table. The deviation must be
 * that of the ratios. */
static void the_built_in_ratios_have_their_deviation(void **state)
{
	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		const struct ratio_prior *p = job_prior_ratios(NULL, (enum expert)e, 1);
		double sum = 0, weight = 0;

		for (size_t i = 0; i < PRIOR_ATOMS; i++) {
			sum += p->at[i].weight * fmin(fabs(p->at[i].value - 1), RATIO_OFF_MAX);
			weight += p->at[i].weight;
			assert_true(i == 0 || p->at[i].value > p->at[i - 1].value);
		}
		assert_true(fabs(weight - 1) < 1e-9);
		assert_true(fabs(sum - p->deviation) < 1e-3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_neighbours_make_the_first_request_small),
		cmocka_unit_test(own_runs_outweigh_the_neighbours),
		cmocka_unit_test(nothing_is_learnt_of_no_or_single_runs),
		cmocka_unit_test(odd_runs_are_taken),
		cmocka_unit_test(the_built_in_ratios_have_their_deviation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
