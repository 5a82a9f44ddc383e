/* What the kernel counts for a run's own control group, as values of the run. Sampler thread only. */
#ifndef COLLECTORS_GROUP_VALUES_H
#define COLLECTORS_GROUP_VALUES_H

#include "collectors/cgroup_files.h"
#include "collectors/runs.h"

/* Since the group was made; NaN = not counted here. */
struct group_counts {
	double cpu_seconds, cpu_system_seconds, oom_kills;
};

/* Fills in what comes from the group. Of one that is gone the last reading holds, but for what it has right now. */
struct group_counts group_values_read(struct cgroup_files *files, const struct host *h,
	double value[RUN_N_METRICS]);

#endif
