/*
 * The CPU time of a run that has no control group of its own, from one that it shares with others: what the group used,
 * less what these used. So it is with the wrapper that is a container's or a service's first process, with the shell
 * that waits for it, and beside the other programs of a session.
 *
 * The others are who was there when the run began, and who descends from them. Who comes later by no such way is an
 * orphan of the run, or came from outside (kubectl exec), and is counted with the run, as in a group of its own; but
 * where all orphans of the run come to this exporter, it is an other.
 *
 * In an interval in which others may have spent what nobody is told of (group_others.h), only what is known of the run
 * otherwise is its own for certain: the truth lies between that and the rest. What is told never exceeds the truth by
 * more than a hundredth and 1 ms, or 10 ms where times in ticks are all that tells of the run, and comes as near to the
 * rest as that permits. What an other did after it was last seen is counted with the run.
 */
#ifndef COLLECTORS_ACCOUNTING_GROUP_REMAINDER_H
#define COLLECTORS_ACCOUNTING_GROUP_REMAINDER_H

#include "collectors/accounting/group_owner.h"
#include "collectors/cgroup/find.h"

/* CPU time of a group since it was made; NaN = not counted here. */
double cgroup_cpu_seconds(const struct cgroup *c, const struct host *h);

struct group_remainder;

/* What the group had used, and this exporter, at the same instant; NaN = unknown. */
struct group_remainder_start {
	double usage_seconds, ours_seconds;
};

struct group_remainder_start group_remainder_start(const struct cgroup *group,
	const struct host *h);

struct group_remainder_spec {
	pid_t root; /* 0: it has not begun, and this exporter will start it in the group */
	const struct cgroup *group; /* that it is in */
	struct group_members members;
	/* First the group, and then what the run had used: what it did between the two must not be taken off it. */
	struct group_remainder_start start;
	double known_seconds;
	bool orphans_ours; /* orphans of the run come to this exporter */
};

/* NULL: there are groups below it, some in it are not shown, or they are too many: more than 16, or 512 of orphans_ours. */
struct group_remainder *group_remainder_open(const struct host *h,
	const struct group_remainder_spec *spec);
void group_remainder_close(struct group_remainder *r); /* NULL does nothing */

/* Nobody is known who might spend what nobody is told of: it needs no other account, unless somebody comes who does. */
bool group_remainder_is_sure(const struct group_remainder *r);

struct group_remainder_reading {
	double seconds; /* CPU time of the run, or less; see above */
	double most;    /* it is not more than that */
};

/* known_seconds: what is known of the run by other accounts. */
struct group_remainder_reading group_remainder_read(struct group_remainder *r, const struct host *h,
	double known_seconds);

/* Calls each with the processes of the group that are the run's, by what is known at this moment. */
void group_remainder_processes(struct group_remainder *r, const struct host *h,
	void (*each)(void *context, pid_t pid), void *context);

#endif
