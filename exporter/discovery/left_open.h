/*
 * Runs that the exporter before us left open, because the job went on: read from the history once, at the start, and
 * found again by boot, PID namespace, process number and start time. Not for several threads at once.
 */
#ifndef EXPORTER_DISCOVERY_LEFT_OPEN_H
#define EXPORTER_DISCOVERY_LEFT_OPEN_H

#include "collectors/runs.h"
#include "exporter/core/app.h"
#include "exporter/history/history.h"

struct earlier;

struct earlier_run {
	char run_id[RUN_ID_MAX];
	double started_at, last_sample_at;
	struct run_root root;
	double total[RUN_N_METRICS]; /* of what grows, up to the last sample; 0 when unknown */
	bool recorded_elsewhere;     /* by an exporter that lives */
	bool continued;              /* by us; the calls below find it no more */
	char job_name[JOB_NAME_MAX];
};

/* Without a history there are none. */
struct earlier *earlier_read(struct app *app);
void earlier_free(struct earlier *a);

/* The open run of a job that is rooted at this process, or NULL. */
const struct earlier_run *earlier_find(const struct earlier *a, const char *job_name, pid_t pid,
	uint64_t start_ticks);

/* The open run of this id, or NULL. */
const struct earlier_run *earlier_of_id(const struct earlier *a, const char *run_id);

/* It goes on: the next run of the same job at the same process is another one. */
void earlier_continue(struct earlier *a, const struct earlier_run *r);

#endif
