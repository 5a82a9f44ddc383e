#include "recommender/sizing/cpu_speed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recommender/run.h"
#include "recommender/sizing/cpu.h"

/* The constants below were chosen on all jobs of four public traces: no job was set aside for a
 * test. With these constants, at most 2 % of the runs of each trace are slowed down, and at most
 * 2.5 % in each half of its jobs (bench_cpu, --half). */
#define SLOWED_PRICE 105.0 /* price of a slowed run: as much as this many cores */
/* Spread of the needs that is assumed before any run: the mean distance of their logarithms from
 * the median. It weighs as much as SPREAD_RUNS runs. */
#define SPREAD_EXPECTED 1.0
#define SPREAD_RUNS     0.5
#define SPREAD_MIN      0.005
/* A run counts as slowed down if it needs more than 1.15 times the chosen cores. The number is the
 * sum of two parts: a run that takes at most 10 % longer is not slowed down, and rounding adds 5 %
 * of cores on average. */
#define SLOWED_FROM 1.15
#define ROOM_MAX    4.0 /* most cores / largest need of a run so far */
/* Largest measured use of one busy thread, in cores. Above 1 only because readings are coarse. */
#define ONE_CORE 1.05
/* A job that never used more than one core can get a whole core as long as it has fewer runs than
 * this. */
#define ONE_CORE_UNKNOWN 10

/* The need has fallen lastingly if (largest need after the fall) x FALL_FACTOR is below the
 * smallest need just before the fall. These runs are compared:
 * - After the fall: all runs, which must be CPU_FALL_RUNS or more.
 * - Before the fall: SPEED_RUNS minus the number of runs after the fall, but at least
 *   CPU_FALL_RUNS. If there are fewer runs before the fall, all of them. */
#define FALL_FACTOR 1.1

static double smallest(const double *v, size_t n)
{
	double ret = INFINITY;

	for (size_t i = 0; i < n; i++)
		ret = fmin(ret, v[i]);
	return ret;
}

static double largest(const double *v, size_t n)
{
	double ret = 0;

	for (size_t i = 0; i < n; i++)
		ret = fmax(ret, v[i]);
	return ret;
}

size_t cpu_speed_since_fall(const double *need, size_t n)
{
	for (size_t i = CPU_FALL_RUNS; i + CPU_FALL_RUNS <= n; i++) {
		size_t before = i + CPU_FALL_RUNS < SPEED_RUNS ? SPEED_RUNS - i : CPU_FALL_RUNS;

		before = before < n - i ? before : n - i;
		if (largest(need, i) * FALL_FACTOR < smallest(need + i, before))
			return i;
	}
	return n;
}

/* Returns the spread of the needs: the mean distance of their logarithms from the median.
 * SPREAD_EXPECTED counts as further runs (SPREAD_RUNS). `sorted` is ascending. */
static double spread_of(const double *sorted, size_t n)
{
	double middle = log(sorted[n / 2]), sum = SPREAD_EXPECTED * SPREAD_RUNS;

	if (n % 2 == 0)
		middle = (middle + log(sorted[n / 2 - 1])) / 2;
	for (size_t i = 0; i < n; i++)
		sum += fabs(log(sorted[i]) - middle);
	return fmax(sum / ((double)n - 1 + SPREAD_RUNS), SPREAD_MIN);
}

/* Returns the factor, at least 1, by which the cores should exceed `widest`, the largest need of
 * the `n` runs so far. widest x factor cores have the least expected price. The price of c cores is
 * c, plus SLOWED_PRICE times the probability that the next run is slowed down:
 *
 * 	c + SLOWED_PRICE / (n + 1) x (widest / (SLOWED_FROM x c)) ^ (1 / spread) */
static double room_for_wider(double widest, size_t n, double spread)
{
	double power = 1 / spread;
	double price = SLOWED_PRICE * power / ((double)(n + 1) * widest);

	return fmax(1, pow(price * pow(SLOWED_FROM, -power), 1 / (power + 1)));
}

double cpu_speed_cores(const double *need, size_t n, double widest)
{
	double sorted[SPEED_RUNS], most, cores;

	memcpy(sorted, need, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, stats_ascending);
	most = sorted[n - 1];
	cores = most * room_for_wider(most, n, spread_of(sorted, n));
	if (most > ONE_CORE)
		return fmax(most, fmin(fmin(cores, ROOM_MAX * most), widest));
	if (n < ONE_CORE_UNKNOWN)
		return fmax(most, fmin(fmin(cores, 1), widest));
	/* The job never needed more than one core. Most such jobs are idle most of the time, so one
	 * run in twenty may be slowed down: take the second largest need. */
	return n == SPEED_RUNS ? sorted[n - 2] : most;
}

double cpu_speed_step(double cores)
{
	if (cores >= 64)
		return ceil(cores / 16);
	if (cores >= 16)
		return 1;
	return cores < 8 ? 0.25 : 0.5;
}

static double nearest(double cores, double step)
{
	double ret = round(cores / step) * step;

	return ret * CPU_SLOWED < cores ? ceil(cores / step) * step : ret;
}

uint64_t cpu_speed_whole(double cores)
{
	return (uint64_t)fmax(1, nearest(cores, 1));
}

double cpu_speed_fraction(double cores)
{
	double fraction = fmax(0.25, nearest(cores, fmin(cpu_speed_step(cores), 1)));

	return fmin(fraction, (double)cpu_speed_whole(cores));
}
