/* The state of the finder, and the calls between its files. Sampler thread only. */
#ifndef EXPORTER_DISCOVERY_FINDER_STATE_H
#define EXPORTER_DISCOVERY_FINDER_STATE_H

#include "collectors/base/buf.h"
#include "collectors/process/process_book.h"
#include "collectors/naming/recognise.h"
#include "exporter/discovery/left_open.h"
#include "exporter/discovery/finder.h"
#include "exporter/discovery/job_rules.h"
#include "exporter/discovery/name_quota.h"
#include "exporter/core/log.h"
#include "exporter/this_server/this_server.h"

/* A run that a process or a client named. Freed when it is closed and its processes are gone. */
struct named_process {
	struct recognised is;
	size_t processes; /* in the book */
	bool begun;       /* recorded in the history */
	bool open; /* followed here; false: a wrapper follows it, it was refused or it ended */
	char run_id[RUN_ID_MAX];
	struct run_root root;
	struct wall started_at;
	const struct left_open_run *left_open; /* continued by this run; NULL = none */
	enum outcome reported_outcome;         /* by a client; OUTCOME_RUNNING = no report */
	double reported_exit_code;
};

struct finder {
	struct app *app;
	struct sample_rows *sample_rows;
	struct left_open *left_open;
	struct process_book *book;
	size_t n, room;
	struct named_process **named;
	struct facts_reader *reader;
	struct job_rules *rules; /* NULL = none */
	const struct host *host; /* of the current call */
	struct complaint not_followed, patterns_given_up;
	bool refused_logged;
	struct name_quota quota;
	struct machine machine; /* owns the server texts of the record that is being written */
	struct recognised *pod; /* the run of all processes of this pod; NULL = none */
	struct buf pod_text;    /* the labels and variables that name the run of the pod */
};

/* ---- identify.c: the job that a process names ---- */
struct process_finding {
	struct recognised is;
	bool exporter;
};

/*
 * False: the process names no job, or its command line did not change since the last look; then
 * p->program stays the same. A worker that changes its title is looked at again at every look.
 */
bool identify_process(struct finder *f, struct booked_process *p, struct process_finding *ret);

/* Takes over the run of r's container when a process looked at meanwhile began one. */
void identify_again(const struct finder *f, struct recognised *r);

/* With --jobs.pod: finds the job of this pod. Logs a warning when the options do not fit. */
void identify_pod(struct finder *f);

/* ---- finder.c ---- */

/* Ends a followed run, even when its processes go on. Its next reading is the last. */
void finder_conclude(const struct host *h, const struct named_process *n);

/*
 * Begins to follow n at a process; n->is must be filled. The finder owns n, also after an error, so
 * that it does not try the same run again. Errors: see finder_announce.
 */
int finder_begin(struct finder *f, pid_t pid, uint64_t start_ticks, struct named_process *n,
	struct err *e);

#endif
