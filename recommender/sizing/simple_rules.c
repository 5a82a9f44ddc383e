/* Simple rules: the largest peak, or a percentile. strategies.c names the formula and source of
 * each rule. */
#include "recommender/sizing/rule.h"

#include <math.h>
#include <stdlib.h>

#include "recommender/sizing/strategy.h"

struct simple {
	struct rule_options options;
	struct peaks_seen peaks_seen;
	double largest; /* largest peak of all runs, even of those before options.window */
	double oom;     /* largest limit that was too small, bytes; only krr uses it */
};

static void simple_start(void *state, const struct rule_options *o)
{
	struct simple *s = state;

	s->options = *o;
}

static void simple_learn(void *state, const struct observation *o)
{
	struct simple *s = state;

	rule_peaks_add(&s->peaks_seen, o);
	s->largest = fmax(s->largest, o->peak);
}

double rule_retry_double(void *state, double allocation, unsigned failures)
{
	(void)state;
	(void)failures;
	return 2 * allocation;
}

static double baseline_allocate(void *state, double input)
{
	struct simple *s = state;

	(void)input;
	if (!s->peaks_seen.n)
		return NAN;
	return (double)sizing_round_memory(rule_peaks_largest(&s->peaks_seen, s->options.window) *
					   (1 + s->options.margin)) *
	       MIB;
}

const struct sizing_rule rule_baseline = {
	.state_size = sizeof(struct simple),
	.defaults = {.window = SIZING_RUNS, .margin = 0.2},
	.successes_only = true,
	.start = simple_start,
	.allocate = baseline_allocate,
	.retry = rule_retry_double,
	.learn = simple_learn,
};

static double max_allocate(void *state, double input)
{
	struct simple *s = state;

	(void)input;
	return s->peaks_seen.n ? rule_peaks_largest(&s->peaks_seen, s->options.window) *
					 (1 + s->options.margin) :
				 NAN;
}

const struct sizing_rule rule_max = {
	.state_size = sizeof(struct simple),
	.defaults = {.window = PEAKS_SEEN_MAX, .margin = 0.2},
	.start = simple_start,
	.allocate = max_allocate,
	.retry = rule_retry_double,
	.learn = simple_learn,
};

/* Returns the percentile of the peaks, interpolated linearly between ranks, as spreadsheets and
 * NumPy do by default. */
static double percentile_allocate(void *state, double input)
{
	struct simple *s = state;
	double peak[PEAKS_SEEN_MAX];
	size_t n = s->peaks_seen.n < s->options.window ? s->peaks_seen.n : s->options.window;

	(void)input;
	if (!n)
		return NAN;
	for (size_t i = 0; i < n; i++)
		peak[i] = s->peaks_seen.at[s->peaks_seen.n - n + i].peak;
	qsort(peak, n, sizeof *peak, stats_ascending);

	double rank = s->options.percentile * (double)(n - 1);
	size_t low = (size_t)rank, high = low + 1 < n ? low + 1 : low;

	return (peak[low] + (rank - (double)low) * (peak[high] - peak[low])) *
	       (1 + s->options.margin);
}

const struct sizing_rule rule_percentile = {
	.state_size = sizeof(struct simple),
	.defaults = {.window = PEAKS_SEEN_MAX, .percentile = 0.95},
	.start = simple_start,
	.allocate = percentile_allocate,
	.retry = rule_retry_double,
	.learn = simple_learn,
};

static double krr_allocate(void *state, double input)
{
	struct simple *s = state;

	(void)input;
	return s->peaks_seen.n ? fmax(s->largest * (1 + s->options.margin), s->oom * 1.25) : NAN;
}

static double krr_retry(void *state, double allocation, unsigned failures)
{
	struct simple *s = state;

	(void)failures;
	s->oom = fmax(s->oom, allocation);
	return fmax(allocation * 1.25, allocation + MIB);
}

const struct sizing_rule rule_krr = {
	.state_size = sizeof(struct simple),
	.defaults = {.margin = 0.15},
	.start = simple_start,
	.allocate = krr_allocate,
	.retry = krr_retry,
	.learn = simple_learn,
};
