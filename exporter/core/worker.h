/*
 * A thread that calls a function again and again: after the seconds that the function returned, or at once after
 * worker_wake. A worker can be initialised and never started: it then only waits.
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
	pthread_mutex_t lock; /* guards what follows, but for reading stop */
	pthread_cond_t changed;
	bool woken, ended;
	atomic_bool stop;
};

void worker_init(struct worker *w);

/* Calls turn(context) on a thread of that name (at most 15 bytes): first at once. INFINITY: next when it is woken. */
int worker_start(struct worker *w, const char *name, double (*turn)(void *context), void *context,
	struct err *e);

/* Any thread. A worker that is at work takes another turn. */
void worker_wake(struct worker *w);

/* On the worker's thread. Waits that long, or until it is woken. False: it was stopped, before or meanwhile. */
bool worker_wait(struct worker *w, double seconds);

/* No turn begins any more. Does not wait. Any thread; for good. */
void worker_stop(struct worker *w);

/*
 * Waits for the end of the thread that long, and no longer when one of the signals hurry comes, which all threads block;
 * signals from before do not count. NULL: only the time ends it. False: the thread goes on.
 */
bool worker_join(struct worker *w, double seconds, const sigset_t *hurry);

/* Stops it, and waits for the turn that goes on, however long that takes. */
void worker_done(struct worker *w);

#endif
