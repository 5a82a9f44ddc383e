/*
 * The thread that writes the history. Others hand it events through a bounded ring and never wait
 * for the disk; while the disk is slow, full or locked, events queue and are tried again, and past
 * the bound the oldest samples of a run become one, which is counted and logged. Begins and finishes of runs stay, up to a
 * bound of their own that only a disk that is gone for days reaches.
 *
 * What goes wrong it handles, and logs: a corrupt file is set aside and a fresh one started; a file
 * that was deleted or replaced is opened anew, and the runs that are open begin again in it.
 */
#ifndef EXPORTER_HISTORY_HISTORIAN_H
#define EXPORTER_HISTORY_HISTORIAN_H

#include <stdbool.h>

#include "exporter/history/history.h"

/* Most samples that wait for the disk: at one a second, over an hour for one run. */
#define HISTORIAN_QUEUE_SAMPLES 4096
/* Most begins and finishes of runs that wait. */
#define HISTORIAN_QUEUE_RUNS 8192

/*
 * At the start, then this often, and at the end limits are enforced and runs that nobody records
 * closed. At the end, since where each job starts a wrapper of its own nothing else would do it.
 */
#define HISTORIAN_UPKEEP_SECONDS 60
/* A run of another PID namespace is taken for interrupted after this long without a sample. */
#define HISTORIAN_STALE_SECONDS 600
/* At the end it tries this long to write what cannot be written. */
#define HISTORIAN_STOP_SECONDS 5
/* Longer than this no disk holds the end, however slow it is. */
#define HISTORIAN_LEAVE_SECONDS 10

struct historian;

struct historian_config {
	const char *path;
	const struct columns *columns;
	struct history_limits limits;
	struct run_root here; /* this machine: boot id and PID namespace */
	bool (*alive)(void *context, pid_t pid, uint64_t start_ticks);
	void *alive_context;
	double stop_seconds, leave_seconds; /* 0 = the two above */
	double last_upkeep_seconds;         /* at the end; 0 = half a second */
	bool upkeep_waits;                  /* the first upkeep, for historian_upkeep */
};

/* Opens the file before it starts the thread, so that a bad path is an error now. */
int historian_start(struct historian **ret, const struct historian_config *c, struct err *e);

/* Any thread; everything is copied. Only runs that were begun here can have samples and an end. */
void historian_run_begin(struct historian *h, const struct run_begin *b);
void historian_samples(struct historian *h, const struct sample *samples, size_t n);
void historian_run_finish(struct historian *h, const struct run_finish *f);

/*
 * Waits until everything handed over so far is committed (or dropped), at most timeout_seconds;
 * false when it is not. Ends a pause after a failure.
 */
bool historian_flush(struct historian *h, double timeout_seconds);

/*
 * The same while the program ends: waits no longer when another of the signals_end comes, which all threads block. After a
 * wait in vain nothing waits again: no flush does, and historian_stop tries once to write what is left.
 */
bool historian_settle(struct historian *h, double timeout_seconds);

/*
 * Calls function with the history open for writing, on the historian's thread and in a transaction of its own;
 * waits until that is over. 0: what it did is on disk. One attempt, whose failure (its own or the disk's) is
 * the result. Any thread but the historian's.
 */
int historian_do(struct historian *h,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	struct err *e);

/*
 * The same, for so many seconds at most: -ETIMEDOUT, function was not called, and will not be; -EINPROGRESS, it goes on,
 * and context has to stay. Either is a wait in vain, as of historian_settle.
 */
int historian_do_within(struct historian *h,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	double seconds, struct err *e);

/*
 * The runs that were left open and go on were handed over: those of which that is not true may be closed. Without it a
 * run that ends while a server starts would be taken for interrupted until the server has written how it ended.
 */
void historian_upkeep(struct historian *h);

/* A reader met -EBADMSG: checks the file, and sets it aside when it is corrupt. Any thread. */
void historian_suspect(struct historian *h);

struct historian_health {
	uint64_t samples_written, samples_dropped, runs_dropped, errors, bytes_on_disk;
	struct history_losses losses; /* because it was full */
	size_t samples_waiting;
	double last_commit_seconds; /* how long the last commit took; NaN before the first */
};
struct historian_health historian_health(struct historian *h);

/*
 * Drains, commits, enforces the limits for half a second at most, closes; logs what was lost. NULL does nothing. After
 * HISTORIAN_STOP_SECONDS it gives up as soon as an attempt fails. -ETIMEDOUT after HISTORIAN_LEAVE_SECONDS, or after
 * a wait in vain HISTORIAN_STOP_SECONDS: the thread is still in the disk, and nothing was freed; leave by _exit(2), or
 * call it again.
 */
int historian_stop(struct historian *h);

#endif
