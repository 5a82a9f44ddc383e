/* Changes from run to run of a job: a lasting shift, a trend, a new highest peak, an unusual newest
 * run. Uses only successful runs. Pure functions. */
#ifndef RECOMMENDER_BEHAVIOUR_CHANGES_H
#define RECOMMENDER_BEHAVIOUR_CHANGES_H

#include "recommender/run.h"

enum change_kind { CHANGE_SHIFT, CHANGE_TREND, CHANGE_NEW_PEAK, CHANGE_ANOMALY, CHANGE_KINDS };
extern const char *const change_kind_name[CHANGE_KINDS]; /* "shift", "trend", ... */

struct change {
	enum change_kind kind;
	const char *measure; /* "memory_peak_bytes", "duration_seconds", "cpu_seconds" */
	const char *run_id;  /* SHIFT: first run after the shift; TREND: NULL; others: newest run */
	/* SHIFT: medians before and after the shift. TREND: values of the trend line at its oldest
	 * run and at the next run. NEW_PEAK: largest earlier peak, and newest peak. ANOMALY:
	 * expected and actual value. */
	double before, after;
	double chance;     /* TREND: p-value (see trend_chance); else NaN */
	const char *words; /* one sentence, in the caller's arena */
};

/* Finds the changes and returns their number. `runs`: newest first, all outcomes.
 * `requested_bytes`: memory request of the next run, NaN = unknown. It is used in one sentence
 * only: after how many runs a growing memory will reach the request. `*ret` is in `arena`. */
size_t changes_of_runs(const struct runs *runs, double requested_bytes, struct arena *arena,
	struct change **ret);

#endif
