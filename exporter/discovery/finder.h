/*
 * Finds the runs on this machine without a wrapper. Looks at each new process once, begins a run at
 * the highest process that names a job, records the run, and ends it when its last process is gone.
 * Sampler thread only.
 *
 * The run of a process:
 *
 *	- A process that names no job belongs to the run of its ancestors.
 *	- A process that names the same run as an ancestor belongs to that run, whatever processes
 *	  stand between them. When a system numbers its runs, all processes that name the same run
 *	  belong to it, also without a common ancestor.
 *	- A process that names another job than its ancestors begins a run inside their run. Its
 *	  usage counts for both runs.
 *	- A worker that changes its title with its task has one run for each title. The run lasts
 *	  while the exporter sees the title; usage before and after does not count for it.
 *	- A wrapper (rightsize-exporter run) records the command that it starts, so a name in the
 *	  wrapper's own environment begins no second run.
 */
#ifndef EXPORTER_DISCOVERY_FINDER_H
#define EXPORTER_DISCOVERY_FINDER_H

#include "collectors/host.h"
#include "collectors/naming/recognise.h"
#include "collectors/snapshot.h"
#include "exporter/core/app.h"
#include "exporter/history/sample_rows.h"

struct finder;
struct job_rules; /* exporter/discovery/job_rules.h */

/* Borrows app and sample_rows. */
struct finder *finder_new(struct app *app, struct sample_rows *sample_rows);
void finder_free(struct finder *f); /* NULL does nothing */

/* Replaces the rules of the site (NULL = none). Open runs keep their names. */
void finder_rules(struct finder *f, struct job_rules *take);

/* Begins to follow new runs. Call before the collectors read the runs. */
void finder_look(struct finder *f, const struct host *host);

/* Records the begins and the ends of runs that this snapshot shows. */
void finder_settle(struct finder *f, const struct host *host, const struct snapshot *s);

/* ---- announcements by clients. host->now must be current. Take a tick afterwards. ---- */

struct announcement {
	pid_t pid;
	const char *job_name;
	double cpu_cores, memory_bytes; /* requested; NaN = unknown */
	double input_bytes, attempt;    /* NaN = unknown */
	size_t n_labels;
	struct job_label label[JOB_LABELS_MAX];
};

struct announced_run {
	char run_id[RUN_ID_MAX];
	bool known; /* announced before */
};

/*
 * Begins a run at a process, even when the process names another job. The same job at the same
 * process is one run, however often a client announces it. -ESRCH: no such process, or a thread.
 * -EEXIST: another exporter records the run. -EDQUOT: too many job names. Else as jobs_follow.
 */
int finder_announce(struct finder *f, const struct host *host, const struct announcement *a,
	struct announced_run *ret, struct err *e);

/*
 * Ends a run with this outcome. Also ends a run that an earlier exporter left open. -ENOENT: no
 * open run has this id here.
 */
int finder_finish(struct finder *f, const struct host *host, const char *run_id,
	enum outcome outcome, double exit_code);

#endif
