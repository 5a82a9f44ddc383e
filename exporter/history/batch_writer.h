/*
 * The historian's access to the file: opens it, writes batches of events, enforces limits, closes
 * orphaned runs, and recovers from failures. One thread. Logs.
 */
#ifndef EXPORTER_HISTORY_BATCH_WRITER_H
#define EXPORTER_HISTORY_BATCH_WRITER_H

#include "exporter/history/historian.h"
#include "exporter/core/log.h"
#include "exporter/history/event_queue.h"

enum upkeep { UPKEEP_NONE, UPKEEP_ORPHANS, UPKEEP_LIMITS };

struct batch_writer {
	const struct historian_config *config;
	struct history *history; /* NULL = not open */
	struct event_queue open; /* begin events of open runs, for a fresh file */
	bool begin_again;        /* write these first */
	enum upkeep upkeep;      /* the next step */
	double set_aside_at, checked_at;
	struct history_losses losses; /* of the file, at the last step */
	struct complaint complaint, refusals, forgetting, losing;
};

void batch_writer_init(struct batch_writer *w, const struct historian_config *config);
void batch_writer_done(struct batch_writer *w); /* may be called twice */

int batch_writer_open(struct batch_writer *w, struct err *e); /* no-op when open */

struct batch_written {
	uint64_t samples, refused; /* refused: can never be written */
	double seconds;            /* from BEGIN to the end of COMMIT */
};

/* Writes the batch in one transaction. After success the batch is empty, after a failure unchanged. */
int batch_writer_write(struct batch_writer *w, struct event_queue *batch, struct batch_written *ret,
	struct err *e);

/*
 * Calls function once, in a transaction that is committed when function returns 0 or more. After a
 * failure of the file, batch_writer_recover was called.
 */
int batch_writer_do(struct batch_writer *w,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	struct err *e);

/* Does one short step of w->upkeep. UPKEEP_NONE afterwards: nothing is left to do. */
int batch_writer_upkeep(struct batch_writer *w, struct err *e);

/* Reads the whole file, at most once a minute: -EBADMSG = corrupt. */
int batch_writer_check(struct batch_writer *w, struct err *e);

/* After a failure: closes the file or sets it aside, where that helps. True: retry at once. */
bool batch_writer_recover(struct batch_writer *w, const struct err *e);

/* After a success: logs the end of a failure. */
void batch_writer_note_success(struct batch_writer *w);

/* Seconds of CLOCK_MONOTONIC, which thread_cond_init's condition variables wait by. */
double batch_writer_clock(void);

#endif
