/* Upper bound of the CPU time that a run used but no source counted. The bound grows when processes
 * were created or ended and, at the same time, the machine and the run's group used more CPU time
 * than is known. It falls when missed time appears later in the times of a parent. It is never
 * below 0. */
#ifndef COLLECTORS_ACCOUNTING_MISSED_CPU_H
#define COLLECTORS_ACCOUNTING_MISSED_CPU_H

#include <stdbool.h>

struct missed_cpu {
	double seconds;
	/* Since the run began: CPU time of the machine, and the part that may belong to the run. */
	double spent_seconds, possible_seconds;
	double group_before; /* usage of the run's group when the run began; NaN = unknown */
	bool any_changes;
};

/* In all functions here, `group_seconds` is the usage of the run's group since the group was made.
 * NaN = not counted. */
void missed_cpu_begin(struct missed_cpu *m, double group_seconds);
/* Sets the usage of a group that was found after the run began. */
void missed_cpu_group(struct missed_cpu *m, double group_seconds);

struct missed_cpu_look {      /* changes since the last sample */
	double spent_seconds; /* CPU time of the machine; NaN = unknown */
	double known_seconds; /* CPU time counted for the run */
	double group_seconds;
	bool changes; /* a process was created or ended anywhere */
	/* True if orphans of the run do not become children of this exporter. Such orphans may run
	 * on unseen. */
	bool orphans_hidden;
};

void missed_cpu_add(struct missed_cpu *m, const struct missed_cpu_look *look);
/* Subtracts missed time that has appeared in another source. */
void missed_cpu_found(struct missed_cpu *m, double seconds);

#endif
