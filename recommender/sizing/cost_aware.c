/* Rules of the strategy auto. cost_aware.h explains the method. */
#include "recommender/sizing/cost_aware.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recommender/sizing/expert_record.h"
#include "recommender/sizing/job_prior.h"
#include "recommender/sizing/strategy.h"

#define LOSS_HALF_LIFE     15.0 /* half-life of an expert's loss, in runs */
#define RETRY_OVER_LARGEST 1.05 /* assumed allocation of a second attempt / largest peak */
#define LEARNING_RATE      0.8  /* at a higher rate, costly experts lose weight faster */
/* In the weights of the experts, a single loss counts at most this many times the average loss. */
#define LOSS_MOST 3.0
/* A single loss (cost of a run sized by one expert) counts at most this many times the peak, plus
 * FAILURE_FIXED. Otherwise one huge loss could dominate the average for hundreds of runs. Example:
 * after a run with an input of 0 bytes, a prediction for 1 GiB can be a million times too large. */
#define LOSS_MOST_PEAKS 1000
#define FAILURE_FIXED   (512 * MIB) /* fixed part of the price of a failed attempt */
/* Assumed peak of a killed run, divided by its limit. Experts can learn only a peak, but a kill
 * shows only that the need was above the limit. */
#define ABOVE_BOUND 1.1

static const struct ratio_options ratio_options = {.prior_weight = 5, .likeness = 0.5};

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

static_assert(RISK_COUNT == PRICES_MAX, "a price per level of risk");
const double cost_aware_risk_price[RISK_COUNT] = {
	[RISK_ECONOMY] = 1.5, [RISK_BALANCED] = 2.6, [RISK_SAFE] = 7};

#define ATOMS_MAX (EXPERT_COUNT * RATIOS_MAX)

/* A possible value of the next peak in bytes: a ratio from the record of `expert`, multiplied by
 * its prediction. */
struct expert_ratio {
	double value, weight;
	unsigned expert;
};

struct sizer {
	const struct job_prior *prior; /* expectations of a new job; NULL = the built-in ones */
	enum risk risk;                /* level of risk of this rule */
	/* Peaks before a lasting change are multiplied by the change (move_old). */
	struct peaks_seen peaks_seen;
	struct peaks_seen measured; /* the same runs with their original peaks */
	uint64_t learnt;  /* number of learnt runs, including those no longer in peaks_seen */
	uint64_t changed; /* number of the first run after the newest lasting change; 0 = none */
	struct expert_record record[EXPERT_COUNT];
	/* predictions for the next run; valid while `prepared` */
	bool prepared;
	double input;
	bool heard[EXPERT_COUNT];                /* true: the expert is used for this input */
	double value[EXPERT_COUNT];              /* bytes; NaN = no prediction */
	double alone[EXPERT_COUNT][RISK_COUNT];  /* allocation by this expert alone */
	double weight[RISK_COUNT][EXPERT_COUNT]; /* sums to 1 at each level; 0 = no prediction */
	/* Number of risk levels for which `weight` and `allocation` are computed. The levels are
	 * computed in the order of `ascending`, the lowest request first. */
	size_t allocated;
	double allocation[RISK_COUNT]; /* bytes */
	/* Weighted ratios; unset where `value` is NaN. */
	struct expert_ratios for_cost[EXPERT_COUNT];
	bool merged;
	size_t n_all;
	struct expert_ratio
		all[ATOMS_MAX]; /* for_cost of all experts, ascending; valid when `merged` */
	/* Weights by age in runs, computed once. */
	double ratio_fades[PEAKS_SEEN_MAX], loss_fades[PEAKS_SEEN_MAX];
	/* Memory of the pool that pool_for_cost or pool_for_chance makes. */
	struct weighted_value atom[ATOMS_MAX], spare[ATOMS_MAX];
	double weight_below[ATOMS_MAX + 1], product_below[ATOMS_MAX + 1];
};

static bool expert_speaks(const struct sizer *s, unsigned expert)
{
	return s->value[expert] > 0;
}

/* Some experts do not use inputs. While the inputs grow steadily, such an expert predicts well,
 * too: each peak is about twice the median of the peaks so far. It fails at the first input that
 * does not continue the growth.
 *
 * For an input that does not continue the growth, these experts are left out if two conditions are
 * true:
 * - At least RUNS_TO_EXPLAIN runs have a known input.
 * - The inputs explain at least INPUTS_EXPLAIN of the variance of the logarithms of the peaks.
 *
 * If such an input is also clearly outside the range of all earlier inputs (CLEARLY), only experts
 * that extrapolate are used. */
#define INPUTS_EXPLAIN  0.95
#define RUNS_TO_EXPLAIN 10
#define RUNS_IN_LINE    20 /* newest runs that show where the next input is expected */

/* The inputs of the runs. */
struct inputs_seen {
	size_t n;
	double sum, least, most;
	double place_low, place_high; /* range of input / mean of earlier inputs, newest runs */
	struct stats_line line;       /* of logarithms: peak over input */
};

static struct inputs_seen inputs_of(const struct peaks_seen *p)
{
	struct inputs_seen r = {.least = INFINITY, .place_low = INFINITY};

	for (size_t i = 0; i < p->n; i++) {
		const struct observation *o = &p->at[i];

		if (isnan(o->input))
			continue;
		if (r.sum > 0 && i + RUNS_IN_LINE >= p->n) {
			double place = o->input / (r.sum / (double)r.n);

			r.place_low = fmin(r.place_low, place);
			r.place_high = fmax(r.place_high, place);
		}
		stats_line_add(&r.line, log(o->input + 1), log(o->peak));
		r.sum += o->input;
		r.least = fmin(r.least, o->input);
		r.most = fmax(r.most, o->input);
		r.n++;
	}
	return r;
}

/* Sets s->heard: the experts that are used for the next input. */
static void choose_experts(struct sizer *s)
{
	struct inputs_seen seen = inputs_of(&s->peaks_seen);
	double place = s->input / (seen.sum / (double)seen.n);
	bool in_line = !(place * CLEARLY < seen.place_low || place > CLEARLY * seen.place_high);
	bool beyond = s->input > CLEARLY * seen.most || s->input * CLEARLY < seen.least;
	bool all = in_line || seen.n < RUNS_TO_EXPLAIN ||
		   !(stats_line_explains(&seen.line) >= INPUTS_EXPLAIN);

	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		s->heard[e] = all || (beyond ? experts[e].extrapolates : experts[e].needs_input);
}

static const struct ratio_prior *prior_of(const struct sizer *s, unsigned expert)
{
	return job_prior_ratios(s->prior, (enum expert)expert, s->peaks_seen.n);
}

#define CANDIDATE_MIN   0.2
#define ABOVE_CANDIDATE 1.02

/* Returns the index, from `i` on, of the next observed ratio for which a value 2 % higher
 * (ABOVE_CANDIDATE) must be tried. These are lower bounds, and ratios of at most CANDIDATE_MIN.
 * Every other ratio is tried itself: 2 % more would be a larger allocation that covers no more
 * values. */
static size_t next_above(const struct expert_record *t, size_t i)
{
	while (i < t->n && !t->at[t->order[i]].at_least && t->at[t->order[i]].ratio > CANDIDATE_MIN)
		i++;
	return i;
}

/* Writes the values of allocation / prediction to try, in ascending order: all ratios of `r`, and
 * some observed ratios + 2 % (next_above). Leaves out values up to CANDIDATE_MIN. Returns their
 * number. */
static size_t candidates_of(const struct expert_record *t, const struct expert_ratios *r,
	double ret[2 * RATIOS_MAX])
{
	size_t n = 0, above = next_above(t, 0), at = 0;

	while (at < r->n || above < t->n) {
		double higher =
			above < t->n ? t->at[t->order[above]].ratio * ABOVE_CANDIDATE : INFINITY;
		/* Not written as "<=": if the value is NaN, `take` must be true, or the loop would
		 * never end. */
		bool take = at < r->n && (above == t->n || !(r->at[at].value > higher));
		double candidate = take ? r->at[at++].value : higher;

		if (!take)
			above = next_above(t, above + 1);
		if (candidate > CANDIDATE_MIN)
			ret[n++] = candidate;
	}
	return n;
}

/* Sets s->alone[expert]: the allocation at each level of risk that is cheapest by this expert's
 * prediction alone. */
static void allocate_alone(struct sizer *s, unsigned expert)
{
	const struct expert_record *t = &s->record[expert];
	struct expert_ratios *r = &s->for_cost[expert];
	double candidate[2 * RATIOS_MAX], value = s->value[expert];
	double largest = t->n ? t->at[t->order[t->n - 1]].ratio : 0;
	struct failure_prices prices[RISK_COUNT];
	struct cheapest_value best[RISK_COUNT];

	expert_record_ratios(t, prior_of(s, expert), value, FOR_COST, &ratio_options,
		s->ratio_fades, r);

	size_t n = candidates_of(t, r, candidate);
	struct cost_pool p = {r->n, r->at, NULL, s->weight_below, s->product_below};

	cost_pool_sort(&p);
	for (size_t k = 0; k < RISK_COUNT; k++)
		prices[k] = (struct failure_prices){
			.failure = cost_aware_risk_price[k],
			.fixed = FAILURE_FIXED / value,
			.second = t->n ? largest * RETRY_OVER_LARGEST : 1,
		};
	cost_pool_cheapest(&p, candidate, n, prices, RISK_COUNT, best);
	for (size_t k = 0; k < RISK_COUNT; k++)
		s->alone[expert][k] = value * best[k].value;
}

/* Returns the weight of a loss that is `age` runs old. A loss can be older than the table
 * s->loss_fades, because an expert that rarely predicts keeps old runs in its record. */
static double loss_fade(const struct sizer *s, uint64_t age)
{
	return age < PEAKS_SEEN_MAX ? s->loss_fades[age] : exp2(-(double)age / LOSS_HALF_LIFE);
}

/* Returns the mean of all recorded losses of those experts that have a prediction for the next run.
 * Newer losses weigh more (loss_fade). Returns 1 if no loss is recorded, or if all are 0. */
static double average_loss(const struct sizer *s, size_t level)
{
	double sum = 0, weights = 0;

	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		const struct expert_record *t = &s->record[e];

		for (size_t i = 0; expert_speaks(s, e) && i < t->n; i++) {
			double weight = loss_fade(s, s->learnt - 1 - t->at[i].run);

			sum += weight * t->at[i].loss[level];
			weights += weight;
		}
	}
	return sum > 0 ? sum / weights : 1;
}

/* Weighs the experts by their losses: a large loss gives a small weight. For a run that an expert
 * did not predict, the average loss counts. A single loss counts at most LOSS_MOST times the
 * average, so that one or two odd runs do not decide the weights. */
static void weigh_experts(struct sizer *s, size_t level)
{
	double loss[EXPERT_COUNT] = {0}, weight_heard[EXPERT_COUNT] = {0}, longest = 0;
	double least = INFINITY, sum = 0, average = average_loss(s, level);

	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		const struct expert_record *t = &s->record[e];

		for (size_t i = 0; expert_speaks(s, e) && i < t->n; i++) {
			double weight = loss_fade(s, s->learnt - 1 - t->at[i].run);

			loss[e] += weight * fmin(t->at[i].loss[level] / average, LOSS_MOST);
			weight_heard[e] += weight;
		}
		longest = fmax(longest, weight_heard[e]);
	}
	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		if (expert_speaks(s, e) && s->heard[e]) {
			loss[e] += longest - weight_heard[e];
			least = fmin(least, loss[e]);
		}
	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		s->weight[level][e] = expert_speaks(s, e) && s->heard[e] ?
					      exp(-LEARNING_RATE * (loss[e] - least)) :
					      0;
		sum += s->weight[level][e];
	}
	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		s->weight[level][e] /= sum;
}

/* Returns possible value `i` of the next peak by an expert, in bytes: ratio x prediction. INFINITY
 * = the expert has fewer values, or none. */
static double value_at(const struct sizer *s, unsigned expert, size_t i)
{
	const struct expert_ratios *r = &s->for_cost[expert];

	return expert_speaks(s, expert) && i < r->n ?
		       fmin(r->at[i].value * s->value[expert], DBL_MAX) :
		       INFINITY;
}

/* Fills s->all: merges the values of all experts in ascending order. This order is the same at each
 * level of risk. */
static void merge_experts(struct sizer *s)
{
	size_t at[EXPERT_COUNT] = {0};
	double head[EXPERT_COUNT];

	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		head[e] = value_at(s, e, 0);
	for (s->n_all = 0; s->n_all < ATOMS_MAX; s->n_all++) {
		unsigned least = 0;
		double value = head[0];

		for (unsigned e = 1; e < EXPERT_COUNT; e++) {
			least = head[e] < value ? e : least;
			value = head[e] < value ? head[e] : value;
		}
		if (!(value < INFINITY))
			break;

		s->all[s->n_all] = (struct expert_ratio){
			value, s->for_cost[least].at[at[least]].weight, least};
		head[least] = value_at(s, least, ++at[least]);
	}
	s->merged = true;
}

/* An expert (experts.h) with less than this share of the total weight is ignored. */
#define WEIGHT_LEAST 0.01

/* Merges the possible next peaks of all experts into one weighted set. The weights of the experts
 * depend on the level of risk. */
static struct cost_pool pool_for_cost(struct sizer *s, size_t level)
{
	struct cost_pool p = {0, s->atom, s->spare, s->weight_below, s->product_below};
	double share[EXPERT_COUNT];

	if (!s->merged)
		merge_experts(s);
	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		share[e] = s->weight[level][e] < WEIGHT_LEAST ?
				   -1 :
				   s->weight[level][e] / s->for_cost[e].sum;
	for (size_t i = 0; i < s->n_all; i++) {
		double of_all = share[s->all[i].expert];

		p.atom[p.n] = (struct weighted_value){s->all[i].value, s->all[i].weight * of_all};
		p.n += !(of_all < 0);
	}
	cost_pool_sort(&p);
	return p;
}

/* Like pool_for_cost, but the weight of a run does not depend on its prediction and its duration
 * (FOR_CHANCE). */
static struct cost_pool pool_for_chance(struct sizer *s, size_t level)
{
	struct cost_pool p = {0, s->atom, s->spare, s->weight_below, s->product_below};

	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		double weight = s->weight[level][e];
		struct expert_ratios r;

		if (weight < WEIGHT_LEAST)
			continue;
		expert_record_ratios(&s->record[e], prior_of(s, e), s->value[e], FOR_CHANCE,
			&ratio_options, s->ratio_fades, &r);
		for (size_t i = 0; i < r.n; i++)
			p.atom[p.n++] = (struct weighted_value){
				r.at[i].value * s->value[e], r.at[i].weight * (weight / r.sum)};
	}
	cost_pool_sort(&p);
	return p;
}

static struct failure_prices prices_at(const struct sizer *s, size_t level)
{
	return (struct failure_prices){
		.failure = cost_aware_risk_price[level],
		.fixed = FAILURE_FIXED,
		.second = RETRY_OVER_LARGEST * rule_peaks_largest(&s->peaks_seen, PEAKS_SEEN_MAX),
	};
}

static double cheapest_of(const struct cost_pool *p, const struct failure_prices *prices)
{
	double candidate[ATOMS_MAX];
	struct cheapest_value best;

	for (size_t i = 0; i < p->n; i++)
		candidate[i] = p->atom[i].value;
	cost_pool_cheapest(p, candidate, p->n, prices, 1, &best);
	return best.value;
}

static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void prepare_experts(struct sizer *s, double input)
{
	if (s->prepared && same_number(s->input, input))
		return;
	experts_predict(&s->peaks_seen, input, s->value);
	s->input = input;
	choose_experts(s);
	s->prepared = true;
	s->merged = false;
	s->allocated = 0;
	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		if (expert_speaks(s, e))
			allocate_alone(s, e);
}

/* At all levels of risk, the cheapest allocation is often the same observed peak, so the requests
 * would be equal. If the peaks of a job differ, each level therefore requests at least a little
 * more than the next lower level. The smallest difference is a share of the lower request:
 * LEVEL_SHARE x relative spread of the peaks, but at least LEVEL_FEW and at most LEVEL_MOST. */
#define LEVEL_SHARE 0.1
#define LEVEL_FEW   0.006
#define LEVEL_MOST  0.01
/* Smallest difference between two levels. Requests are rounded to whole MiB, and a difference of
 * more than 1 MiB remains after rounding. */
#define LEVEL_LEAST (1.01 * MIB)
#define SAFE_RUNS   20 /* the safe level is at least the largest peak of this many newest runs */
/* Smallest relative spread of the peaks for which the levels must differ. */
#define SPREAD_OF_NOTE 0.04

/* Returns (P90 - P10) / median of the peaks seen. */
static double relative_spread(const struct peaks_seen *p)
{
	double peak[PEAKS_SEEN_MAX] = {0};

	for (size_t i = 0; i < p->n; i++)
		peak[i] = p->at[i].peak;
	qsort(peak, p->n, sizeof *peak, stats_ascending);
	return (peak[(p->n - 1) * 9 / 10] - peak[(p->n - 1) / 10]) / peak[p->n / 2];
}

static const enum risk ascending[] = {RISK_ECONOMY, RISK_BALANCED, RISK_SAFE};

static double least_above(const struct sizer *s, double lower)
{
	double spread = relative_spread(&s->peaks_seen);

	if (!(spread > SPREAD_OF_NOTE))
		return lower;
	return lower +
	       fmax(lower * fmin(fmax(LEVEL_SHARE * spread, LEVEL_FEW), LEVEL_MOST), LEVEL_LEAST);
}

/* Computes the allocation at the level ascending[i]. The allocations of the lower levels must exist
 * already. */
static double allocate_at(struct sizer *s, size_t i)
{
	enum risk level = ascending[i];

	if (!s->peaks_seen.n)
		return NAN;
	weigh_experts(s, level);

	struct cost_pool p = pool_for_cost(s, level);
	struct failure_prices prices = prices_at(s, level);
	double allocation = cheapest_of(&p, &prices);

	/* If the peaks are absurdly large, all costs are infinite, and no allocation is the
	 * cheapest. */
	if (isnan(allocation))
		allocation = rule_peaks_largest(&s->peaks_seen, PEAKS_SEEN_MAX);
	/* The safe level covers each of the newest SAFE_RUNS peaks. If the next input is known,
	 * this does not apply, because these peaks may come from larger inputs. */
	if (level == RISK_SAFE && isnan(s->input))
		allocation = fmax(allocation, rule_peaks_largest(&s->peaks_seen, SAFE_RUNS));
	return i ? fmax(allocation, least_above(s, s->allocation[ascending[i - 1]])) : allocation;
}

/* Computes the allocations for all levels of risk up to `level`, and returns them indexed by level.
 * They are NaN before the first run. */
static const double *allocations(struct sizer *s, double input, enum risk level)
{
	prepare_experts(s, input);
	for (size_t i = 0; i < RISK_COUNT; i++) {
		if (i == s->allocated) {
			s->allocation[ascending[i]] = allocate_at(s, i);
			s->allocated++;
		}
		if (ascending[i] == level)
			break;
	}
	return s->allocation;
}

static double sizer_allocate(void *state, double input)
{
	struct sizer *s = state;

	return allocations(s, input, s->risk)[s->risk];
}

/* Estimates the second attempt, to price a failed first attempt: RETRY_OVER_LARGEST x `largest`,
 * the largest peak. If this is hardly more than `allocation`, the first attempt, returns twice
 * `allocation`. */
static double second_attempt(double largest, double allocation)
{
	double above = RETRY_OVER_LARGEST * largest;

	return above > allocation * 1.05 ? above : 2 * allocation;
}

/* The second attempt is at least this many times the first, so that a run needs few retries. It is
 * at most the larger of two amounts: twice the first attempt, and RETRY_OVER_LARGEST times the
 * largest peak. Each further attempt doubles the allocation. If the peaks fell (move_old), the third
 * attempt also reaches the level before the fall: a job that returns to it would fail many times
 * otherwise. */
#define RETRY_LEAST 1.5

/* Returns the allocation of the second attempt, after an attempt with `first` failed. The peak is
 * now known to be above `first`. The result is the cheapest allocation for such a peak. */
static double retry_from_pool(struct sizer *s, double first)
{
	const struct peaks_seen *p = &s->peaks_seen;
	double largest = rule_peaks_largest(p, PEAKS_SEEN_MAX), next;

	if (!s->prepared || !p->n)
		return second_attempt(largest, first);
	allocations(s, s->input, s->risk);

	struct cost_pool all = pool_for_cost(s, s->risk);
	struct failure_prices prices = {cost_aware_risk_price[s->risk], FAILURE_FIXED, 0};
	size_t below = cost_pool_below(&all, first);
	struct cost_pool above = {
		all.n - below, all.atom + below, s->spare, s->weight_below, s->product_below};

	if (!above.n)
		return 2 * first;
	cost_pool_sort(&above);
	next = fmax(cheapest_of(&above, &prices), RETRY_LEAST * first);
	return fmin(next, fmax(2 * first, second_attempt(largest, first)));
}

static double sizer_retry(void *state, double allocation, unsigned failures)
{
	const struct sizer *s = state;
	double before_fall = rule_peaks_largest(&s->measured, PEAKS_SEEN_MAX);

	if (failures == 1)
		return retry_from_pool(state, allocation);
	if (!(before_fall > rule_peaks_largest(&s->peaks_seen, PEAKS_SEEN_MAX)))
		return 2 * allocation;
	return fmax(2 * allocation, RETRY_OVER_LARGEST * before_fall);
}

/* Returns the cost of a run with this peak and this first allocation. `largest`: the largest peak
 * of earlier runs. `price`: the price of a failure (cost_aware_risk_price). */
static double loss_of(double largest, double allocation, double peak, double price)
{
	double spent = allocation, next = second_attempt(largest, allocation);

	if (allocation >= peak)
		return allocation - peak;
	while (next < peak) {
		spent += next;
		next *= 2;
	}
	return spent + next - peak + price * peak + FAILURE_FIXED;
}

/* Multiplies the peaks of the runs before a lasting change by `factor`, the change. These runs
 * still show how far the peaks spread, and how they depend on the input. Without these runs, the
 * typical ratios of other jobs would have more weight: after a fall of the peaks, the request would
 * fall by less. No peak becomes larger than the largest measured one, which would be a guess. */
static void move_old(struct sizer *s, double factor)
{
	struct peaks_seen *p = &s->peaks_seen;
	double largest = rule_peaks_largest(&s->measured, PEAKS_SEEN_MAX);

	s->changed = s->learnt - PEAKS_CHANGE_RUNS;
	for (size_t i = 0; i < p->n - PEAKS_CHANGE_RUNS; i++)
		p->at[i].peak = fmin(p->at[i].peak * factor, largest);
	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		expert_record_move(&s->record[e], s->changed, factor);
}

/* Adds a run to the records of all experts. Waste is memory x time, so the weight of a run grows
 * with its duration (`stake`). */
static void learn(struct sizer *s, const struct observation *o, double peak, bool at_least)
{
	struct observation seen = *o;
	double largest = rule_peaks_largest(&s->peaks_seen, PEAKS_SEEN_MAX);

	if (!(o->peak > 0 && isfinite(o->peak)))
		return;
	prepare_experts(s, o->input);
	for (unsigned e = 0; e < EXPERT_COUNT; e++) {
		struct expert_trial trial = {
			.ratio = o->peak / s->value[e],
			.value = s->value[e],
			.at_least = at_least,
			.stake = o->duration > 0 ? o->duration : 1,
			.run = s->learnt,
		};

		if (!expert_speaks(s, e))
			continue;
		for (size_t k = 0; k < RISK_COUNT; k++)
			trial.loss[k] = fmin(loss_of(largest, s->alone[e][k], peak,
						     cost_aware_risk_price[k]),
				LOSS_MOST_PEAKS * peak + FAILURE_FIXED);
		expert_record_add(&s->record[e], &trial);
	}
	seen.peak = peak;
	rule_peaks_add(&s->peaks_seen, &seen);
	rule_peaks_add(&s->measured, &seen);
	s->learnt++;
	s->prepared = false;

	double factor = rule_peaks_change(&s->peaks_seen, &s->measured);

	if (factor != 1)
		move_old(s, factor);
}

static void sizer_learn(void *state, const struct observation *o)
{
	learn(state, o, o->peak, false);
}

static void sizer_learn_at_least(void *state, const struct observation *o)
{
	learn(state, o, fmin(ABOVE_BOUND * o->peak, ALLOCATION_MAX), true);
}

void cost_aware_allocations(void *state, double input, double ret[RISK_COUNT])
{
	memcpy(ret, allocations(state, input, RISK_SAFE), RISK_COUNT * sizeof *ret);
}

static struct cost_pool chances_of(struct sizer *s, double input)
{
	assert(s->peaks_seen.n > 0);
	allocations(s, input, s->risk); /* sets the weights of the experts */
	return pool_for_chance(s, s->risk);
}

#define ODDS_FACTOR_MAX 1e6
/* A stated probability is at least this, and at most 1 minus this. PEAKS_SEEN_MAX runs cannot show
 * a more extreme value. */
#define CHANCE_LEAST 1e-4

/* Returns the probability whose odds are `factor` times those of `p`. */
static double scale_odds(double p, double factor)
{
	return factor * p / (1 - p + factor * p);
}

/* Corrections of the odds of a failure that follow from the ratios (chance_above). */
struct odds_factors {
	double neighbours; /* correction learnt from the other jobs */
	double growth;     /* next input / largest earlier input, at least 1 */
	double largest;    /* largest earlier peak, bytes */
};

static struct odds_factors odds_factors_of(const struct sizer *s)
{
	double most = 0;

	for (size_t i = 0; i < s->peaks_seen.n; i++)
		most = fmax(most, s->peaks_seen.at[i].input);
	return (struct odds_factors){
		.neighbours = job_prior_odds(s->prior, s->peaks_seen.n),
		.growth = most > 0 && s->input > most ? s->input / most : 1,
		.largest = rule_peaks_largest(&s->peaks_seen, PEAKS_SEEN_MAX),
	};
}

/* Returns the probability that the next peak is above the first `below` values of the pool. If the
 * next input is larger than all earlier inputs, failures are more likely than the ratios suggest.
 * Public traces show that two factors multiply the odds of a failure:
 * - odds->growth: next input / largest earlier input.
 * - `lacking`: growth / (allocation / largest earlier peak), at least 1. Example: the input is 3
 *   times as large, the allocation only 2 times -> 1.5. */
static double chance_above(const struct cost_pool *p, size_t below, const struct odds_factors *odds)
{
	double value = below ? p->atom[below - 1].value : 0;
	double lacking = fmax(1, odds->growth / fmax(1, value / odds->largest));

	return scale_odds(fmax(0, 1 - p->weight_below[below] / cost_pool_weight(p)),
		fmin(odds->neighbours * odds->growth * lacking, ODDS_FACTOR_MAX));
}

void cost_aware_outlook(void *state, double input, double allocation,
	struct cost_aware_outlook *ret)
{
	struct sizer *s = state;
	struct cost_aware_outlook o = {.runs = s->peaks_seen.n};
	struct failure_prices waste = prices_at(s, s->risk);
	uint64_t oldest = s->learnt - s->peaks_seen.n;

	o.moved = s->changed > oldest ? (size_t)(s->changed - oldest) : 0;

	struct cost_pool chance = chances_of(s, input);
	struct odds_factors odds = odds_factors_of(s);

	o.too_small = fmin(fmax(chance_above(&chance, cost_pool_below(&chance, allocation), &odds),
				   CHANCE_LEAST),
		1 - CHANCE_LEAST);

	struct cost_pool cost = pool_for_cost(s, s->risk);

	waste.failure = waste.fixed = 0;
	o.expected_waste = cost_pool_sum(&cost) >= cost_pool_weight(&cost) ?
				   cost_pool_cost(&cost, allocation,
					   cost_pool_below(&cost, allocation), &waste) /
					   cost_pool_sum(&cost) :
				   (double)NAN; /* the expected peak is below one byte */
	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		if (s->weight[s->risk][e] > o.leading_weight) {
			o.leading = (enum expert)e;
			o.leading_weight = s->weight[s->risk][e];
			o.leading_value = s->value[e];
		}
	*ret = o;
}

/* Returns a quantile of the next peak: the smallest value of the pool that the next peak exceeds
 * with a probability of at most 1 - share (chance_above). Starts the search at index *at and
 * updates *at, so that calls with ascending shares need only one pass. */
static double pool_quantile(const struct cost_pool *p, double share,
	const struct odds_factors *odds, size_t *at)
{
	while (*at < p->n - 1 && chance_above(p, *at + 1, odds) > 1 - share)
		++*at;
	return p->atom[*at].value;
}

double cost_aware_quantile(void *state, double input, double share)
{
	struct cost_pool p = chances_of(state, input);
	struct odds_factors odds = odds_factors_of(state);
	size_t at = 0;

	return pool_quantile(&p, share, &odds, &at);
}

void cost_aware_quantiles(void *state, double input, size_t n, double *ret)
{
	struct cost_pool p = chances_of(state, input);
	struct odds_factors odds = odds_factors_of(state);

	for (size_t k = 0, at = 0; k < n; k++)
		ret[k] = pool_quantile(&p, ((double)k + 0.5) / (double)n, &odds, &at);
}

static void start(struct sizer *s, enum risk risk, const struct rule_options *o)
{
	s->prior = o->prior;
	s->risk = risk;
	expert_record_fade(s->ratio_fades);
	for (size_t age = 0; age < PEAKS_SEEN_MAX; age++)
		s->loss_fades[age] = exp2(-(double)age / LOSS_HALF_LIFE);
}

static void start_economy(void *state, const struct rule_options *o)
{
	start(state, RISK_ECONOMY, o);
}

static void start_balanced(void *state, const struct rule_options *o)
{
	start(state, RISK_BALANCED, o);
}

static void start_safe(void *state, const struct rule_options *o)
{
	start(state, RISK_SAFE, o);
}

#define RULE(name)                                                                                 \
	{                                                                                          \
		.state_size = sizeof(struct sizer), .start = start_##name,                         \
		.allocate = sizer_allocate, .retry = sizer_retry, .learn = sizer_learn,            \
		.learn_at_least = sizer_learn_at_least                                             \
	}
const struct sizing_rule cost_aware_rules[RISK_COUNT] = {
	[RISK_ECONOMY] = RULE(economy),
	[RISK_BALANCED] = RULE(balanced),
	[RISK_SAFE] = RULE(safe),
};

void cost_aware_use_prior(void *state, const struct job_prior *prior)
{
	struct sizer *s = state;

	s->prior = prior;
	s->prepared = false;
}
