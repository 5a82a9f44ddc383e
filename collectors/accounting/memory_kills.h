/*
 * Processes that the OOM killer killed since a run began, and the least memory that the run held
 * then. The samples may have missed that peak: a kill at the group's memory limit proves it.
 * Sampler thread only.
 */
#ifndef COLLECTORS_ACCOUNTING_MEMORY_KILLS_H
#define COLLECTORS_ACCOUNTING_MEMORY_KILLS_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/accounting/group_owner.h"
#include "collectors/cgroup/find.h"

/* With more other processes in the group, they are not told apart from the run. */
#define MEMORY_OTHERS_MAX 16

struct memory_kills {
	struct cgroup_place place;           /* nearest group that counts kills; version 0 = none */
	double group_before, machine_before; /* kills when the run began; NaN = not counted */
	double met_before;  /* "oom" events when the run began; NaN = not counted (v1) */
	double limit_bytes; /* of this group only, as of the last reading; NaN = none */
	bool own;           /* no other process was in it when the run began */
	bool apart;         /* only other[] were: this exporter, the shell that waits for the run */
	bool mark_is_old;   /* its peak met the limit before the run began */
	size_t n_others;
	pid_t other[MEMORY_OTHERS_MAX];
};

void memory_kills_begin(struct memory_kills *ret, const struct host *h);
/* Sets the run's group. own: its memory is the run's alone, whatever process enters later. */
void memory_kills_group(struct memory_kills *k, const struct cgroup *group, bool own,
	const struct group_members *members, const struct host *h);
/* Call after memory_kills_group if others used the own group earlier. */
void memory_kills_older(struct memory_kills *k, const struct host *h);
/* Reads the limit again: it may have changed. */
void memory_kills_read_limit(struct memory_kills *k, const struct host *h);

/* Kills in the run's group since the run began, else on the machine; NaN = unknown. */
double memory_kills_around(const struct memory_kills *k, const struct host *h);

/*
 * The least memory the run held when a process was killed at the group's limit: the limit minus the
 * memory of the others. NaN: no kill, not at this limit, or the others have changed.
 * kills, mark_bytes: kills in, and peak of, the run's own group, which may be gone; NaN = read
 * them.
 */
double memory_kills_held(const struct memory_kills *k, double kills, double mark_bytes,
	const struct group_members *members, const struct host *h);

#endif
