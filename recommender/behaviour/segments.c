/* Finds change points by optimal partitioning. */
#include "recommender/behaviour/segments.h"

#include <math.h>

#include "collectors/base/mem.h"

/* Running sums of the standardised channels, without constant channels. squares[i] is the sum of
 * the squared values of the first i points, over all channels. */
struct sums {
	size_t channels;
	double *sum[SEGMENTS_CHANNELS_MAX]; /* [i] = sum of the first i points */
	double *squares;
};

static void fill_gaps(const double *in, size_t n, double *out)
{
	double last = NAN;

	for (size_t i = 0; i < n && isnan(last); i++)
		if (isfinite(in[i]))
			last = in[i];
	for (size_t i = 0; i < n; i++)
		out[i] = last = isfinite(in[i]) ? in[i] : last;
}

/* Scales the values to mean 0 and variance 1. Returns false if they are all unknown or all
 * equal. */
static bool standardise(double *v, size_t n)
{
	double mean = 0, variance = 0;

	for (size_t i = 0; i < n; i++)
		mean += v[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		variance += (v[i] - mean) * (v[i] - mean) / (double)n;
	if (!(variance > 1e-24 * mean * mean) || !isfinite(variance))
		return false;
	for (size_t i = 0; i < n; i++)
		v[i] = (v[i] - mean) / sqrt(variance);
	return true;
}

static void sum_up(struct sums *s, const double *const channel[], size_t channels, size_t n,
	struct arena *arena)
{
	double *v = arena_alloc(arena, n * sizeof *v);

	s->squares = arena_alloc(arena, (n + 1) * sizeof *s->squares);
	for (size_t c = 0; c < channels; c++) {
		fill_gaps(channel[c], n, v);
		if (!standardise(v, n))
			continue;

		double *sum = arena_alloc(arena, (n + 1) * sizeof *sum), squares = 0;

		for (size_t i = 0; i < n; i++) {
			sum[i + 1] = sum[i] + v[i];
			squares += v[i] * v[i];
			s->squares[i + 1] += squares;
		}
		s->sum[s->channels++] = sum;
	}
}

/* Returns the sum of (point - mean)^2 over the points with the indices `from` .. `end - 1`. `mean`
 * is the mean of these points. */
static double cost(const struct sums *s, size_t from, size_t end)
{
	double c = s->squares[end] - s->squares[from];

	for (size_t k = 0; k < s->channels; k++) {
		double sum = s->sum[k][end] - s->sum[k][from];

		c -= sum * sum / (double)(end - from);
	}
	return c;
}

size_t segments_cut(const double *const channel[], size_t channels, size_t n, size_t least,
	size_t *ret)
{
	AUTO(arena_done) struct arena arena = {0};
	struct sums s = {0};
	size_t cuts = 0;

	if (n < 2 || n > SEGMENTS_POINTS_MAX || channels > SEGMENTS_CHANNELS_MAX)
		return 0;
	if (least < 1)
		least = 1;
	sum_up(&s, channel, channels, n, &arena);
	if (!s.channels || n < 2 * least)
		return 0;

	double penalty = 3 * log((double)n);
	double *best = arena_alloc(&arena, (n + 1) * sizeof *best);
	size_t *last = arena_alloc(&arena, (n + 1) * sizeof *last); /* start of the last segment */

	best[0] = -penalty;
	for (size_t end = 1; end <= n; end++) {
		best[end] = INFINITY;
		for (size_t from = 0; from + least <= end; from++) {
			double total = best[from] + cost(&s, from, end) + penalty;

			if (total < best[end]) {
				best[end] = total;
				last[end] = from;
			}
		}
	}
	for (size_t end = n; last[end] > 0; end = last[end])
		ret[cuts++] = last[end];
	for (size_t i = 0; i < cuts / 2; i++) {
		size_t swap = ret[i];

		ret[i] = ret[cuts - 1 - i];
		ret[cuts - 1 - i] = swap;
	}
	return cuts;
}
