/*
 * The others in a control group that a run shares: who they are, and what they used of its CPU time since the run began.
 *
 * Others are who was there when it began, and who descends from them. Of a wrapper's run, whose orphans all come to this
 * exporter, it is everybody else as well. What one uses is told by its CPU clock, to the instant, and what children of
 * its used, whom nobody saw, by the times of those that it waited for, in ticks of /proc.
 *
 * Who has not run since the last look is asked for its clock and no more: a look at 300 takes 0.6 ms, or 6 ms if all of
 * them run (Linux 6.18), so at the most that there may be, and once a second, at most a hundredth of a CPU.
 */
#ifndef COLLECTORS_ACCOUNTING_GROUP_OTHERS_H
#define COLLECTORS_ACCOUNTING_GROUP_OTHERS_H

#include <stddef.h>

#include "collectors/accounting/group_owner.h"
#include "collectors/cgroup/find.h"
#include "collectors/process/pids.h"

struct group_other;

struct group_others {
	const struct cgroup_place *place; /* borrowed */
	pid_t ours;                       /* this exporter */
	bool ours_inside;                 /* it is in the group */
	pid_t root, parent; /* the parent of the root waits for it, if for nobody else */
	uint64_t root_start_ticks;
	bool root_waited; /* the parent did */
	bool orphans_ours;
	bool certain; /* at this look; see below */
	size_t n, room;
	struct group_other *other; /* elders first */
	struct pids run;           /* who else was in the group at the last look; ascending */
	/* By those whose ends nobody told of, as they were seen; and so much they may have used unseen. */
	double ended_seconds, doubtful_seconds;
};

struct group_others_spec {
	const struct cgroup_place *place;
	pid_t root; /* 0: the run has not begun, and this exporter will start it */
	struct group_members members;
	bool orphans_ours;   /* the run's orphans come to this exporter */
	double ours_seconds; /* what this exporter had used; NaN = unknown */
};

/* False: they are too many, or some are not shown here. Zeroed memory is a good begin. group_others_done either way. */
bool group_others_init(struct group_others *o, const struct host *h,
	const struct group_others_spec *spec);
void group_others_done(struct group_others *o);

struct group_others_used {
	double ours, seconds; /* by this exporter, and by others: what is most likely */
	unsigned in_ticks;    /* so many of the latter are told in ticks, each off by two at most */
	bool certain;         /* all that others spent since the last look is in here, but for: */
	double doubtful_seconds; /* since the run began */
};

/*
 * One look. Not certain is an interval in which the root's parent waited for more than the root, in which one ended after
 * its parent, and in which one that ignores SIGCHLD may have had children: the kernel reaps them, and adds their
 * times to nobody's. It took page faults then, as whoever has called fork(2) does at its next write; vfork(2) is not
 * seen.
 */
struct group_others_used group_others_look(struct group_others *o, const struct host *h);

/* Nobody of them ignores SIGCHLD, so that all that they use will be told. */
bool group_others_wait(const struct group_others *o);

/* Is it an other, or a child of one? False, too, when it is gone. */
bool group_others_have(struct group_others *o, const struct host *h, pid_t pid);

/* This exporter's own number; -1, which nobody has, when it is not told. */
pid_t group_others_own_pid(const struct host *h);
/* CPU seconds of a process, to the instant where its CPU clock may be read. */
double group_others_cpu_seconds(const struct host *h, pid_t pid);

#endif
