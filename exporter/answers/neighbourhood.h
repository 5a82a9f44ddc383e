/* The neighbours of a job: all jobs of its namespace, the job itself included. The sizing of a job
 * also learns from the runs of its neighbours. All answers get the neighbours here, so that they
 * agree on the size.
 *
 * A job's key names its namespace and its cluster. If the key has neither, the labels `namespace`
 * (Kubernetes) and `cluster` (Slurm) of the job's newest run name them. Jobs of Flyte are also
 * divided by the labels `project` and `domain`. Jobs without any of these are neighbours of each
 * other.
 *
 * The need of a neighbour's run is the peak memory of its processes. Files in tmpfs are left out,
 * because no index of the history has them for all jobs. (The sizing of a job adds them to the
 * peaks of its own runs.)
 *
 * Only jobs of the newest RECENT_RUNS ended runs are read, at most RECENT_JOBS jobs. The job with
 * the newest run is read first. Other limits:
 * - NEIGHBOUR_RUNS_MAX runs of each job, the newest
 * - NEIGHBOUR_JOBS_MAX jobs of one namespace, and JOBS_READ_MAX jobs in total
 * - NAMESPACES_MAX namespaces */
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

/* Maximum memory that reading the jobs takes, in bytes. The largest reading in
 * tests/unit/test_neighbourhood.c takes 3.9 MiB, mostly for the ratios of 600 jobs, and the labels
 * of RECENT_JOBS jobs can add 1.6 MiB. The summary that remains afterwards takes 0.4 MiB.
 *
 * If less memory is left (memory_budget.h), the jobs are not read. Answers then use the previous
 * summary. Without a previous summary, they fail with status 503. */
#define NEIGHBOURHOOD_BYTES ((size_t)6 << 20)

/* The summary stays valid as long as no run ends. After a run has ended, the jobs are read again as
 * soon as the summary is this many seconds old, or the number of ended runs has grown by a
 * tenth. */
#define NEIGHBOURHOOD_SECONDS 600.0

/* Cache of the summaries of all namespaces, in a server. Any thread may use it. */
struct neighbourhoods;
struct neighbourhoods *neighbourhoods_new(void);
void neighbourhoods_free(struct neighbourhoods *c); /* NULL does nothing */

struct job_neighbours {
	struct shared *held;
	const struct neighbours *jobs; /* for struct sizing_options; NULL = none */
	/* Hash of the neighbours' runs. A cached result that was computed with other runs is not
	 * used again (`state` of result_cache.h). */
	uint64_t fingerprint;
};

/* Finds the neighbours of a job. Zero `ret` before the call. job_neighbours_done drops the
 * reference. The neighbours are cached, unless app->neighbourhoods is NULL. The first caller reads
 * them, and all others wait. Later, one caller reads them anew, and the others get the previous
 * neighbours meanwhile. */
int job_neighbours_find(struct app *app, struct history *h, const char *job_name,
	struct job_neighbours *ret, struct err *e);
void job_neighbours_done(struct job_neighbours *n); /* cleanup function for AUTO */

#endif
