/*
 * The control group that a run has of its own: what the kernel counts for it, and how often its list of processes is
 * worth reading. Its files are kept open as long as host->group_files allows it; else the last numbers of a group that
 * is seen through the root of a process (find.h) are those of the look before that process ended.
 */
#ifndef COLLECTORS_ACCOUNTING_RUN_GROUP_H
#define COLLECTORS_ACCOUNTING_RUN_GROUP_H

#include "collectors/cgroup/files.h"
#include "collectors/runs.h"

struct run_group {
	struct cgroup_files files;
	struct descriptors *kept; /* n_kept are taken of them; borrowed until run_group_close */
	size_t n_kept;
	unsigned looks, all_looks; /* since somebody was born, and in all */
	uint64_t births;           /* of the machine */
	/* Of the counts, what is none of the run's; NaN = nobody knows, so that it is not told. */
	double before[CGROUP_VALUES];
};

void run_group_open(struct run_group *ret, const struct cgroup *own, const struct host *h);
void run_group_close(struct run_group *g); /* zeroed: nothing */

/*
 * Is somebody new in the group? births: how many processes and threads the machine has ever had, 0 = unknown. Who was
 * born elsewhere is moved in a moment later, so the list is due a few looks more; who is moved in at any other time is
 * found once in so many looks.
 */
bool run_group_due(struct run_group *g, uint64_t births);

/*
 * The group is older than the run: cpu_seconds that it counted were others'. So were all that it counted otherwise until
 * now, and perhaps its peak.
 */
void run_group_count_from(struct run_group *g, const struct host *h, double cpu_seconds);

/*
 * All numbers that are kept of the group, in v, and into value what is a metric of the run. Of a group that is gone
 * the last reading holds, but for what it has right now.
 */
void run_group_read(struct run_group *g, const struct host *h, double value[RUN_N_METRICS],
	double v[CGROUP_VALUES]);

#endif
