/* Forecast of the peak and duration of a run that has not ended yet. Pure functions. */
#ifndef RECOMMENDER_BEHAVIOUR_RUNNING_H
#define RECOMMENDER_BEHAVIOUR_RUNNING_H

#include "recommender/run.h"
#include "recommender/sizing/sizing.h"

/* The peaks and durations that are expected of a run before it starts. The values in an array are
 * equally likely and in ascending order. Compute a prospect only once per run: running_prospect is
 * slow, because it replays all earlier runs. */
#define PROSPECT_POINTS 200
struct prospect {
	double peak[PROSPECT_POINTS];     /* expected peaks, bytes; all NaN = unknown */
	double duration[PROSPECT_POINTS]; /* expected durations, seconds; all NaN = unknown */
	double expected_seconds;          /* duration that the sizing forecasts; NaN = unknown */
};

/* Computes the prospect of a run. `history` has the earlier runs of the job, newest first, all
 * outcomes. Reads only two members of `options`: the input size of this run, and the neighbours. */
void running_prospect(const struct runs *history, const struct sizing_options *options,
	struct prospect *ret);

/* The peak of memory that a run has reached `seconds` after its start. */
struct memory_mark {
	double seconds, bytes;
};

/* Returns the peak in bytes that a run had reached after half of `seconds`: that of the last mark
 * in the first half. `mark` is in order of time. NaN = no mark is in the first half. */
double running_mark_at_half(const struct memory_mark *mark, size_t n, double seconds);

/* Requests of a run and its usage so far. NaN = unknown. */
struct running_progress {
	double started_at, seconds;
	double peak_bytes, peak_at_half_bytes; /* peak so far, and peak at half of `seconds` */
	double cores;                          /* mean number of cores in use so far */
	double requested_cpu_cores, requested_memory_bytes, memory_limit_bytes;
};

/* Forecast for a run that has not ended. NaN = unknown. */
struct running {
	/* Probability that the run reaches its memory limit before it ends: the weighted mean of
	 * two estimates.
	 * - From earlier runs: takes the expected peaks that are at least the peak so far. The
	 *   estimate is the share of them that are above the limit.
	 * - From growth: assumes that the peak grows on as fast as in the second half of the time
	 *   so far. Its weight is the share of expected peaks below the peak so far. Example: the
	 *   peak is already above all expected peaks -> only growth counts. */
	double oom_risk;
	/* Median of the expected peaks that are at least the peak so far. If there are none, it is
	 * the peak so far. */
	double expected_peak_bytes;
	/* Expected total duration, never below `seconds`. At first it is prospect.expected_seconds.
	 * Once the run has lasted longer than the shortest expected duration, it is the median of
	 * those expected durations that are above `seconds`. If none is above, it is `seconds`. */
	double expected_duration_seconds;
	double expected_end; /* expected time of the end, seconds since 1970 UTC */
	/* Request / usage so far. 1 = the run uses all that it requested. If no memory was
	 * requested, the memory limit counts as the request. */
	double overprovisioned_memory, overprovisioned_cpu;
};
void running_outlook(const struct prospect *p, const struct running_progress *now,
	struct running *ret);

#endif
