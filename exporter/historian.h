/*
 * The thread that writes the history. Others hand it events through a bounded ring and never wait for
 * the disk; while the disk is slow or full, events queue, and past the bound the oldest samples (never a
 * run's begin or finish) are dropped and counted.
 */
#ifndef EXPORTER_HISTORIAN_H
#define EXPORTER_HISTORIAN_H

#include <stdbool.h>

#include "exporter/history.h"

/* Most samples that wait for the disk: at one a second, over an hour for one run. */
#define HISTORIAN_RING_SAMPLES 4096

struct historian;

struct historian_config {
	const char *path;
	const struct columns *columns;
	struct history_limits limits;
	struct run_root here; /* this machine: boot id and PID namespace */
	bool (*alive)(void *context, pid_t pid, uint64_t start_ticks);
	void *alive_context;
};

/* Opens the file in the calling thread, so that a bad path is an error now; then starts the thread. */
int historian_start(struct historian **ret, const struct historian_config *c, struct err *e);

/* Any thread; everything is copied. */
void historian_run_begin(struct historian *h, const struct run_begin *b);
void historian_samples(struct historian *h, const struct sample *samples, size_t n);
void historian_run_finish(struct historian *h, const struct run_finish *f);

/* Waits until everything handed over so far is committed, at most timeout_seconds; false when it is not. */
bool historian_flush(struct historian *h, double timeout_seconds);

struct historian_health {
	uint64_t samples_written, samples_dropped, errors, bytes_on_disk;
	size_t samples_waiting;
	double last_commit_seconds; /* how long the last commit took; NaN before the first */
};
struct historian_health historian_health(struct historian *h);

/* Drains, commits, closes, joins. */
void historian_stop(struct historian *h);

#endif
