/* Simple predictors of a job's next peak. No predictor suits every job, so cost_aware.c weighs them
 * by their past results. Private to recommender/. */
#ifndef RECOMMENDER_SIZING_EXPERTS_H
#define RECOMMENDER_SIZING_EXPERTS_H

#include <stdbool.h>

#include "recommender/sizing/rule.h"

enum expert {
	/* These experts use only the peaks. */
	EXPERT_MEDIAN, /* middle of the peaks */
	EXPERT_P75,    /* weighted percentile; the weight halves every 24 runs */
	EXPERT_P90,
	EXPERT_LARGEST,
	EXPERT_LARGEST_OF_5, /* largest of the newest five peaks */
	EXPERT_LAST,
	/* These experts use peaks and input sizes. */
	EXPERT_LINE, /* least squares, slope >= 0; at least half the smallest peak (least_peak) */
	EXPERT_NEAREST, /* largest peak of the 3 runs with the nearest inputs */
	/* peak ~ input^a: least squares of logs; with few runs, a is near 0.7. Beyond the largest
	 * input, a is at most 1. */
	EXPERT_POWER,
	EXPERT_SIMILAR, /* third quartile; runs with a similar input and newer runs weigh more */
	EXPERT_SAME,    /* median of the runs with the same input +- 2 % */
	EXPERT_COUNT,
};

struct expert_row {
	const char *words; /* "the largest peak" */
	/* extrapolates: its predictions can lie outside the range of the peaks seen */
	bool needs_input, extrapolates;
};
extern const struct expert_row experts[EXPERT_COUNT];

/* Writes the predictions of all experts in bytes; NaN = the expert makes none. `input` is the size
 * of the next input in bytes; NaN = unknown. Predictions of LINE and POWER can lie outside the
 * range of the peaks seen. */
void experts_predict(const struct peaks_seen *p, double input, double ret[EXPERT_COUNT]);

#endif
