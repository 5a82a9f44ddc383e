/* Runs that an earlier exporter left open, because their jobs were still running when that exporter
 * ended. The runs are read from the history once, when the exporter starts. A run is identified by
 * the boot, the PID namespace, the PID and the start time of its root process. The functions do not
 * lock: only one thread at a time may call them. */
#ifndef EXPORTER_DISCOVERY_LEFT_OPEN_H
#define EXPORTER_DISCOVERY_LEFT_OPEN_H

#include "collectors/runs.h"
#include "exporter/core/app.h"
#include "exporter/history/history.h"

struct left_open;

struct left_open_run {
	char run_id[RUN_ID_MAX];
	double started_at;
	double recorded_seconds; /* time covered by the run's samples */
	struct run_root root;
	/* values of the run's counters at its last sample; 0 = unknown */
	double total[RUN_N_METRICS];
	/* true = another exporter, which still runs, records this run */
	bool recorded_elsewhere;
	bool continued; /* this exporter continues the run; left_open_find skips it */
	char job_name[JOB_KEY_MAX];
};

/* Reads the runs; the list is empty when there is no history. */
struct left_open *left_open_read(struct app *app);
void left_open_free(struct left_open *a);

/* Finds the open run whose root process has this `pid` and start time, and whose job is `job_name`.
 * If job_name is NULL, the run may be of any job, but not one that another running exporter
 * records. Returns NULL if there is no such run. */
const struct left_open_run *left_open_find(const struct left_open *a, const char *job_name,
	pid_t pid, uint64_t start_ticks);

/* Finds the open run with this id, or returns NULL. */
const struct left_open_run *left_open_find_id(const struct left_open *a, const char *run_id);

/* Marks a run as continued, so that left_open_find does not find it again. A later run of the same
 * job at the same process is then a new run. */
void left_open_continue(struct left_open *a, const struct left_open_run *r);

#endif
