/*
 * The cores that a run kept busy over time, and its duration with another number of cores. Private
 * to recommender/.
 *
 * The history has the mean and some percentiles of the cores in use. The curve between the
 * percentiles is bent to match the mean. With c cores, a stretch that kept q > c cores busy takes q
 * / c times as long. More cores than were in use do not help, unless threads waited for a CPU. A
 * run that wanted w times its CPU time loses q (w - 1) of a stretch to waiting. At most half of a
 * stretch is subtracted: how the threads would spread over many cores is unknown.
 */
#ifndef RECOMMENDER_SIZING_CPU_H
#define RECOMMENDER_SIZING_CPU_H

#include <stdbool.h>

#include "recommender/run.h"

#define PARALLEL_POINTS 200
#define PARALLEL_ROOM   2.0 /* times the cores in use, when threads waited for a CPU */
struct parallel {
	double cores[PARALLEL_POINTS]; /* ascending; each for 1/PARALLEL_POINTS of the time */
	double wanted;                 /* CPU time wanted / CPU time received, >= 1 */
};

/* Builds the curve with wanted = 1 (no waits). False: the mean is unknown. */
bool cpu_parallel_of(const struct distribution *d, struct parallel *ret);

/* Duration with this many cores (or INFINITY) / duration; below 1 only after waits for a CPU. */
double cpu_parallel_stretch(const struct parallel *p, double cores);

#endif
