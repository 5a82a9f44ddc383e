/* CPU time and memory of helpers (process/helpers.h), which are not part of the run. The control
 * group, the exit records and the task clock count helpers, too, so the use by helpers is
 * subtracted from their numbers. The sums over the tree already leave helpers out. Sampler thread
 * only. */
#ifndef COLLECTORS_ACCOUNTING_HELPER_USE_H
#define COLLECTORS_ACCOUNTING_HELPER_USE_H

#include "collectors/process/tree.h"
#include "collectors/runs.h"

/* Maximum number of helpers that are stored when a task clock is attached. The clock does not count
 * helpers that already run, so their CPU time must not be subtracted from the clock's time. If
 * there are more helpers, the CPU time of the others is wrongly subtracted, and the result is too
 * low. */
#define UNCLOCKED_MAX 16

struct helper_use {
	double seconds, system_seconds; /* CPU time of all helpers */
	double unclocked_seconds;       /* CPU time of helpers that the clock does not count */
	double unsure_seconds;          /* see helpers_unsure_ns of struct process_tree */
	bool unseen;                    /* see helper_unseen of struct process_tree */
	/* Helpers that were alive when the clock was attached. The clock does not count them.
	 * `cpu_ns` is the last reading of each. */
	size_t n_unclocked;
	struct unclocked_helper {
		pid_t pid;
		uint64_t start_ticks, cpu_ns;
	} unclocked[UNCLOCKED_MAX];
	double seconds_before; /* CPU time of helpers that ended before the clock was attached */
};

/* Stores which helpers are alive now. The task clock does not count these helpers, so their CPU
 * time must not be subtracted from the clock's time. Call this function right after a task clock
 * was attached to all processes of the run. */
void helper_use_clock_begins(struct helper_use *u, const struct process_tree *tree);
/* Updates the CPU times in `u`. Call this function after each sample of the tree. */
void helper_use_look(struct helper_use *u, const struct process_tree *tree);

/* Subtracts the helpers' memory from the memory of the run's group. The helpers' part in the
 * group's peak is unknown, so the peak becomes unknown. */
void helper_use_leave_out_memory(const struct process_tree *tree, double value[RUN_N_METRICS]);

/* Returns an upper bound, in seconds, of the helpers' CPU time in the run's total. Usually the
 * helpers' CPU time is subtracted from the total, but not the part that a helper used after its
 * last reading. `beyond` is the run's total minus the CPU time that was read from its processes. If
 * a helper ended before its last counters were read, the bound includes all of `beyond`. */
double helper_use_foreign(const struct helper_use *u, double beyond);

#endif
