/*
 * Changes from run to run of a job: a lasting shift, a trend, a new highest peak, an unusual newest
 * run. Only successful runs count. Pure.
 */
#ifndef RECOMMENDER_BEHAVIOUR_CHANGES_H
#define RECOMMENDER_BEHAVIOUR_CHANGES_H

#include "recommender/run.h"

enum change_kind { CHANGE_SHIFT, CHANGE_TREND, CHANGE_NEW_PEAK, CHANGE_ANOMALY, CHANGE_KINDS };
extern const char *const change_kind_name[CHANGE_KINDS]; /* "shift", "trend", ... */

struct change {
	enum change_kind kind;
	const char *measure; /* "memory_peak_bytes", "duration_seconds", "cpu_seconds" */
	const char *run_id;  /* SHIFT: the first run after it; TREND: NULL; else the newest run */
	/*
	 * SHIFT: medians before and after. TREND: the value at the oldest run and the expected
	 * value of the next. NEW_PEAK: the largest before and the newest. ANOMALY: expected and
	 * actual value.
	 */
	double before, after;
	double chance;     /* TREND: probability of such an order by chance; else NaN */
	const char *words; /* one sentence, in the caller's arena */
};

/*
 * runs: newest first, all outcomes. requested_bytes: memory request of the next run, NaN = unknown;
 * a trend says when it reaches the request.
 */
size_t changes_of_runs(const struct runs *runs, double requested_bytes, struct arena *arena,
	struct change **ret);

#endif
