/* Threads, condition variables, and signals that end a wait early. */
#ifndef COLLECTORS_BASE_THREAD_H
#define COLLECTORS_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "collectors/base/err.h"

/*
 * Starts a thread with a small stack: the usual 8 MiB count as memory where overcommit is forbidden.
 * name: at most 15 bytes; top -H, gdb and the error show it.
 */
int thread_start(pthread_t *ret, const char *name, void *(*function)(void *), void *context,
	struct err *e);

/* Makes a condition variable whose deadlines come from monotonic_after. */
void thread_cond_init(pthread_cond_t *cond);

/* Takes a pending signal out of signals, which all threads block. False: none is pending, or NULL. */
bool thread_hurry(const sigset_t *signals);
/* A wait that these signals may end polls for them at this interval, in seconds. */
#define HURRY_SECONDS 0.1

#endif
