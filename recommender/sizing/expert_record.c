#include "recommender/sizing/expert_record.h"

#include <math.h>
#include <string.h>

#define HALF_LIFE 80.0 /* half-life of the weight of a ratio, in runs */

#define PRIOR_WEIGHT_FOR_CHANCE 2.0 /* weight of all prior ratios, in runs */

static void order_add(struct expert_record *t, size_t at)
{
	size_t i = at;

	for (; i > 0 && t->at[t->order[i - 1]].ratio > t->at[at].ratio; i--)
		t->order[i] = t->order[i - 1];
	t->order[i] = (uint8_t)at;
}

static void drop_oldest(struct expert_record *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->order[i] > 0)
			t->order[n++] = (uint8_t)(t->order[i] - 1);
	t->n--;
	memmove(t->at, t->at + 1, t->n * sizeof t->at[0]);
}

void expert_record_add(struct expert_record *t, const struct expert_trial *trial)
{
	if (t->n == PEAKS_SEEN_MAX)
		drop_oldest(t);
	t->at[t->n] = *trial;
	t->at[t->n].log_value = log(trial->value);
	order_add(t, t->n++);
}

void expert_record_move(struct expert_record *t, uint64_t first, double factor)
{
	size_t n = 0;

	while (t->n > 0 && t->at[t->n - 1].run >= first)
		t->n--;
	for (size_t i = 0; n < t->n; i++)
		if (t->order[i] < t->n)
			t->order[n++] = t->order[i];
	for (size_t i = 0; i < t->n; i++) {
		t->at[i].value *= factor;
		t->at[i].log_value = log(t->at[i].value);
	}
}

void expert_record_fade(double ret[PEAKS_SEEN_MAX])
{
	for (size_t age = 0; age < PEAKS_SEEN_MAX; age++)
		ret[age] = exp2(-(double)age / HALF_LIFE);
}

/* The ratios of a job are assumed to spread at most this many times as far as the prior ratios, or
 * as USUAL_DEVIATION if that is more: a prior that was learnt from very steady jobs may be far too
 * narrow for this job. */
#define SPREAD_MAX 2.0

/* Estimates how far the job's ratios spread, divided by the spread of the prior ratios. The result
 * is below 1 for a steady job, and near 1 for a job with few runs. */
static double prior_spread(const struct expert_record *t, const double age_weight[PEAKS_SEEN_MAX],
	const struct ratio_prior *prior, double prior_weight)
{
	double expected = fmax(prior->deviation, 1e-6), own = 0, weight = 0;

	for (size_t i = 0; i < t->n; i++) {
		double age = age_weight[t->n - 1 - i], off = fabs(t->at[i].ratio - 1);

		own += age * (off < RATIO_OFF_MAX ? off : RATIO_OFF_MAX);
		weight += age;
	}
	return fmin((prior_weight + own / expected) / (prior_weight + weight),
		SPREAD_MAX * fmax(1, USUAL_DEVIATION / expected));
}

/* Returns the weight of a past run. `log_other` is the logarithm of the prediction for that run, and
 * `log_value` is that for the next run. The weight is 1 if both predictions are equal. It falls
 * towards 0.1 as they differ more. `width`: ratio_options.likeness. */
static double likeness_of(double log_value, double log_other, double width)
{
	double distance = (log_other - log_value) / width;

	return 0.1 + 0.9 * exp(-distance * distance / 2);
}

/* The ratio of a killed run is only a lower bound. Divides the weight of each bound among the
 * ratios above it, the smallest bound first. If no ratio is above a bound, the bound keeps its
 * weight, and bound x BOUND_ALONE is taken as its ratio. `made_up` has the prior ratios. */
#define BOUND_ALONE 1.2
static void spread_bounds(const struct expert_record *t, double weight[PEAKS_SEEN_MAX],
	struct weighted_value made_up[PRIOR_ATOMS], double ratio[PEAKS_SEEN_MAX])
{
	for (size_t i = 0; i < t->n; i++) {
		size_t k = t->order[i];
		double bound = t->at[k].ratio, above = 0, share;

		ratio[k] = bound;
		if (!t->at[k].at_least)
			continue;
		for (size_t other = i + 1; other < t->n; other++)
			above += weight[t->order[other]];
		for (size_t other = 0; other < PRIOR_ATOMS; other++)
			above += made_up[other].value > bound ? made_up[other].weight : 0;
		if (!(above > 0)) {
			ratio[k] = bound * BOUND_ALONE;
			continue;
		}
		share = 1 + weight[k] / above;
		weight[k] = 0;
		for (size_t other = i + 1; other < t->n; other++)
			weight[t->order[other]] *= share;
		for (size_t other = 0; other < PRIOR_ATOMS; other++)
			made_up[other].weight *= made_up[other].value > bound ? share : 1;
	}
}

/* Merges two ascending sets: the observed ratios and the prior ones. */
static void merge_ratios(const struct expert_record *t, const double weight[PEAKS_SEEN_MAX],
	const double ratio[PEAKS_SEEN_MAX], const struct weighted_value made_up[PRIOR_ATOMS],
	struct expert_ratios *ret)
{
	size_t own = 0, other = 0;

	ret->n = t->n + PRIOR_ATOMS;
	for (size_t i = 0; i < ret->n; i++) {
		size_t k = own < t->n ? t->order[own] : 0;

		if (own < t->n && (other == PRIOR_ATOMS || ratio[k] <= made_up[other].value)) {
			ret->at[i] = (struct weighted_value){ratio[k], weight[k]};
			own++;
		} else {
			ret->at[i] = made_up[other++];
		}
	}
}

void expert_record_ratios(const struct expert_record *t, const struct ratio_prior *prior,
	double value, enum ratio_purpose purpose, const struct ratio_options *o,
	const double age_weight[PEAKS_SEEN_MAX], struct expert_ratios *ret)
{
	double weight[PEAKS_SEEN_MAX], ratio[PEAKS_SEEN_MAX], stakes = 0;
	double prior_weight = o->prior_weight, log_value = log(value);
	double spread = prior_spread(t, age_weight, prior, o->prior_weight);
	struct weighted_value made_up[PRIOR_ATOMS];
	/* The newest result of likeness_of, and the prediction `like` for which it was computed. */
	double likeness = 1, like = value;

	ret->sum = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct expert_trial *trial = &t->at[i];

		weight[i] = age_weight[t->n - 1 - i];
		if (purpose == FOR_COST)
			weight[i] *= trial->value * trial->stake / value;
		/* Successive runs often have equal predictions: reuse the result. */
		if (o->likeness > 0 && trial->value != like) {
			like = trial->value;
			likeness = likeness_of(log_value, trial->log_value, o->likeness);
		}
		weight[i] *= likeness;
		ret->sum += weight[i];
		stakes += trial->stake;
	}
	if (purpose == FOR_CHANCE)
		prior_weight = PRIOR_WEIGHT_FOR_CHANCE;
	else if (t->n)
		prior_weight *= stakes / (double)t->n;
	for (size_t i = 0; i < PRIOR_ATOMS; i++) {
		made_up[i] = (struct weighted_value){
			fmax(1 + (prior->at[i].value - 1) * spread, 0.05),
			prior_weight * prior->at[i].weight,
		};
		ret->sum += made_up[i].weight;
	}
	spread_bounds(t, weight, made_up, ratio);
	merge_ratios(t, weight, ratio, made_up, ret);
}
