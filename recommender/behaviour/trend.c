/* Mann-Kendall test and Theil-Sen slope. */
#include "recommender/behaviour/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/run.h"

#define BLOCK      5
#define CORRELATED 0.3

double trend_median(double *v, size_t n)
{
	if (!n)
		return NAN;
	qsort(v, n, sizeof *v, stats_ascending);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static const double *newest(const double *v, size_t *n)
{
	size_t older = *n > TREND_MAX ? *n - TREND_MAX : 0;

	*n -= older;
	return v + older;
}

double trend_chance(const double *v, size_t n)
{
	double sorted[TREND_MAX], s = 0, variance;

	v = newest(v, &n);
	if (n < 4)
		return 1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			s += (v[k] > v[i]) - (v[k] < v[i]);
	memcpy(sorted, v, n * sizeof *v);
	qsort(sorted, n, sizeof *sorted, stats_ascending);
	variance = (double)n * (double)(n - 1) * (double)(2 * n + 5);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && sorted[next] == sorted[i];)
			next++;

		double ties = (double)(next - i);

		variance -= ties * (ties - 1) * (2 * ties + 5);
	}
	if (!(variance > 0) || s == 0)
		return 1;
	return erfc(fabs(s - copysign(1, s)) / sqrt(variance / 18) / sqrt(2));
}

double trend_slope(const double *v, size_t n)
{
	v = newest(v, &n);
	if (n < 2)
		return NAN;

	AUTO(freep) double *slope = xcalloc(n * (n - 1) / 2, sizeof *slope);
	size_t pairs = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			slope[pairs++] = (v[k] - v[i]) / (double)(k - i);
	return trend_median(slope, pairs);
}

/* Returns how much neighbouring values deviate alike from a line with this slope: the correlation
 * of the deviation of a value with that of the next value. */
static double neighbours_correlate(const double *v, size_t n, double slope)
{
	double mean = 0, with_next = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += (v[i] - slope * (double)i) / (double)n;
	for (size_t i = 0; i < n; i++) {
		double error = v[i] - slope * (double)i - mean;

		squares += error * error;
		if (i + 1 < n)
			with_next += error * (v[i + 1] - slope * (double)(i + 1) - mean);
	}
	return squares > 0 ? with_next / squares : 0;
}

struct trend trend_of(const double *v, size_t n)
{
	struct trend t = {trend_chance(v, n), trend_slope(v, n)};
	double block[TREND_MAX];
	size_t blocks = 0;

	v = newest(v, &n);
	if (n < 2 || neighbours_correlate(v, n, t.slope) <= CORRELATED)
		return t;
	for (size_t i = n % BLOCK; i + BLOCK <= n; i += BLOCK) {
		double five[BLOCK];

		memcpy(five, v + i, sizeof five);
		block[blocks++] = trend_median(five, BLOCK);
	}
	t.chance = trend_chance(block, blocks);
	return t;
}
