/* Expected cost of an allocation, from running sums: one sort (of what mostly is in order), then each candidate in
 * constant time. */
#include "recommender/pool.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Where the ascending stretch ends that begins at first. */
static size_t stretch_end(const struct pool *p, size_t first)
{
	size_t end = first + 1;

	while (end < p->n && p->atom[end - 1].value <= p->atom[end].value)
		end++;
	return end < p->n ? end : p->n;
}

/* Neighbouring stretches become one, in spare. True: nothing was left to do. */
static bool merge_stretches(struct pool *p)
{
	const struct atom *from = p->atom;
	struct atom *to = p->spare;

	for (size_t first = 0, middle, end; first < p->n; first = end) {
		middle = stretch_end(p, first);
		if (first == 0 && middle == p->n)
			return true;
		end = middle < p->n ? stretch_end(p, middle) : middle;
		for (size_t a = first, b = middle; a < middle || b < end;)
			*to++ = b == end || (a < middle && from[a].value <= from[b].value) ?
					from[a++] :
					from[b++];
	}
	return false;
}

void pool_sort(struct pool *p)
{
	struct atom *home = p->atom;

	while (!merge_stretches(p)) {
		struct atom *merged = p->spare;

		p->spare = p->atom;
		p->atom = merged;
	}
	if (p->atom != home) {
		memcpy(home, p->atom, p->n * sizeof *home);
		p->spare = p->atom;
		p->atom = home;
	}
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
