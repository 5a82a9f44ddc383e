/* A worker is a thread that calls one function again and again. The function returns the seconds
 * until its next call. worker_wake makes the thread call the function at once. worker_wait also
 * works for a worker that was never started. */
#ifndef EXPORTER_CORE_WORKER_H
#define EXPORTER_CORE_WORKER_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "collectors/base/err.h"
#include "exporter/core/loose_thread.h"

/* To end its thread, the function of a worker returns this value instead of seconds. */
#define WORKER_END (-1.0)

struct worker {
	double (*turn)(void *context);
	void *context;
	struct loose_thread thread;
	/* true = the thread is a loose one (loose_thread.h); set it before worker_start */
	bool loose;
	bool started;
	pthread_mutex_t lock; /* guards the members below; `stop` may be read without the lock */
	pthread_cond_t changed;
	bool woken, ended;
	atomic_bool stop;
};

void worker_init(struct worker *w);

/* Starts the thread, which calls `turn` at once. `turn` returns how many seconds to wait before its
 * next call; INFINITY = wait for worker_wake. `name` is the name of the thread, at most 15
 * bytes. */
int worker_start(struct worker *w, const char *name, double (*turn)(void *context), void *context,
	struct err *e);

/* Makes the thread call `turn` at once, or right after the call that is running now. Any thread. */
void worker_wake(struct worker *w);

/* Pauses a call of `turn`: waits for `seconds`, or until worker_wake is called. Call it on the
 * worker's thread. Returns false when the worker was stopped. */
bool worker_wait(struct worker *w, double seconds);

/* Prevents any further call of `turn`. Does not wait for a call that is running now. Any thread. */
void worker_stop(struct worker *w);

/* Waits at most `seconds` for the end of the thread. A signal of the set `hurry` ends the wait
 * early. All threads must block these signals. `hurry` may be NULL. Returns false when the thread
 * still runs. */
bool worker_join(struct worker *w, double seconds, const sigset_t *hurry);

/* Waits for the end of the thread. Gives up and returns false when the thread has used no CPU time
 * for `patience` seconds. Time during which the program was stopped (SIGSTOP) does not count. */
bool worker_join_while_active(struct worker *w, double patience);

/* Stops the worker, and frees the lock and the condition. Waits without a limit until a running
 * call of `turn` has returned. */
void worker_done(struct worker *w);

#endif
