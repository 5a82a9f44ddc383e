/* Predictions of the next peak from earlier runs. */
#include "recommender/experts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FADING      24.0 /* runs after which a run weighs half in the percentiles */
#define FADING_SLOW 80.0 /* the same in the regressions */
#define SLOPE       0.7 /* expected exponent of POWER, and how sure of it: a standard deviation of 1 */
#define SLOPE_SD    1.0
#define NOISE       0.1 /* what two runs' worth of squared log errors are thought to be at first */
#define LIKENESS    0.5 /* width of SIMILAR's bell in log input */

const struct expert_row experts[EXPERT_COUNT] = {
	[EXPERT_MEDIAN] = {"the median peak"},
	[EXPERT_P75] = {"the third quartile of recent peaks"},
	[EXPERT_P90] = {"the 90th percentile of recent peaks"},
	[EXPERT_LARGEST] = {"the largest peak"},
	[EXPERT_LARGEST_OF_5] = {"the largest of the last five peaks"},
	[EXPERT_LAST] = {"the last peak"},
	[EXPERT_LINE] = {"a straight line through peak over input size", true},
	[EXPERT_NEAREST] = {"the runs with the nearest input sizes", true},
	[EXPERT_POWER] = {"a power of the input size", true},
	[EXPERT_SIMILAR] = {"runs with a similar input size", true},
	[EXPERT_SAME] = {"runs with the same input size", true},
};

struct weighted {
	double value, weight;
};

static int by_value(const void *a, const void *b)
{
	const struct weighted *left = a, *right = b;

	return (left->value > right->value) - (left->value < right->value);
}

/* The smallest value that at least this share of the weight does not exceed; v is sorted. */
static double weighted_percentile(const struct weighted *v, size_t n, double share)
{
	double cumulated[PAST_MAX] = {0}, sum = 0;
	size_t i = 0;

	for (size_t k = 0; k < n; k++)
		cumulated[k] = sum += v[k].weight;
	while (i < n - 1 && cumulated[i] / sum < share)
		i++;
	return v[i].value;
}

static void from_peaks(const struct past *p, double ret[EXPERT_COUNT])
{
	struct weighted peak[PAST_MAX] = {0};
	size_t n = p->n;

	for (size_t i = 0; i < n; i++)
		peak[i] = (struct weighted){p->at[i].peak, exp2((double)i / FADING)};
	qsort(peak, n, sizeof *peak, by_value);
	ret[EXPERT_MEDIAN] =
		n % 2 ? peak[n / 2].value : (peak[n / 2 - 1].value + peak[n / 2].value) / 2;
	ret[EXPERT_P75] = weighted_percentile(peak, n, 0.75);
	ret[EXPERT_P90] = weighted_percentile(peak, n, 0.9);
	ret[EXPERT_LARGEST] = peak[n - 1].value;
	ret[EXPERT_LARGEST_OF_5] = past_peak(p, 5);
	ret[EXPERT_LAST] = p->at[n - 1].peak;
}

/* Difference of two input sizes in log; inputs may be 0. */
static double log_ratio(double input, double other)
{
	return log((input + 1) / (other + 1));
}

/* q: the runs whose input is known. */
static double line_at(const struct past *q, double input)
{
	double n = (double)q->n, mean_x = 0, mean_y = 0, xx = 0, xy = 0;

	for (size_t i = 0; i < q->n; i++) {
		mean_x += q->at[i].input;
		mean_y += q->at[i].peak;
	}
	mean_x /= n; /* after summing: equal inputs must have no variance */
	mean_y /= n;
	for (size_t i = 0; i < q->n; i++) {
		double dx = q->at[i].input - mean_x;

		xx += dx * dx;
		xy += dx * (q->at[i].peak - mean_y);
	}
	return xx > 0 ? mean_y + fmax(0, xy / xx) * (input - mean_x) : NAN;
}

/* Picks by selection, first come first on equal distances. */
static double nearest_peak(const struct past *q, double input)
{
	struct weighted run[PAST_MAX] = {0};
	double peak = 0;

	for (size_t i = 0; i < q->n; i++)
		run[i] = (struct weighted){fabs(log_ratio(q->at[i].input, input)), q->at[i].peak};
	for (size_t k = 0; k < 3 && k < q->n; k++) {
		size_t nearest = k;

		for (size_t i = k + 1; i < q->n; i++)
			if (run[i].value < run[nearest].value)
				nearest = i;

		struct weighted swap = run[k];

		run[k] = run[nearest];
		run[nearest] = swap;
		peak = fmax(peak, run[k].weight);
	}
	return peak;
}

/* Bayesian least squares in logs with a normal prior on the exponent. */
static double power_at(const struct past *q, const double age_weight[PAST_MAX], double input)
{
	double sum = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;

	for (size_t i = 0; i < q->n; i++) {
		sum += age_weight[i];
		mean_x += age_weight[i] * log(q->at[i].input + 1);
		mean_y += age_weight[i] * log(q->at[i].peak);
	}
	mean_x /= sum;
	mean_y /= sum;
	for (size_t i = 0; i < q->n; i++) {
		double dx = log(q->at[i].input + 1) - mean_x, dy = log(q->at[i].peak) - mean_y;

		xx += age_weight[i] * dx * dx;
		xy += age_weight[i] * dx * dy;
		yy += age_weight[i] * dy * dy;
	}

	double variance = (yy - (xx > 0 ? xy * xy / xx : 0) + NOISE) / (sum + 2);
	double prior = variance / (SLOPE_SD * SLOPE_SD);
	double slope = fmax(0, (xy + prior * SLOPE) / (xx + prior));

	return exp(mean_y + slope * (log(input + 1) - mean_x));
}

static double similar_peak(const struct past *q, const double age_weight[PAST_MAX], double input)
{
	struct weighted run[PAST_MAX] = {0};

	for (size_t i = 0; i < q->n; i++) {
		double distance = log_ratio(q->at[i].input, input) / LIKENESS;

		run[i].value = q->at[i].peak;
		run[i].weight = age_weight[i] * (exp(-distance * distance / 2) + 1e-3);
	}
	qsort(run, q->n, sizeof *run, by_value);
	return weighted_percentile(run, q->n, 0.75);
}

static double same_input_peak(const struct past *q, double input)
{
	struct weighted run[PAST_MAX] = {0};
	size_t n = 0;

	for (size_t i = 0; i < q->n; i++)
		if (fabs(log_ratio(q->at[i].input, input)) < 0.02)
			run[n++].value = q->at[i].peak;
	qsort(run, n, sizeof *run, by_value);
	return n ? run[n / 2].value : NAN;
}

void experts_predict(const struct past *p, double input, double reach, double ret[EXPERT_COUNT])
{
	struct past q = {0};
	double age_weight[PAST_MAX], smallest = INFINITY, largest = past_peak(p, PAST_MAX);

	for (unsigned i = 0; i < EXPERT_COUNT; i++)
		ret[i] = NAN;
	if (!p->n)
		return;
	from_peaks(p, ret);
	if (!(input >= 0 && isfinite(input)))
		return;
	for (size_t i = 0; i < p->n; i++)
		if (p->at[i].input >= 0 && isfinite(p->at[i].input)) {
			age_weight[q.n] = exp2(((double)i - (double)p->n + 1) / FADING_SLOW);
			smallest = fmin(smallest, p->at[i].peak);
			q.at[q.n++] = p->at[i];
		}
	if (!q.n)
		return;
	ret[EXPERT_POWER] = fmin(fmax(power_at(&q, age_weight, input), smallest / 2),
		reach * past_peak(&q, PAST_MAX));
	ret[EXPERT_SIMILAR] = similar_peak(&q, age_weight, input);
	ret[EXPERT_SAME] = same_input_peak(&q, input);
	if (q.n < 3)
		return;
	ret[EXPERT_NEAREST] = nearest_peak(&q, input);

	double line = line_at(&q, input);

	if (!isnan(line))
		ret[EXPERT_LINE] = fmin(fmax(line, smallest / 2), reach * largest);
}
