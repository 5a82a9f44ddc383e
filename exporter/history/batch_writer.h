/*
 * What the historian does to the file: opens it, writes batches of events, keeps it in order, and
 * recovers from what goes wrong. One thread; logs.
 */
#ifndef EXPORTER_HISTORY_BATCH_WRITER_H
#define EXPORTER_HISTORY_BATCH_WRITER_H

#include "exporter/history/historian.h"
#include "exporter/core/log.h"
#include "exporter/history/event_queue.h"

enum upkeep { UPKEEP_NONE, UPKEEP_ORPHANS, UPKEEP_LIMITS };

struct batch_writer {
	const struct historian_config *config;
	struct history *history; /* NULL while it cannot be opened */
	struct event_queue open; /* begins of open runs: a fresh file gets them again */
	bool begin_again;
	enum upkeep upkeep; /* what is to be done next */
	double set_aside_at, checked_at;
	struct history_losses losses; /* of the file, when it was last looked at */
	struct complaint complaint, refusals, forgetting, losing;
};

void batch_writer_init(struct batch_writer *w, const struct historian_config *config);
void batch_writer_done(struct batch_writer *w); /* twice is not too often */

int batch_writer_open(struct batch_writer *w, struct err *e); /* does nothing when it is open */

struct batch_written {
	uint64_t samples, refused; /* refused: cannot be written, now or later */
	double seconds;            /* from the transaction's begin to its commit */
};

/* In one transaction; on success the batch is empty, on failure unchanged. */
int batch_writer_write(struct batch_writer *w, struct event_queue *batch, struct batch_written *ret,
	struct err *e);

/*
 * One attempt of function in a transaction, which is committed when it returns 0 or more; after a failure of
 * the file, what helps before the next attempt was done.
 */
int batch_writer_do(struct batch_writer *w,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	struct err *e);

/* One short step of what w->upkeep says; UPKEEP_NONE afterwards: done. */
int batch_writer_upkeep(struct batch_writer *w, struct err *e);

/* Reads the whole file, unless that was just done: -EBADMSG when it is corrupt. */
int batch_writer_check(struct batch_writer *w, struct err *e);

/* After a failure: what helps before the next attempt. True: try again at once. */
bool batch_writer_recover(struct batch_writer *w, const struct err *e);

/* After a success. */
void batch_writer_note_success(struct batch_writer *w);

/* Seconds for deadlines and durations: CLOCK_MONOTONIC, which condition variables can wait for. */
double batch_writer_clock(void);

#endif
