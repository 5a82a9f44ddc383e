/* Expectations of a job that has few runs: ratios of actual to predicted peak (expert_record.h),
 * and a correction of the stated chances of failure. They are learnt from the other jobs of the
 * same history (neighbours.h). Without other jobs, they are built in. Private to recommender/. */
#ifndef RECOMMENDER_SIZING_JOB_PRIOR_H
#define RECOMMENDER_SIZING_JOB_PRIOR_H

#include "recommender/sizing/expert_record.h"

/* A job is at one of four stages, by its number of earlier runs: 0 or 1, 2 to 3, 4 to 9, 10 and
 * more. Predictions become better with each stage: the second peak of a job differs more from the
 * first than the 21st differs from the largest of the first twenty. */
#define JOB_STAGES 4
size_t job_prior_stage(size_t runs);

struct job_prior {
	struct ratio_prior ratios[JOB_STAGES][EXPERT_COUNT];
	/* Factor that corrects the odds of a failure at each stage: (odds in past runs) / (odds
	 * that the ratios predict). */
	double odds[JOB_STAGES];
};

/* Both are for a job with `runs` earlier runs. job_prior_ratios returns the ratios of actual to
 * predicted peak of one expert. job_prior_odds returns the factor that corrects the odds of a
 * failure. If `p` is NULL, they return built-in values. */
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
 * - those of this stage;
 * - those of all other stages, together with the weight of at most 20 jobs, or of fewer if this
 *   stage has many jobs of its own (OTHER_STAGES);
 * - the built-in ones, with the weight of 1 to 40 jobs (built_in_jobs). */
void job_prior_summarise(struct job_prior *p, enum expert expert,
	const struct ratio_sample sample[JOB_STAGES]);

#endif
