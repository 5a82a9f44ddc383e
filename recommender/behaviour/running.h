/*
 * What is to be expected of a run that has not ended yet. Pure.
 */
#ifndef RECOMMENDER_BEHAVIOUR_RUNNING_H
#define RECOMMENDER_BEHAVIOUR_RUNNING_H

#include "recommender/run.h"

/*
 * What a job's past leads to expect of any run with the same input: values in ascending order, each as likely as the
 * others. Computed once (10 ms from 50 runs, 0.2 s from 200), asked for next to nothing.
 */
#define PROSPECT_POINTS 200
struct prospect {
	double peak[PROSPECT_POINTS];     /* bytes; all NaN when nothing is known */
	double duration[PROSPECT_POINTS]; /* seconds; likewise */
};

/* history: newest first, all outcomes. input: of the run in question, NaN = unknown. */
void running_prospect(const struct runs *history, double input, struct prospect *ret);

/* The high-water mark of a run's memory, as known so many seconds after its start. */
struct memory_mark {
	double seconds, bytes;
};

/* The mark when half of these seconds had passed, from marks in the order of time; NaN when that was not seen. */
double running_mark_at_half(const struct memory_mark *mark, size_t n, double seconds);

/* What a run was given, and what it did so far. NaN = unknown. */
struct running_progress {
	double started_at, seconds;
	double peak_bytes,
		peak_at_half_bytes; /* its mark now, and when half of the seconds had passed */
	double cores;               /* on average */
	double requested_cpu_cores, requested_memory_bytes, memory_limit_bytes;
};

/* NaN = unknown. */
struct running {
	/*
	 * Probability that the run meets its memory limit before it ends. Of the peaks to be expected those below its
	 * mark so far are ruled out; the share of the rest above the limit is the risk. The more of them are ruled out,
	 * the more counts its own trend: that the mark, growing as in the second half of its time so far, meets the
	 * limit while it still runs.
	 */
	double oom_risk;
	double expected_peak_bytes;       /* the middle of the peaks that are not ruled out */
	double expected_duration_seconds; /* in all, given that it already took so long */
	double expected_end;              /* Unix time */
	/* What was asked for, as a share of what was used so far; 1 = nothing is left over. */
	double overprovisioned_memory, overprovisioned_cpu;
};
void running_outlook(const struct prospect *p, const struct running_progress *now,
	struct running *ret);

#endif
