/*
 * The CPU quota that holds a run: that of the nearest group at or above its own which has one.
 */
#ifndef COLLECTORS_CGROUP_CPU_QUOTA_H
#define COLLECTORS_CGROUP_CPU_QUOTA_H

#include "collectors/cgroup/find.h"

/* The nearest group at or above the run's that has a CPU quota, and what it had counted when the run began. */
struct cpu_quota {
	struct cgroup_place place; /* version 0: none */
	double periods, throttled_periods, throttled_seconds;
};

/* A number in a file of a group: its first, or that of a key; NaN when it is not there. */
double cgroup_number(const struct cgroup_place *p, const struct host *h, const char *file,
	const char *key);

/* version 0 when nothing limits the group. */
struct cpu_quota cpu_quota_find(const struct cgroup *c, const struct host *h);
/* The counts of one group now, whether it has a quota or not. */
struct cpu_quota cpu_quota_read(const struct cgroup_place *p, const struct host *h);
/*
 * What a quota has counted for a run: since before it began where earlier is of the same group (NULL = not read); all
 * that it ever counted where the group is the run's own; else since now.
 */
void cpu_quota_count_from(struct cpu_quota *q, const struct cpu_quota *earlier,
	const struct cgroup_place *own);

#endif
