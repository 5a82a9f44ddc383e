/*
 * What an expert's earlier predictions were worth: ratios of peak to prediction, newer ones
 * heavier, and a few made-up ones that stand for jobs in general and fade as runs come in. Private
 * to recommender/.
 */
#ifndef RECOMMENDER_SIZING_EXPERT_RECORD_H
#define RECOMMENDER_SIZING_EXPERT_RECORD_H

#include <assert.h>
#include <stdint.h>

#include "recommender/sizing/experts.h"
#include "recommender/sizing/cost_pool.h"

#define PRICES_MAX 3

/* One run that the expert predicted. */
struct expert_trial {
	double ratio, value;     /* value: the prediction, bytes */
	double stake;            /* what was at stake beside memory: the time of the run, or 1 */
	double loss[PRICES_MAX]; /* what sizing by this expert alone would have cost, by price of a
				    failure */
	uint64_t run;            /* which */
};

struct expert_record {
	size_t n;
	struct expert_trial at[PEAKS_SEEN_MAX];
	uint8_t order
		[PEAKS_SEEN_MAX]; /* indices into at, by ratio; of equal ones the older first */
};
static_assert(PEAKS_SEEN_MAX <= UINT8_MAX, "an index of a track is one byte");
void expert_record_add(struct expert_record *t, const struct expert_trial *trial);
void expert_record_forget(struct expert_record *t, uint64_t before); /* runs before this one */

enum ratio_purpose {
	FOR_COST,   /* a run weighs by what it had at stake: memory, as predicted, and time */
	FOR_CHANCE, /* every run counts alike */
};

struct ratio_options {
	double prior_weight; /* of the made-up ratios for the cost, in runs */
	double likeness; /* runs whose predictions differ by more than e^this count little; 0 = all
			    count */
};

/* The weight of a ratio by its age in runs, for expert_record_ratios. */
void expert_record_fade(double ret[PEAKS_SEEN_MAX]);

#define RATIOS_MAX (PEAKS_SEEN_MAX + 10)
/* A set of ratios. */
struct expert_ratios {
	size_t n;
	double sum; /* of the weights */
	struct weighted_value
		at[RATIOS_MAX]; /* ascending; an own ratio before a made-up one that equals it */
};
/* For a prediction of value. */
void expert_record_ratios(const struct expert_record *t, enum expert expert, double value,
	enum ratio_purpose purpose, const struct ratio_options *o,
	const double age_weight[PEAKS_SEEN_MAX], struct expert_ratios *ret);

#endif
