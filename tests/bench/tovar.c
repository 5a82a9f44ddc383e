#include "tests/bench/tovar.h"

#include <math.h>
#include <stdlib.h>

struct tovar {
	struct peaks_seen seen;
};

static void tovar_start(void *state, const struct rule_options *o)
{
	(void)state;
	(void)o;
}

static void tovar_learn(void *state, const struct observation *o)
{
	struct tovar *s = state;

	rule_peaks_add(&s->seen, o);
}

static int largest_first(const void *a, const void *b)
{
	const struct observation *left = a, *right = b;

	return (left->peak < right->peak) - (left->peak > right->peak);
}

static double tovar_allocate(void *state, double input)
{
	struct tovar *s = state;
	struct observation run[PEAKS_SEEN_MAX] = {0};
	double total = 0, above = 0, best = INFINITY, allocation = NAN;

	(void)input;
	for (size_t i = 0; i < s->seen.n; i++) {
		run[i] = s->seen.at[i];
		if (!(run[i].duration > 0))
			run[i].duration = 1;
		total += run[i].duration;
	}
	qsort(run, s->seen.n, sizeof *run, largest_first);
	for (size_t i = 0; i < s->seen.n; i++) {
		double cost = run[i].peak * total + run[0].peak * above;

		if (cost < best) {
			best = cost;
			allocation = run[i].peak;
		}
		above += run[i].duration;
	}
	return allocation;
}

static double tovar_retry(void *state, double allocation, unsigned failures)
{
	struct tovar *s = state;
	double largest = rule_peaks_largest(&s->seen, PEAKS_SEEN_MAX);

	(void)failures;
	return allocation < largest ? largest : 2 * allocation;
}

const struct sizing_rule bench_tovar = {
	.state_size = sizeof(struct tovar),
	.start = tovar_start,
	.allocate = tovar_allocate,
	.retry = tovar_retry,
	.learn = tovar_learn,
};
