/*
 * Limits how many members all runs have together, and in how many runs one process may be. A
 * process of a job within a job belongs to several runs, and each run reads it. Any user can nest
 * runs by naming them. Sampler thread.
 */
#ifndef COLLECTORS_PROCESS_MEMBER_LIMIT_H
#define COLLECTORS_PROCESS_MEMBER_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collectors/base/pid_map.h"

/* Most runs of a process; pod, batch job, workflow, step and wrapper may be nested. */
#define MEMBER_LIMIT_NESTED_MAX 8

struct member_limit {
	size_t n, most;      /* a process in several runs counts once for each */
	struct pid_map runs; /* number of runs of each process */
};

/* Counts a process in one more run. False: it or all runs together are at the limit. */
bool member_limit_enter(struct member_limit *m, pid_t pid);
/* Call it once for each successful member_limit_enter. */
void member_limit_leave(struct member_limit *m, pid_t pid);
/* Frees the counts and starts from zero; most stays. */
void member_limit_done(struct member_limit *m);

#endif
