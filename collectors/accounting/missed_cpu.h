/* Upper bound of the CPU time that a run used but no source counted. At each sample, the bound
 * grows if two conditions are true:
 * - Since the last sample, the machine and the run's group used more CPU time than was counted for
 *   the run.
 * - A process was created or ended: since the last sample or, if orphans of the run may be hidden
 *   (orphans_hidden), at any time since the run began.
 *
 * The bound falls, at most to 0, when missed CPU time later appears in the times of a parent. */
#ifndef COLLECTORS_ACCOUNTING_MISSED_CPU_H
#define COLLECTORS_ACCOUNTING_MISSED_CPU_H

#include <stdbool.h>

struct missed_cpu {
	double seconds;
	/* Sums since the run began. `spent_seconds`: CPU time of the machine. `possible_seconds`:
	 * the CPU time that the run may have used. */
	double spent_seconds, possible_seconds;
	double group_before; /* CPU seconds of the run's group at its begin; NaN = unknown */
	bool any_changes;
};

/* Begins the upper bound of CPU time that no source counts for a run. In this file, `group_seconds`
 * is the CPU time that the run's control group has used since the group was made; NaN = not
 * counted. */
void missed_cpu_begin(struct missed_cpu *m, double group_seconds);
/* Call this when the run's group is found, if that happens after missed_cpu_begin. `group_seconds`:
 * the group's usage now. */
void missed_cpu_group(struct missed_cpu *m, double group_seconds);

struct missed_cpu_look {
	double spent_seconds; /* CPU time of the machine since the last sample; NaN = unknown */
	double known_seconds; /* CPU time counted for the run since the last sample */
	double group_seconds; /* see missed_cpu_begin */
	bool changes; /* since the last sample, a process was created or ended on the machine */
	/* True if orphans of the run become children of a process other than this exporter. They
	 * may then continue to run unseen. */
	bool orphans_hidden;
};

void missed_cpu_add(struct missed_cpu *m, const struct missed_cpu_look *look);
/* Lowers the bound by `seconds`: missed CPU time that another source has counted after all. */
void missed_cpu_found(struct missed_cpu *m, double seconds);

#endif
