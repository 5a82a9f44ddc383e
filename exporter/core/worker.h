/* A worker is a thread that calls one function again and again. The function returns the seconds
 * until its next call. worker_wake makes the next call happen at once. worker_wait may be called
 * even if the worker was never started. */
#ifndef EXPORTER_CORE_WORKER_H
#define EXPORTER_CORE_WORKER_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "collectors/base/err.h"
#include "exporter/core/loose_thread.h"

/* A function of a worker returns this value instead of seconds to end the worker's thread. */
#define WORKER_END (-1.0)

struct worker {
	double (*turn)(void *context);
	void *context;
	struct loose_thread thread;
	bool loose; /* set it before worker_start: the thread is a loose one (loose_thread.h) */
	bool started;
	pthread_mutex_t lock; /* guards the members below; `stop` may be read without the lock */
	pthread_cond_t changed;
	bool woken, ended;
	atomic_bool stop;
};

void worker_init(struct worker *w);

/* Starts a thread that calls `turn` at once. `name` has at most 15 bytes. `turn` returns the
 * seconds until its next call; INFINITY = wait for worker_wake. */
int worker_start(struct worker *w, const char *name, double (*turn)(void *context), void *context,
	struct err *e);

/* Makes the thread call `turn` at once, or right after the call that is running now. Any thread. */
void worker_wake(struct worker *w);

/* Call it on the worker's thread. Waits for `seconds`, or until worker_wake is called. Returns
 * false when the worker was stopped. */
bool worker_wait(struct worker *w, double seconds);

/* Prevents any further call of `turn`. Does not wait for a call that is running now. Any thread. */
void worker_stop(struct worker *w);

/* Waits at most `seconds` for the end of the thread. A signal in `hurry` that becomes pending
 * during the wait ends the wait early. `hurry` may be NULL. All threads must block these signals.
 * Returns false when the thread still runs. */
bool worker_join(struct worker *w, double seconds, const sigset_t *hurry);

/* Waits for the end of the thread while it uses CPU time. Returns false when the thread used none for
 * `patience` seconds. Time during which the program was stopped (SIGSTOP) does not count. */
bool worker_join_while_active(struct worker *w, double patience);

/* Stops the worker, waits without a limit until a running call of `turn` has returned, and frees
 * the lock and the condition. */
void worker_done(struct worker *w);

#endif
