/* Finds the limit of tasks (pids.max) that applies to a run, and counts the forks that the limit
 * refused. */
#ifndef COLLECTORS_CGROUP_TASK_LIMIT_H
#define COLLECTORS_CGROUP_TASK_LIMIT_H

#include "collectors/cgroup/find.h"

/* The groups that count refused forks of the run, and their counts when the run began. Kernels
 * count a refused fork in different groups:
 * - Since Linux 6.11, v2 counts in the group whose limit refused the fork, and in all groups above
 *   it. `limited` is the nearest group with a limit.
 * - v1, and v2 before Linux 6.11, count in the group of the process that called fork. `nearest` is
 *   the nearest group that has a counter: the run's group or a group above it.
 * The counts may include forks of processes outside the run. place.version is 0 if there is no such
 * group. If both are the same group, `nearest` has version 0, so that no fork counts twice. */
struct task_limit {
	struct task_counter {
		struct cgroup_place place;
		double before; /* refused forks when the run began; NaN = not counted */
	} limited, nearest;
};

/* Finds both groups. If the run has no task limit, the version of both is 0. `own` is the run's own
 * group; its version is 0 if there is none. All refused forks of `own` count, even those before
 * this call. */
struct task_limit task_limit_find(const struct cgroup *c, const struct cgroup_place *own,
	const struct host *h);

/* Returns the number of forks that were refused since task_limit_find; NaN = not counted. */
double task_limit_refused(const struct task_limit *t, const struct host *h);

#endif
