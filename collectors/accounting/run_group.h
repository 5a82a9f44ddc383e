/*
 * The control group that a run has of its own: the kernel's numbers for it, and when its list of
 * processes must be read. Its files stay open as far as host->group_files allows. Otherwise, for a
 * group seen through /proc/PID/root (find.h), the numbers of the last sample before that process
 * ended remain.
 */
#ifndef COLLECTORS_ACCOUNTING_RUN_GROUP_H
#define COLLECTORS_ACCOUNTING_RUN_GROUP_H

#include "collectors/cgroup/files.h"
#include "collectors/runs.h"

struct run_group {
	struct cgroup_files files;
	/* n_kept descriptors are taken from it; borrowed until run_group_close */
	struct descriptors *kept;
	size_t n_kept;
	unsigned looks, all_looks; /* samples since a process was created, and in all */
	uint64_t births;           /* processes created on the machine */
	/* Counts before the run began, to be subtracted; NaN = not reported. */
	double before[CGROUP_VALUES];
};

void run_group_open(struct run_group *ret, const struct cgroup *own, const struct host *h);
void run_group_close(struct run_group *g); /* zeroed memory: does nothing */

/*
 * True if the group's list of processes must be read. births: processes and threads created since
 * boot, 0 = unknown. A new process may be moved into the group a moment later, so the list is read
 * at a few more samples. A process moved in at any other time is found at every 10th sample.
 */
bool run_group_due(struct run_group *g, uint64_t births);

/* Others used the group before: cpu_seconds and all counts until now. Drops peaks. */
void run_group_count_from(struct run_group *g, const struct host *h, double cpu_seconds);

/*
 * Reads all numbers of the group into v, and the metrics of the run into value. If the group is
 * gone, the last reading holds, except for current values, which become NaN.
 */
void run_group_read(struct run_group *g, const struct host *h, double value[RUN_N_METRICS],
	double v[CGROUP_VALUES]);

#endif
