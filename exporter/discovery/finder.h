/* Finds the runs on this machine that no wrapper started. A process names a job by its environment,
 * for example, or by a rule of --jobs.rules (collectors/naming/recognise.h, job_rules.h). The
 * finder checks each new process once. A run begins at the first process of a process tree that
 * names a job, and contains its descendants. The finder records the run until the last process of
 * the run is gone. Sampler thread only.
 *
 * The run to which a process belongs:
 *
 * - A process that names no job belongs to the run of its ancestors.
 * - A process that names the same run as one of its ancestors belongs to that run, even if a
 *   process between the two belongs to another run. Processes that name the same run number of a
 *   batch or workflow system belong to one run, even without a common ancestor.
 * - A process that names another job than its ancestors begins a run inside their run. The usage of
 *   the inner run counts for the outer run, too.
 * - A worker process that changes its title (its command line) with each task has one run per
 *   title. The run begins when the exporter first sees the title, and ends when the title changes.
 * - A wrapper (rightsize-exporter run) records the command that it starts. A job name in the
 *   wrapper's environment therefore begins no second run. */
#ifndef EXPORTER_DISCOVERY_FINDER_H
#define EXPORTER_DISCOVERY_FINDER_H

#include "collectors/host.h"
#include "collectors/naming/recognise.h"
#include "collectors/snapshot.h"
#include "exporter/core/app.h"
#include "exporter/history/sample_rows.h"

struct finder;
struct job_rules; /* exporter/discovery/job_rules.h */

/* `app` and `sample_rows` must outlive the finder. */
struct finder *finder_new(struct app *app, struct sample_rows *sample_rows);
void finder_free(struct finder *f); /* NULL does nothing */

/* Replaces the site's rules (--jobs.rules; NULL = no rules). Open runs keep their names. */
void finder_rules(struct finder *f, struct job_rules *take);

/* Starts to follow new runs. Call it before the collectors read the runs. */
void finder_look(struct finder *f, const struct host *host);

/* Call it after the collectors have read the runs. Records in the history which runs began or ended
 * in this snapshot. */
void finder_settle(struct finder *f, const struct host *host, const struct snapshot *s);

/* ---- runs that clients begin ("announce") or end over HTTP. Call these functions with a current
 * host->now, and let the sampler tick after each call. ---- */

struct announcement {
	pid_t pid;
	/* true = the process `pid` is a helper (finder_declare_helper): no run begins, and the
	 * members below are ignored */
	bool helper;
	/* true = the run begins now, and not when its process began. An exporter that starts later
	 * does not continue such a run. */
	bool from_now;
	char job[JOB_KEY_MAX];          /* collectors/base/job_key.h */
	double cpu_cores, memory_bytes; /* requested CPU and memory; NaN = unknown */
	/* size of the job's input; number of the attempt; NaN = unknown */
	double input_bytes, attempt;
	/* System that runs the job (struct run); NULL = unknown. The text must outlive the run. */
	const char *system;
	size_t n_labels;
	struct job_label label[JOB_LABELS_MAX];
};

struct announced_run {
	char run_id[RUN_ID_MAX];
	bool known; /* true = the run was announced before */
};

/* Begins a run at the process a->pid, even if the process names another job. If the same job was
 * announced at this process before, nothing changes. -ESRCH: no such process, or a thread. -EEXIST:
 * another exporter records the run. -EDQUOT: too many job names. Other errors: see jobs_follow. */
int finder_announce(struct finder *f, const struct host *host, const struct announcement *a,
	struct announced_run *ret, struct err *e);

/* Declares a process as a helper: the usage of the process and of its descendants no longer counts
 * for any run. -ESRCH: no such process, or a thread. -ENOSPC: too many helpers. */
int finder_declare_helper(struct finder *f, const struct host *host, pid_t pid, struct err *e);

/* The end of a run as a client reports it. */
struct reported_end {
	enum outcome outcome; /* OUTCOME_RUNNING = not reported */
	double exit_code;     /* NaN = unknown */
	/* The memory peak of one process of the run, bytes; NaN = unknown. The client may know a
	 * higher peak than the samples, for example from wait4(2) for a short process. */
	double memory_peak_process_bytes;
	char reason[RUN_REASON_MAX]; /* stored as run.end_reason; "" = unknown */
};

/* Ends an open run of this exporter, or one that an earlier exporter left open. -ENOENT: there is
 * no such run with this id. */
int finder_finish(struct finder *f, const struct host *host, const char *run_id,
	const struct reported_end *end);

#endif
