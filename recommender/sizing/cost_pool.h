/* A weighted set of possible values of the next peak, and the allocation with the least expected
 * cost. Private to recommender/.
 *
 * Let a be the allocation and y the peak. A run that fits costs its unused part, a - y. A run that
 * fails costs three amounts: the failed attempt a, the unused part of the second attempt, and the
 * price of the failure. That price is failure x y + fixed (struct failure_prices). */
#ifndef RECOMMENDER_SIZING_COST_POOL_H
#define RECOMMENDER_SIZING_COST_POOL_H

#include <stddef.h>

struct weighted_value {
	double value, weight;
};

struct failure_prices {
	double failure; /* part of a failure's price that is a multiple of the run's peak */
	double fixed;   /* constant part of a failure's price, in the unit of the atoms' values */
	/* Allocation of the second attempt. If it is hardly above the first (at most 1.05 times),
	 * twice the first allocation is used instead. */
	double second;
};

/* An atom is a possible value with its weight. cost_pool_sort sorts the atoms by value, and sets
 * *_below[i] to sums over the first i atoms. The caller owns the arrays. `spare` is work space of n
 * elements for the sort. It can be NULL if the atoms are sorted already. */
struct cost_pool {
	size_t n;
	struct weighted_value *atom, *spare;
	double *weight_below, *product_below; /* n + 1 elements each */
};
/* Sorts the atoms and computes the sums. The sort is stable. It is fast when the atoms are a few
 * ascending sequences, one after the other. */
void cost_pool_sort(struct cost_pool *p);

double cost_pool_weight(const struct cost_pool *p);
double cost_pool_sum(const struct cost_pool *p);                 /* sum of weight x value */
size_t cost_pool_below(const struct cost_pool *p, double value); /* atoms with at most this value */
/* Returns the expected cost of an allocation. `below`: cost_pool_below(p, allocation). */
double cost_pool_cost(const struct cost_pool *p, double allocation, size_t below,
	const struct failure_prices *prices);

/* For each of the `n_prices` prices, finds the candidate allocation with the least expected cost.
 * If several candidates are equally cheap, takes the smallest. `candidate` is in ascending order.
 * `ret` has room for `n_prices` results. */
struct cheapest_value {
	double value, cost; /* NaN and INFINITY if there was no candidate */
};
void cost_pool_cheapest(const struct cost_pool *p, const double *candidate, size_t n,
	const struct failure_prices *prices, size_t n_prices, struct cheapest_value *ret);

#endif
