/* Assumptions for a job that has few runs: typical ratios of actual to predicted peak
 * (expert_record.h), and a correction of the stated chances of failure. They are learnt from the
 * other jobs of the same history (neighbours.h). Without other jobs, built-in values are used.
 * Private to recommender/. */
#ifndef RECOMMENDER_SIZING_JOB_PRIOR_H
#define RECOMMENDER_SIZING_JOB_PRIOR_H

#include "recommender/sizing/expert_record.h"

/* A job is at one of four stages, by its number of earlier runs: 0 or 1, 2 to 3, 4 to 9, 10 and
 * more. Predictions become better with each stage. Example: the second peak is predicted from one
 * peak, the 21st from twenty. */
#define JOB_STAGES 4
size_t job_prior_stage(size_t runs);

struct job_prior {
	struct ratio_prior ratios[JOB_STAGES][EXPERT_COUNT];
	/* Factor that corrects the odds of a failure at each stage: (odds in past runs) / (odds
	 * that the ratios predict). */
	double odds[JOB_STAGES];
};

/* Both functions are for a job with `runs` earlier runs. job_prior_ratios returns the ratios of
 * actual to predicted peak of one expert. job_prior_odds returns the factor that corrects the odds
 * of a failure. If `p` is NULL, they return built-in values. */
const struct ratio_prior *job_prior_ratios(const struct job_prior *p, enum expert expert,
	size_t runs);
double job_prior_odds(const struct job_prior *p, size_t runs);
extern const double job_prior_usual_odds[JOB_STAGES]; /* the built-in factors */

/* Ratios of actual to predicted peak from other jobs, with their weights: the input of
 * job_prior_summarise. */
struct ratio_sample {
	size_t n, room;
	struct weighted_value *at; /* malloc'ed */
	double weight;             /* sum of the weights; a job counts as at most 1 */
};
void ratio_sample_add(struct ratio_sample *s, double ratio, double weight);

/* Sets p->ratios of one expert at each stage. They summarise three sets of ratios:
 * - The ratios of this stage.
 * - The ratios of all other stages. Together they weigh at most as much as 20 jobs, and less if
 *   this stage has many jobs of its own (OTHER_STAGES).
 * - The built-in ratios. They weigh as much as 1 to 40 jobs (built_in_jobs). */
void job_prior_summarise(struct job_prior *p, enum expert expert,
	const struct ratio_sample sample[JOB_STAGES]);

#endif
