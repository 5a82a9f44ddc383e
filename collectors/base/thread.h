/*
 * Starting a thread with a small stack: the usual eight megabytes count as memory where overcommit is forbidden.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>

#include "collectors/base/err.h"

/* name: at most 15 bytes; top -H and gdb show it. A failure is told with it. */
int thread_start(pthread_t *ret, const char *name, size_t stack, void *(*function)(void *),
	void *context, struct err *e);

#endif
