/*
 * The cost-aware sizing of a job's next peak. Private to recommender/.
 *
 * Several experts (experts.h) predict the peak. What each one's predictions were worth is known
 * from the job's own past: the ratios of peak to prediction, newer ones heavier, and a few made-up
 * ones that stand for jobs in general and fade as runs come in. Ratio x prediction of this run is a
 * set of values the peak may have (pool.h).
 *
 * caq takes the expert and the allocation with the least expected cost: its formula, constants and
 * measured results are the reference that auto starts from. auto lets all experts speak: their sets
 * go into one pool, each weighted by what sizing by that expert alone would have cost so far, and
 * the allocation with the least expected cost against the pool is taken. Runs before a lasting
 * change of behaviour are forgotten.
 */
#ifndef RECOMMENDER_AUTO_H
#define RECOMMENDER_AUTO_H

#include "recommender/experts.h"
#include "recommender/pool.h"
#include "recommender/rule.h"

/* What a failed first attempt is thought to cost, in runs. The risk levels of auto. */
#define PRICE_ECONOMY  1.5
#define PRICE_BALANCED 2.5
#define PRICE_SAFE     7.0

/* What auto_rule thinks of an allocation for the next run. */
struct outlook {
	double too_small;      /* probability */
	double expected_waste; /* share of the run's expected peak, failed attempts included */
	enum expert leading;   /* the expert that weighs most */
	double leading_weight;
	double leading_value; /* its prediction, bytes */
	size_t runs;          /* since the last change of behaviour */
	size_t forgotten;     /* runs before it that were in view */
};
/* state is auto_rule's, after at least one run was learnt. */
void auto_outlook(void *state, double input, double allocation, struct outlook *ret);

#endif
