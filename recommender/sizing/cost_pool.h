/*
 * A weighted set of values the next peak may have, and the allocation that costs least against it.
 * Private to recommender/.
 *
 * With allocation a and peak y, a run that fits costs what is left over, a - y. One that does not
 * costs the failed attempt a, then what is left over of the second attempt, and a price for the
 * failure itself: price x y + fixed.
 */
#ifndef RECOMMENDER_SIZING_COST_POOL_H
#define RECOMMENDER_SIZING_COST_POOL_H

#include <stddef.h>

struct weighted_value {
	double value, weight;
};

struct failure_prices {
	double failure; /* in runs: x the run's peak */
	double fixed;   /* in units of value */
	double second;  /* the second attempt, when that is more than 5 % above the first; otherwise
			   it doubles */
};

/* Sorted by value, with running sums: below[i] is about the first i atoms. The arrays are the
 * caller's; spare has room for n more, and may be NULL when the atoms are in order already. */
struct cost_pool {
	size_t n;
	struct weighted_value *atom, *spare;
	double *weight_below, *product_below; /* n + 1 each */
};
/* Equal values keep their order. Cheap when the atoms are few ascending stretches one after the other. */
void cost_pool_sort(struct cost_pool *p);

double cost_pool_weight(const struct cost_pool *p);
double cost_pool_sum(const struct cost_pool *p); /* of weight x value */
size_t cost_pool_below(const struct cost_pool *p,
	double value); /* atoms that do not exceed value */
double cost_pool_cost(const struct cost_pool *p, double allocation, size_t below,
	const struct failure_prices *prices);

/*
 * The cheapest of the candidates, which are in ascending order; the smallest of equals. One answer for each of the
 * prices.
 */
struct cheapest_value {
	double value, cost; /* NaN, INFINITY without a candidate */
};
void cost_pool_cheapest(const struct cost_pool *p, const double *candidate, size_t n,
	const struct failure_prices *prices, size_t n_prices, struct cheapest_value *ret);

#endif
