/* Cores that a run kept busy over time, and its duration with another number of cores. Private to
 * recommender/.
 *
 * The history has the minimum, the maximum, the mean and three percentiles of the cores in use. A
 * curve connects the minimum, the percentiles and the maximum. It is bent so that its mean is
 * right.
 *
 * Let a part of the run keep q cores busy. With fewer cores c, this part takes q / c times as long.
 * With more cores it takes the same time if no thread waited for a CPU.
 *
 * If threads waited, more cores shorten the part. Let w be CPU time wanted / CPU time received. The
 * part then becomes shorter by the share q (w - 1), the share of waiting. At most half of the part
 * is subtracted, because it is unknown how the threads would spread over many cores. */
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
 * - The run takes at most CPU_SLOWED times as long as with unlimited cores.
 * - The run keeps more cores than these busy for at most a quarter of its time. Example: it uses 4
 *   cores or more for a quarter of its time -> at least 4. If threads waited for a CPU, the 4 is
 *   multiplied by `wanted`, but at most by PARALLEL_ROOM. */
double cpu_parallel_need(const struct parallel *p);

#endif
