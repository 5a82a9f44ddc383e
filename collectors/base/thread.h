/*
 * Starting a thread, and what it waits for.
 */
#ifndef COLLECTORS_BASE_THREAD_H
#define COLLECTORS_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "collectors/base/err.h"

/*
 * A thread with a small stack: the usual eight megabytes count as memory where overcommit is forbidden. name: at most 15
 * bytes; top -H and gdb show it, and the error when there can be no thread.
 */
int thread_start(pthread_t *ret, const char *name, void *(*function)(void *), void *context,
	struct err *e);

/* A condition variable whose deadlines are those of monotonic_after. */
void thread_cond_init(pthread_cond_t *cond);

/* Takes one of these signals, which all threads block; false: none waits, or signals is NULL. */
bool thread_hurry(const sigset_t *signals);
/* A wait that such a signal ends is divided into waits of this length. */
#define HURRY_SECONDS 0.1

#endif
