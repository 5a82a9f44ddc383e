/* The usage of helpers (process/helpers.h) in a run's accounts. All accounts but those of single
 * processes contain it. Sampler thread only. */
#ifndef COLLECTORS_ACCOUNTING_HELPER_USE_H
#define COLLECTORS_ACCOUNTING_HELPER_USE_H

#include "collectors/process/tree.h"
#include "collectors/runs.h"

/* If more helpers are alive when a clock is attached, the usage of the others is subtracted from the
 * clock, which does not contain it. */
#define UNCLOCKED_MAX 16

struct helper_use {
	double seconds, system_seconds; /* CPU time of all helpers */
	double unclocked_seconds;       /* the part that is not in the clock */
	double unsure_seconds;          /* see helpers_unsure_ns of struct process_tree */
	bool unseen;                    /* see struct process_tree */
	/* Helpers that were alive when the clock was attached, which it does not count, with the
	 * last reading of each. */
	size_t n_unclocked;
	struct unclocked_helper {
		pid_t pid;
		uint64_t start_ticks, cpu_ns;
	} unclocked[UNCLOCKED_MAX];
	double seconds_before; /* of helpers that had ended when the clock was attached */
};

/* Call when a clock has been attached to all processes of the run. */
void helper_use_clock_begins(struct helper_use *u, const struct process_tree *tree);
/* Call after each sample of the tree. */
void helper_use_look(struct helper_use *u, const struct process_tree *tree);

/* Subtracts the memory of helpers from that of the run's group. Their part in its peak is unknown,
 * so the peak becomes unknown. */
void helper_use_leave_out_memory(const struct process_tree *tree, double value[RUN_N_METRICS]);

/* Returns an upper bound of the CPU time of helpers in the run's total. A helper that ended may have
 * run after its last reading. `beyond` is the part of the total that no reading of a process
 * shows. */
double helper_use_foreign(const struct helper_use *u, double beyond);

#endif
