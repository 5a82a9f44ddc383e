/* The values of one run, indexed by enum run_metric; NaN = unknown. Sampler thread only. */
#ifndef COLLECTORS_FOLLOWED_RUN_VALUES_H
#define COLLECTORS_FOLLOWED_RUN_VALUES_H

#include "collectors/process/delays.h"
#include "collectors/process/tree.h"
#include "collectors/runs.h"

/* The source of final figures decides which values they replace. A figure that is NaN replaces
 * nothing. */
enum final_kind {
	FINAL_AT_LEAST, /* from the wrapper's wait4(2); replaces only smaller values */
	FINAL_EXACT,    /* from the saved record of the run; replaces all values, but no counter
			 * falls */
};

/* Sets the values that come from the process tree, and no other values. `delays` may be NULL. */
void run_values_read(double v[RUN_N_METRICS], const struct process_tree *tree,
	const struct tree_now *now, const struct delay_reader *delays);

/* Sets the tmpfs value: the shared memory of the run's own cgroup minus the shared memory that its
 * processes have mapped. The rest is files in tmpfs. Call this function after the cgroup value is
 * set. When the run has no process, the tmpfs value is unknown (NaN). */
void run_values_tmpfs(double v[RUN_N_METRICS], const struct tree_now *now);

/* `final` has the figures that wait4(2) returned for the run. Subtracts the usage of helpers that
 * processes of the run waited for. The memory peak in `final` becomes unknown if it may be that of
 * a helper and the tree has a peak to use instead. */
void run_values_without_helpers(double final[RUN_N_METRICS], const struct process_tree *tree);

/* Applies the final figures to `v`. CPU times do not fall, and user and system time add up to the
 * total. */
void run_values_final(double v[RUN_N_METRICS], const double final[RUN_N_METRICS],
	enum final_kind kind);

#endif
