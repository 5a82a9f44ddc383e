/*
 * What is to be expected of a run that has not ended yet. Pure.
 */
#ifndef RECOMMENDER_RUNNING_H
#define RECOMMENDER_RUNNING_H

#include "recommender/run.h"

/* NaN = unknown. */
struct running {
	/*
	 * Probability that the run meets its memory limit before it ends: of the peaks that the
	 * job's past leads to expect, the share above the limit among those not below the run's own
	 * mark so far.
	 */
	double oom_risk;
	double expected_peak_bytes;       /* the middle of the same peaks */
	double expected_duration_seconds; /* in all, given that it already took so long */
	double expected_end;              /* Unix time */
	/* What was asked for, as a share of what was used so far; 1 = nothing is left over. */
	double overprovisioned_memory, overprovisioned_cpu;
};

/* history: newest first, all outcomes; now: the run in question, with what it used so far. */
void running_outlook(const struct runs *history, const struct run *now, struct running *ret);

#endif
