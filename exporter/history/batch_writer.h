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
	/* Called while another process has locked the file. Returns false to stop waiting for the
	 * lock; see history_wait_while. */
	bool (*patient)(void *context, double stuck_seconds);
	void *patient_context;
	struct history *history; /* NULL = not open */
	/* copies of the begin events of open runs; they are written again if a fresh file replaces
	 * the history */
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

/* Writes all events of `batch` in one transaction. After success, `batch` is empty. After a
 * failure, `batch` is unchanged. */
int batch_writer_write(struct batch_writer *w, struct event_queue *batch, struct batch_written *ret,
	struct err *e);

/* Calls `function` once in a transaction. Commits when `function` returns 0 or more, and rolls back
 * when it returns a negative errno. If the file itself fails, also calls batch_writer_recover. */
int batch_writer_do(struct batch_writer *w,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	struct err *e);

/* Does one short step of the kind `w->upkeep`. Sets `w->upkeep` to the kind of the next step, or to
 * UPKEEP_NONE when nothing is left to do. */
int batch_writer_upkeep(struct batch_writer *w, struct err *e);

/* Checks the whole file for damage. Returns -EBADMSG when the file is corrupt. Does nothing and
 * returns 0 if the last check is less than a minute ago. */
int batch_writer_check(struct batch_writer *w, struct err *e);

/* Call it with the error of a failed call. Closes, renames or keeps the file: a deleted file is
 * closed, a corrupt file is renamed, and a locked file or a file on a full disk stays open. Returns
 * true when the caller should retry at once. */
bool batch_writer_recover(struct batch_writer *w, const struct err *e);

/* Call it after a success. Logs that an earlier failure is over. */
void batch_writer_note_success(struct batch_writer *w);

/* Returns the time of CLOCK_MONOTONIC in seconds. Condition variables from thread_cond_init use
 * this clock, too. */
double batch_writer_clock(void);

#endif
