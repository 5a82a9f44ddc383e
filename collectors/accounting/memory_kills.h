/* Counts the processes that the OOM killer killed since a run began. Also finds a lower bound of
 * the run's memory peak: a kill at the group's memory limit proves that the group used that much
 * memory. The samples may miss such a peak. Sampler thread only. */
#ifndef COLLECTORS_ACCOUNTING_MEMORY_KILLS_H
#define COLLECTORS_ACCOUNTING_MEMORY_KILLS_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/accounting/group_owner.h"
#include "collectors/cgroup/find.h"

/* Foreign processes are processes of the group that do not belong to the run. If the group has more
 * of them than this, the run's memory at a kill is unknown. */
#define MEMORY_OTHERS_MAX 16

struct memory_kills {
	struct cgroup_place place; /* nearest group that counts kills; version 0 = no group */
	/* Number of OOM kills in the group and on the machine when the run began; NaN = unknown. */
	double group_before, machine_before;
	double met_before;  /* "oom" events at the start of the run; NaN = not counted (v1) */
	double limit_bytes; /* memory limit of `place` at the last reading; NaN = no limit */
	bool own;           /* `place` is the run's own group */
	bool apart;         /* other[] lists all foreign processes of the group */
	bool mark_is_old;   /* the memory peak of `place` had reached the limit before the run
			     * began */
	size_t n_others;
	pid_t other[MEMORY_OTHERS_MAX];
};

void memory_kills_begin(struct memory_kills *ret, const struct host *h);
/* Sets the run's group. If `own` is true, all memory in the group counts as memory of the run, even
 * if other processes enter the group later. */
void memory_kills_group(struct memory_kills *k, const struct cgroup *group, bool own,
	const struct group_members *members, const struct host *h);
/* Checks whether the memory peak of the run's own group reached the limit before the run. Such a
 * peak does not show that the run reached the limit. Call this function after memory_kills_group if
 * an earlier job used the group. */
void memory_kills_older(struct memory_kills *k, const struct host *h);
/* Reads the limit again, because it may have changed. */
void memory_kills_read_limit(struct memory_kills *k, const struct host *h);

/* Returns the number of OOM kills since the run began. Counts them in the nearest group that counts
 * kills. If there is no such group, counts them on the whole machine. NaN = unknown. */
double memory_kills_around(const struct memory_kills *k, const struct host *h);

/* If the group's limit caused a kill, returns a lower bound of the run's memory at that time: the
 * limit minus the memory of foreign processes. Returns NaN in three cases: no process was killed,
 * the kill had another cause, or the foreign processes have changed.
 *
 * `kills` is the number of kills in the run's own group, and `mark_bytes` the group's memory peak.
 * The caller passes both, because the group may be gone. If one is NaN, it is read from the
 * group. */
double memory_kills_held(const struct memory_kills *k, double kills, double mark_bytes,
	const struct group_members *members, const struct host *h);

#endif
