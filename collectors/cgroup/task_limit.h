/* Finds the limit of tasks (pids.max) that holds for a run, and counts the forks that it refused. */
#ifndef COLLECTORS_CGROUP_TASK_LIMIT_H
#define COLLECTORS_CGROUP_TASK_LIMIT_H

#include "collectors/cgroup/find.h"

/* The groups that count forks refused to the run, and their counts when the run began.
 * - v2 since Linux 6.11 counts in the group whose limit refused the fork, and in those above it:
 *   `limited`, the nearest group with a limit.
 * - v1 and older kernels count in the group of the process that forked: `nearest`, the first group
 *   with a counter at or above the run's.
 * Both may hold other processes. Version 0 = no such group, or `nearest` is `limited`. */
struct task_limit {
	struct task_counter {
		struct cgroup_place place;
		double before; /* NaN = not counted */
	} limited, nearest;
};

/* Finds the groups. Both are version 0 if no limit holds. The counters of `own`, the run's own
 * group, count from 0; `own` may have version 0. */
struct task_limit task_limit_find(const struct cgroup *c, const struct cgroup_place *own,
	const struct host *h);

/* Returns the forks refused since then; NaN = not counted. */
double task_limit_refused(const struct task_limit *t, const struct host *h);

#endif
