/*
 * The cost-aware sizing of a job's next peak. Private to recommender/.
 *
 * Several experts (experts.h) predict the peak. What each one's predictions were worth is known
 * from the job's own past (expert_record.h); ratio x prediction of this run is a set of values the peak
 * may have, and an allocation has an expected cost against it (cost_pool.h).
 *
 * caq takes the expert and the allocation with the least expected cost: its formula, constants and
 * measured results are the reference that auto starts from. auto lets all experts speak: their sets
 * go into one pool, each weighted by what sizing by that expert alone would have cost so far, and
 * the allocation with the least expected cost against the pool is taken. Runs before a lasting
 * change of behaviour are forgotten.
 */
#ifndef RECOMMENDER_SIZING_COST_AWARE_H
#define RECOMMENDER_SIZING_COST_AWARE_H

#include "recommender/sizing/experts.h"
#include "recommender/sizing/sizing.h"
#include "recommender/sizing/rule.h"

/* auto at each level of risk. One state serves all levels: cost_aware_allocations. */
extern const struct sizing_rule cost_aware_rules[RISK_COUNT];
extern const double cost_aware_risk_price
	[RISK_COUNT]; /* what a failed first attempt is thought to cost, in runs */

/* The functions below take the state of one of cost_aware_rules after at least one run was learnt. */

void cost_aware_allocations(void *state, double input, double ret[RISK_COUNT]);

/* What is thought of an allocation for the next run. */
struct cost_aware_outlook {
	double too_small;      /* probability; no less than the number of runs can tell */
	bool told_by_number;   /* the experts think it is less */
	double expected_waste; /* share of the run's expected peak, failed attempts included */
	enum expert leading;   /* the expert that weighs most */
	double leading_weight;
	double leading_value; /* its prediction, bytes */
	size_t runs;          /* since the last change of behaviour */
	size_t forgotten;     /* runs before it that were in view */
};
void cost_aware_outlook(void *state, double input, double allocation,
	struct cost_aware_outlook *ret);

/* The value that this share of runs is expected not to exceed. */
double cost_aware_quantile(void *state, double input, double share);

/* The same for n shares at once, in the middles of n equal parts: ascending values, each as likely as the others. */
void cost_aware_quantiles(void *state, double input, size_t n, double *ret);

#endif
