/* Rules of the strategies caq and auto. cost_aware.h explains the method. */
#include "recommender/sizing/cost_aware.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recommender/sizing/expert_record.h"
#include "recommender/sizing/strategy.h"

#define LOSS_HALF_LIFE     30.0 /* half-life of an expert's loss, in runs */
#define RETRY_OVER_LARGEST 1.05 /* second attempt / largest peak */

struct settings {
	unsigned experts; /* bits of enum expert */
	bool pooled, forgets;
	size_t n_prices;
	double price[PRICES_MAX]; /* price of a failed attempt, as a multiple of the run's peak */
	struct ratio_options ratios;
	bool time_counts;    /* weigh ratios by duration, because waste is memory x time */
	double reach;        /* limit of the regressions, as a multiple of the largest peak */
	double fixed_price;  /* fixed part of the price of a failed attempt, bytes */
	double extra;        /* bytes added to every allocation */
	double floor_shares; /* minimum allocation: floor_shares x largest peak + floor_bytes */
	double floor_bytes;
	double learning_rate; /* higher = costly experts lose weight faster */
};

#define BIT(e) (1u << (e))
#define CAQ_EXPERTS                                                                                \
	(BIT(EXPERT_MEDIAN) | BIT(EXPERT_P75) | BIT(EXPERT_P90) | BIT(EXPERT_LARGEST) |            \
		BIT(EXPERT_LINE) | BIT(EXPERT_NEAREST))
#define CAQ                                                                                        \
	.experts = CAQ_EXPERTS, .n_prices = 1, .ratios = {.prior_weight = 6}, .reach = 2,          \
	.extra = 16 * MIB
static const struct settings caq_economy = {CAQ, .price = {3}};
static const struct settings caq_balanced = {CAQ, .price = {8}};
static const struct settings caq_safe = {
	CAQ, .price = {8}, .floor_shares = 1.05, .floor_bytes = 64 * MIB};

static const char *const risk_names[RISK_COUNT] = {
	[RISK_BALANCED] = "balanced",
	[RISK_ECONOMY] = "economy",
	[RISK_SAFE] = "safe",
};

const char *sizing_risk_name(enum risk r)
{
	return risk_names[r];
}

bool sizing_risk_parse(const char *name, enum risk *ret)
{
	for (unsigned i = 0; i < RISK_COUNT; i++)
		if (strcmp(name, risk_names[i]) == 0) {
			*ret = (enum risk)i;
			return true;
		}
	return false;
}

#define RISK_PRICES                                                                                \
	{                                                                                          \
		[RISK_ECONOMY] = 1.5, [RISK_BALANCED] = 2.5, [RISK_SAFE] = 7                       \
	}
static_assert(RISK_COUNT <= PRICES_MAX, "a price per level of risk");
const double cost_aware_risk_price[RISK_COUNT] = RISK_PRICES;

static const struct settings auto_settings = {
	.experts = BIT(EXPERT_COUNT) - 1,
	.pooled = true,
	.forgets = true,
	.n_prices = RISK_COUNT,
	.price = RISK_PRICES,
	.ratios = {.prior_weight = 5, .likeness = 0.5},
	.time_counts = true,
	.reach = 3,
	.fixed_price = 512 * MIB,
	.extra = 4 * MIB,
	.learning_rate = 0.5,
};

#define ATOMS_MAX (EXPERT_COUNT * RATIOS_MAX)

struct sizer {
	const struct settings *settings;
	size_t level; /* index of the price that allocate uses */
	struct peaks_seen peaks_seen;
	uint64_t learnt; /* number of learnt runs, including forgotten ones */
	size_t forgotten;
	struct expert_record record[EXPERT_COUNT];
	/* predictions for the next run; valid while `prepared` */
	bool prepared;
	double input;
	double value[EXPERT_COUNT];              /* bytes; NaN = no prediction */
	double alone[EXPERT_COUNT][PRICES_MAX];  /* allocation if this were the only expert */
	double weight[PRICES_MAX][EXPERT_COUNT]; /* the weights sum to 1; 0 = no prediction */
	/* If allocated[k], then allocation[k] is final. Otherwise allocation[k] is the cheapest
	 * allocation in `alone`. */
	bool allocated[PRICES_MAX];
	double allocation[PRICES_MAX];
	struct expert_ratios for_cost[EXPERT_COUNT]; /* valid when `value` is not NaN */
	/* Weights by age in runs, computed once. */
	double ratio_fades[PEAKS_SEEN_MAX], loss_fades[PEAKS_SEEN_MAX];
	/* Buffers of a pool. */
	struct weighted_value atom[ATOMS_MAX], spare[ATOMS_MAX];
	double weight_below[ATOMS_MAX + 1], product_below[ATOMS_MAX + 1];
};

static bool expert_speaks(const struct sizer *s, unsigned expert)
{
	return s->settings->experts & BIT(expert) && s->value[expert] > 0;
}

#define CANDIDATE_MIN   0.2
#define ABOVE_CANDIDATE 1.02

/* Writes the candidate ratios in ascending order: all ratios of `r`, and the observed ratios + 2 %.
 * Returns their number. */
static size_t candidates_of(const struct expert_record *t, const struct expert_ratios *r,
	double ret[2 * RATIOS_MAX])
{
	size_t n = 0, above = 0, at = 0;

	while (at < r->n || above < t->n) {
		double higher =
			above < t->n ? t->at[t->order[above]].ratio * ABOVE_CANDIDATE : INFINITY;
		/* If a value is NaN, the comparison is false. The NaN is then taken once, like any
		 * other value. */
		bool take = at < r->n && (above == t->n || !(r->at[at].value > higher));
		double candidate = take ? r->at[at++].value : higher;

		above += !take;
		if (candidate > CANDIDATE_MIN)
			ret[n++] = candidate;
	}
	return n;
}

/* Computes the cheapest allocation for each price, as if this expert were the only one. `ret_cost`
 * gets the expected costs, as shares of the expected peak. */
static void allocate_alone(struct sizer *s, unsigned expert, double ret_cost[PRICES_MAX])
{
	const struct expert_record *t = &s->record[expert];
	struct expert_ratios *r = &s->for_cost[expert];
	double candidate[2 * RATIOS_MAX], value = s->value[expert];
	double largest = t->n ? t->at[t->order[t->n - 1]].ratio : 0;
	size_t n_prices = s->settings->n_prices;
	struct failure_prices prices[PRICES_MAX];
	struct cheapest_value best[PRICES_MAX];

	expert_record_ratios(t, (enum expert)expert, value, FOR_COST, &s->settings->ratios,
		s->ratio_fades, r);

	size_t n = candidates_of(t, r, candidate);
	struct cost_pool p = {r->n, r->at, NULL, s->weight_below, s->product_below};

	cost_pool_sort(&p);
	for (size_t k = 0; k < n_prices; k++)
		prices[k] = (struct failure_prices){
			.failure = s->settings->price[k],
			.fixed = s->settings->fixed_price / value,
			.second = t->n ? largest * RETRY_OVER_LARGEST : 1,
		};
	cost_pool_cheapest(&p, candidate, n, prices, n_prices, best);
	for (size_t k = 0; k < n_prices; k++) {
		s->alone[expert][k] = value * best[k].value;
		ret_cost[k] = best[k].cost / cost_pool_sum(&p);
	}
}

/* Returns the weight of a loss that is `age` runs old. The loss may be older than the table covers,
 * because an expert that rarely predicts keeps runs of any age. */
static double loss_fade(const struct sizer *s, uint64_t age)
{
	return age < PEAKS_SEEN_MAX ? s->loss_fades[age] : exp2(-(double)age / LOSS_HALF_LIFE);
}

/* Weighs the experts by their losses. A run that an expert did not predict counts as the average
 * loss. */
static void weigh_experts(struct sizer *s, size_t level)
{
	double loss[EXPERT_COUNT] = {0}, weight_heard[EXPERT_COUNT] = {0}, all_loss = 0,
	       all_weight_heard = 0, longest = 0;
	double least = INFINITY, sum = 0;

	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		const struct expert_record *t = &s->record[e];

		if (!expert_speaks(s, e))
			continue;
		for (size_t i = 0; i < t->n; i++) {
			double weight = loss_fade(s, s->learnt - 1 - t->at[i].run);

			loss[e] += weight * t->at[i].loss[level];
			weight_heard[e] += weight;
		}
		all_loss += loss[e];
		all_weight_heard += weight_heard[e];
		longest = fmax(longest, weight_heard[e]);
	}

	double average = all_weight_heard > 0 && all_loss > 0 ? all_loss / all_weight_heard : 1;

	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		if (expert_speaks(s, e)) {
			loss[e] = loss[e] / average + (longest - weight_heard[e]);
			least = fmin(least, loss[e]);
		}
	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		s->weight[level][e] = expert_speaks(s, e) ?
					      exp(-s->settings->learning_rate * (loss[e] - least)) :
					      0;
		sum += s->weight[level][e];
	}
	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		s->weight[level][e] /= sum;
}

/* Merges the ratios of all experts into one set of values, weighted for this level of risk. */
static struct cost_pool pool_experts(struct sizer *s, size_t level, enum ratio_purpose purpose)
{
	struct cost_pool p = {0, s->atom, s->spare, s->weight_below, s->product_below};

	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		const struct expert_ratios *r = &s->for_cost[e];
		double weight = s->weight[level][e];
		struct expert_ratios for_chance;

		if (weight < 0.01)
			continue;
		if (purpose == FOR_CHANCE) {
			expert_record_ratios(&s->record[e], (enum expert)e, s->value[e], purpose,
				&s->settings->ratios, s->ratio_fades, &for_chance);
			r = &for_chance;
		}
		for (size_t i = 0; i < r->n; i++)
			p.atom[p.n++] = (struct weighted_value){
				r->at[i].value * s->value[e], r->at[i].weight * (weight / r->sum)};
	}
	cost_pool_sort(&p);
	return p;
}

static struct failure_prices prices_at(const struct sizer *s, size_t level)
{
	return (struct failure_prices){
		.failure = s->settings->price[level],
		.fixed = s->settings->fixed_price,
		.second = RETRY_OVER_LARGEST * rule_peaks_largest(&s->peaks_seen, PEAKS_SEEN_MAX),
	};
}

static double allocate_pooled(struct sizer *s, size_t level)
{
	double candidate[ATOMS_MAX];
	struct cheapest_value best;

	weigh_experts(s, level);

	struct cost_pool p = pool_experts(s, level, FOR_COST);
	struct failure_prices prices = prices_at(s, level);

	for (size_t i = 0; i < p.n; i++)
		candidate[i] = p.atom[i].value;
	cost_pool_cheapest(&p, candidate, p.n, &prices, 1, &best);
	return best.value;
}

static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void prepare_experts(struct sizer *s, double input)
{
	const struct settings *o = s->settings;
	double best[PRICES_MAX] = {INFINITY, INFINITY, INFINITY};

	if (s->prepared && same_number(s->input, input))
		return;
	experts_predict(&s->peaks_seen, input, o->reach, s->value);
	s->input = input;
	s->prepared = true;
	for (size_t k = 0; k < o->n_prices; k++) {
		s->allocation[k] = NAN;
		s->allocated[k] = false;
	}
	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		double cost[PRICES_MAX] = {INFINITY, INFINITY, INFINITY};

		if (!expert_speaks(s, e))
			continue;
		allocate_alone(s, e, cost);
		for (size_t k = 0; k < o->n_prices; k++)
			if (cost[k] < best[k]) {
				best[k] = cost[k];
				s->allocation[k] = s->alone[e][k];
			}
	}
}

/* Returns the allocation at one level of risk; NaN before the first run. Levels are computed on
 * demand, because pooling is most of the work. */
static double allocation_at(struct sizer *s, double input, size_t level)
{
	const struct settings *o = s->settings;

	prepare_experts(s, input);
	if (s->allocated[level] || !s->peaks_seen.n)
		return s->allocation[level];
	if (o->pooled)
		s->allocation[level] = allocate_pooled(s, level);
	s->allocation[level] = fmax(s->allocation[level] + o->extra,
		rule_peaks_largest(&s->peaks_seen, PEAKS_SEEN_MAX) * o->floor_shares +
			o->floor_bytes);
	s->allocated[level] = true;
	return s->allocation[level];
}

static double sizer_allocate(void *state, double input)
{
	struct sizer *s = state;

	return allocation_at(s, input, s->level);
}

static double second_attempt(const struct sizer *s, double allocation)
{
	double largest = RETRY_OVER_LARGEST * rule_peaks_largest(&s->peaks_seen, PEAKS_SEEN_MAX);

	return largest > allocation * 1.05 ? largest : 2 * allocation;
}

static double sizer_retry(void *state, double allocation, unsigned failures)
{
	return failures == 1 ? second_attempt(state, allocation) : 2 * allocation;
}

/* Returns the cost of a run with this peak and this first allocation. */
static double loss_of(const struct sizer *s, double allocation, double peak, double price)
{
	double spent = allocation, next = second_attempt(s, allocation);

	if (allocation >= peak)
		return allocation - peak;
	while (next < peak) {
		spent += next;
		next *= 2;
	}
	return spent + next - peak + price * peak + s->settings->fixed_price;
}

static void forget_old(struct sizer *s)
{
	size_t old = s->peaks_seen.n - PEAKS_CHANGE_RUNS;

	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		expert_record_forget(&s->record[e], s->learnt - PEAKS_CHANGE_RUNS);
	memmove(s->peaks_seen.at, s->peaks_seen.at + old,
		PEAKS_CHANGE_RUNS * sizeof s->peaks_seen.at[0]);
	s->peaks_seen.n = PEAKS_CHANGE_RUNS;
	s->forgotten += old;
}

static void sizer_learn(void *state, const struct observation *o)
{
	struct sizer *s = state;

	prepare_experts(s, o->input);
	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		struct expert_trial trial = {
			.ratio = o->peak / s->value[e],
			.value = s->value[e],
			.stake = s->settings->time_counts && o->duration > 0 ? o->duration : 1,
			.run = s->learnt,
		};

		if (!expert_speaks(s, e))
			continue;
		for (size_t k = 0; k < s->settings->n_prices; k++)
			trial.loss[k] = loss_of(s, s->alone[e][k], o->peak, s->settings->price[k]);
		expert_record_add(&s->record[e], &trial);
	}
	rule_peaks_add(&s->peaks_seen, o);
	s->learnt++;
	s->prepared = false;
	if (s->settings->forgets && rule_peaks_changed(&s->peaks_seen))
		forget_old(s);
}

void cost_aware_allocations(void *state, double input, double ret[RISK_COUNT])
{
	struct sizer *s = state;

	for (size_t level = 0; level < RISK_COUNT; level++)
		ret[level] = allocation_at(s, input, level);
}

/* Returns a lower bound of the probability of failure, after `n` runs that fitted. The bound is
 * needed because the experts are too confident after few runs. It is the mean of a beta
 * distribution. The prior of the distribution is (1/2, 3/2), which means one failure in four.
 *
 * Jeffreys' prior (1/2, 1/2) was worse on four of five sources of traces (tests/bench/sizing.sh).
 * Its Brier score was 0.0219, and the score of the prior (1/2, 3/2) was 0.0212.
 *
 * In reality, 8 % of attempts failed after one run. The bound for this case is 17 %. It would be 25
 * % with Jeffreys' prior. The estimate without a bound is 4.9 %. */
static double risk_told_by(size_t n)
{
	return 0.5 / ((double)n + 2);
}

static struct cost_pool chances_of(struct sizer *s, double input)
{
	assert(s->peaks_seen.n > 0);
	allocation_at(s, input, s->level); /* only for its side effect: it sets the weights */
	return pool_experts(s, s->level, FOR_CHANCE);
}

void cost_aware_outlook(void *state, double input, double allocation,
	struct cost_aware_outlook *ret)
{
	struct sizer *s = state;
	struct cost_aware_outlook o = {.runs = s->peaks_seen.n, .forgotten = s->forgotten};
	struct failure_prices waste = prices_at(s, s->level);

	struct cost_pool chance = chances_of(s, input);
	size_t below = cost_pool_below(&chance, allocation);

	o.too_small = fmax(0, 1 - chance.weight_below[below] / cost_pool_weight(&chance));
	o.told_by_number = o.too_small < risk_told_by(o.runs);
	if (o.told_by_number)
		o.too_small = risk_told_by(o.runs);

	struct cost_pool cost = pool_experts(s, s->level, FOR_COST);

	waste.failure = waste.fixed = 0;
	o.expected_waste =
		cost_pool_cost(&cost, allocation, cost_pool_below(&cost, allocation), &waste) /
		cost_pool_sum(&cost);
	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		if (s->weight[s->level][e] > o.leading_weight) {
			o.leading = (enum expert)e;
			o.leading_weight = s->weight[s->level][e];
			o.leading_value = s->value[e];
		}
	*ret = o;
}

/* Returns a quantile of the pool. Starts the search at index *at and updates *at, so calls with
 * ascending shares need only one pass. */
static double pool_quantile(const struct cost_pool *p, double share, size_t *at)
{
	while (*at < p->n - 1 && p->weight_below[*at + 1] < share * cost_pool_weight(p))
		++*at;
	return p->atom[*at].value;
}

double cost_aware_quantile(void *state, double input, double share)
{
	struct cost_pool p = chances_of(state, input);
	size_t at = 0;

	return pool_quantile(&p, share, &at);
}

void cost_aware_quantiles(void *state, double input, size_t n, double *ret)
{
	struct cost_pool p = chances_of(state, input);

	for (size_t k = 0, at = 0; k < n; k++)
		ret[k] = pool_quantile(&p, ((double)k + 0.5) / (double)n, &at);
}

static void start(void *state, const struct settings *settings, size_t level)
{
	struct sizer *s = state;

	s->settings = settings;
	s->level = level;
	expert_record_fade(s->ratio_fades);
	for (size_t age = 0; age < PEAKS_SEEN_MAX; age++)
		s->loss_fades[age] = exp2(-(double)age / LOSS_HALF_LIFE);
}

#define SIZER_RULE(name, settings, level)                                                          \
	static void start_##name(void *state, const struct rule_options *o)                        \
	{                                                                                          \
		(void)o;                                                                           \
		start(state, settings, level);                                                     \
	}
SIZER_RULE(caq_economy, &caq_economy, 0)
SIZER_RULE(caq_balanced, &caq_balanced, 0)
SIZER_RULE(caq_safe, &caq_safe, 0)
SIZER_RULE(economy, &auto_settings, RISK_ECONOMY)
SIZER_RULE(balanced, &auto_settings, RISK_BALANCED)
SIZER_RULE(safe, &auto_settings, RISK_SAFE)

#define RULE(name)                                                                                 \
	{                                                                                          \
		.state_size = sizeof(struct sizer), .start = start_##name,                         \
		.allocate = sizer_allocate, .retry = sizer_retry, .learn = sizer_learn             \
	}
const struct sizing_rule rule_caq[RISK_COUNT] = {
	[RISK_ECONOMY] = RULE(caq_economy),
	[RISK_BALANCED] = RULE(caq_balanced),
	[RISK_SAFE] = RULE(caq_safe),
};
const struct sizing_rule cost_aware_rules[RISK_COUNT] = {
	[RISK_ECONOMY] = RULE(economy),
	[RISK_BALANCED] = RULE(balanced),
	[RISK_SAFE] = RULE(safe),
};
