/*
 * How often processes are looked at: a process in a job within a job is of several runs, and each reads it for itself. That
 * is bounded of all together, and of each, since anybody can put runs into each other by naming them. Sampler thread.
 */
#ifndef COLLECTORS_PROCESS_MEMBER_LIMIT_H
#define COLLECTORS_PROCESS_MEMBER_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collectors/base/pid_map.h"

/* Runs that a process may be in: a pod, a batch job, a workflow, its step, and what that calls by a wrapper are five. */
#define MEMBER_LIMIT_NESTED_MAX 8

struct member_limit {
	size_t n, most;      /* who is in several runs counts in each */
	struct pid_map runs; /* in how many each is */
};

/* Takes a process into one more run; false: it is in as many as it may be, or all are. */
bool member_limit_enter(struct member_limit *m, pid_t pid);
/* Who entered leaves as often. */
void member_limit_leave(struct member_limit *m, pid_t pid);
/* All have left, or it does not matter any more. */
void member_limit_done(struct member_limit *m);

#endif
