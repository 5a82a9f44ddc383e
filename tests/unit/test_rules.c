/* recommender/sizing/rule.h: compares each rule with its reference, and checks properties that hold
 * for every history. The rules that only benches use are tested too. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/cost_aware.h"
#include "recommender/sizing/cost_pool.h"
#include "recommender/sizing/strategy.h"
#include "tests/bench/caq.h"
#include "tests/bench/ponder.h"
#include "tests/bench/tovar.h"

static void *rule_new(const struct sizing_rule *rule)
{
	void *state = xcalloc(1, rule->state_size);

	rule->start(state, &rule->defaults);
	return state;
}

/* Makes a job with a pattern, a rough dependence on its input, and an outlier every 13 runs. */
static struct observation made_up_run(unsigned i, bool with_input)
{
	unsigned jitter = (i * i * 7 + 3 * i) % 11;

	return (struct observation){
		.peak = (300 + 120.0 * (i * 5 % 7) + 25.5 * jitter + (i % 13 == 12 ? 900 : 0)) *
			MIB,
		.input = with_input ? 1e6 * (1 + i * 5 % 7) : NAN,
		.duration = 60 + 10.0 * jitter,
	};
}

/* The expected values come from an independent implementation of each method in another
 * language. */
static void rules_allocate_as_their_references(void **state)
{
	static const unsigned at[] = {1, 2, 6, 12, 20, 39};
	static const struct {
		const char *name;
		const struct sizing_rule *rule;
		bool input;
		double mib[ARRAY_LEN(at)];
		size_t failures;
		double wasted; /* MiB seconds */
	} table[] = {
		{"baseline", &rule_baseline, true, {512, 2048, 2048, 2048, 2048, 2048}, 2, 6340705},
		{"max", &rule_max, true, {360, 1386, 1386, 1386, 2322, 2487.6}, 2, 5318685},
		{"percentile", &rule_percentile, true,
			{300, 1112.25, 1140.375, 1155, 1194, 1450.35}, 6, 3214211.25},
		{"krr", &rule_krr, true, {345, 1328.25, 1328.25, 1328.25, 2225.25, 2383.95}, 2,
			5568291.4453125},
		{"vpa", &rule_vpa, true,
			{362.64273851701455, 1402.051233270745, 1402.051233270745,
				1402.051233270745, 1953.4810554837632, 2295.9727771028047},
			3, 5989415.641734509},
		{"ponder", &bench_ponder, true,
			{428, 1283, 846.734098927066, 1168.3389508461275, 1356.2154019301433,
				2690.300533699271},
			3, 3330943.9221005696},
		{"ponder without input", &bench_ponder, false, {428, 1283, 1283, 1283, 2063, 2201},
			3, 5008355},
		{"tovar", &bench_tovar, true, {300, 300, 1155, 1155, 1155, 1155}, 7, 2767020},
		{"caq economy", &bench_caq[RISK_ECONOMY], true,
			{436, 2095, 896.909159410398, 1218.5770233048192, 908.12538977834,
				1656.6978341760264},
			4, 2862609.164992002},
		{"caq balanced", &bench_caq[RISK_BALANCED], true,
			{436, 2816.875, 896.909159410398, 1218.5770233048192, 1177,
				2799.3539684445227},
			4, 4102673.7995434296},
		{"caq safe", &bench_caq[RISK_SAFE], true,
			{436, 2816.875, 1276.75, 1276.75, 2095.75, 2799.3539684445227}, 2,
			5033629.067819343},
		{"caq economy without input", &bench_caq[RISK_ECONOMY], false,
			{436, 2095, 1403.8, 1252.6037475051598, 1302.55, 1452.5578635014838}, 5,
			3542997.380755094},
		{"caq balanced without input", &bench_caq[RISK_BALANCED], false,
			{436, 2816.875, 1403.8, 1252.6037475051598, 2050.7483343056074, 2089}, 3,
			5271442.35589151},
	};

	for (size_t k = 0; k < ARRAY_LEN(table); k++) {
		AUTO(freep) void *s = rule_new(table[k].rule);
		struct replay_record record = {0};
		size_t next = 0;

		for (unsigned i = 0; i < 40; i++) {
			struct observation o = made_up_run(i, table[k].input);
			double mib = rule_replay(table[k].rule, s, &o, &record) / MIB;

			if (next == ARRAY_LEN(at) || i != at[next])
				continue;
			if (!(fabs(mib / table[k].mib[next] - 1) < 1e-9))
				fail_msg("%s, run %u: %.17g, not %.17g", table[k].name, i, mib,
					table[k].mib[next]);
			next++;
		}
		assert_int_equal(record.runs, 39);
		assert_int_equal(record.failures, table[k].failures);
		assert_true(fabs(record.wasted / MIB / table[k].wasted - 1) < 1e-9);
	}
}

/* The expected values are the margins that were published for this rule, for a job with constant
 * use. */
static void caq_margin_shrinks_on_a_steady_job(void **state)
{
	static const struct {
		unsigned runs;
		double mib;
	} table[] = {{1, 1416}, {2, 1359}, {3, 1316}, {5, 1257}, {10, 1179}, {20, 1118}, {50, 1068},
		{100, 1049}, {199, 1040}};
	AUTO(freep) void *s = rule_new(&bench_caq[RISK_BALANCED]);
	struct observation o = {.peak = 1000 * MIB, .input = NAN, .duration = 60};
	unsigned runs = 0;

	assert_true(isnan(bench_caq[RISK_BALANCED].allocate(s, NAN)));
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		for (; runs < table[i].runs; runs++)
			bench_caq[RISK_BALANCED].learn(s, &o);
		assert_true(fabs(bench_caq[RISK_BALANCED].allocate(s, NAN) / MIB - table[i].mib) <
			    1);
	}
}

static void caq_scales_with_the_peaks(void **state)
{
	AUTO(freep) void *small = rule_new(&bench_caq[RISK_BALANCED]);
	AUTO(freep) void *large = rule_new(&bench_caq[RISK_BALANCED]);

	for (unsigned i = 0; i < 30; i++) {
		struct observation o = made_up_run(i, true);

		bench_caq[RISK_BALANCED].learn(small, &o);
		o.peak *= 64;
		bench_caq[RISK_BALANCED].learn(large, &o);
	}

	double a = bench_caq[RISK_BALANCED].allocate(small, 3e6) - 16 * MIB,
	       b = bench_caq[RISK_BALANCED].allocate(large, 3e6) - 16 * MIB;

	assert_true(fabs(b / a - 64) < 1e-9);
}

/* The request of a job with constant use comes close to the use. */
static void auto_margin_shrinks_on_a_steady_job(void **state)
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	static const struct {
		unsigned runs;
		double most_mib;
	} table[] = {{1, 1500}, {2, 1450}, {5, 1350}, {20, 1150}, {100, 1050}, {199, 1030}};
	AUTO(freep) void *s = rule_new(rule);
	struct observation o = {.peak = 1000 * MIB, .input = NAN, .duration = 60};
	unsigned runs = 0;
	double last = INFINITY;

	assert_true(isnan(rule->allocate(s, NAN)));
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		for (; runs < table[i].runs; runs++)
			rule->learn(s, &o);
		double asked = rule->allocate(s, NAN);

		assert_true(asked >= 1000 * MIB && asked < table[i].most_mib * MIB);
		assert_true(asked <= last);
		last = asked;
	}
}

static double cost_by_definition(const struct weighted_value *atom, size_t n, double a,
	const struct failure_prices *prices)
{
	double cost = 0, second = prices->second > a * 1.05 ? fmax(prices->second, a) : 2 * a;

	for (size_t i = 0; i < n; i++)
		cost += atom[i].weight *
			(atom[i].value <= a ?
					a - atom[i].value :
					a + second - atom[i].value +
						prices->failure * atom[i].value + prices->fixed);
	return cost;
}

static void cheapest_allocation_agrees_with_brute_force(void **state)
{
	struct weighted_value atom[40], unsorted[40], spare[40];
	double below[41], product[41], candidate[40], previous = 0;
	struct cost_pool p = {40, atom, spare, below, product};

	for (unsigned i = 0; i < 40; i++)
		unsorted[i] = atom[i] =
			(struct weighted_value){1 + (i * 17 % 29) * 0.25, 1 + i % 5};
	cost_pool_sort(&p);
	for (unsigned i = 0; i < 40; i++)
		candidate[i] = atom[i].value;
	for (double failure = 0; failure < 40; failure += 0.5) {
		struct failure_prices prices = {.failure = failure, .fixed = 0.5, .second = 6};
		double best = INFINITY, at = NAN;
		struct cheapest_value found;

		cost_pool_cheapest(&p, candidate, p.n, &prices, 1, &found);

		for (unsigned i = 0; i < 40; i++) {
			double c = cost_by_definition(unsorted, 40, candidate[i], &prices);

			if (c < best * (1 - 1e-12)) {
				best = c;
				at = candidate[i];
			}
		}
		assert_true(fabs(found.cost - best) < 1e-9);
		assert_true(found.value == at);
		/* A more expensive failure never lowers the request. */
		assert_true(found.value >= previous);
		previous = found.value;
	}
}

static const struct sizing_rule *const all_rules[] = {
	&rule_baseline,
	&rule_max,
	&rule_percentile,
	&rule_krr,
	&rule_vpa,
	&bench_ponder,
	&bench_tovar,
	&bench_caq[RISK_BALANCED],
	&bench_caq[RISK_SAFE],
	&cost_aware_rules[RISK_BALANCED],
	&cost_aware_rules[RISK_SAFE],
};

static void every_allocation_is_finite_and_positive(void **state)
{
	static const double strange[][3] = {{1, NAN, NAN}, {1e-3, 0, 0}, {1e15, 1e18, 1e9},
		{5e8, 0, -1}, {5e8, INFINITY, INFINITY}, {5e8, -7, 1}, {5e8, 1e-300, 1e-300},
		{1e12, 1e300, 5}, {4096, 4096, 4096}};
	static const double inputs[] = {NAN, 0, 1, 4096, 1e300, INFINITY, -1};

	for (size_t r = 0; r < ARRAY_LEN(all_rules); r++) {
		AUTO(freep) void *s = rule_new(all_rules[r]);

		assert_true(isnan(all_rules[r]->allocate(s, 1e6)));
		for (unsigned i = 0; i < 60; i++) {
			struct replay_record record = {0};
			const double *v = strange[i * 7 % ARRAY_LEN(strange)];
			struct observation o = rule_observation(v[0], v[1], v[2]);

			rule_replay(all_rules[r], s, &o, &record);
			for (size_t k = 0; k < ARRAY_LEN(inputs); k++) {
				double a = all_rules[r]->allocate(s, inputs[k]);

				if (!(isfinite(a) && a > 0 && all_rules[r]->retry(s, a, 1) > a))
					fail_msg("rule %zu, %u runs, input %g: %g", r, i + 1,
						inputs[k], a);
			}
		}
	}
}

static void more_runs_than_remembered_do_no_harm(void **state)
{
	for (size_t r = 0; r < ARRAY_LEN(all_rules); r++) {
		AUTO(freep) void *s = rule_new(all_rules[r]);
		struct replay_record record = {0};

		for (unsigned i = 0; i < 2 * PEAKS_SEEN_MAX + 20; i++) {
			struct observation o = made_up_run(i, i % 3);

			rule_replay(all_rules[r], s, &o, &record);
		}
		assert_int_equal(record.runs, 2 * PEAKS_SEEN_MAX + 19);
		assert_true(all_rules[r]->allocate(s, NAN) > 300 * MIB);
	}
}

static void learn_all(void *s, double peak_mib, double input, unsigned runs)
{
	for (unsigned i = 0; i < runs; i++) {
		struct observation o = {(peak_mib + i % 3) * MIB, input, 60};

		cost_aware_rules[RISK_BALANCED].learn(s, &o);
	}
}

/* Weights double every 24 runs. Without rescaling they would be infinite after 24,576 runs. */
static void vpa_fades_as_ever_after_any_number_of_runs(void **state)
{
	AUTO(freep) void *old = rule_new(&rule_vpa);
	AUTO(freep) void *young = rule_new(&rule_vpa);

	for (unsigned i = 0; i < 30000; i++) {
		struct observation o = made_up_run(i, false);

		rule_vpa.learn(old, &o);
		if (i >= 29000)
			rule_vpa.learn(young, &o);
		if (i > 29900)
			assert_true(rule_vpa.allocate(old, NAN) == rule_vpa.allocate(young, NAN));
	}
	assert_true(rule_vpa.allocate(old, NAN) > 300 * MIB);
}

static void auto_moves_runs_to_the_new_level_after_a_lasting_change(void **state)
{
	AUTO(freep) void *s = rule_new(&cost_aware_rules[RISK_SAFE]);
	struct cost_aware_outlook o;

	learn_all(s, 4000, NAN, 50);
	assert_true(cost_aware_rules[RISK_BALANCED].allocate(s, NAN) > 4000 * MIB);
	learn_all(s, 1000, NAN, 2);
	assert_true(cost_aware_rules[RISK_BALANCED].allocate(s, NAN) >
		    4000 * MIB); /* two runs may be chance */
	learn_all(s, 1000, NAN, 2);
	cost_aware_outlook(s, NAN, 1500 * MIB, &o);
	assert_int_equal(o.moved, 0);
	learn_all(s, 1000, NAN, 1);
	assert_true(cost_aware_rules[RISK_BALANCED].allocate(s, NAN) < 1100 * MIB);
	cost_aware_outlook(s, NAN, 1500 * MIB, &o);
	assert_int_equal(o.runs, 55);
	assert_int_equal(o.moved, 50);
	learn_all(s, 1000, NAN, PEAKS_SEEN_MAX);
	cost_aware_outlook(s, NAN, 1500 * MIB, &o);
	assert_int_equal(o.moved, 0); /* these runs are too old to count */
}

/* Teaches n runs with peaks of 1.0, 1.1 and 1.2 times `mib`. */
static void learn_noisy(void *s, double mib, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		learn_all(s, mib * (1 + 0.1 * (i % 3)), NAN, 1);
}

/* The peaks of a job differ by up to a fifth. The rule expects the same relative spread after all
 * peaks have fallen. */
static void auto_knows_the_spread_after_a_fall(void **state)
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	AUTO(freep) void *s = rule_new(rule);

	learn_noisy(s, 4000, 51);

	double before = rule->allocate(s, NAN);

	learn_noisy(s, 1000, 5);
	assert_true(rule->allocate(s, NAN) > 1150 * MIB);
	assert_true(rule->allocate(s, NAN) < 1.05 * before / 4);
}

/* The request of a small job follows a fall of its peaks. If the earlier runs were forgotten, the
 * typical ratios of other jobs would replace the job's own, at a high cost for the smallest
 * jobs. */
static void auto_follows_the_fall_of_a_small_job(void **state)
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	AUTO(freep) void *s = rule_new(rule);

	learn_noisy(s, 8, 20);

	double before = rule->allocate(s, NAN);

	learn_noisy(s, 4, 5);
	assert_true(rule->allocate(s, NAN) < 0.75 * before);
	assert_true(rule->allocate(s, NAN) > 4.8 * MIB);
}

/* There are two falls. The first one did not last: the 19th run needs as much as earlier runs. By
 * then, the older runs have been moved to the level of the runs 14 to 18, so they no longer show
 * how low the last five are. */
static void auto_follows_a_fall_soon_after_another(void **state)
{
	static const double mib[] = {7300, 7300, 9700, 9700, 9700, 6200, 6800, 6700, 7100, 7100,
		8900, 8700, 8900, 5600, 5300, 5300, 5000, 5300, 6800, 3400, 4250, 4150, 4250, 2500};
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	AUTO(freep) void *s = rule_new(rule);
	struct cost_aware_outlook o;

	for (size_t i = 0; i < ARRAY_LEN(mib); i++)
		learn_all(s, mib[i], NAN, 1);
	cost_aware_outlook(s, NAN, 5000 * MIB, &o);
	assert_int_equal(o.moved, 19);
	assert_true(rule->allocate(s, NAN) > 4250 * MIB);
	assert_true(rule->allocate(s, NAN) < 6000 * MIB);
}

/* Teaches n runs. Their peaks are `mib` a minute, and they last 1 to 7 minutes divided by `speed`. */
static void learn_growing(void *s, double mib, double speed, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		double minutes = 1 + (3 * i) % 7;
		struct observation o = {mib * minutes * MIB, NAN, 60 * minutes / speed};

		cost_aware_rules[RISK_BALANCED].learn(s, &o);
	}
}

/* Long runs need more memory than short ones. When all need half as much, the peaks of the newest
 * runs are still among those of earlier short runs. */
static void auto_follows_a_fall_that_the_durations_hide(void **state)
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	AUTO(freep) void *s = rule_new(rule);
	struct cost_aware_outlook o;

	learn_growing(s, 1000, 1, 20);

	double before = rule->allocate(s, NAN);

	learn_growing(s, 500, 1, 5);
	cost_aware_outlook(s, NAN, 5000 * MIB, &o);
	assert_int_equal(o.moved, 20);
	assert_true(rule->allocate(s, NAN) < 0.65 * before);
	assert_true(rule->allocate(s, NAN) > 3500 * MIB);
}

/* A server that is twice as fast halves the durations. The memory is the same, so nothing changed. */
static void auto_sees_no_change_on_a_faster_server(void **state)
{
	AUTO(freep) void *s = rule_new(&cost_aware_rules[RISK_BALANCED]);
	struct cost_aware_outlook o;

	learn_growing(s, 1000, 1, 20);
	for (unsigned i = 0; i < 20; i++) {
		learn_growing(s, 1000, 2, 1 + i % 7);
		cost_aware_outlook(s, NAN, 5000 * MIB, &o);
		assert_int_equal(o.moved, 0);
	}
}

/* The peaks grow with the input, up to 5000 MiB. Five large inputs in a row, on a server that is
 * three times as fast, are no change: each of them needed as much before. */
static void auto_sees_no_change_when_the_same_inputs_need_as_much(void **state)
{
	static const struct observation kinds[] = {
		{100 * MIB, 1e8, 10}, {1000 * MIB, 1e9, 100}, {5000 * MIB, 5e9, 1000}};
	const struct observation faster = {5000 * MIB, 5e9, 300};
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	AUTO(freep) void *s = rule_new(rule);
	struct cost_aware_outlook o;

	for (unsigned i = 0; i < 12; i++)
		rule->learn(s, &kinds[i % ARRAY_LEN(kinds)]);
	for (unsigned i = 0; i < 5; i++)
		rule->learn(s, &faster);
	cost_aware_outlook(s, 5e9, 5500 * MIB, &o);
	assert_int_equal(o.moved, 0);
}

/* A real rise with the same input all the time. The run before it was higher than usual, as one run
 * in ten is, but it does not hide the rise. */
static void auto_sees_a_rise_after_a_higher_run_with_the_same_input(void **state)
{
	AUTO(freep) void *s = rule_new(&cost_aware_rules[RISK_BALANCED]);
	struct cost_aware_outlook o;

	for (unsigned i = 0; i < 2; i++) {
		learn_all(s, 100, 1e9, 9);
		learn_all(s, 300, 1e9, 1);
	}
	learn_all(s, 600, 1e9, 5);
	cost_aware_outlook(s, 1e9, 700 * MIB, &o);
	assert_int_equal(o.moved, 20);
}

/* After a rise, no earlier peak is taken for more than the largest peak that was measured. */
static void a_rise_makes_up_no_peak_beyond_the_measured_ones(void **state)
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	AUTO(freep) void *s = rule_new(rule);
	struct cost_aware_outlook o;

	for (unsigned i = 0; i < 20; i++)
		learn_all(s, i % 7 == 3 ? 900 : 100, NAN, 1);
	learn_all(s, 2000, NAN, 5);
	cost_aware_outlook(s, NAN, 2000 * MIB, &o);
	assert_int_equal(o.moved, 20);
	assert_true(rule->allocate(s, NAN) >= 2000 * MIB);
	assert_true(rule->allocate(s, NAN) < 2100 * MIB);
}

/* Peaks that grow faster than the input: with the power 1.6. */
static void beyond_the_inputs_seen_a_peak_grows_at_most_in_proportion(void **state)
{
	static const double inputs[] = {1e9, 2e9, 4e9};
	struct peaks_seen seen = {0};
	double within[EXPERT_COUNT], beyond[EXPERT_COUNT];

	for (unsigned i = 0; i < 12; i++) {
		double input = inputs[i % ARRAY_LEN(inputs)];

		rule_peaks_add(&seen,
			&(struct observation){100 * MIB * pow(input / 1e9, 1.6), input, 60});
	}
	experts_predict(&seen, 4e9, within);
	experts_predict(&seen, 40e9, beyond);
	assert_true(within[EXPERT_POWER] > 800 * MIB);
	assert_double_equal(beyond[EXPERT_POWER] / within[EXPERT_POWER], 10, 1e-6);
}

static void auto_keeps_the_past_when_the_input_explains_the_change(void **state)
{
	AUTO(freep) void *s = rule_new(&cost_aware_rules[RISK_BALANCED]);
	struct cost_aware_outlook o;

	learn_all(s, 4000, 4e9, 20);
	learn_all(s, 1000, 1e9, 6);
	cost_aware_outlook(s, 4e9, 1500 * MIB, &o);
	assert_int_equal(o.runs, 26);
	assert_true(cost_aware_rules[RISK_BALANCED].allocate(s, 4e9) > 4000 * MIB);
	assert_true(cost_aware_rules[RISK_BALANCED].allocate(s, 1e9) < 2000 * MIB);
}

/* The next input is six times as large as the only one. A request that is six times as large as the
 * only peak has grown as much, so its chance is raised less. */
static void a_larger_input_raises_the_chance_of_a_request_that_has_not_grown(void **state)
{
	AUTO(freep) void *s = rule_new(&cost_aware_rules[RISK_BALANCED]);
	struct observation o = {1000 * MIB, 1e9, 60};
	struct cost_aware_outlook same, grown;

	cost_aware_rules[RISK_BALANCED].learn(s, &o);
	cost_aware_outlook(s, 6e9, 1100 * MIB, &same);
	assert_true(same.too_small > 0.9);
	cost_aware_outlook(s, 6e9, 6000 * MIB, &grown);
	assert_true(grown.too_small < 0.1);
}

/* The peaks are proportional to the input. The request follows this rule beyond the inputs that
 * were seen, and the stated chance of a failure grows with the distance. */
static void auto_extrapolates_in_both_directions(void **state)
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	AUTO(freep) void *s = rule_new(rule);
	static const struct {
		double input, peak_mib;
	} table[] = {{5e9, 500}, {20e9, 2000}, {60e9, 6000}, {1e12, 1e5}, {2e8, 20}};
	double last = 0;

	for (unsigned i = 0; i < 30; i++) {
		struct observation o = {100.0 * (1 + i % 10) * MIB, 1e9 * (1 + i % 10), 60};

		rule->learn(s, &o);
	}
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		double asked = rule->allocate(s, table[i].input);
		struct cost_aware_outlook o;

		assert_true(asked > 0.95 * table[i].peak_mib * MIB);
		assert_true(asked < 1.5 * table[i].peak_mib * MIB + 50 * MIB);
		cost_aware_outlook(s, table[i].input, asked, &o);
		if (table[i].input > 5e9)
			assert_true(o.too_small > last);
		last = o.too_small;
	}
}

static void outlook_gives_less_risk_to_larger_allocations(void **state)
{
	AUTO(freep) void *s = rule_new(&cost_aware_rules[RISK_BALANCED]);
	struct cost_aware_outlook last = {.too_small = 1}, o;

	for (unsigned i = 0; i < 60; i++) {
		struct observation run = made_up_run(i, true);

		cost_aware_rules[RISK_BALANCED].learn(s, &run);
	}
	for (double mib = 100; mib < 10000; mib *= 1.3) {
		cost_aware_outlook(s, 4e6, mib * MIB, &o);
		assert_true(o.too_small >= 0 && o.too_small <= last.too_small);
		assert_true(o.leading_weight > 0 && o.leading_weight <= 1);
		last = o;
	}
	assert_true(last.too_small < 0.01);
	assert_true(last.expected_waste > 5);
	cost_aware_outlook(s, 4e6, 50 * MIB, &o);
	assert_true(o.too_small > 0.99);
}

/* The stated chance and the stated range must agree, whatever the history. */
static void chance_and_range_do_not_contradict_each_other(void **state)
{
	AUTO(freep) void *s = rule_new(&cost_aware_rules[RISK_BALANCED]);
	struct cost_aware_outlook o;

	for (unsigned i = 0; i < 60; i++) {
		struct observation run = made_up_run(i, i % 2);

		cost_aware_rules[RISK_BALANCED].learn(s, &run);
		for (double share = 0.05; share < 1; share += 0.05) {
			double at = cost_aware_quantile(s, 3e6, share);

			cost_aware_outlook(s, 3e6, at, &o);
			assert_true(o.too_small <= 1 - share + 1e-9);
			cost_aware_outlook(s, 3e6, at * (1 - 1e-9), &o);
			assert_true(o.too_small >= 1 - share - 1e-9);
		}
	}
}

/* Killed runs raise the request and the chance, but less than runs that needed far more. */
static void a_killed_run_is_a_lower_bound(void **state)
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	double asked[4], chance[4];

	for (unsigned k = 0; k < ARRAY_LEN(asked); k++) {
		AUTO(freep) void *s = rule_new(rule);
		struct cost_aware_outlook o;

		for (unsigned i = 0; i < 20; i++) {
			struct observation run = {(1000 + 10 * (i % 5)) * MIB, NAN, 60};

			if (i % 5 < 4 || k == 0)
				rule->learn(s, &run);
			else if (k == 1)
				rule->learn_at_least(s, &run);
			else
				rule->learn(s, &(struct observation){k * 1000 * MIB, NAN, 60});
		}
		asked[k] = rule->allocate(s, NAN);
		cost_aware_outlook(s, NAN, 1100 * MIB, &o);
		chance[k] = o.too_small;
	}
	assert_true(asked[0] < asked[1] && asked[1] < asked[3]);
	assert_true(chance[0] < chance[1] && chance[1] <= chance[2]);
	assert_true(asked[1] > 1040 * MIB && asked[1] < 2000 * MIB);
}

/* If peaks differ, a higher level of risk aversion gives a larger request. The requests differ by
 * more than rounding. */
static void levels_of_risk_differ(void **state)
{
	AUTO(freep) void *s = rule_new(&cost_aware_rules[RISK_BALANCED]);

	for (unsigned i = 0; i < 60; i++) {
		struct observation run = {(500 + 7 * (i * i % 11)) * MIB, NAN, 60};
		double at[RISK_COUNT];

		cost_aware_rules[RISK_BALANCED].learn(s, &run);
		cost_aware_allocations(s, NAN, at);
		if (i < 12)
			continue;
		assert_true(at[RISK_BALANCED] >= at[RISK_ECONOMY] + MIB);
		assert_true(at[RISK_SAFE] >= at[RISK_BALANCED] + MIB);
		assert_true(at[RISK_SAFE] < 2 * at[RISK_ECONOMY]);
	}
}

/* Each retry requests 1.5 to 2.5 times as much as the attempt that failed. */
static void attempts_grow_geometrically(void **state)
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	AUTO(freep) void *s = rule_new(rule);

	for (unsigned i = 0; i < 40; i++) {
		struct observation run = made_up_run(i, false);

		rule->learn(s, &run);
	}
	double attempt = rule->allocate(s, NAN);

	for (unsigned failures = 1; failures < 4; failures++) {
		double next = rule->retry(s, attempt, failures);

		assert_true(next >= 1.5 * attempt && next <= 2.5 * attempt);
		attempt = next;
	}
}

static void a_dearer_failure_asks_for_more(void **state)
{
	static const enum risk levels[] = {RISK_ECONOMY, RISK_BALANCED, RISK_SAFE};
	double total[ARRAY_LEN(levels)] = {0};
	size_t failures[ARRAY_LEN(levels)] = {0};

	for (size_t k = 0; k < ARRAY_LEN(levels); k++) {
		AUTO(freep) void *s = rule_new(&cost_aware_rules[levels[k]]);
		struct replay_record record = {0};

		for (unsigned i = 0; i < 150; i++) {
			struct observation o = made_up_run(i, false);
			double a = rule_replay(&cost_aware_rules[levels[k]], s, &o, &record);

			total[k] += isnan(a) ? 0 : a;
		}
		failures[k] = record.failures;
	}
	assert_true(total[0] < total[1] && total[1] < total[2]);
	assert_true(failures[0] >= failures[1] && failures[1] >= failures[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_allocate_as_their_references),
		cmocka_unit_test(caq_margin_shrinks_on_a_steady_job),
		cmocka_unit_test(caq_scales_with_the_peaks),
		cmocka_unit_test(auto_margin_shrinks_on_a_steady_job),
		cmocka_unit_test(cheapest_allocation_agrees_with_brute_force),
		cmocka_unit_test(every_allocation_is_finite_and_positive),
		cmocka_unit_test(more_runs_than_remembered_do_no_harm),
		cmocka_unit_test(vpa_fades_as_ever_after_any_number_of_runs),
		cmocka_unit_test(auto_moves_runs_to_the_new_level_after_a_lasting_change),
		cmocka_unit_test(auto_follows_a_fall_that_the_durations_hide),
		cmocka_unit_test(auto_sees_no_change_on_a_faster_server),
		cmocka_unit_test(auto_knows_the_spread_after_a_fall),
		cmocka_unit_test(auto_follows_the_fall_of_a_small_job),
		cmocka_unit_test(auto_follows_a_fall_soon_after_another),
		cmocka_unit_test(auto_sees_no_change_when_the_same_inputs_need_as_much),
		cmocka_unit_test(auto_sees_a_rise_after_a_higher_run_with_the_same_input),
		cmocka_unit_test(a_rise_makes_up_no_peak_beyond_the_measured_ones),
		cmocka_unit_test(beyond_the_inputs_seen_a_peak_grows_at_most_in_proportion),
		cmocka_unit_test(auto_keeps_the_past_when_the_input_explains_the_change),
		cmocka_unit_test(a_larger_input_raises_the_chance_of_a_request_that_has_not_grown),
		cmocka_unit_test(auto_extrapolates_in_both_directions),
		cmocka_unit_test(outlook_gives_less_risk_to_larger_allocations),
		cmocka_unit_test(chance_and_range_do_not_contradict_each_other),
		cmocka_unit_test(a_killed_run_is_a_lower_bound),
		cmocka_unit_test(levels_of_risk_differ),
		cmocka_unit_test(attempts_grow_geometrically),
		cmocka_unit_test(a_dearer_failure_asks_for_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
