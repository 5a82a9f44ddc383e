/*
 * Finds the runs on this machine by itself: looks at each new process once, begins a run at the highest process
 * that names a job, records it, and closes it when its last process is gone. Sampler thread only.
 *
 * Which process is of which run:
 *
 *	- A process without a name of its own is of the run of its ancestors.
 *	- A process that names the same run as an ancestor is of that run, whatever stands between them; so are
 *	  all that name the same run of a system that numbers its runs, ancestors or not.
 *	- One that names another job than its ancestors begins a run inside theirs. What it uses counts for both.
 *	- A worker that changes its title with its task has a run for each title, from when it is seen until it is
 *	  gone: what the worker did before and does after is of no run, or of the next one.
 *	- What a wrapper (rightsize-exporter run) starts is recorded by the wrapper, so a name that the wrapper
 *	  itself carries begins no second run.
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

/* fold is borrowed. */
struct finder *finder_new(struct app *app, struct sample_rows *sample_rows);
void finder_free(struct finder *f); /* NULL does nothing */

/* The rules of the site from now on, or NULL; runs that are open go on under their names. */
void finder_rules(struct finder *f, struct job_rules *take);

/* Begins to follow new runs; before the runs are read. */
void finder_look(struct finder *f, const struct host *host);

/* Records those that began, and the ends of those that ended in this snapshot. */
void finder_settle(struct finder *f, const struct host *host, const struct snapshot *s);

/* ---- what others tell; host->now is of this moment. Take a tick afterwards. ---- */

struct announcement {
	pid_t pid;
	const char *job_name;
	double cpu_cores, memory_bytes; /* asked for; NaN = not told */
	double input_bytes, attempt;
	size_t n_labels;
	struct job_label label[JOB_LABELS_MAX];
};

struct announced_run {
	char run_id[RUN_ID_MAX];
	bool known; /* it was announced before */
};

/*
 * Begins a run at a process, whatever it is recognised as. The same job at the same process is one run, however often
 * it is announced. -ESRCH: no such process; -ENOSPC: too many runs.
 */
int finder_announce(struct finder *f, const struct host *host, const struct announcement *a,
	struct announced_run *ret, struct err *e);

/*
 * A run that is found here is over, and this is how it ended; also one that the exporter before us left open. -ENOENT:
 * none of that id is open here.
 */
int finder_finish(struct finder *f, const struct host *host, const char *run_id,
	enum outcome outcome, double exit_code);

#endif
