/* The record of an expert (experts.h): one ratio for each past run that the expert predicted,
 * actual peak / predicted peak. Newer ratios weigh more. expert_record_ratios adds the ratios of
 * typical jobs (struct ratio_prior). Their share falls with each run of the job itself. Private to
 * recommender/. */
#ifndef RECOMMENDER_SIZING_EXPERT_RECORD_H
#define RECOMMENDER_SIZING_EXPERT_RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "recommender/sizing/experts.h"
#include "recommender/sizing/cost_pool.h"

#define PRICES_MAX 3

/* One run that the expert predicted. */
struct expert_trial {
	double ratio, value;     /* peak / prediction; prediction in bytes */
	double log_value;        /* set by expert_record_add */
	bool at_least;           /* the run was killed: its ratio is above `ratio` */
	double stake;            /* duration of the run in seconds; 1 if unknown */
	double loss[PRICES_MAX]; /* cost if this expert alone sized the run, for each price */
	uint64_t run;            /* number of the run in the order of learning */
};

struct expert_record {
	size_t n;
	struct expert_trial at[PEAKS_SEEN_MAX];
	uint8_t order[PEAKS_SEEN_MAX]; /* indices into `at`, sorted by ratio, then age */
};
static_assert(PEAKS_SEEN_MAX <= UINT8_MAX, "an index into at is one byte");
void expert_record_add(struct expert_record *t, const struct expert_trial *trial);
/* Call it after a lasting change of the peaks by `factor`. Drops the runs since the change (number
 * `first` or higher), and multiplies the predictions for the earlier runs by `factor`. */
void expert_record_move(struct expert_record *t, uint64_t first, double factor);

enum ratio_purpose {
	FOR_COST,   /* the weight of a run is multiplied by its prediction x stake */
	FOR_CHANCE, /* the weight of a run does not depend on its prediction and stake */
};

/* The prior of an expert: ratios of actual to predicted peak that are expected of a job before it
 * has ratios of its own (job_prior.h). An atom is one possible ratio with its weight. */
#define PRIOR_ATOMS 24
struct ratio_prior {
	struct weighted_value at[PRIOR_ATOMS]; /* ascending; the weights sum to 1 */
	double deviation; /* weighted mean of min(|value - 1|, RATIO_OFF_MAX) */
};
#define USUAL_DEVIATION 0.2 /* about the deviation of the built-in ratios */
#define RATIO_OFF_MAX   1.0

struct ratio_options {
	/* Weight of all prior ratios for FOR_COST, in runs: 5 = as much as 5 runs. */
	double prior_weight;
	/* A run weighs less the more its prediction differs from the new prediction. The weight is
	 * a bell curve of width `likeness` over log(new / old prediction). 0 = all runs weigh the
	 * same. */
	double likeness;
};

/* Fills `ret` for expert_record_ratios: ret[i] is the weight of a ratio that is i runs old. */
void expert_record_fade(double ret[PEAKS_SEEN_MAX]);

#define RATIOS_MAX (PEAKS_SEEN_MAX + PRIOR_ATOMS)
struct expert_ratios {
	size_t n;
	double sum;                           /* sum of the weights */
	struct weighted_value at[RATIOS_MAX]; /* ascending; of equal values, observed ones first */
};
/* Combines the ratios of past runs and of the prior into one weighted set, for a new prediction of
 * `value` bytes. The ratio of a killed run is known only as a lower bound. Its weight is divided
 * among the ratios above the bound, in proportion to their weights (as in the Kaplan-Meier
 * estimator). `age_weight` comes from expert_record_fade. */
void expert_record_ratios(const struct expert_record *t, const struct ratio_prior *prior,
	double value, enum ratio_purpose purpose, const struct ratio_options *o,
	const double age_weight[PEAKS_SEEN_MAX], struct expert_ratios *ret);

#endif
