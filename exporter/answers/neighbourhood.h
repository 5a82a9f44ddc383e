/* The other jobs from which the sizing of a job learns. All answers get them here, so that all of
 * them tell the same size.
 *
 * The neighbours of a job are the jobs of its namespace, itself included. The namespace follows from
 * the labels of a run: `namespace` (Kubernetes), `cluster` (Slurm), and of Flyte `project` and
 * `domain`. Runs without these labels are neighbours of each other. A job belongs to the namespace
 * of its newest run. Its need is the peak memory of its processes; files in tmpfs, which the job's
 * own sizing adds, are left out.
 *
 * Only jobs that ran recently are read, the latest first: jobs with one of the newest RECENT_RUNS
 * ended runs; per namespace at most NEIGHBOUR_JOBS_MAX of them with NEIGHBOUR_RUNS_MAX runs each; at
 * most RECENT_JOBS jobs and NAMESPACES_MAX namespaces altogether. This bounds the time, and the
 * memory to NAMESPACES_MAX summaries. */
#ifndef EXPORTER_ANSWERS_NEIGHBOURHOOD_H
#define EXPORTER_ANSWERS_NEIGHBOURHOOD_H

#include "collectors/base/latest.h"
#include "exporter/core/app.h"
#include "exporter/history/history.h"
#include "recommender/sizing/neighbours.h"

#define RECENT_RUNS    5000
#define RECENT_JOBS    600
#define NAMESPACES_MAX 16

/* A summary is used until a tenth more runs have ended, and in any case for as long as no run ends.
 * When a run has ended, it is used for at most this many seconds. */
#define NEIGHBOURHOOD_SECONDS 600.0

/* The cache of a server. Any thread. */
struct neighbourhoods;
struct neighbourhoods *neighbourhoods_new(void);
void neighbourhoods_free(struct neighbourhoods *c); /* NULL does nothing */

struct job_neighbours {
	struct shared *held;
	const struct neighbours *jobs; /* for struct sizing_options; NULL = none */
	/* Two values differ when the neighbours taught something else. Part of the state of a
	 * cached result (result_cache.h). */
	uint64_t fingerprint;
};

/* Finds the neighbours of a job. If app->neighbourhoods is NULL, reads them anew. Otherwise the
 * first caller reads them, and further callers wait for it; while newer ones are read, all others
 * get the previous ones. Zero `ret` before the call; job_neighbours_done drops the reference. */
int job_neighbours_find(struct app *app, struct history *h, const char *job_name,
	struct job_neighbours *ret, struct err *e);
void job_neighbours_done(struct job_neighbours *n); /* for AUTO */

#endif
