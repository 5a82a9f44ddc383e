/*
 * The CPU time of a run in a shared control group: the group's usage minus that of the other
 * processes. Examples: the first process of a container or service is a wrapper, a shell waits for
 * the run, or other programs of a login session share the group.
 * The others are the processes that were in the group when the run began, and their descendants.
 * Any other newcomer is an orphan of the run, or came from outside (kubectl exec), and counts with
 * the run. Exception: if orphans of the run come to this exporter, such a newcomer is an other.
 * In an interval in which the others' use is uncertain (group_others.h), the truth lies between the
 * run's use by other sources and the rest of the group. The result exceeds the truth by at most 1 %
 * and 1 ms (10 ms if the run is only known from times in ticks). Within that bound it is as near to
 * the rest as possible. CPU time of an other after its last sample counts with the run.
 */
#ifndef COLLECTORS_ACCOUNTING_GROUP_REMAINDER_H
#define COLLECTORS_ACCOUNTING_GROUP_REMAINDER_H

#include "collectors/accounting/group_owner.h"
#include "collectors/cgroup/find.h"

/* CPU seconds of a group since it was made; NaN = not counted. */
double cgroup_cpu_seconds(const struct cgroup *c, const struct host *h);

struct group_remainder;

/* Usage of the group and of this exporter at one instant; NaN = unknown. */
struct group_remainder_start {
	double usage_seconds, ours_seconds;
};

struct group_remainder_start group_remainder_start(const struct cgroup *group,
	const struct host *h);

struct group_remainder_spec {
	pid_t root;                 /* 0: not started; this exporter will start it in the group */
	const struct cgroup *group; /* group of the root */
	struct group_members members;
	/* Read start first: CPU time of the run in between must not be taken off it. */
	struct group_remainder_start start;
	double known_seconds;
	bool orphans_ours; /* orphans of the run become children of this exporter */
};

/* NULL: groups below, hidden processes, or more than 16 others (512 if orphans_ours). */
struct group_remainder *group_remainder_open(const struct host *h,
	const struct group_remainder_spec *spec);
void group_remainder_close(struct group_remainder *r); /* NULL does nothing */

/* True if no other process ignores SIGCHLD: no other source is needed. */
bool group_remainder_is_sure(const struct group_remainder *r);

struct group_remainder_reading {
	double seconds; /* CPU time of the run or a little less; see the top */
	double most;    /* upper bound */
};

/* known_seconds: CPU time of the run from other sources. */
struct group_remainder_reading group_remainder_read(struct group_remainder *r, const struct host *h,
	double known_seconds);

/* Calls each for every process of the group that currently counts as the run's. */
void group_remainder_processes(struct group_remainder *r, const struct host *h,
	void (*each)(void *context, pid_t pid), void *context);

#endif
