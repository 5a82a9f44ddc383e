/*
 * Processes that the kernel killed for want of memory since a run began, and what the run held at least when that
 * happened at the limit of its control group: nobody may have looked at what was killed.
 *
 * Sampler thread only.
 */
#ifndef COLLECTORS_ACCOUNTING_MEMORY_KILLS_H
#define COLLECTORS_ACCOUNTING_MEMORY_KILLS_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/accounting/group_owner.h"
#include "collectors/cgroup/find.h"

/* More others than that in the group are not told apart from the run. */
#define MEMORY_OTHERS_MAX 16

struct memory_kills {
	struct cgroup_place place;           /* the nearest group that counts; version 0 = none */
	double group_before, machine_before; /* killed when the run began; NaN = not counted */
	double met_before; /* times that nothing could be reclaimed at the limit; NaN = not counted (v1) */
	double limit_bytes; /* of this very group, when it was read last; NaN = none */
	/* Who else was in it when the run began: this exporter, the shell that waits for it. */
	bool own, apart;  /* nobody; and nobody but these */
	bool mark_is_old; /* it had met the limit before the run, so its mark tells nothing */
	size_t n_others;
	pid_t other[MEMORY_OTHERS_MAX];
};

void memory_kills_begin(struct memory_kills *ret, const struct host *h);
/* The run's group came to be known; own: its memory is the run's alone, whoever enters later. */
void memory_kills_group(struct memory_kills *k, const struct cgroup *group, bool own,
	const struct group_members *members, const struct host *h);
/* Then: its own group counted for others before. */
void memory_kills_older(struct memory_kills *k, const struct host *h);
/* Its limit may have changed. */
void memory_kills_read_limit(struct memory_kills *k, const struct host *h);

/* In the run's group since the run began, or, where that is not counted, on the machine; NaN = not known. */
double memory_kills_around(const struct memory_kills *k, const struct host *h);

/*
 * What the run held when somebody in the group was killed at its limit: that, less what the others have resident. kills,
 * mark_bytes: of a group of its own that may be gone by now, how many were killed and the most that it had; NaN = read
 * them. NaN: nobody was killed, not at this limit, or the others are not the same any more.
 */
double memory_kills_held(const struct memory_kills *k, double kills, double mark_bytes,
	const struct group_members *members, const struct host *h);

#endif
