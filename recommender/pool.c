/* Expected cost of an allocation, from running sums: one sort, then each candidate in constant
 * time. */
#include "recommender/pool.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	const struct atom *left = a, *right = b;

	return (left->value > right->value) - (left->value < right->value);
}

void pool_sort(struct pool *p)
{
	qsort(p->atom, p->n, sizeof *p->atom, by_value);
	p->weight_below[0] = p->product_below[0] = 0;
	for (size_t i = 0; i < p->n; i++) {
		p->weight_below[i + 1] = p->weight_below[i] + p->atom[i].weight;
		p->product_below[i + 1] =
			p->product_below[i] + p->atom[i].weight * p->atom[i].value;
	}
}

double pool_weight(const struct pool *p)
{
	return p->weight_below[p->n];
}

double pool_sum(const struct pool *p)
{
	return p->product_below[p->n];
}

size_t pool_below(const struct pool *p, double value)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->atom[middle].value <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

double pool_cost(const struct pool *p, double allocation, size_t below, const struct prices *prices)
{
	double second = prices->second > allocation * 1.05 ? fmax(prices->second, allocation) :
							     2 * allocation;
	double weight_above = p->weight_below[p->n] - p->weight_below[below];
	double product_above = p->product_below[p->n] - p->product_below[below];

	return (allocation * p->weight_below[below] - p->product_below[below]) +
	       (allocation + second + prices->fixed) * weight_above +
	       (prices->failure - 1) * product_above;
}

double pool_cheapest(const struct pool *p, const double *candidate, size_t n,
	const struct prices *prices, double *ret_cost)
{
	double best = NAN, best_cost = INFINITY;
	size_t below = 0;

	for (size_t i = 0; i < n; i++) {
		while (below < p->n && p->atom[below].value <= candidate[i])
			below++;

		double cost = pool_cost(p, candidate[i], below, prices);

		if (cost < best_cost) {
			best_cost = cost;
			best = candidate[i];
		}
	}
	*ret_cost = best_cost;
	return best;
}
