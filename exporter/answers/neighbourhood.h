/* The neighbours of a job: the jobs of its namespace, itself included. The sizing of a job also
 * learns from their runs. All answers get the neighbours here, so that the answers agree on the
 * size.
 *
 * A job's key names its namespace and its cluster. If the key has no namespace and no cluster, the
 * labels `namespace` (Kubernetes) and `cluster` (Slurm) of the job's newest run name them. The
 * labels `project` and `domain` divide the jobs of Flyte further. Jobs without any of these are
 * neighbours of each other. The need of a run is the peak memory of its processes. Files in tmpfs,
 * which the job's own sizing adds, are left out, because no index of the history has them.
 *
 * Neighbours come from the jobs of the newest RECENT_RUNS ended runs, at most RECENT_JOBS jobs.
 * The job with the newest run is read first, and each job's newest NEIGHBOUR_RUNS_MAX runs are
 * read. The reading is bounded by NEIGHBOUR_JOBS_MAX jobs of one namespace, JOBS_READ_MAX jobs
 * in total, and NAMESPACES_MAX namespaces. */
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

/* A reading takes at most this many bytes of memory, and frees all but 0.4 MiB afterwards. The
 * largest reading in tests/unit/test_neighbourhood.c takes 3.9 MiB, mostly for the ratios of 600
 * jobs. The labels of RECENT_JOBS jobs can add 1.6 MiB. If less memory is left (memory_budget.h),
 * the jobs are not read: answers get the previous summary, or 503 if there is none. */
#define NEIGHBOURHOOD_BYTES ((size_t)6 << 20)

/* A summary is used as long as no run ends. After a run has ended, the jobs are read again when the
 * summary is this many seconds old, or when a tenth more runs have ended. */
#define NEIGHBOURHOOD_SECONDS 600.0

/* The cache of a server. Any thread. */
struct neighbourhoods;
struct neighbourhoods *neighbourhoods_new(void);
void neighbourhoods_free(struct neighbourhoods *c); /* NULL does nothing */

struct job_neighbours {
	struct shared *held;
	const struct neighbours *jobs; /* for struct sizing_options; NULL = none */
	/* Hash of the neighbours' runs. It is part of the state of a cached result
	 * (result_cache.h). */
	uint64_t fingerprint;
};

/* Finds the neighbours of a job. If app->neighbourhoods is NULL, reads them for this call only.
 * Otherwise the first caller reads them, and other callers wait. While one caller reads them again,
 * other callers get the previous ones. Zero `ret` before the call. job_neighbours_done drops the
 * reference. */
int job_neighbours_find(struct app *app, struct history *h, const char *job_name,
	struct job_neighbours *ret, struct err *e);
void job_neighbours_done(struct job_neighbours *n); /* for AUTO */

#endif
