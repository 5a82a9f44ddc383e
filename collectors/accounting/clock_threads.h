/* The threads of a run that has already begun. They are listed to attach a task clock
 * (task_clock.h) to them, or to count their CPU time through process events. Sampler thread
 * only. */
#ifndef COLLECTORS_ACCOUNTING_CLOCK_THREADS_H
#define COLLECTORS_ACCOUNTING_CLOCK_THREADS_H

#include "collectors/accounting/lineage.h"
#include "collectors/process/tree.h"

/* A clock is attached to a running run only if the run has no more threads than this. */
#define CLOCK_THREADS_MAX 64

struct clock_threads {
	size_t n;
	/* thread ids in our PID namespace; 0 = the id is unknown */
	pid_t thread[CLOCK_THREADS_MAX];
	bool too_many;
};

/* Lists the threads of all living members of the tree, but not those of helpers. */
void clock_threads_list(struct clock_threads *ret, const struct host *h,
	const struct process_tree *tree);

/* Returns the number of members that began no later than `ticks` after boot. */
size_t clock_members_until(const struct process_tree *tree, uint64_t ticks);

/* Tells the lineage (lineage.h) which members have one thread. Call it right after the members were
 * added to the lineage. Threads that start later need no call, because the kernel sends an event
 * for each. */
void clock_threads_tell(struct lineage *l, const struct host *h, const struct process_tree *tree);

#endif
