/*
 * Starting a thread with a small stack, and waiting for it: the usual eight megabytes count as memory where overcommit is forbidden.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/err.h"

/* name: at most 15 bytes; top -H and gdb show it. A failure is told with it. */
int thread_start(pthread_t *ret, const char *name, size_t stack, void *(*function)(void *),
	void *context, struct err *e);

/*
 * Waits for its end so long, and no longer when one of the signals hurry comes, which all threads block; signals from
 * before do not count. False: it goes on.
 */
bool thread_join(pthread_t thread, double seconds, const sigset_t *hurry);

/* Takes one of these signals, which all threads block; false: none waits. Who waits for more than that looks so often. */
bool thread_hurry(const sigset_t *signals);
#define HURRY_SECONDS 0.1

#endif
