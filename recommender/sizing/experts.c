#include "recommender/sizing/experts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FADING      24.0 /* half-life of a run's weight in the percentiles, in runs */
#define FADING_SLOW 80.0 /* half-life of a run's weight in the regressions */
#define SLOPE       0.7  /* prior mean of the exponent of POWER */
#define SLOPE_SD    1.0  /* prior standard deviation of that exponent */
#define NOISE       0.1  /* prior sum of squared log errors; it counts as much as two runs */
#define LIKENESS    0.5  /* width of the bell curve of SIMILAR, in log input */

const struct expert_row experts[EXPERT_COUNT] = {
	[EXPERT_MEDIAN] = {"the median peak"},
	[EXPERT_P75] = {"the third quartile of recent peaks"},
	[EXPERT_P90] = {"the 90th percentile of recent peaks"},
	[EXPERT_LARGEST] = {"the largest peak"},
	[EXPERT_LARGEST_OF_5] = {"the largest of the last five peaks"},
	[EXPERT_LAST] = {"the last peak"},
	[EXPERT_LINE] = {"a straight line through peak over input size", true, true},
	[EXPERT_NEAREST] = {"the runs with the nearest input sizes", true},
	[EXPERT_POWER] = {"a power of the input size", true, true},
	[EXPERT_SIMILAR] = {"runs with a similar input size", true},
	[EXPERT_SAME] = {"runs with the same input size", true},
};

struct weighted {
	double value, weight;
};

/* A run, for sorting by peak. The older of equal peaks comes first. */
struct ranked {
	double peak;
	size_t run;
};

static int by_peak(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	if (left->peak < right->peak || left->peak > right->peak)
		return left->peak < right->peak ? -1 : 1;
	return (left->run > right->run) - (left->run < right->run);
}

static void rank_by_peak(const struct peaks_seen *p, struct ranked ret[PEAKS_SEEN_MAX])
{
	for (size_t i = 0; i < p->n; i++)
		ret[i] = (struct ranked){p->at[i].peak, i};
	qsort(ret, p->n, sizeof *ret, by_peak);
}

/* Returns a weighted percentile: the first value of `v` at which the running sum of weights reaches
 * `share` of the sum of all weights. `v` is sorted by value. */
static double weighted_percentile(const struct weighted *v, size_t n, double share)
{
	double cumulated[PEAKS_SEEN_MAX] = {0}, sum = 0;
	size_t i = 0;

	for (size_t k = 0; k < n; k++)
		cumulated[k] = sum += v[k].weight;
	while (i < n - 1 && cumulated[i] / sum < share)
		i++;
	return v[i].value;
}

static void from_peaks(const struct peaks_seen *p, const struct ranked rank[PEAKS_SEEN_MAX],
	double ret[EXPERT_COUNT])
{
	struct weighted peak[PEAKS_SEEN_MAX] = {0};
	size_t n = p->n;

	for (size_t i = 0; i < n; i++)
		peak[i] = (struct weighted){rank[i].peak, exp2((double)rank[i].run / FADING)};
	ret[EXPERT_MEDIAN] =
		n % 2 ? peak[n / 2].value : (peak[n / 2 - 1].value + peak[n / 2].value) / 2;
	ret[EXPERT_P75] = weighted_percentile(peak, n, 0.75);
	ret[EXPERT_P90] = weighted_percentile(peak, n, 0.9);
	ret[EXPERT_LARGEST] = peak[n - 1].value;
	ret[EXPERT_LARGEST_OF_5] = rule_peaks_largest(p, 5);
	ret[EXPERT_LAST] = p->at[n - 1].peak;
}

/* The runs whose input size is known. `distance` compares the input size of each run with that of
 * the next run, whose peak is to be predicted. */
struct informed {
	struct peaks_seen runs;
	double age_weight[PEAKS_SEEN_MAX];
	double distance[PEAKS_SEEN_MAX]; /* log((input + 1) / (next input + 1)) */
	size_t rank[PEAKS_SEEN_MAX];     /* indices into runs, sorted by peak */
};

static void inform_experts(const struct peaks_seen *p, const struct ranked rank[PEAKS_SEEN_MAX],
	double input, struct informed *ret)
{
	size_t at[PEAKS_SEEN_MAX], n = 0;

	ret->runs.n = 0;
	for (size_t i = 0; i < p->n; i++) {
		double other = p->at[i].input;
		size_t k = ret->runs.n;

		at[i] = PEAKS_SEEN_MAX;
		if (!(other >= 0 && isfinite(other)))
			continue;
		at[i] = k;
		ret->age_weight[k] = exp2(((double)i - (double)p->n + 1) / FADING_SLOW);
		ret->distance[k] = log((other + 1) / (input + 1));
		ret->rank[k] = k; /* set here only to initialise; the loop below sets all ranks */
		ret->runs.at[ret->runs.n++] = p->at[i];
	}
	for (size_t i = 0; i < p->n; i++)
		if (at[rank[i].run] < PEAKS_SEEN_MAX)
			ret->rank[n++] = at[rank[i].run];
}

/* Returns the peak at `input` by a least-squares line through the inputs and peaks. NaN = all
 * inputs are equal. */
static double line_at(const struct peaks_seen *q, double input)
{
	double n = (double)q->n, mean_x = 0, mean_y = 0, xx = 0, xy = 0;

	for (size_t i = 0; i < q->n; i++) {
		mean_x += q->at[i].input;
		mean_y += q->at[i].peak;
	}
	mean_x /= n; /* divided only here, so that equal inputs give a variance of exactly 0 */
	mean_y /= n;
	for (size_t i = 0; i < q->n; i++) {
		double dx = q->at[i].input - mean_x;

		xx += dx * dx;
		xy += dx * (q->at[i].peak - mean_y);
	}
	return xx > 0 ? mean_y + fmax(0, xy / xx) * (input - mean_x) : NAN;
}

/* Returns the largest peak of the three runs with the nearest inputs. If two runs have equal
 * distances, the older run counts as nearer. */
static double nearest_peak(const struct informed *q)
{
	struct weighted run[PEAKS_SEEN_MAX] = {0};
	size_t n = q->runs.n;
	double peak = 0;

	for (size_t i = 0; i < n; i++)
		run[i] = (struct weighted){fabs(q->distance[i]), q->runs.at[i].peak};
	for (size_t k = 0; k < 3 && k < n; k++) {
		size_t nearest = k;

		for (size_t i = k + 1; i < n; i++)
			if (run[i].value < run[nearest].value)
				nearest = i;

		struct weighted swap = run[k];

		run[k] = run[nearest];
		run[nearest] = swap;
		peak = fmax(peak, run[k].weight);
	}
	return peak;
}

/* Returns the peak at `input` by a least-squares line through the logarithms of inputs and peaks.
 * With few runs, the slope of the line stays near SLOPE, its expected value (standard deviation
 * SLOPE_SD). Beyond the largest input, the slope is at most 1: a peak in proportion to the input. A
 * steeper one is often the work of a single odd run, and the error would grow with the distance. */
static double power_at(const struct informed *q, double input)
{
	double sum = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0, most_x = 0,
	       x[PEAKS_SEEN_MAX], y[PEAKS_SEEN_MAX];

	for (size_t i = 0; i < q->runs.n; i++) {
		x[i] = log(q->runs.at[i].input + 1);
		y[i] = log(q->runs.at[i].peak);
		most_x = fmax(most_x, x[i]);
		sum += q->age_weight[i];
		mean_x += q->age_weight[i] * x[i];
		mean_y += q->age_weight[i] * y[i];
	}
	mean_x /= sum;
	mean_y /= sum;
	for (size_t i = 0; i < q->runs.n; i++) {
		double dx = x[i] - mean_x, dy = y[i] - mean_y;

		xx += q->age_weight[i] * dx * dx;
		xy += q->age_weight[i] * dx * dy;
		yy += q->age_weight[i] * dy * dy;
	}

	double variance = (yy - (xx > 0 ? xy * xy / xx : 0) + NOISE) / (sum + 2);
	double prior = variance / (SLOPE_SD * SLOPE_SD);
	double slope = fmax(0, (xy + prior * SLOPE) / (xx + prior));
	double beyond = fmax(0, log(input + 1) - most_x);

	return exp(mean_y + slope * (log(input + 1) - beyond - mean_x) + fmin(slope, 1) * beyond);
}

static double similar_peak(const struct informed *q)
{
	struct weighted run[PEAKS_SEEN_MAX] = {0};

	for (size_t i = 0; i < q->runs.n; i++) {
		size_t k = q->rank[i];
		double distance = q->distance[k] / LIKENESS;

		run[i].value = q->runs.at[k].peak;
		run[i].weight = q->age_weight[k] * (exp(-distance * distance / 2) + 1e-3);
	}
	return weighted_percentile(run, q->runs.n, 0.75);
}

static double same_input_peak(const struct informed *q)
{
	double peak[PEAKS_SEEN_MAX];
	size_t n = 0;

	for (size_t i = 0; i < q->runs.n; i++)
		if (fabs(q->distance[q->rank[i]]) < SAME_INPUT_LOG)
			peak[n++] = q->runs.at[q->rank[i]].peak;
	return n ? peak[n / 2] : NAN;
}

/* Returns the smallest allowed prediction: half the smallest peak. If `input` is smaller than all
 * inputs so far, it shrinks in proportion to the input. */
static double least_peak(const struct informed *q, double input)
{
	double least_input = INFINITY;

	for (size_t i = 0; i < q->runs.n; i++)
		least_input = fmin(least_input, q->runs.at[i].input);
	return q->runs.at[q->rank[0]].peak / 2 * fmin(1, (input + 1) / (least_input + 1));
}

static void from_inputs(const struct peaks_seen *p, const struct ranked rank[PEAKS_SEEN_MAX],
	double input, double ret[EXPERT_COUNT])
{
	struct informed q;

	inform_experts(p, rank, input, &q);
	if (!q.runs.n)
		return;

	double least = least_peak(&q, input);

	ret[EXPERT_POWER] = fmin(fmax(power_at(&q, input), least), ALLOCATION_MAX);
	ret[EXPERT_SIMILAR] = similar_peak(&q);
	ret[EXPERT_SAME] = same_input_peak(&q);
	if (q.runs.n < 3)
		return;
	ret[EXPERT_NEAREST] = nearest_peak(&q);

	double line = line_at(&q.runs, input);

	if (!isnan(line))
		ret[EXPERT_LINE] = fmin(fmax(line, least), ALLOCATION_MAX);
}

void experts_predict(const struct peaks_seen *p, double input, double ret[EXPERT_COUNT])
{
	struct ranked rank[PEAKS_SEEN_MAX];

	for (unsigned i = 0; i < EXPERT_COUNT; i++)
		ret[i] = NAN;
	if (!p->n)
		return;
	rank_by_peak(p, rank);
	from_peaks(p, rank, ret);
	if (input >= 0 && isfinite(input))
		from_inputs(p, rank, input, ret);
}
