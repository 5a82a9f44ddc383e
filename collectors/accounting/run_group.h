/* The control group that belongs to one run: the kernel's numbers for the group, and when its list
 * of processes must be read. Its files stay open as long as host->group_files permits. If they do
 * not stay open, a group seen through /proc/PID/root (find.h) becomes unreadable when that process
 * ends. The numbers of the last sample then remain. */
#ifndef COLLECTORS_ACCOUNTING_RUN_GROUP_H
#define COLLECTORS_ACCOUNTING_RUN_GROUP_H

#include "collectors/cgroup/files.h"
#include "collectors/runs.h"

struct run_group {
	struct cgroup_files files;
	/* Limit of open files, from which this group took n_kept descriptors. Borrowed until
	 * run_group_close. */
	struct descriptors *kept;
	size_t n_kept;
	/* `looks`: samples since a process was created. `all_looks`: samples after the first
	 * MOVE_LOOKS of these. */
	unsigned looks, all_looks;
	uint64_t births; /* processes created on the machine, at the last sample */
	/* Values before the run began, which are subtracted. NaN = not reported. */
	double before[CGROUP_VALUES];
};

void run_group_open(struct run_group *ret, const struct cgroup *own, const struct host *h);
void run_group_close(struct run_group *g); /* does nothing if `g` is zeroed */

/* Returns true if the group's list of processes must be read. `births` is the number of processes
 * and threads created since boot; 0 = unknown. A new process may be moved into the group a moment
 * after its creation, so the list is read at a few more samples. A process that is moved in at any
 * other time is found at every 10th sample. */
bool run_group_due(struct run_group *g, uint64_t births);

/* Call if earlier jobs used the group. Subtracts `cpu_seconds` and all counts until now. Peaks are
 * no longer reported. */
void run_group_count_from(struct run_group *g, const struct host *h, double cpu_seconds);

/* Reads all numbers of the group into `v`, and the run's metrics into `value`. If the group is
 * gone, counters and peaks in `value` keep the last reading, and current values become NaN. */
void run_group_read(struct run_group *g, const struct host *h, double value[RUN_N_METRICS],
	double v[CGROUP_VALUES]);

#endif
