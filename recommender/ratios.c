/* Ratios of peaks to predictions as weighted sets. */
#include "recommender/ratios.h"

#include <math.h>
#include <string.h>

#define HALF_LIFE 80.0 /* runs after which a ratio weighs half */

/* Ratios of jobs in general: rounded quantiles pooled over many jobs of five public sources. */
#define PRIOR_ATOMS (RATIOS_MAX - PAST_MAX)
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
#define PRIOR_WEIGHT_FOR_CHANCE 2.0 /* runs */

void track_add(struct track *t, const struct trial *trial)
{
	if (t->n == PAST_MAX)
		memmove(t->at, t->at + 1, --t->n * sizeof t->at[0]);
	t->at[t->n++] = *trial;
}

void track_forget(struct track *t, uint64_t before)
{
	size_t old = 0;

	while (old < t->n && t->at[old].run < before)
		old++;
	t->n -= old;
	memmove(t->at, t->at + old, t->n * sizeof t->at[0]);
}

/* By age, newest 1. */
static void fading_weights(size_t n, double ret[PAST_MAX])
{
	for (size_t i = 0; i < n; i++)
		ret[i] = exp2(-(double)(n - 1 - i) / HALF_LIFE);
}

/* A steady job shrinks the spread of the made-up ratios towards its own, a wild one widens it. */
static double prior_spread(const struct track *t, const double age[PAST_MAX],
	const struct atom *prior, double prior_weight)
{
	double expected = 0, own = 0, weight = 0;

	for (size_t i = 0; i < PRIOR_ATOMS; i++)
		expected += fabs(prior[i].value - 1) * prior[i].weight;
	for (size_t i = 0; i < t->n; i++) {
		own += age[i] * fmin(fabs(t->at[i].ratio - 1), 3);
		weight += age[i];
	}
	return fmin((prior_weight + own / expected) / (prior_weight + weight), 2);
}

/* A run predicted at a tenth of this size says less about this one, but not nothing. */
static double likeness_of(double value, double other, double width)
{
	double distance = log(other / value) / width;

	return 0.1 + 0.9 * exp(-distance * distance / 2);
}

size_t track_ratios(const struct track *t, enum expert expert, double value, enum purpose purpose,
	const struct ratio_options *o, struct atom ret[RATIOS_MAX])
{
	const struct atom *prior = experts[expert].needs_input ? prior_of_inputs : prior_of_peaks;
	double age[PAST_MAX], mean_stake = 0, prior_weight = o->prior_weight;

	fading_weights(t->n, age);

	double spread = prior_spread(t, age, prior, o->prior_weight);

	for (size_t i = 0; i < t->n; i++) {
		const struct trial *trial = &t->at[i];
		double weight = age[i];

		if (purpose == FOR_COST)
			weight *= trial->value / value * trial->stake;
		if (o->likeness > 0)
			weight *= likeness_of(value, trial->value, o->likeness);
		ret[i] = (struct atom){trial->ratio, weight};
		mean_stake += trial->stake / (double)t->n;
	}
	if (purpose == FOR_CHANCE)
		prior_weight = PRIOR_WEIGHT_FOR_CHANCE;
	else if (t->n)
		prior_weight *= mean_stake;
	for (size_t i = 0; i < PRIOR_ATOMS; i++)
		ret[t->n + i] = (struct atom){
			fmax(1 + (prior[i].value - 1) * spread, 0.05),
			prior_weight * prior[i].weight,
		};
	return t->n + PRIOR_ATOMS;
}
