/* The thread that writes the history. Other threads pass events through a bounded queue and never
 * wait for the disk. While the disk is slow, full or locked, events wait and are retried. When too
 * many samples wait, the oldest samples of a run are merged (event_queue.h). Merged samples are
 * counted and logged. The other events (begins and finishes of runs, pages of servers) have a
 * separate limit. When there are more, the oldest of these events is dropped.
 *
 * The thread handles and logs failures. It sets a corrupt file aside and starts a fresh one. If the
 * file was deleted or replaced, the thread opens the path again and adds the open runs to the new
 * file. */
#ifndef EXPORTER_HISTORY_HISTORIAN_H
#define EXPORTER_HISTORY_HISTORIAN_H

#include <stdbool.h>

#include "exporter/history/history.h"

/* Maximum number of samples that wait for the disk. One run with one sample a second reaches it
 * after more than an hour. */
#define HISTORIAN_QUEUE_SAMPLES 4096
/* Maximum number of other events that wait: begins and finishes of runs, and pages of servers. */
#define HISTORIAN_QUEUE_RUNS 8192

/* Upkeep enforces limits, and closes open runs whose exporter is gone. Upkeep runs at the start,
 * every HISTORIAN_UPKEEP_SECONDS, and at the end. While the file is nearly as large as its limit,
 * upkeep runs every second. The upkeep at the end is needed for the wrapper of a job that is
 * shorter than HISTORIAN_UPKEEP_SECONDS. */
#define HISTORIAN_UPKEEP_SECONDS 60
/* If an open run has another or an unknown PID namespace, this program cannot check whether the
 * run's exporter lives. The run is marked as interrupted when it has had no sample for this many
 * seconds and for three of its sample intervals. */
#define HISTORIAN_STALE_SECONDS 600
/* historian_stop retries failed writes for this many seconds. */
#define HISTORIAN_STOP_SECONDS 5
/* historian_stop returns after this many seconds, even while the thread still writes. */
#define HISTORIAN_LEAVE_SECONDS 10

struct historian;

struct historian_config {
	const char *path;
	const struct columns *columns;
	struct history_limits limits;
	struct run_root here; /* boot id and PID namespace of this machine */
	bool (*alive)(void *context, pid_t pid, uint64_t start_ticks);
	void *alive_context;
	/* 0 = HISTORIAN_STOP_SECONDS and HISTORIAN_LEAVE_SECONDS */
	double stop_seconds, leave_seconds;
	double last_upkeep_seconds; /* 0 = the default of 0.5 s */
	bool upkeep_waits;          /* true = no upkeep before historian_upkeep is called */
	bool hasty;                 /* see historian_start and historian_settle */
	/* Receives the descriptor of the lock (server_lock.h); NULL = do not lock. Close the
	 * descriptor only after all handles of the history in this process. */
	int *lock;
};

/* Starts the thread, which opens the file. Waits until the file is open, so that this function can
 * report a bad path. Set `hasty` when a job waits for this function.
 *
 * The function returns 0 although the file is not open in the cases below. Events then wait in
 * memory, and the thread tries again.
 * - The disk is full, and `hasty` is false. With `hasty`, a full disk is an error.
 * - Another process has locked the file, and `hasty` is true. Without `hasty`, a locked file is an
 *   error.
 * - The disk does not answer for HISTORIAN_OPEN_SECONDS, and `hasty` is true.
 * - The disk does not answer for HISTORIAN_HANG_SECONDS, and another machine or another program
 *   serves its file system (NFS, FUSE). historian_is_opening then returns true.
 *
 * If another `rightsize-exporter serve` has locked the file (server_lock.h), the function returns
 * an error. If the thread opens the file only later and finds this lock, it writes nothing until
 * the lock is released. */
#define HISTORIAN_OPEN_SECONDS 0.2
int historian_start(struct historian **ret, const struct historian_config *c, struct err *e);

/* Each of these four functions queues events and returns at once. Any thread may call them.
 * Arguments are copied. For each run, call historian_run_begin before historian_samples and
 * historian_run_finish. */
void historian_run_begin(struct historian *h, const struct run_begin *b);
void historian_samples(struct historian *h, const struct sample *samples, size_t n);
void historian_run_finish(struct historian *h, const struct run_finish *f);
void historian_page(struct historian *h, const struct history_page *p);

/* Waits until all events that were queued before this call are committed or dropped. Returns false
 * after timeout_seconds. If earlier writes failed, the thread retries at once instead of pausing
 * first. */
bool historian_flush(struct historian *h, double timeout_seconds);

/* Like historian_flush, but for the end of the program. If one of the signals of signals_end
 * (SIGTERM, ...) arrives, the wait ends early. All threads must block these signals. After a failed
 * wait, the historian has given up: later flushes do not wait, and historian_stop does not retry a
 * failed write.
 *
 * Set `hasty` (historian_config) if a user or a script waits for the exit of the program. The
 * function then waits only while the disk works. It gives up in these cases:
 * - Writes fail, and HISTORIAN_GRACE_SECONDS have passed since the call and since the first
 *   failure.
 * - Another process has locked the file, and has written nothing for HISTORIAN_GRACE_SECONDS.
 * - A write has used no CPU time for HISTORIAN_GRACE_SECONDS. This limit applies while the file is
 *   not open yet, and on a disk of another machine or program, which may be gone.
 * - A write to any other disk has used no CPU time for HISTORIAN_HANG_SECONDS. This limit is long,
 *   because a local disk that stalls usually works again.
 *
 * In the last three cases, the wait is at least twice as long as the slowest write so far.
 *
 * Without `hasty`, the function gives up early only if the historian is loose (historian_is_loose)
 * and its thread has used no CPU time for HISTORIAN_SERVER_SECONDS.
 *
 * After a historian that is `hasty` or loose has given up, end the program with
 * loose_threads_leave. */
bool historian_settle(struct historian *h, double timeout_seconds);
#define HISTORIAN_GRACE_SECONDS  0.3
#define HISTORIAN_SERVER_SECONDS 1.0
#define HISTORIAN_HANG_SECONDS   3.0

bool historian_gave_up(struct historian *h);

/* Returns true when threads that read or write the history must be loose threads (loose_thread.h).
 * This is so when another machine or another program serves the disk, because it may never answer.
 * On a disk of this machine, every call returns in the end. Usual threads are better there: the
 * kernel counts a loose thread as a process of its own. `h` may be NULL. Any thread. */
bool historian_is_loose(const struct historian *h);

/* Returns true while the first attempt to open the file has not returned. Until then, only loose
 * threads may use the file, because the disk may never answer. `h` may be NULL. Any thread. */
bool historian_is_opening(struct historian *h);

/* Makes the historian give up, as after a failed historian_settle. Call it when the disk does not
 * answer a read. */
void historian_give_up(struct historian *h);

/* Returns how many seconds a thread may wait for the disk without using CPU time. After that, the
 * disk counts as dead. The result is HISTORIAN_GRACE_SECONDS, HISTORIAN_SERVER_SECONDS or
 * HISTORIAN_HANG_SECONDS. */
double historian_patience(struct historian *h);

/* Fills `e` with the reason why events are not on disk yet. */
void historian_why(struct historian *h, struct err *e);

/* Calls `function` once on the historian's thread, in a transaction of its own, and waits for the
 * result. Returns 0 after the commit, otherwise the error of `function` or of the disk. Any thread
 * except the historian's may call historian_do. */
int historian_do(struct historian *h,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	struct err *e);

/* Like historian_do, but with a timeout. -ETIMEDOUT: `function` was not called and will not be
 * called. -EINPROGRESS: `function` still runs, so `context` must stay valid. After these two
 * errors, the historian has given up (historian_settle). */
int historian_do_within(struct historian *h,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	double seconds, struct err *e);

/* Starts the first upkeep if historian_config.upkeep_waits is set. Upkeep marks open runs as
 * interrupted if no exporter continues them. The server must therefore first take over the open
 * runs that it continues, and then call this function. */
void historian_upkeep(struct historian *h);

/* Call it when a read of the history failed with -EBADMSG. The historian then checks the file, and
 * sets it aside when it is corrupt. Any thread may call it. */
void historian_suspect(struct historian *h);

/* Tells whether runs of other exporters may be added (history_run_add). Returns:
 * - 0: they may be added.
 * - -EDQUOT: the file, with its -wal file, is larger than 33/32 of limits.max_bytes
 *   (HISTORIAN_FULL_PARTS). This is rare, because upkeep removes old runs when the file is larger
 *   than 31/32 of limits.max_bytes.
 * - -ENOSPC: the disk is full.
 * - -ETIMEDOUT: the historian's thread has waited for the disk for HISTORIAN_HANG_SECONDS, counted
 *   from the first call of this function that found it waiting.
 *
 * `e` gives the reason without the path of the file, because any client may read it. Any thread. */
#define HISTORIAN_FULL_PARTS 32
int historian_takes_runs(struct historian *h, struct err *e);

struct historian_health {
	uint64_t samples_written, samples_dropped, runs_dropped, errors, bytes_on_disk;
	struct history_losses losses; /* data removed because the file was full */
	size_t samples_waiting;
	uint64_t events_waiting;    /* samples, begins and ends of runs, and pages */
	double last_commit_seconds; /* duration of the last transaction; NaN = there was none */
};
struct historian_health historian_health(struct historian *h);

/* Writes all events, enforces the limits for at most last_upkeep_seconds, closes the file, and logs
 * how many events were lost. Stops retrying failed writes after stop_seconds. `h` may be NULL.
 *
 * Returns -ETIMEDOUT when the thread still waits for the disk at one of these times:
 * - after leave_seconds
 * - after stop_seconds, if the historian gave up before this call
 * - as soon as historian_settle would give up, if the historian is `hasty` or loose
 *
 * After -ETIMEDOUT, nothing is freed: call historian_stop again, or end the program by
 * loose_threads_leave. */
int historian_stop(struct historian *h);

#endif
