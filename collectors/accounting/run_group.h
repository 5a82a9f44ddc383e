/* The control group that belongs to one run. Reads the kernel's numbers for the group, and decides
 * when the group's list of processes must be read.
 *
 * The files of the group stay open if host->group_files permits it. This matters for a group that
 * is visible only through /proc/PID/root (group_owner.h). Without open files, such a group becomes
 * unreadable when process PID ends, and the run keeps the numbers of the last sample. */
#ifndef COLLECTORS_ACCOUNTING_RUN_GROUP_H
#define COLLECTORS_ACCOUNTING_RUN_GROUP_H

#include "collectors/cgroup/files.h"
#include "collectors/runs.h"

struct run_group {
	struct cgroup_files files;
	/* The budget of descriptors from which the `n_kept` open files of this group are taken.
	 * Borrowed until run_group_close. */
	struct descriptors *kept;
	size_t n_kept;
	/* For run_group_due. `looks`: number of samples since a process was last created.
	 * `all_looks`: number of samples so far; the first MOVE_LOOKS samples after each creation
	 * do not count. */
	unsigned looks, all_looks;
	uint64_t births; /* `births` of the last run_group_due */
	/* Values of the group before the run began, which are subtracted. NaN = this value is not
	 * reported for the run. */
	double before[CGROUP_VALUES];
};

void run_group_open(struct run_group *ret, const struct cgroup *own, const struct host *h);
void run_group_close(struct run_group *g); /* does nothing if `g` is zeroed */

/* Returns true if the group's list of processes must be read at this sample. Cases:
 * - `births`, the number of processes and threads created since boot, is 0 (unknown).
 * - This is one of the first 3 samples after `births` changed. A new process may be moved into the
 *   group a moment after its creation.
 * - This is every 10th of the other samples. Older processes may be moved into the group, too. */
bool run_group_due(struct run_group *g, uint64_t births);

/* Leaves out the usage of earlier jobs in the group: subtracts `cpu_seconds`, and the current
 * counts of the group, from all later readings. Peaks are not reported, because they may be those
 * of an earlier job. */
void run_group_count_from(struct run_group *g, const struct host *h, double cpu_seconds);

/* Reads all numbers of the group into `v`, and the run's metrics into `value`. If the group is
 * gone, counters and peaks in `value` keep the last reading, and current values become NaN. */
void run_group_read(struct run_group *g, const struct host *h, double value[RUN_N_METRICS],
	double v[CGROUP_VALUES]);

#endif
