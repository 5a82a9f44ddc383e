/* The time a run spent at each number of busy cores, from the few numbers that are kept of it. */
#include "recommender/parallel.h"

#include <math.h>

/* a, or the next known bound above it. */
static double at_least(double a, double bound)
{
	return a >= bound ? a : bound;
}

/*
 * Between the median and the 95th percentile values follow low + (high - low) s^bend; its mean is
 * low + (high - low) / (bend + 1), from which the bend follows.
 */
static double bend_for(double mean, double low, double high)
{
	double share = high > low ? (mean - low) / (high - low) : 0.5;

	return 1 / fmin(fmax(share, 0.02), 0.98) - 1;
}

bool parallel_of(const struct distribution *d, struct parallel *ret)
{
	double min = d->min, p50 = d->p50, p95 = d->p95, p99 = d->p99, max = d->max;

	if (!(d->mean >= 0) || !isfinite(d->mean))
		return false;
	if (!isfinite(min) || !isfinite(p50) || !isfinite(p95) || !isfinite(p99) || !isfinite(max))
		min = p50 = p95 = p99 = max = d->mean;
	min = fmax(min, 0);
	p50 = at_least(p50, min);
	p95 = at_least(p95, p50);
	p99 = at_least(p99, p95);
	max = at_least(max, p99);

	double around = 0.5 * (min + p50) / 2 + 0.04 * (p95 + p99) / 2 + 0.01 * (p99 + max) / 2;
	double bend = bend_for((d->mean - around) / 0.45, p50, p95);

	for (int i = 0; i < PARALLEL_POINTS; i++) {
		double u = (i + 0.5) / PARALLEL_POINTS;

		if (u < 0.5)
			ret->cores[i] = min + (p50 - min) * u / 0.5;
		else if (u < 0.95)
			ret->cores[i] = p50 + (p95 - p50) * pow((u - 0.5) / 0.45, bend);
		else if (u < 0.99)
			ret->cores[i] = p95 + (p99 - p95) * (u - 0.95) / 0.04;
		else
			ret->cores[i] = p99 + (max - p99) * (u - 0.99) / 0.01;
	}
	return true;
}

double parallel_stretch(const struct parallel *p, double cores)
{
	double sum = 0;

	for (int i = 0; i < PARALLEL_POINTS; i++)
		sum += fmax(1, p->cores[i] / cores);
	return sum / PARALLEL_POINTS;
}
