/* caq and auto: experts, their past ratios, and the cheapest allocation. The method is explained in
 * auto.h. */
#include "recommender/auto.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/strategy.h"

#define HALF_LIFE          80.0 /* runs after which a ratio weighs half */
#define LOSS_HALF_LIFE     30.0 /* runs after which an expert's loss weighs half */
#define RETRY_OVER_LARGEST 1.05

/* Ratios of peak to prediction of jobs in general: rounded quantiles pooled over many jobs of five
 * public sources. */
#define PRIOR_ATOMS 10
static const struct atom prior_of_peaks[PRIOR_ATOMS] = {
	{.30, .05},
	{.60, .10},
	{.85, .15},
	{.97, .20},
	{1.0, .22},
	{1.06, .11},
	{1.20, .08},
	{1.40, .05},
	{2.0, .025},
	{4.0, .015},
};
static const struct atom prior_of_inputs[PRIOR_ATOMS] = {
	{.45, .05},
	{.75, .08},
	{.92, .17},
	{.99, .20},
	{1.0, .17},
	{1.06, .14},
	{1.20, .09},
	{1.45, .05},
	{2.1, .03},
	{4.0, .02},
};

struct settings {
	unsigned experts; /* one bit each */
	bool pooled, forgets;
	double prior_weight;   /* of the made-up ratios, in runs */
	double duration_power; /* a long run's ratio weighs more: duration to this power */
	double reach;          /* how far regressions extrapolate, in largest peaks */
	double fixed_price;    /* of a failure, bytes */
	double extra;          /* bytes on top of every allocation */
	double floor_shares;   /* safe caq: at least this x the largest peak + floor_bytes */
	double floor_bytes;
	double learning_rate; /* how fast an expert that cost more loses its weight */
};

#define BIT(e) (1u << (e))
#define CAQ_EXPERTS                                                                                \
	(BIT(EXPERT_MEDIAN) | BIT(EXPERT_P75) | BIT(EXPERT_P90) | BIT(EXPERT_LARGEST) |            \
		BIT(EXPERT_LINE) | BIT(EXPERT_NEAREST))
static const struct settings caq_settings = {
	.experts = CAQ_EXPERTS,
	.prior_weight = 6,
	.reach = 2,
	.extra = 16 * MIB,
};
static const struct settings caq_safe_settings = {
	.experts = CAQ_EXPERTS,
	.prior_weight = 6,
	.reach = 2,
	.extra = 16 * MIB,
	.floor_shares = 1.05,
	.floor_bytes = 64 * MIB,
};
static const struct settings auto_settings = {
	.experts = BIT(EXPERT_COUNT) - 1,
	.pooled = true,
	.forgets = true,
	.prior_weight = 5,
	.duration_power = 0.5,
	.reach = 3,
	.fixed_price = 512 * MIB,
	.extra = 4 * MIB,
	.learning_rate = 0.5,
};

/* One run that an expert predicted. */
struct trial {
	double ratio, value, loss;
	double weight; /* duration to the duration_power */
	uint64_t run;  /* which */
};

struct track {
	size_t n;
	struct trial at[PAST_MAX];
};

#define ATOMS_MAX (EXPERT_COUNT * (PAST_MAX + PRIOR_ATOMS))

struct sizer {
	const struct settings *settings;
	double price;
	struct past past;
	uint64_t learnt; /* runs, ever */
	size_t forgotten;
	struct track track[EXPERT_COUNT];
	/* about the next run, valid while prepared */
	bool prepared;
	double input;
	double value[EXPERT_COUNT];  /* NaN: says nothing */
	double alone[EXPERT_COUNT];  /* allocation by this expert alone */
	double weight[EXPERT_COUNT]; /* sums to 1 over those that speak */
	double allocation;
	struct atom atom[ATOMS_MAX];
	double weight_below[ATOMS_MAX + 1], product_below[ATOMS_MAX + 1];
};

static bool speaks(const struct sizer *s, unsigned expert)
{
	return s->settings->experts & BIT(expert) && s->value[expert] > 0;
}

static double age_weight(const struct track *t, size_t i)
{
	return exp2(-(double)(t->n - 1 - i) / HALF_LIFE);
}

/* A steady job shrinks the spread of the made-up ratios towards its own, a wild one widens it. */
static double prior_spread(const struct sizer *s, const struct track *t, const struct atom *prior)
{
	double expected = 0, own = 0, weight = 0;

	for (size_t i = 0; i < PRIOR_ATOMS; i++)
		expected += fabs(prior[i].value - 1) * prior[i].weight;
	for (size_t i = 0; i < t->n; i++) {
		own += age_weight(t, i) * fmin(fabs(t->at[i].ratio - 1), 3);
		weight += age_weight(t, i);
	}
	return fmin(
		(s->settings->prior_weight + own / expected) / (s->settings->prior_weight + weight),
		2);
}

enum purpose { FOR_COST, FOR_CHANCE };

/*
 * An expert's ratios, own ones first. For the cost, a run weighs by what it had at stake: memory,
 * as predicted, and time. For the chance of a failure every run counts alike.
 */
static size_t ratios_of(const struct sizer *s, unsigned expert, enum purpose purpose,
	struct atom ret[PAST_MAX + PRIOR_ATOMS])
{
	const struct track *t = &s->track[expert];
	const struct atom *prior = experts[expert].needs_input ? prior_of_inputs : prior_of_peaks;
	double spread = prior_spread(s, t, prior), prior_weight = s->settings->prior_weight;
	double value = s->value[expert], mean_weight = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		double stake = purpose == FOR_COST ? t->at[i].value / value * t->at[i].weight : 1;

		ret[n++] = (struct atom){t->at[i].ratio, age_weight(t, i) * stake};
		mean_weight += t->at[i].weight / (double)t->n;
	}
	if (purpose == FOR_CHANCE)
		prior_weight = 2;
	else if (t->n)
		prior_weight *= mean_weight;
	for (size_t i = 0; i < PRIOR_ATOMS; i++)
		ret[n++] = (struct atom){
			fmax(1 + (prior[i].value - 1) * spread, 0.05),
			prior_weight * prior[i].weight,
		};
	return n;
}

static struct pool pool_in(struct sizer *s, size_t n)
{
	return (struct pool){n, s->atom, s->weight_below, s->product_below};
}

static int ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* The cheapest allocation by one expert alone; *ret_cost as a share of the expected peak. */
static double allocate_alone(struct sizer *s, unsigned expert, double *ret_cost)
{
	const struct track *t = &s->track[expert];
	double candidate[2 * PAST_MAX + PRIOR_ATOMS], value = s->value[expert], largest = 0, cost;
	struct pool p = pool_in(s, ratios_of(s, expert, FOR_COST, s->atom));
	size_t n = 0;

	for (size_t i = 0; i < p.n; i++)
		if (p.atom[i].value > 0.2)
			candidate[n++] = p.atom[i].value;
	for (size_t i = 0; i < t->n; i++) {
		double above = t->at[i].ratio * 1.02;

		if (above > 0.2)
			candidate[n++] = above;
		largest = fmax(largest, t->at[i].ratio);
	}
	qsort(candidate, n, sizeof *candidate, ascending);
	pool_sort(&p);

	struct prices prices = {
		.failure = s->price,
		.fixed = s->settings->fixed_price / value,
		.second = t->n ? largest * RETRY_OVER_LARGEST : 1,
	};
	double best = pool_cheapest(&p, candidate, n, &prices, &cost);

	*ret_cost = cost / pool_sum(&p);
	return best * value;
}

/* Weights from losses: what experts missed (they did not always speak) counts as the average loss.
 */
static void weigh_experts(struct sizer *s)
{
	double loss[EXPERT_COUNT] = {0}, heard[EXPERT_COUNT] = {0}, all_loss = 0, all_heard = 0,
	       longest = 0;
	double least = INFINITY, sum = 0;

	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		const struct track *t = &s->track[e];

		if (!speaks(s, e))
			continue;
		for (size_t i = 0; i < t->n; i++) {
			double weight =
				exp2(-(double)(s->learnt - 1 - t->at[i].run) / LOSS_HALF_LIFE);

			loss[e] += weight * t->at[i].loss;
			heard[e] += weight;
		}
		all_loss += loss[e];
		all_heard += heard[e];
		longest = fmax(longest, heard[e]);
	}

	double average = all_heard > 0 && all_loss > 0 ? all_loss / all_heard : 1;

	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		if (speaks(s, e)) {
			loss[e] = loss[e] / average + (longest - heard[e]);
			least = fmin(least, loss[e]);
		}
	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		s->weight[e] =
			speaks(s, e) ? exp(-s->settings->learning_rate * (loss[e] - least)) : 0;
		sum += s->weight[e];
	}
	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		s->weight[e] /= sum;
}

static struct pool pool_experts(struct sizer *s, enum purpose purpose)
{
	size_t n = 0;

	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		double sum = 0;

		if (s->weight[e] < 0.01)
			continue;

		struct atom *ratio = s->atom + n;
		size_t count = ratios_of(s, e, purpose, ratio);

		for (size_t i = 0; i < count; i++)
			sum += ratio[i].weight;
		for (size_t i = 0; i < count; i++) {
			ratio[i].value *= s->value[e];
			ratio[i].weight *= s->weight[e] / sum;
		}
		n += count;
	}

	struct pool p = pool_in(s, n);

	pool_sort(&p);
	return p;
}

static struct prices prices_of(const struct sizer *s)
{
	return (struct prices){
		.failure = s->price,
		.fixed = s->settings->fixed_price,
		.second = RETRY_OVER_LARGEST * past_peak(&s->past, PAST_MAX),
	};
}

static double allocate_pooled(struct sizer *s)
{
	double candidate[ATOMS_MAX], cost;
	struct pool p = pool_experts(s, FOR_COST);
	struct prices prices = prices_of(s);

	for (size_t i = 0; i < p.n; i++)
		candidate[i] = p.atom[i].value;
	return pool_cheapest(&p, candidate, p.n, &prices, &cost);
}

static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void prepare(struct sizer *s, double input)
{
	double best = INFINITY;

	if (s->prepared && same_number(s->input, input))
		return;
	experts_predict(&s->past, input, s->settings->reach, s->value);
	s->input = input;
	s->prepared = true;
	s->allocation = NAN;
	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		double cost;

		s->weight[e] = 0;
		if (!speaks(s, e))
			continue;
		s->alone[e] = allocate_alone(s, e, &cost);
		if (cost < best) {
			best = cost;
			s->allocation = s->alone[e];
		}
	}
	if (s->settings->pooled && s->past.n) {
		weigh_experts(s);
		s->allocation = allocate_pooled(s);
	}
	s->allocation += s->settings->extra;
	if (s->settings->floor_shares > 0 && s->past.n)
		s->allocation = fmax(
			s->allocation, past_peak(&s->past, PAST_MAX) * s->settings->floor_shares +
					       s->settings->floor_bytes);
}

static double sizer_allocate(void *state, double input)
{
	struct sizer *s = state;

	prepare(s, input);
	return s->allocation;
}

static double second_attempt(const struct sizer *s, double allocation)
{
	double largest = RETRY_OVER_LARGEST * past_peak(&s->past, PAST_MAX);

	return largest > allocation * 1.05 ? largest : 2 * allocation;
}

static double sizer_retry(void *state, double allocation, unsigned failures)
{
	return failures == 1 ? second_attempt(state, allocation) : 2 * allocation;
}

/* What this run would have cost, had the expert sized it alone. */
static double loss_of(const struct sizer *s, double allocation, double peak)
{
	double spent = 0, next = allocation;

	if (allocation >= peak)
		return allocation - peak;
	while (next < peak) {
		spent += next;
		next = next == allocation ? second_attempt(s, next) : 2 * next;
	}
	return spent + next - peak + s->price * peak + s->settings->fixed_price;
}

/* A lasting change: the newest five runs all lie beyond all earlier ones, and no unusual input
 * explains it. */
#define CHANGE_RUNS   5
#define CHANGE_BEFORE 8
#define CHANGE_FACTOR 1.1

static bool has_changed(const struct past *p)
{
	double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
	double least_input = INFINITY, most_input = -INFINITY;

	if (p->n < CHANGE_BEFORE + CHANGE_RUNS)
		return false;
	for (size_t i = 0; i < p->n; i++) {
		const struct observation *o = &p->at[i];
		unsigned newer = i >= p->n - CHANGE_RUNS;

		low[newer] = fmin(low[newer], o->peak);
		high[newer] = fmax(high[newer], o->peak);
		if (!newer) {
			least_input = fmin(least_input, o->input);
			most_input = fmax(most_input, o->input);
		} else if (o->input < least_input || o->input > most_input)
			return false;
	}
	return high[1] * CHANGE_FACTOR < low[0] || low[1] > high[0] * CHANGE_FACTOR;
}

static void forget_before(struct sizer *s, uint64_t run)
{
	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		struct track *t = &s->track[e];
		size_t old = 0;

		while (old < t->n && t->at[old].run < run)
			old++;
		t->n -= old;
		memmove(t->at, t->at + old, t->n * sizeof t->at[0]);
	}

	size_t keep = (size_t)(s->learnt - run), old = s->past.n - keep;

	memmove(s->past.at, s->past.at + old, keep * sizeof s->past.at[0]);
	s->past.n = keep;
	s->forgotten += old;
}

static void sizer_learn(void *state, const struct observation *o)
{
	struct sizer *s = state;
	double duration = o->duration > 0 ? o->duration : 1;

	prepare(s, o->input);
	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		struct track *t = &s->track[e];

		if (!speaks(s, e))
			continue;
		if (t->n == PAST_MAX)
			memmove(t->at, t->at + 1, --t->n * sizeof t->at[0]);
		t->at[t->n++] = (struct trial){
			.ratio = o->peak / s->value[e],
			.value = s->value[e],
			.loss = loss_of(s, s->alone[e], o->peak),
			.weight = pow(duration, s->settings->duration_power),
			.run = s->learnt,
		};
	}
	past_add(&s->past, o);
	s->learnt++;
	s->prepared = false;
	if (s->settings->forgets && has_changed(&s->past))
		forget_before(s, s->learnt - CHANGE_RUNS);
}

void auto_outlook(void *state, double input, double allocation, struct outlook *ret)
{
	struct sizer *s = state;
	struct outlook o = {.runs = s->past.n, .forgotten = s->forgotten};
	struct prices waste = prices_of(s);

	prepare(s, input);
	assert(s->past.n > 0);

	struct pool chance = pool_experts(s, FOR_CHANCE);
	size_t below = pool_below(&chance, allocation);

	o.too_small = 1 - chance.weight_below[below] / pool_weight(&chance);

	struct pool cost = pool_experts(s, FOR_COST);

	waste.failure = waste.fixed = 0;
	o.expected_waste = pool_cost(&cost, allocation, pool_below(&cost, allocation), &waste) /
			   pool_sum(&cost);
	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		if (s->weight[e] > o.leading_weight) {
			o.leading = (enum expert)e;
			o.leading_weight = s->weight[e];
			o.leading_value = s->value[e];
		}
	*ret = o;
}

static void start(struct sizer *s, const struct settings *settings, const struct rule_options *o)
{
	s->settings = settings;
	s->price = o->price;
}

static void caq_start(void *state, const struct rule_options *o)
{
	start(state, &caq_settings, o);
}

static void caq_safe_start(void *state, const struct rule_options *o)
{
	start(state, &caq_safe_settings, o);
}

static void auto_start(void *state, const struct rule_options *o)
{
	start(state, &auto_settings, o);
}

#define SIZER_RULE(start_function, default_price)                                                  \
	{                                                                                          \
		.state_size = sizeof(struct sizer), .defaults = {.price = default_price},          \
		.start = start_function, .allocate = sizer_allocate, .retry = sizer_retry,         \
		.learn = sizer_learn,                                                              \
	}
const struct rule caq_rule = SIZER_RULE(caq_start, 8);
const struct rule caq_safe_rule = SIZER_RULE(caq_safe_start, 8);
const struct rule auto_rule = SIZER_RULE(auto_start, PRICE_BALANCED);
