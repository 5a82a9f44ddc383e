/* A job with few runs learns from the other jobs of the history, its neighbours. If the peaks of
 * the neighbours vary little, the first requests of the job are only a little above its peaks. Past
 * failures of the neighbours correct the stated chances.
 *
 * The caller adds the newest runs of up to NEIGHBOUR_JOBS_MAX jobs, then calls neighbours_finish.
 * From then on the object is immutable, and any thread may read it. */
#ifndef RECOMMENDER_SIZING_NEIGHBOURS_H
#define RECOMMENDER_SIZING_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>

struct neighbour_run {
	double peak, input, duration; /* bytes, bytes, seconds; NaN = unknown */
	bool at_least;                /* the run was killed: its need was above `peak` */
};

#define NEIGHBOUR_JOBS_MAX 200 /* largest number of other jobs to learn from */
#define NEIGHBOUR_RUNS_MAX 30  /* largest number of newest runs of each such job */

struct neighbours;
struct neighbours *neighbours_new(void);
/* Adds one neighbour. Its runs are oldest first. Runs without a peak are ignored. */
void neighbours_add_job(struct neighbours *n, const struct neighbour_run *run, size_t n_runs);
void neighbours_finish(struct neighbours *n);
void neighbours_free(struct neighbours *n);

/* Returns the typical errors of predictions that were learnt from the neighbours (job_prior.h).
 * Returns NULL when `n` is NULL, or when fewer than NEIGHBOURS_LEAST of its jobs have two or more
 * runs. */
#define NEIGHBOURS_LEAST 5
struct job_prior;
const struct job_prior *neighbours_prior(const struct neighbours *n);

#endif
