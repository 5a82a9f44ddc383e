/* Forecast of the peak and duration of a run that has not ended yet. Pure. */
#ifndef RECOMMENDER_BEHAVIOUR_RUNNING_H
#define RECOMMENDER_BEHAVIOUR_RUNNING_H

#include "recommender/run.h"

/*
 * The expected values of any run of the job with the same input: equally likely values in ascending
 * order. Compute once (10 ms from 50 runs, 0.2 s from 200); using it is cheap.
 */
#define PROSPECT_POINTS 200
struct prospect {
	double peak[PROSPECT_POINTS];     /* bytes; all NaN when nothing is known */
	double duration[PROSPECT_POINTS]; /* seconds; likewise */
};

/* history: newest first, all outcomes. input: bytes of this run's input, NaN = unknown. */
void running_prospect(const struct runs *history, double input, struct prospect *ret);

/* The memory peak of a run, this many seconds after its start. */
struct memory_mark {
	double seconds, bytes;
};

/* The peak at half of these seconds, from marks in order of time; NaN if not seen. */
double running_mark_at_half(const struct memory_mark *mark, size_t n, double seconds);

/* Requests of a run and its use so far. NaN = unknown. */
struct running_progress {
	double started_at, seconds;
	double peak_bytes, peak_at_half_bytes; /* peak now, and at half of seconds */
	double cores;                          /* average so far */
	double requested_cpu_cores, requested_memory_bytes, memory_limit_bytes;
};

/* NaN = unknown. */
struct running {
	/*
	 * Probability that the run reaches its memory limit before it ends. Expected peaks below
	 * its peak so far are ruled out; the share of the rest above the limit is the risk. The
	 * more are ruled out, the more its own trend counts: its peak, growing as in the second
	 * half of its time so far, reaches the limit while it still runs.
	 */
	double oom_risk;
	double expected_peak_bytes;       /* median of the peaks that are not ruled out */
	double expected_duration_seconds; /* total, given the time so far */
	double expected_end;              /* Unix time */
	/* Request / use so far; 1 = nothing is left over. */
	double overprovisioned_memory, overprovisioned_cpu;
};
void running_outlook(const struct prospect *p, const struct running_progress *now,
	struct running *ret);

#endif
