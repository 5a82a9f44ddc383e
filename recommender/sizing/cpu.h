/* Cores that a run kept busy over time, and its duration with another number of cores. Private to
 * recommender/.
 *
 * The history has the minimum, the maximum, the mean and three percentiles of the cores in use. A
 * curve connects them, and is bent so that its mean is right.
 *
 * If a part of the run kept q cores busy, this part takes q / c times as long with c < q cores.
 * With c > q cores it takes the same time, if no thread waited for a CPU.
 *
 * If threads waited, more cores shorten the part. If the run wanted w times the CPU time that it
 * got, waiting took a share q (w - 1) of the part. At most half of the part is subtracted, because
 * it is unknown how the threads would spread over many cores. */
#ifndef RECOMMENDER_SIZING_CPU_H
#define RECOMMENDER_SIZING_CPU_H

#include <stdbool.h>

#include "recommender/run.h"

#define PARALLEL_POINTS 200
#define PARALLEL_ROOM   2.0 /* if threads waited, at most this many times the used cores help */
struct parallel {
	/* Cores in use, ascending: each for 1/PARALLEL_POINTS of the time. */
	double cores[PARALLEL_POINTS];
	double wanted; /* CPU time wanted / CPU time received, at least 1 */
	bool varied;   /* the number of cores in use varied: its maximum is above its mean */
};

/* Builds the curve with wanted = 1 (no waits). Returns false when the mean is unknown. */
bool cpu_parallel_of(const struct distribution *d, struct parallel *ret);

/* Returns the duration with this many cores, divided by the measured duration. `cores` may be
 * INFINITY. The result is below 1 only if threads waited for a CPU. */
double cpu_parallel_stretch(const struct parallel *p, double cores);

/* Returns the number of cores above which more cores do not shorten the run. */
double cpu_parallel_widest(const struct parallel *p);

/* A run is slowed down when it takes more than this many times as long as with unlimited cores. */
#define CPU_SLOWED 1.1
#define CORES_MIN  0.01 /* smallest result of cpu_parallel_need */

/* Returns the fewest cores that meet two conditions:
 * - They do not slow the run down (CPU_SLOWED).
 * - They are at least the cores that the run keeps busy for a quarter of its time. If only the mean
 *   is known, the mean is used. If threads waited for a CPU, this number is multiplied by `wanted`,
 *   but at most by PARALLEL_ROOM. */
double cpu_parallel_need(const struct parallel *p);

#endif
