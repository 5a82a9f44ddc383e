#include "recommender/sizing/cpu.h"

#include <math.h>

#include "recommender/plausible.h"

/* Returns the larger of the two values; `bound` when `a` is NaN. */
static double at_least(double a, double bound)
{
	return a >= bound ? a : bound;
}

/* Returns the exponent `bend` for which the curve low + (high - low) s^bend (0 <= s <= 1) has this
 * mean. The mean of the curve is low + (high - low) / (bend + 1). */
static double bend_for(double mean, double low, double high)
{
	double share = high > low ? (mean - low) / (high - low) : 0.5;

	return 1 / fmin(fmax(share, 0.01), 0.99) - 1;
}

static double between(double low, double high, double s, double bend)
{
	return low + (high - low) * pow(s, bend);
}

bool cpu_parallel_of(const struct distribution *d, struct parallel *ret)
{
	double min = d->min, p50 = d->p50, p95 = d->p95, p99 = d->p99, max = d->max;

	if (!(d->mean >= 0 && d->mean <= RUN_CPUS_MAX))
		return false;
	if (!isfinite(min) || !isfinite(p50) || !isfinite(p95) || !isfinite(p99) || !isfinite(max))
		min = p50 = p95 = p99 = max = d->mean;
	min = fmax(min, 0);
	p50 = at_least(p50, min);
	p95 = at_least(p95, p50);
	p99 = at_least(p99, p95);
	max = fmin(at_least(max, p99), RUN_CPUS_MAX);

	/* Bend the curve so that its mean becomes d->mean. `lower` is the mean of the curve below
	 * the median. `upper` is its mean between the median and the 95th percentile.
	 * - Guess that `lower` is near the median, because most runs idle only for a short time.
	 * - Compute the `upper` that gives the right mean, and keep it between p50 and p95.
	 * - Compute `lower` again from this `upper`. */
	double tail = 0.04 * (p95 + p99) / 2 + 0.01 * (p99 + max) / 2;
	double lower = p50 - (p50 - min) / 4, upper = (d->mean - tail - 0.5 * lower) / 0.45;

	upper = fmin(fmax(upper, p50), p95);
	lower = fmin(fmax((d->mean - tail - 0.45 * upper) / 0.5, min), p50);

	ret->wanted = 1;
	ret->varied = d->max > d->mean;

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

/* Returns (duration of a part of the run if no thread had to wait for a CPU) / (its measured
 * duration). `busy` is the number of cores in use during this part. cpu.h explains the formula. */
static double without_waiting(double busy, double wanted)
{
	double least = 1 / (wanted < PARALLEL_ROOM ? wanted : PARALLEL_ROOM),
	       rest = 1 - busy * (wanted - 1);

	return rest > least ? rest : least;
}

double cpu_parallel_stretch(const struct parallel *p, double cores)
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

double cpu_parallel_widest(const struct parallel *p)
{
	return p->cores[PARALLEL_POINTS - 1] * fmin(p->wanted, PARALLEL_ROOM);
}

/* Index in parallel.cores of the cores that a run keeps busy for at least a quarter of its time. A
 * quarter is too long for a burst, so the request must cover these cores. */
#define LEVEL_KEPT (PARALLEL_POINTS * 3 / 4)

double cpu_parallel_need(const struct parallel *p)
{
	double low = p->cores[LEVEL_KEPT] * fmin(p->wanted, PARALLEL_ROOM);
	double high = cpu_parallel_widest(p), fastest = cpu_parallel_stretch(p, INFINITY);

	low = fmax(low, CORES_MIN);
	while (high > low * 1.001) {
		double middle = sqrt(low * high);

		if (cpu_parallel_stretch(p, middle) > CPU_SLOWED * fastest)
			low = middle;
		else
			high = middle;
	}
	return low;
}
