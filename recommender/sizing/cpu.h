/* Cores that a run kept busy over time, and its duration with another number of cores. Private to
 * recommender/.
 *
 * The history has the mean and some percentiles of the cores in use. The curve between the
 * percentiles is bent to match the mean. A stretch that kept q cores busy takes q / c times as long
 * with c < q cores. More cores than were in use do not help, unless threads waited for a CPU. If a
 * run wanted w times its CPU time, waiting cost q (w - 1) of a stretch. At most half of a stretch
 * is subtracted, because the spread of the threads over many cores is unknown. */
#ifndef RECOMMENDER_SIZING_CPU_H
#define RECOMMENDER_SIZING_CPU_H

#include <stdbool.h>

#include "recommender/run.h"

#define PARALLEL_POINTS 200
#define PARALLEL_ROOM   2.0 /* largest useful cores / cores in use, if threads waited for a CPU */
struct parallel {
	double cores[PARALLEL_POINTS]; /* ascending; each for 1/PARALLEL_POINTS of the time */
	double wanted;                 /* CPU time wanted / CPU time received, at least 1 */
};

/* Builds the curve with wanted = 1 (no waits). Returns false when the mean is unknown. */
bool cpu_parallel_of(const struct distribution *d, struct parallel *ret);

/* Returns the duration with this many cores (or INFINITY) / the measured duration. The result is
 * below 1 only if threads waited for a CPU. */
double cpu_parallel_stretch(const struct parallel *p, double cores);

#endif
