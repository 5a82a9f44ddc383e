/* Finds the CPU quota that limits a run. */
#ifndef COLLECTORS_CGROUP_CPU_QUOTA_H
#define COLLECTORS_CGROUP_CPU_QUOTA_H

#include "collectors/cgroup/find.h"

/* The nearest group with a CPU quota: the run's own group or a group above it. The numbers are the
 * throttling counters of this group when the run began. */
struct cpu_quota {
	struct cgroup_place place; /* this group; version 0 = there is none */
	double periods, throttled_periods, throttled_seconds;
};

/* Returns a number from the file `file` of the group: the number after `key` or, if `key` is NULL,
 * the first number. Returns NaN if the file or the number is missing. */
double cgroup_number(const struct cgroup_place *p, const struct host *h, const char *file,
	const char *key);

/* Finds the nearest group with a CPU quota. If no quota limits the run, `place.version` of the
 * result is 0. */
struct cpu_quota cpu_quota_find(const struct cgroup *c, const struct host *h);
/* Reads the throttling counters of one control group, with or without a quota. */
struct cpu_quota cpu_quota_read(const struct cgroup_place *p, const struct host *h);
/* Sets the counters in `q` to their values at the start of the run. The caller subtracts them from
 * later readings. `earlier` was read before the run began, or is NULL.
 * - If the quota is set on `own`, the run's own group: 0.
 * - If `earlier` is of the same group as `q`: the counters of `earlier`.
 * - In all other cases: the counters that cpu_quota_find read. */
void cpu_quota_count_from(struct cpu_quota *q, const struct cpu_quota *earlier,
	const struct cgroup_place *own);

#endif
