/* Quantiles, intervals and random numbers. */
#include <math.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "recommender/run.h"
#include "tests/bench/judge/judge.h"

double judge_quantile(const double *value, size_t n, double share)
{
	if (!n)
		return NAN;

	double at = share * (double)(n - 1);
	size_t below = (size_t)at;

	if (below + 1 >= n)
		return value[n - 1];
	return value[below] + (at - (double)below) * (value[below + 1] - value[below]);
}

double judge_peak_quantile(const struct job *job, size_t n, double share)
{
	AUTO(freep) double *peak = xcalloc(n + 1, sizeof *peak);

	for (size_t i = 0; i < n; i++)
		peak[i] = job->run[i].peak;
	qsort(peak, n, sizeof *peak, stats_ascending);
	return judge_quantile(peak, n, share);
}

void judge_binomial(size_t n, double p, size_t *low, size_t *high)
{
	double sum = 0, trials = (double)n;

	*low = 0;
	*high = p > 0 ? n : 0;
	for (size_t k = 0; k <= n && p > 0 && p < 1; k++) {
		double at = (double)k, before = sum;

		sum += exp(lgamma(trials + 1) - lgamma(at + 1) - lgamma(trials - at + 1) +
			   at * log(p) + (trials - at) * log1p(-p));
		if (before <= 0.025 && sum > 0.025)
			*low = k;
		if (before < 0.975 && sum >= 0.975) {
			*high = k;
			return;
		}
	}
}

double judge_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : (double)NAN;
}

/* The generator splitmix64. */
uint64_t judge_random(uint64_t *series)
{
	uint64_t z = *series += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

size_t judge_random_below(uint64_t *series, size_t n)
{
	return (size_t)(judge_random(series) % n);
}
