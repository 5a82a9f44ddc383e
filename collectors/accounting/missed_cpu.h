/*
 * How much CPU time a run may have used unseen, at most. Grows where somebody was born or ended and more was spent than
 * is known, by the whole machine and by the control group that the run is in; falls again where what was missed turns
 * up later (in a parent's times). Never below 0.
 */
#ifndef COLLECTORS_ACCOUNTING_MISSED_CPU_H
#define COLLECTORS_ACCOUNTING_MISSED_CPU_H

#include <stdbool.h>

struct missed_cpu {
	double seconds;
	/* Since the run began: what the machine spent, and what of that can have been the run's. */
	double spent_seconds, possible_seconds;
	double group_before; /* what its group had spent when it began; NaN = unknown */
	bool any_changes;
};

/* group_seconds, here and below: what the group has spent since it was made; NaN = not counted. */
void missed_cpu_begin(struct missed_cpu *m, double group_seconds);
/* The group came to be known later. */
void missed_cpu_group(struct missed_cpu *m, double group_seconds);

struct missed_cpu_look {      /* since the look before */
	double spent_seconds; /* by the machine; NaN = unknown */
	double known_seconds; /* of the run */
	double group_seconds;
	bool changes; /* somebody was born or ended anywhere */
	bool orphans_hidden; /* nobody hands the run's orphans to us: one that was born may run on unseen */
};

void missed_cpu_add(struct missed_cpu *m, const struct missed_cpu_look *look);
/* So much of it turned up. */
void missed_cpu_found(struct missed_cpu *m, double seconds);

#endif
