/* Threads, condition variables, and signals that end a wait early. */
#ifndef COLLECTORS_BASE_THREAD_H
#define COLLECTORS_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "collectors/base/err.h"

/* Starts a thread with a small stack. The usual stack of 8 MiB would count as used memory where
 * overcommit is forbidden. `name` has at most 15 bytes. top -H, gdb and the error message show the
 * name. */
int thread_start(pthread_t *ret, const char *name, void *(*function)(void *), void *context,
	struct err *e);

/* Makes a condition variable whose deadlines come from monotonic_after. */
void thread_cond_init(pthread_cond_t *cond);

/* Returns true if a signal of the set `signals` is pending, and removes it. The caller then ends
 * its wait early. All threads must block these signals. `signals` NULL = no signals. */
bool thread_hurry(const sigset_t *signals);
/* Interval of the calls of thread_hurry during a wait. A signal ends the wait after this time at
 * most. */
#define HURRY_SECONDS 0.1

#endif
