/* The historian's access to the history file. A batch writer opens the file, writes batches of
 * events, enforces limits, closes open runs whose exporter is gone, and recovers from failures.
 * Only one thread may use a batch writer. It writes log lines. */
#ifndef EXPORTER_HISTORY_BATCH_WRITER_H
#define EXPORTER_HISTORY_BATCH_WRITER_H

#include "exporter/history/historian.h"
#include "exporter/core/log.h"
#include "exporter/history/event_queue.h"

enum upkeep { UPKEEP_NONE, UPKEEP_ORPHANS, UPKEEP_LIMITS };

struct batch_writer {
	const struct historian_config *config;
	/* Called while another process has locked the file; see history_wait_while. */
	bool (*patient)(void *context, double stuck_seconds);
	void *patient_context;
	struct history *history; /* NULL = not open */
	/* begin events of open runs, to be written again into a fresh file */
	struct event_queue open;
	bool begin_again;   /* true = write the events in `open` before all others */
	enum upkeep upkeep; /* next step of upkeep */
	double set_aside_at, checked_at;
	struct history_losses losses; /* counts of removed data, as last read from the file */
	struct complaint complaint, refusals, forgetting, losing;
};

void batch_writer_init(struct batch_writer *w, const struct historian_config *config);
void batch_writer_done(struct batch_writer *w); /* may be called twice */

int batch_writer_open(struct batch_writer *w, struct err *e); /* does nothing when already open */

struct batch_written {
	uint64_t samples, refused; /* `refused` = samples that can never be written */
	double seconds;            /* seconds from BEGIN to the end of COMMIT */
	double disk_seconds;       /* `seconds` without the wait for the lock of the file */
};

/* Writes the batch in one transaction. After success the batch is empty; after a failure it is
 * unchanged. */
int batch_writer_write(struct batch_writer *w, struct event_queue *batch, struct batch_written *ret,
	struct err *e);

/* Calls `function` once in a transaction. Commits when `function` returns 0 or more. If the file
 * fails, calls batch_writer_recover. */
int batch_writer_do(struct batch_writer *w,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	struct err *e);

/* Does one short step of the kind `w->upkeep`. Sets `w->upkeep` to the kind of the next step, or to
 * UPKEEP_NONE when nothing is left to do. */
int batch_writer_upkeep(struct batch_writer *w, struct err *e);

/* Reads the whole file, at most once a minute. Returns -EBADMSG when the file is corrupt. */
int batch_writer_check(struct batch_writer *w, struct err *e);

/* Call it after a failure. Depending on the error, closes the file, sets it aside, or leaves it
 * open. Returns true when the caller should retry the write at once. */
bool batch_writer_recover(struct batch_writer *w, const struct err *e);

/* Call it after a success. Logs that an earlier failure is over. */
void batch_writer_note_success(struct batch_writer *w);

/* Returns seconds of CLOCK_MONOTONIC. Condition variables from thread_cond_init use the same
 * clock. */
double batch_writer_clock(void);

#endif
