/*
 * Runs that an earlier exporter left open because their jobs outlived it. Read from the history
 * once, at the start. Boot, PID namespace, PID and start time identify them. One thread at a time.
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
	double total[RUN_N_METRICS]; /* of counters, up to the last sample; 0 when unknown */
	bool recorded_elsewhere;     /* by another exporter that is alive */
	bool continued;              /* by this exporter; left_open_find skips it then */
	char job_name[JOB_NAME_MAX];
};

/* Empty without a history. */
struct left_open *left_open_read(struct app *app);
void left_open_free(struct left_open *a);

/* The open run of a job that is rooted at this process, or NULL. */
const struct left_open_run *left_open_find(const struct left_open *a, const char *job_name,
	pid_t pid, uint64_t start_ticks);

/* The open run of this id, or NULL. */
const struct left_open_run *left_open_find_id(const struct left_open *a, const char *run_id);

/* Marks the run as continued. A later run of the same job at the same process is a new run. */
void left_open_continue(struct left_open *a, const struct left_open_run *r);

#endif
