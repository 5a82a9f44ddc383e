/*
 * The values of one run, by enum run_metric; unknown is NaN. One thread (the sampler).
 */
#ifndef COLLECTORS_FOLLOWED_RUN_VALUES_H
#define COLLECTORS_FOLLOWED_RUN_VALUES_H

#include "collectors/process/delays.h"
#include "collectors/process/tree.h"
#include "collectors/runs.h"

/* What is known better than /proc tells. NaN = not known. */
enum final_kind {
	FINAL_AT_LEAST, /* from whoever waited for the root: counts when it is more than what was read */
	FINAL_EXACT, /* from the run's record: counts, except that a counter never falls */
};

/* All that the process tree tells; the other values are left as they are. delays may be NULL. */
void run_values_read(double v[RUN_N_METRICS], const struct process_tree *tree,
	const struct tree_now *now, const struct delay_reader *delays);

/*
 * Of the shared memory in the run's own group, read before, that which no process has mapped, so that its memory lacks
 * it. Nobody can say of which kind memory was that nobody holds any more: then it is unknown.
 */
void run_values_tmpfs(double v[RUN_N_METRICS], const struct tree_now *now);

/* Brings v to the final values. User and system time keep adding up to the total, and do not fall. */
void run_values_final(double v[RUN_N_METRICS], const double final[RUN_N_METRICS],
	enum final_kind kind);

#endif
