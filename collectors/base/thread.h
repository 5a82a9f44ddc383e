/* Threads, condition variables, and signals that end a wait early. */
#ifndef COLLECTORS_BASE_THREAD_H
#define COLLECTORS_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "collectors/base/err.h"

/* Starts a thread with a small stack, because the usual 8 MiB count as used memory where overcommit
 * is forbidden. `name` has at most 15 bytes: top -H, gdb and the error show it. */
int thread_start(pthread_t *ret, const char *name, void *(*function)(void *), void *context,
	struct err *e);

/* Makes a condition variable whose deadlines come from monotonic_after. */
void thread_cond_init(pthread_cond_t *cond);

/* Removes a pending signal of `signals`, which all threads block. Returns false if no signal is
 * pending, or if `signals` is NULL. */
bool thread_hurry(const sigset_t *signals);
/* Seconds between two calls of thread_hurry in a wait that a signal may end early. */
#define HURRY_SECONDS 0.1

#endif
