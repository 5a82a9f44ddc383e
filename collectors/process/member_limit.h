/* Limits two numbers: the members of all runs together, and the runs that one process belongs to. A
 * member is a process of a run. If a job runs inside another job, its processes belong to both
 * runs, and each run reads them. The limits are needed because any user can nest runs, by giving
 * each run a job name. Sampler thread only. */
#ifndef COLLECTORS_PROCESS_MEMBER_LIMIT_H
#define COLLECTORS_PROCESS_MEMBER_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collectors/base/pid_map.h"

/* Maximum number of runs that one process belongs to. Pod, batch job, workflow, step and wrapper
 * may be nested. */
#define MEMBER_LIMIT_NESTED_MAX 8

struct member_limit {
	size_t n, most;      /* `n`: number of members; a process in 2 runs is 2 members */
	struct pid_map runs; /* number of runs by pid */
};

/* Counts a process as a member of one more run. Returns false when this process is in too many
 * runs, or when all runs together have too many members. */
bool member_limit_enter(struct member_limit *m, pid_t pid);
/* Takes back one successful member_limit_enter. */
void member_limit_leave(struct member_limit *m, pid_t pid);
/* Frees the counts and starts again from zero. The limit `most` stays. */
void member_limit_done(struct member_limit *m);

#endif
