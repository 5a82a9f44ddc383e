/* Cores that keep the next run of a job from being slowed down. Private to recommender/.
 *
 * If runs come in random order, the next run needs more cores than all n earlier runs with a
 * probability of 1 / (n + 1). Let c be above the largest earlier need. The probability that the
 * next run needs more than c cores is assumed to be
 *
 * 	(largest earlier need / c)^(1 / spread) / (n + 1)
 *
 * where `spread` says how widely the earlier needs differ. A slowed run counts as a fixed cost, and
 * the cores with the lowest expected cost are chosen. A job of few cores therefore gets room for a
 * run that needs much more. A job of many cores gets little room.
 *
 * At most the newest 20 runs count, and none before a lasting fall of the need. A job that never
 * used more than one core gets no more than one. */
#ifndef RECOMMENDER_SIZING_CPU_SPEED_H
#define RECOMMENDER_SIZING_CPU_SPEED_H

#include <stddef.h>
#include <stdint.h>

#define SPEED_RUNS    20
#define CPU_FALL_RUNS 5 /* fewest runs on either side of a lasting fall */

/* Returns the number of runs since the last lasting fall of the need, or n if there was none.
 * need[i]: fewest cores that do not slow run i down (cpu_parallel_need); newest run first. */
size_t cpu_speed_since_fall(const double *need, size_t n);

/* Returns the cores for the next run, not rounded. `need` has only the runs since the last fall,
 * newest first; n is 1 to SPEED_RUNS. `widest`: most cores that the job can use; INFINITY =
 * unknown. */
double cpu_speed_cores(const double *need, size_t n, double widest);

/* Round a number of cores to the nearest step. If the result is more than 10 % below `cores`, they
 * round up instead.
 * - cpu_speed_whole: the step is 1 core. Returns at least 1.
 * - cpu_speed_fraction, for systems that accept fractions of a core: the step is cpu_speed_step,
 *   but at most 1 core. Returns at least 0.25, and never more than cpu_speed_whole. */
uint64_t cpu_speed_whole(double cores);
double cpu_speed_fraction(double cores);

/* Returns the step between one possible request and the next: 0.25 below 8 cores, 0.5 below 16, 1
 * below 64. From 64 cores on, it is a sixteenth of `cores`, rounded up. */
double cpu_speed_step(double cores);

#endif
