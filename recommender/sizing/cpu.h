/*
 * How many cores a run kept busy over its time, and how long it would have taken with fewer.
 * Private to recommender/.
 *
 * Known of a run are its mean and some percentiles over time. Between them the cores in use bend so
 * that the mean comes out: eight cores for a tenth of the time and one for the rest differ from
 * anything in between. With c cores, a stretch that kept q > c cores busy takes q / c times as
 * long; more cores than were seen in use are not thought to help, unless threads waited for a CPU. Of a run that wanted
 * w times the CPU time that it got, a stretch is shorter by that waiting, q (w - 1) of it, where nobody waits; but not
 * by more than half: how threads that share few cores spread over many nobody has seen, so such a job is given
 * room by doubling.
 */
#ifndef RECOMMENDER_SIZING_CPU_H
#define RECOMMENDER_SIZING_CPU_H

#include <stdbool.h>

#include "recommender/run.h"

#define PARALLEL_POINTS 200
#define PARALLEL_ROOM   2.0 /* times the cores that were in use, for who waited for a CPU */
struct parallel {
	double cores[PARALLEL_POINTS]; /* ascending; each for 1/PARALLEL_POINTS of the time */
	double wanted;                 /* CPU time that it wanted / that it got, >= 1 */
};

/* False when not even the mean is known. Of a run that waited for no CPU: wanted is 1. */
bool cpu_parallel_of(const struct distribution *d, struct parallel *ret);

/* Duration with so many cores (INFINITY too) / duration; below 1 only of a run that waited for a CPU. */
double cpu_parallel_stretch(const struct parallel *p, double cores);

#endif
