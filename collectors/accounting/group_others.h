/*
 * The other processes in a control group that a run shares, and their CPU time since the run began.
 * Others are the processes that were in the group when the run began, and their descendants. If the
 * run's orphans come to this exporter, every process that is not the run's is an other too. The CPU
 * clock of a process gives its own time exactly. The times of children it waited for are in ticks
 * of /proc.
 * A process that has not run since the last sample costs one clock reading. A sample of 300 others
 * takes 0.6 ms, or 6 ms if all have run (Linux 6.18): at most 1 % of a CPU at one sample a second.
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
	pid_t ours;                       /* pid of this exporter */
	bool ours_inside;                 /* this exporter is in the group */
	pid_t root, parent;               /* parent: of the root; it waits for the root */
	uint64_t root_start_ticks;
	bool root_waited; /* the parent waited for the root */
	bool orphans_ours;
	bool certain; /* at this sample; see group_others_used */
	size_t n, room;
	struct group_other *other; /* oldest first */
	struct pids run;           /* processes of the run at the last sample; ascending */
	/* Ended others whose parent did not wait: CPU seconds seen, and possibly unseen. */
	double ended_seconds, doubtful_seconds;
};

struct group_others_spec {
	const struct cgroup_place *place;
	pid_t root; /* 0: not started; this exporter will start it */
	struct group_members members;
	bool orphans_ours;   /* orphans of the run become children of this exporter */
	double ours_seconds; /* CPU time of this exporter when the run began; NaN = unknown */
};

/* False: too many or hidden processes. Call group_others_done in either case. */
bool group_others_init(struct group_others *o, const struct host *h,
	const struct group_others_spec *spec);
void group_others_done(struct group_others *o);

struct group_others_used {
	/* CPU time of this exporter and of the others: the most likely values */
	double ours, seconds;
	unsigned in_ticks; /* others whose time is in ticks, each off by two ticks at most */
	/* no other spent CPU time unseen since the last sample, except for: */
	bool certain;
	double doubtful_seconds; /* in all since the run began */
};

/*
 * Takes one sample. An interval is not certain in three cases:
 * - The root's parent waited for another process than the root.
 * - A process ended after its parent.
 * - An other that ignores SIGCHLD may have had children. The kernel reaps those and adds their
 *   times to no parent. A page fault of the other reveals fork(2), as its next write faults;
 *   vfork(2) is not seen.
 */
struct group_others_used group_others_look(struct group_others *o, const struct host *h);

/* True if no other ignores SIGCHLD: all their children's times will be known. */
bool group_others_wait(const struct group_others *o);

/* True if pid is an other or a child of one; false also if it is gone. */
bool group_others_have(struct group_others *o, const struct host *h, pid_t pid);

/* Pid of this exporter in host's /proc; -1 = unknown. */
pid_t group_others_own_pid(const struct host *h);
/* CPU seconds of a process, exact if its CPU clock is readable, else in ticks; NaN = gone. */
double group_others_cpu_seconds(const struct host *h, pid_t pid);

#endif
