/*
 * A thread that calls a function repeatedly: after as many seconds as the function returned, or at
 * once after worker_wake. A worker that is never started can still be used to wait.
 */
#ifndef EXPORTER_CORE_WORKER_H
#define EXPORTER_CORE_WORKER_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "collectors/base/err.h"

/* Returned instead of seconds: the thread ends. */
#define WORKER_END (-1.0)

struct worker {
	double (*turn)(void *context);
	void *context;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* guards the fields below; stop may be read without it */
	pthread_cond_t changed;
	bool woken, ended;
	atomic_bool stop;
};

void worker_init(struct worker *w);

/*
 * Starts a thread (name: at most 15 bytes) that calls turn at once. INFINITY: wait for worker_wake.
 */
int worker_start(struct worker *w, const char *name, double (*turn)(void *context), void *context,
	struct err *e);

/* Any thread. During a turn, it makes the next turn follow at once. */
void worker_wake(struct worker *w);

/* On the worker's thread: waits for the time or for worker_wake. False: the worker was stopped. */
bool worker_wait(struct worker *w, double seconds);

/* No further turn begins. Does not wait. Any thread. */
void worker_stop(struct worker *w);

/*
 * Waits for the end of the thread, at most seconds. A new signal of the set hurry, which all
 * threads block, ends the wait too; NULL = no signals. False: the thread still runs.
 */
bool worker_join(struct worker *w, double seconds, const sigset_t *hurry);

/* Stops the worker, waits for the current turn without a limit, and frees the locks. */
void worker_done(struct worker *w);

#endif
