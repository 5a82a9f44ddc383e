#include "tests/bench/caq.h"

#include <math.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "recommender/sizing/cost_pool.h"

#define PERCENTILE_FADE 24.0 /* half-life of a peak's weight in the percentiles, in runs */
#define RATIO_FADE      80.0 /* half-life of a ratio's weight, in runs */
#define PRIOR_WEIGHT    6.0  /* weight of the prior ratios, in runs */
/* The prior ratios spread at most this many times as far as built in. */
#define SPREAD_MOST     2.0
#define RATIO_OFF_MAX   3.0 /* the distance of a ratio from 1 counts at most this much */
#define CANDIDATE_LEAST 0.2
#define CANDIDATE_STEP  1.02 /* each ratio of the job times this is a candidate, too */
#define RETRY           1.05 /* second attempt / largest peak */
#define EXTRA           (16 * MIB)
#define SAFE_SHARE      1.05 /* the safe level has at least this x the largest peak + 64 MiB */
#define SAFE_EXTRA      (64 * MIB)
static const double price[RISK_COUNT] = {[RISK_ECONOMY] = 3, [RISK_BALANCED] = 8, [RISK_SAFE] = 8};

enum base { BASE_MEDIAN, BASE_P75, BASE_P90, BASE_LARGEST, BASE_LINE, BASE_NEAREST, BASES };

/* Prior ratios of peak to prediction: [0] for predictors that use only the peaks, [1] for
 * predictors that also use the input size. The weights sum to 1. */
#define PRIORS 10
static const struct weighted_value prior_ratios[2][PRIORS] = {
	{{.30, .05}, {.60, .10}, {.85, .15}, {.97, .20}, {1.0, .22}, {1.06, .11}, {1.20, .08},
		{1.40, .05}, {2.0, .025}, {4.0, .015}},
	{{.45, .05}, {.75, .08}, {.92, .17}, {.99, .20}, {1.0, .17}, {1.06, .14}, {1.20, .09},
		{1.45, .05}, {2.1, .03}, {4.0, .02}},
};

struct record {
	size_t n;
	double ratio[PEAKS_SEEN_MAX], value[PEAKS_SEEN_MAX]; /* newest last */
};

struct caq {
	enum risk risk;
	struct peaks_seen seen;
	struct record record[BASES];
};

static int ascending(const void *a, const void *b)
{
	const struct weighted_value *left = a, *right = b;

	return (left->value > right->value) - (left->value < right->value);
}

static double percentile(const struct weighted_value *sorted, size_t n, double share)
{
	double all = 0, sum = 0;

	for (size_t k = 0; k < n; k++)
		all += sorted[k].weight;
	for (size_t k = 0; k < n - 1; k++)
		if ((sum += sorted[k].weight) / all >= share)
			return sorted[k].value;
	return sorted[n - 1].value;
}

static void predict_from_peaks(const struct peaks_seen *p, double ret[BASES])
{
	struct weighted_value peak[PEAKS_SEEN_MAX] = {0};
	size_t n = p->n;

	for (size_t i = 0; i < n; i++)
		peak[i] = (struct weighted_value){p->at[i].peak, exp2((double)i / PERCENTILE_FADE)};
	qsort(peak, n, sizeof *peak, ascending);
	ret[BASE_MEDIAN] =
		n % 2 ? peak[n / 2].value : (peak[n / 2 - 1].value + peak[n / 2].value) / 2;
	ret[BASE_P75] = percentile(peak, n, 0.75);
	ret[BASE_P90] = percentile(peak, n, 0.9);
	ret[BASE_LARGEST] = peak[n - 1].value;
}

/* Returns the least-squares line with a slope of at least 0; NaN = all inputs are equal. */
static double line_at(const struct peaks_seen *q, double input)
{
	double n = (double)q->n, x = 0, y = 0, xx = 0, xy = 0;

	for (size_t i = 0; i < q->n; i++) {
		x += q->at[i].input;
		y += q->at[i].peak;
	}
	x /= n;
	y /= n;
	for (size_t i = 0; i < q->n; i++) {
		xx += (q->at[i].input - x) * (q->at[i].input - x);
		xy += (q->at[i].input - x) * (q->at[i].peak - y);
	}
	return xx > 0 ? y + fmax(0, xy / xx) * (input - x) : (double)NAN;
}

/* Returns the largest peak of the three runs with the nearest inputs, by ratio. */
static double nearest_peak(const struct peaks_seen *q, double input)
{
	struct weighted_value run[PEAKS_SEEN_MAX] = {0}; /* peak, distance */
	double peak = 0;

	for (size_t i = 0; i < q->n; i++)
		run[i] = (struct weighted_value){
			q->at[i].peak, fabs(log((q->at[i].input + 1) / (input + 1)))};
	for (size_t k = 0; k < 3; k++) {
		size_t nearest = k;

		for (size_t i = k + 1; i < q->n; i++)
			if (run[i].weight < run[nearest].weight)
				nearest = i;
		peak = fmax(peak, run[nearest].value);
		run[nearest] = run[k];
	}
	return peak;
}

static void predict_from_inputs(const struct peaks_seen *p, double input, double ret[BASES])
{
	struct peaks_seen known = {0};
	double smallest = INFINITY;

	for (size_t i = 0; i < p->n; i++)
		if (!isnan(p->at[i].input)) {
			known.at[known.n++] = p->at[i];
			smallest = fmin(smallest, p->at[i].peak);
		}
	if (known.n < 3)
		return;
	ret[BASE_NEAREST] = nearest_peak(&known, input);
	ret[BASE_LINE] = line_at(&known, input);
	if (!isnan(ret[BASE_LINE]))
		ret[BASE_LINE] = fmin(fmax(ret[BASE_LINE], smallest / 2), 2 * ret[BASE_LARGEST]);
}

static void predict(const struct peaks_seen *p, double input, double ret[BASES])
{
	for (size_t b = 0; b < BASES; b++)
		ret[b] = NAN;
	if (p->n)
		predict_from_peaks(p, ret);
	if (p->n && !isnan(input))
		predict_from_inputs(p, input, ret);
}

/* Writes the ratios of a record and the prior ratios. The prior ratios of a steady job move closer
 * to 1. Returns their number. */
static size_t ratios_of(const struct record *r, size_t base, double value,
	struct weighted_value ret[PEAKS_SEEN_MAX + PRIORS])
{
	const struct weighted_value *prior = prior_ratios[base >= BASE_LINE];
	double expected = 0, own = 0, weight = 0;

	for (size_t k = 0; k < PRIORS; k++)
		expected += prior[k].weight * fabs(prior[k].value - 1);
	for (size_t i = 0; i < r->n; i++) {
		double age = exp2(-(double)(r->n - 1 - i) / RATIO_FADE);

		own += age * fmin(fabs(r->ratio[i] - 1), RATIO_OFF_MAX);
		weight += age;
		ret[i] = (struct weighted_value){r->ratio[i], age * r->value[i] / value};
	}

	double spread =
		fmin((PRIOR_WEIGHT + own / expected) / (PRIOR_WEIGHT + weight), SPREAD_MOST);

	for (size_t k = 0; k < PRIORS; k++)
		ret[r->n + k] =
			(struct weighted_value){fmax(0.05, 1 + (prior[k].value - 1) * spread),
				PRIOR_WEIGHT * prior[k].weight};
	return r->n + PRIORS;
}

/* Returns the cheapest ratio of allocation to prediction, and its cost as a share of the expected
 * peak. */
static struct cheapest_value cheapest_ratio(const struct caq *c, size_t base, double value)
{
	const struct record *r = &c->record[base];
	struct weighted_value atom[PEAKS_SEEN_MAX + PRIORS], spare[PEAKS_SEEN_MAX + PRIORS];
	double below_weight[PEAKS_SEEN_MAX + PRIORS + 1],
		below_product[PEAKS_SEEN_MAX + PRIORS + 1], largest = 0;
	struct cost_pool p = {
		ratios_of(r, base, value, atom), atom, spare, below_weight, below_product};
	struct cheapest_value best = {NAN, INFINITY};

	for (size_t i = 0; i < r->n; i++)
		largest = fmax(largest, r->ratio[i]);

	struct failure_prices prices = {
		.failure = price[c->risk], .second = r->n ? largest * RETRY : 1};

	cost_pool_sort(&p);
	for (size_t i = 0; i < p.n + r->n; i++) {
		double candidate = i < p.n ? atom[i].value : r->ratio[i - p.n] * CANDIDATE_STEP;
		double cost = candidate > CANDIDATE_LEAST ?
				      cost_pool_cost(&p, candidate, cost_pool_below(&p, candidate),
					      &prices) :
				      INFINITY;

		if (cost < best.cost || (cost <= best.cost && candidate < best.value))
			best = (struct cheapest_value){candidate, cost};
	}
	best.cost /= cost_pool_sum(&p);
	return best;
}

static double allocate(void *state, double input)
{
	struct caq *c = state;
	double value[BASES], allocation = NAN, least = INFINITY;

	predict(&c->seen, input, value);
	for (size_t b = 0; b < BASES; b++) {
		struct cheapest_value best;

		if (!(value[b] > 0))
			continue;
		best = cheapest_ratio(c, b, value[b]);
		if (best.cost < least) {
			least = best.cost;
			allocation = value[b] * best.value + EXTRA;
		}
	}
	if (c->risk == RISK_SAFE && c->seen.n)
		allocation = fmax(allocation,
			SAFE_SHARE * rule_peaks_largest(&c->seen, PEAKS_SEEN_MAX) + SAFE_EXTRA);
	return allocation;
}

static double retry(void *state, double allocation, unsigned failures)
{
	const struct caq *c = state;
	double largest = RETRY * rule_peaks_largest(&c->seen, PEAKS_SEEN_MAX);

	return failures == 1 && largest > 1.05 * allocation ? largest : 2 * allocation;
}

static void learn(void *state, const struct observation *o)
{
	struct caq *c = state;
	double value[BASES];

	predict(&c->seen, o->input, value);
	for (size_t b = 0; b < BASES; b++) {
		struct record *r = &c->record[b];

		if (!(value[b] > 0))
			continue;
		for (size_t i = 1; r->n == PEAKS_SEEN_MAX && i < r->n; i++) {
			r->ratio[i - 1] = r->ratio[i];
			r->value[i - 1] = r->value[i];
		}
		r->n -= r->n == PEAKS_SEEN_MAX;
		r->ratio[r->n] = o->peak / value[b];
		r->value[r->n++] = value[b];
	}
	rule_peaks_add(&c->seen, o);
}

#define START(name, level)                                                                         \
	static void start_##name(void *state, const struct rule_options *o)                        \
	{                                                                                          \
		struct caq *c = state;                                                             \
                                                                                                   \
		(void)o;                                                                           \
		c->risk = level;                                                                   \
	}
START(economy, RISK_ECONOMY)
START(balanced, RISK_BALANCED)
START(safe, RISK_SAFE)

#define RULE(name)                                                                                 \
	{                                                                                          \
		.state_size = sizeof(struct caq), .start = start_##name, .allocate = allocate,     \
		.retry = retry, .learn = learn                                                     \
	}
const struct sizing_rule bench_caq[RISK_COUNT] = {
	[RISK_ECONOMY] = RULE(economy),
	[RISK_BALANCED] = RULE(balanced),
	[RISK_SAFE] = RULE(safe),
};
