/*
 * Simple predictions of a job's next peak, each explainable in half a sentence. None is right for
 * every job; cost_aware.c weighs them by how they did. Private to recommender/.
 */
#ifndef RECOMMENDER_SIZING_EXPERTS_H
#define RECOMMENDER_SIZING_EXPERTS_H

#include <stdbool.h>

#include "recommender/sizing/rule.h"

enum expert {
	/* from the peaks alone */
	EXPERT_MEDIAN, /* middle of the peaks */
	EXPERT_P75,    /* weighted percentile: newest heaviest, half after 24 runs */
	EXPERT_P90,
	EXPERT_LARGEST,
	EXPERT_LARGEST_OF_5, /* newest five */
	EXPERT_LAST,
	/* from the input sizes too */
	EXPERT_LINE,    /* least squares, never falling, at least half the smallest peak */
	EXPERT_NEAREST, /* largest peak of the 3 runs whose input is nearest by ratio */
	EXPERT_POWER,   /* peak ~ input^a: least squares of the logs, a drawn towards 0.7 while runs
			   are few */
	EXPERT_SIMILAR, /* third quartile, runs weighted by likeness of input and by age */
	EXPERT_SAME,    /* median of the runs with the same input within 2 % */
	EXPERT_COUNT,
};

struct expert_row {
	const char *words; /* "the largest peak" */
	bool needs_input;
};
extern const struct expert_row experts[EXPERT_COUNT];

/* Predictions in bytes; NaN where an expert has nothing to say. reach: the most that LINE and POWER
 * extrapolate, in largest peaks. */
void experts_predict(const struct peaks_seen *p, double input, double reach,
	double ret[EXPERT_COUNT]);

#endif
