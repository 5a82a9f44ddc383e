/* A thread that calls a function repeatedly. The function returns the seconds until its next call,
 * and worker_wake causes the next call at once. worker_wait also works on a worker that was never
 * started. */
#ifndef EXPORTER_CORE_WORKER_H
#define EXPORTER_CORE_WORKER_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "collectors/base/err.h"

/* The function returns this value instead of seconds to end its thread. */
#define WORKER_END (-1.0)

struct worker {
	double (*turn)(void *context);
	void *context;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* guards the members below; stop may be read without it */
	pthread_cond_t changed;
	bool woken, ended;
	atomic_bool stop;
};

void worker_init(struct worker *w);

/* Starts a thread that calls `turn` at once. `name` has at most 15 bytes. `turn` returns the
 * seconds until its next call; INFINITY = wait for worker_wake. */
int worker_start(struct worker *w, const char *name, double (*turn)(void *context), void *context,
	struct err *e);

/* Causes the next turn at once, or right after the current turn. Any thread. */
void worker_wake(struct worker *w);

/* Waits on the worker's thread for the time or for worker_wake. Returns false when the worker was
 * stopped. */
bool worker_wait(struct worker *w, double seconds);

/* Prevents any further turn. Does not wait for the current turn. Any thread. */
void worker_stop(struct worker *w);

/* Waits at most `seconds` for the end of the thread. A new signal of the set `hurry` ends the wait,
 * too; NULL = no signals. All threads must block these signals. Returns false when the thread still
 * runs. */
bool worker_join(struct worker *w, double seconds, const sigset_t *hurry);

/* Stops the worker, waits for the current turn without a limit, and frees the locks. */
void worker_done(struct worker *w);

#endif
