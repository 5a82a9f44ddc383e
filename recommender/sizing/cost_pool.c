/* Expected cost of allocations. The values are sorted once, and their running sums are computed
 * once. The cost of each candidate then takes constant time. */
#include "recommender/sizing/cost_pool.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Returns the index after the ascending sequence that begins at `first`. The comparison is not
 * written as "<=", because a NaN would then end each sequence, and the sort would never end. */
static size_t stretch_end(const struct cost_pool *p, size_t first)
{
	size_t end = first + 1;

	while (end < p->n && !(p->atom[end - 1].value > p->atom[end].value))
		end++;
	return end < p->n ? end : p->n;
}

/* Merges pairs of ascending sequences of `atom` into `spare`. Returns true if the atoms were sorted
 * already. */
static bool merge_stretches(struct cost_pool *p)
{
	const struct weighted_value *from = p->atom;
	struct weighted_value *to = p->spare;

	for (size_t first = 0, middle, end; first < p->n; first = end) {
		middle = stretch_end(p, first);
		if (first == 0 && middle == p->n)
			return true;
		end = middle < p->n ? stretch_end(p, middle) : middle;
		for (size_t a = first, b = middle; a < middle || b < end;)
			*to++ = b == end || (a < middle && !(from[a].value > from[b].value)) ?
					from[a++] :
					from[b++];
	}
	return false;
}

void cost_pool_sort(struct cost_pool *p)
{
	struct weighted_value *home = p->atom;

	assert(p->n > 0);

	while (!merge_stretches(p)) {
		struct weighted_value *merged = p->spare;

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

double cost_pool_weight(const struct cost_pool *p)
{
	return p->weight_below[p->n];
}

double cost_pool_sum(const struct cost_pool *p)
{
	return p->product_below[p->n];
}

size_t cost_pool_below(const struct cost_pool *p, double value)
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

/* Sums over the atoms below and above an allocation. product = weight x value. */
struct pool_split {
	double weight_below, product_below, weight_above, product_above;
};

static struct pool_split split_at(const struct cost_pool *p, size_t below)
{
	double weight = p->weight_below[below], product = p->product_below[below];

	return (struct pool_split){
		weight, product, p->weight_below[p->n] - weight, p->product_below[p->n] - product};
}

static double cost_of(const struct pool_split *s, double allocation,
	const struct failure_prices *prices)
{
	double second = prices->second > allocation * 1.05 ? prices->second : 2 * allocation;

	return (allocation * s->weight_below - s->product_below) +
	       (allocation + second + prices->fixed) * s->weight_above +
	       (prices->failure - 1) * s->product_above;
}

double cost_pool_cost(const struct cost_pool *p, double allocation, size_t below,
	const struct failure_prices *prices)
{
	struct pool_split s = split_at(p, below);

	return cost_of(&s, allocation, prices);
}

void cost_pool_cheapest(const struct cost_pool *p, const double *candidate, size_t n,
	const struct failure_prices *prices, size_t n_prices, struct cheapest_value *ret)
{
	size_t below = 0, priced = SIZE_MAX;

	for (size_t k = 0; k < n_prices; k++)
		ret[k] = (struct cheapest_value){NAN, INFINITY};
	for (size_t i = 0; i < n; i++) {
		while (below < p->n && p->atom[below].value <= candidate[i])
			below++;
		/* Skip a larger allocation that covers no more values: it cannot be cheaper. */
		if (below == priced && candidate[i] >= candidate[i - 1])
			continue;
		priced = below;

		struct pool_split s = split_at(p, below);

		for (size_t k = 0; k < n_prices; k++) {
			double cost = cost_of(&s, candidate[i], &prices[k]);

			if (cost < ret[k].cost)
				ret[k] = (struct cheapest_value){candidate[i], cost};
		}
	}
}
