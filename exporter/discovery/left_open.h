/*
 * Runs that the exporter before us left open, because the job went on: read from the history once, at the start, and
 * found again by boot, PID namespace, process number and start time. Not for several threads at once.
 */
#ifndef EXPORTER_DISCOVERY_LEFT_OPEN_H
#define EXPORTER_DISCOVERY_LEFT_OPEN_H

#include "collectors/runs.h"
#include "exporter/core/app.h"
#include "exporter/history/history.h"

struct left_open;

struct left_open_run {
	char run_id[RUN_ID_MAX];
	double started_at, last_sample_at;
	struct run_root root;
	double total[RUN_N_METRICS]; /* of what grows, up to the last sample; 0 when unknown */
	bool recorded_elsewhere;     /* by an exporter that lives */
	bool continued;              /* by us; the calls below find it no more */
	char job_name[JOB_NAME_MAX];
};

/* Without a history there are none. */
struct left_open *left_open_read(struct app *app);
void left_open_free(struct left_open *a);

/* The open run of a job that is rooted at this process, or NULL. */
const struct left_open_run *left_open_find(const struct left_open *a, const char *job_name,
	pid_t pid, uint64_t start_ticks);

/* The open run of this id, or NULL. */
const struct left_open_run *left_open_find_id(const struct left_open *a, const char *run_id);

/* It goes on: the next run of the same job at the same process is another one. */
void left_open_continue(struct left_open *a, const struct left_open_run *r);

#endif
