/* The other jobs from which the sizing of a job learns. All answers get them here, so that all of
 * them tell the same size.
 *
 * The neighbours of a job are the jobs of its namespace, itself included. The labels of a job's
 * newest run tell its namespace: `namespace` (Kubernetes), `cluster` (Slurm), and of Flyte `project`
 * and `domain`. Jobs without these labels are neighbours of each other. The need of a run is the
 * peak memory of its processes. Files in tmpfs, which the job's own sizing adds, are left out,
 * because no index has them.
 *
 * The newest RECENT_RUNS ended runs tell which jobs ran last; the last RECENT_JOBS of them can be
 * neighbours. Their newest NEIGHBOUR_RUNS_MAX runs are read, the latest job first: of at most
 * NEIGHBOUR_JOBS_MAX jobs of a namespace, JOBS_READ_MAX jobs altogether, and NAMESPACES_MAX
 * namespaces. This bounds the time, and the memory to NAMESPACES_MAX summaries. */
#ifndef EXPORTER_ANSWERS_NEIGHBOURHOOD_H
#define EXPORTER_ANSWERS_NEIGHBOURHOOD_H

#include "collectors/base/latest.h"
#include "exporter/core/app.h"
#include "exporter/history/history.h"
#include "recommender/sizing/neighbours.h"

#define RECENT_RUNS    5000
#define RECENT_JOBS    1000
#define JOBS_READ_MAX  600
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
