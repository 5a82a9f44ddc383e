/* The state of the finder, and the functions that its files share. Sampler thread only. */
#ifndef EXPORTER_DISCOVERY_FINDER_STATE_H
#define EXPORTER_DISCOVERY_FINDER_STATE_H

#include "collectors/base/buf.h"
#include "collectors/process/process_book.h"
#include "collectors/naming/recognise.h"
#include "exporter/discovery/left_open.h"
#include "exporter/discovery/finder.h"
#include "exporter/discovery/job_rules.h"
#include "exporter/discovery/name_quota.h"
#include "exporter/discovery/node_pods.h"
#include "exporter/core/log.h"
#include "exporter/this_server/this_server.h"

/* A run that a process names, or that a client has announced. The struct is freed when the run has
 * ended and its processes are gone. */
struct named_process {
	struct recognised is;
	char job[JOB_KEY_MAX];
	bool announced;   /* true = a client has announced the run; false = the process names it */
	bool from_now;    /* the run began later than its process */
	size_t processes; /* number of processes in `finder.book` that belong to this run */
	bool begun;       /* true = the start of the run is recorded in the history */
	/* true = this finder follows the run; false = the run has ended, was refused, or is
	 * followed by its wrapper */
	bool open;
	char run_id[RUN_ID_MAX];
	struct run_root root;
	struct wall started_at;
	/* UID of the pod of this Kubernetes node that named the run; "" = no pod named it */
	char pod[POD_UID_MAX];
	/* the run of an earlier exporter that this run continues; NULL = none */
	const struct left_open_run *left_open;
	struct reported_end reported;
};

struct finder {
	struct app *app;
	struct sample_rows *sample_rows;
	struct left_open *left_open;
	struct process_book *book;
	size_t n, room;
	struct named_process **named;
	struct facts_reader *reader;
	struct job_rules *rules; /* rules of --jobs.rules; NULL = none */
	const struct host *host; /* argument `host` of the function that was called from outside */
	struct complaint not_followed, patterns_given_up;
	bool refused_logged;
	struct name_quota quota;
	/* the server on which this program runs; owns the texts while a record is written */
	struct machine machine;
	struct recognised *pod; /* the run to which all processes of this pod belong; NULL = none */
	struct buf pod_text;    /* the pod's labels and variables; they name the pod's run */
	struct node_pods *node_pods; /* pods of this machine, if it is a Kubernetes node */
};

/* ---- identify.c: the job that a process names ---- */
struct process_finding {
	struct recognised is;
	bool exporter;
	/* UID of the pod of this Kubernetes node that names the job; "" = none */
	char pod[POD_UID_MAX];
};

/* Finds the job that a process names. Returns false when the process names no job, is a helper or
 * cannot be read. A worker that changes its title is checked at every tick. If its command line has
 * not changed, the function returns false and leaves p->program unchanged. */
bool identify_process(struct finder *f, struct booked_process *p, struct process_finding *ret);

/* Gives a process the name and the facts of the open run of its container, if there is one. Call it
 * after identify_process has filled `r`: another process of the container may have begun the run
 * since then. Only for the pod of --jobs.pod. */
void identify_again(const struct finder *f, struct recognised *r);

/* With --jobs.pod, finds the job of the pod in which this exporter is a sidecar. Logs a warning
 * when options contradict each other. */
void identify_pod(struct finder *f);

/* Returns true if the finder reads this environment variable of processes to learn about their
 * pod. */
bool identify_reads(struct slice variable);

/* Returns the program's name from its command line, without directories. */
struct slice identify_program(struct slice command_line);

/* Fills the numbers that are unknown in `r` (requests, input size, attempt) with those of
 * `other`. */
void identify_fill_numbers(struct recognised *r, const struct recognised *other);

/* Sets each number of `r` that is out of range to NaN. The ranges are those of the options of the
 * command "run". */
void identify_bound_numbers(struct recognised *r);

/* ---- record_found.c ---- */

/* Returns the labels as a JSON object, or NULL when there are no labels. The caller frees the
 * text. */
char *record_labels_text(const struct recognised *r);

/* ---- finder.c ---- */

/* Ends a followed run at the next reading, even if its processes still run. */
void finder_conclude(const struct host *h, const struct named_process *n);

/* Starts to follow run `n` at a process. The caller has filled n->is. The finder owns `n` from then
 * on. After an error it also keeps `n`, so that it does not try to follow the same run again.
 * Errors: see finder_announce. */
int finder_begin(struct finder *f, pid_t pid, uint64_t start_ticks, struct named_process *n,
	struct err *e);

#endif
