/* The runs that the finder knows, and what its parts do with them. */
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

/* A run that was named, for as long as a process of it is known. */
struct named_process {
	struct recognised is;
	size_t processes; /* in the book */
	bool begun, open; /* open: followed here; otherwise by a wrapper, or refused */
	char run_id[RUN_ID_MAX];
	struct run_root root;
	struct wall started_at;
	const struct left_open_run *left_open; /* that it continues, or NULL */
	/* How it ended, when somebody told; outcome RUNNING: nobody has. */
	enum outcome reported_outcome;
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
	const struct host *host; /* of the look at hand */
	struct complaint not_followed, patterns_given_up;
	bool refused_said;
	struct name_quota quota;
	struct machine machine; /* what a record at hand borrows its texts from */
	struct recognised *pod; /* what everything in this pod is; NULL = nothing */
	struct buf pod_text;    /* what says so */
};

/* ---- identify.c: what a process names ---- */
struct process_finding {
	struct recognised is;
	bool exporter;
};

/*
 * False when it names nothing, or nothing new since it was looked at before: then p->program stays as it was. A worker
 * that changes its title is due at each look from then on.
 */
bool identify_process(struct finder *f, struct booked_process *p, struct process_finding *ret);

/* After others were looked at: a container that one of them named is called so. */
void identify_again(const struct finder *f, struct recognised *r);

/* With --jobs.pod: what this pod is. */
void identify_pod(struct finder *f);

/* ---- finder.c ---- */

/* A followed run is over whatever its processes do; nothing more is known of how. */
void finder_conclude(const struct host *h, const struct named_process *n);

/*
 * Begins to follow a run that is filled in but for where and when it is rooted, and makes it known to the finder, which
 * owns it then. A run that cannot be followed is known, too, so that it is not tried again; the code says why.
 */
int finder_begin(struct finder *f, pid_t pid, uint64_t start_ticks, struct named_process *take,
	struct err *e);

#endif
