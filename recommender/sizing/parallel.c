/* The time a run spent at each number of busy cores, from the few numbers that are kept of it. */
#include "recommender/sizing/cpu.h"

#include <math.h>

#define CORES_MAX 16384.0 /* more is a fault of the measurement */

/* a, or the next known bound above it. */
static double at_least(double a, double bound)
{
	return a >= bound ? a : bound;
}

/*
 * Values from low to high that follow low + (high - low) s^bend have the mean low + (high - low) /
 * (bend + 1), from which the bend follows.
 */
static double bend_for(double mean, double low, double high)
{
	double share = high > low ? (mean - low) / (high - low) : 0.5;

	return 1 / fmin(fmax(share, 0.01), 0.99) - 1;
}

static double between(double low, double high, double s, double bend)
{
	return low + (high - low) * pow(s, bend);
}

bool parallel_of(const struct distribution *d, struct parallel *ret)
{
	double min = d->min, p50 = d->p50, p95 = d->p95, p99 = d->p99, max = d->max;

	if (!(d->mean >= 0 && d->mean <= CORES_MAX))
		return false;
	if (!isfinite(min) || !isfinite(p50) || !isfinite(p95) || !isfinite(p99) || !isfinite(max))
		min = p50 = p95 = p99 = max = d->mean;
	min = fmax(min, 0);
	p50 = at_least(p50, min);
	p95 = at_least(p95, p50);
	p99 = at_least(p99, p95);
	max = fmin(at_least(max, p99), CORES_MAX);

	/*
	 * Half of the time is spent below the median, mostly near it: a run that waits at its start
	 * is at rest for a short while. The mean tells how much of 45 % of the time goes to the
	 * 95th percentile, and where that cannot be, how far below the median the first half lies.
	 */
	double tail = 0.04 * (p95 + p99) / 2 + 0.01 * (p99 + max) / 2;
	double lower = p50 - (p50 - min) / 4, upper = (d->mean - tail - 0.5 * lower) / 0.45;

	upper = fmin(fmax(upper, p50), p95);
	lower = fmin(fmax((d->mean - tail - 0.45 * upper) / 0.5, min), p50);

	ret->wanted = 1;

	double lower_bend = bend_for(lower, min, p50), upper_bend = bend_for(upper, p50, p95);

	for (int i = 0; i < PARALLEL_POINTS; i++) {
		double u = (i + 0.5) / PARALLEL_POINTS;

		if (u < 0.5)
			ret->cores[i] = between(min, p50, u / 0.5, lower_bend);
		else if (u < 0.95)
			ret->cores[i] = between(p50, p95, (u - 0.5) / 0.45, upper_bend);
		else if (u < 0.99)
			ret->cores[i] = between(p95, p99, (u - 0.95) / 0.04, 1);
		else
			ret->cores[i] = between(p99, max, (u - 0.99) / 0.01, 1);
	}
	return true;
}

/* What is left of a stretch of time that kept so many cores busy once nothing waits for a CPU. */
static double without_waiting(double busy, double wanted)
{
	double least = 1 / (wanted < PARALLEL_ROOM ? wanted : PARALLEL_ROOM),
	       rest = 1 - busy * (wanted - 1);

	return rest > least ? rest : least;
}

double parallel_stretch(const struct parallel *p, double cores)
{
	double sum;
	int i = 0;

	while (p->wanted == 1 && i < PARALLEL_POINTS && p->cores[i] <= cores)
		i++;
	for (sum = i; i < PARALLEL_POINTS; i++) {
		double least = without_waiting(p->cores[i], p->wanted),
		       longer = p->cores[i] / cores;

		sum += longer > least ? longer : least;
	}
	return sum / PARALLEL_POINTS;
}
