/* Cost-aware sizing of a job's next peak. Private to recommender/.
 *
 * Several experts (experts.h) predict the peak. The record of an expert has one ratio for each past
 * run that the expert predicted: actual peak / predicted peak (expert_record.h). Each past ratio,
 * multiplied by the new prediction, is a possible value of the next peak. The expected cost of an
 * allocation follows from these values (cost_pool.h).
 *
 * The values of all experts form one weighted set, and the allocation with the least expected cost
 * is chosen. An expert weighs more if sizing with this expert alone would have cost less in the
 * past.
 *
 * When the peaks change lastingly (rule_peaks_change), the older peaks are multiplied by the
 * change, at most to the largest measured peak, so that the older runs still count. A job with few
 * runs is expected to be like the other jobs of its history (job_prior.h). A run that was killed
 * for memory gives only a lower bound of its need. */
#ifndef RECOMMENDER_SIZING_COST_AWARE_H
#define RECOMMENDER_SIZING_COST_AWARE_H

#include "recommender/sizing/experts.h"
#include "recommender/sizing/sizing.h"
#include "recommender/sizing/rule.h"

/* Rules of the strategy "auto", one for each level of risk. They differ only in the level. From the
 * state of any of them, cost_aware_allocations can return the allocations of all levels. */
extern const struct sizing_rule cost_aware_rules[RISK_COUNT];
/* Assumed price of a failed first attempt at each level of risk, as a multiple of the run's
 * peak. */
extern const double cost_aware_risk_price[RISK_COUNT];

/* In the functions below, `state` is the state of one of cost_aware_rules. The rule must have
 * learnt at least one run. `input` is the input size of the next run in bytes; NaN = unknown. */

/* Replaces rule_options.prior, which the rule's `start` got: the typical errors of predictions, for
 * a job with few runs. `prior` must outlive the state. */
void cost_aware_use_prior(void *state, const struct job_prior *prior);

/* Writes the allocations for the next run at all levels of risk, in bytes. */
void cost_aware_allocations(void *state, double input, double ret[RISK_COUNT]);

/* Forecast for an allocation of the next run. */
struct cost_aware_outlook {
	double too_small;      /* probability that the allocation is too small */
	double expected_waste; /* (unused memory + failed attempts) / expected peak */
	enum expert leading;   /* expert with the largest weight */
	double leading_weight;
	double leading_value; /* prediction of the leading expert, bytes */
	size_t runs;          /* learnt runs, at most PEAKS_SEEN_MAX */
	size_t moved; /* number of learnt runs from before the newest lasting change of the peak */
};
void cost_aware_outlook(void *state, double input, double allocation,
	struct cost_aware_outlook *ret);

/* Returns a quantile of the next peak, in bytes. `share` is 0 to 1. */
double cost_aware_quantile(void *state, double input, double share);

/* Writes `n` equally likely values of the next peak in ascending order, in bytes. Value k is the
 * quantile at (k + 0.5) / n. */
void cost_aware_quantiles(void *state, double input, size_t n, double *ret);

#endif
