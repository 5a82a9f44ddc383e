/*
 * Upper bound of the CPU time that a run used unseen. Grows when processes were created or ended
 * and the machine, and the run's group, spent more than is known. Falls when missed time turns up
 * later in a parent's times. Never below 0.
 */
#ifndef COLLECTORS_ACCOUNTING_MISSED_CPU_H
#define COLLECTORS_ACCOUNTING_MISSED_CPU_H

#include <stdbool.h>

struct missed_cpu {
	double seconds;
	/* Since the run began: spent by the machine, and the part that may be the run's. */
	double spent_seconds, possible_seconds;
	double group_before; /* usage of its group when it began; NaN = unknown */
	bool any_changes;
};

/* group_seconds, here and below: usage of the group since it was made; NaN = not counted. */
void missed_cpu_begin(struct missed_cpu *m, double group_seconds);
/* Sets the usage of a group that was found after the run began. */
void missed_cpu_group(struct missed_cpu *m, double group_seconds);

struct missed_cpu_look {      /* since the last sample */
	double spent_seconds; /* by the machine; NaN = unknown */
	double known_seconds; /* counted for the run */
	double group_seconds;
	bool changes; /* a process was created or ended anywhere */
	/* orphans of the run do not come to this exporter and may run on unseen */
	bool orphans_hidden;
};

void missed_cpu_add(struct missed_cpu *m, const struct missed_cpu_look *look);
/* This much of the missed time turned up. */
void missed_cpu_found(struct missed_cpu *m, double seconds);

#endif
