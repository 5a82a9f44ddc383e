#include "recommender/sizing/neighbours.h"

#include <math.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/cost_aware.h"
#include "recommender/sizing/job_prior.h"

/* The replay takes most of the time of neighbours_finish, so only the first WHOLE_JOBS jobs are
 * replayed completely. Each other job is replayed with its first FIRST_RUNS runs only,
 * because the failures of first requests are the hardest to predict. */
#define WHOLE_JOBS 40
#define FIRST_RUNS 4
/* The built-in correction of the odds (job_prior.h) weighs as much as a correction learnt from this
 * many predicted failures. */
#define ODDS_WEIGHT 4.0
/* Bounds of the learnt correction. A stronger correction would need more runs than a history
 * has. */
#define ODDS_LEAST 0.1
#define ODDS_MOST  4.0

struct replayed_job {
	size_t n;
	struct observation run[NEIGHBOUR_RUNS_MAX];
	bool at_least[NEIGHBOUR_RUNS_MAX];
};

struct neighbours {
	struct job_prior prior;
	size_t jobs; /* number of jobs with two or more runs */
	/* The members below are empty after neighbours_finish. */
	struct ratio_sample sample[EXPERT_COUNT][JOB_STAGES];
	size_t n_replayed;
	struct replayed_job *replayed[NEIGHBOUR_JOBS_MAX];
};

struct neighbours *neighbours_new(void)
{
	return xcalloc(1, sizeof(struct neighbours));
}

/* Adds a job's ratios of actual to predicted peak. At each stage, a ratio weighs 1 / (number of the
 * job's runs at this stage): a job weighs at most 1, even with many runs. Killed runs are left out,
 * because only a lower bound of their ratio is known. */
static void add_ratios(struct neighbours *n, const struct replayed_job *job)
{
	AUTO(freep) struct peaks_seen *seen = xcalloc(1, sizeof *seen);
	size_t count[JOB_STAGES] = {0};

	for (size_t i = 1; i < job->n; i++)
		count[job_prior_stage(i)]++;
	for (size_t i = 0; i < job->n; i++) {
		double value[EXPERT_COUNT];
		size_t stage = job_prior_stage(i);

		experts_predict(seen, job->run[i].input, value);
		for (unsigned e = 0; i && e < EXPERT_COUNT; e++)
			if (value[e] > 0 && !job->at_least[i])
				ratio_sample_add(&n->sample[e][stage], job->run[i].peak / value[e],
					1.0 / (double)count[stage]);
		rule_peaks_add(seen, &job->run[i]);
	}
}

void neighbours_add_job(struct neighbours *n, const struct neighbour_run *run, size_t n_runs)
{
	struct replayed_job *job = xcalloc(1, sizeof *job);

	for (size_t i = n_runs > NEIGHBOUR_RUNS_MAX ? n_runs - NEIGHBOUR_RUNS_MAX : 0; i < n_runs;
		i++)
		if (run[i].peak > 0 && isfinite(run[i].peak)) {
			job->at_least[job->n] = run[i].at_least;
			job->run[job->n++] =
				rule_observation(run[i].peak, run[i].input, run[i].duration);
		}
	add_ratios(n, job);
	n->jobs += job->n > 1;
	if (job->n > 1 && n->n_replayed < NEIGHBOUR_JOBS_MAX)
		n->replayed[n->n_replayed++] = job;
	else
		free(job);
}

struct odds_tally {
	double told, failed;
};

/* Replays the first `runs` runs of a job. Adds to `tally` the failures that were predicted and
 * those that happened, at each stage. */
static void replay_job(const struct job_prior *prior, const struct replayed_job *job, size_t runs,
	struct odds_tally tally[JOB_STAGES])
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	struct rule_options options = rule->defaults;
	AUTO(freep) void *state = xcalloc(1, rule->state_size);

	options.prior = prior;
	rule->start(state, &options);
	for (size_t i = 0; i < job->n && i < runs; i++) {
		const struct observation *o = &job->run[i];
		struct odds_tally *t = &tally[job_prior_stage(i)];

		if (i) {
			double asked = rule->allocate(state, o->input);
			struct cost_aware_outlook outlook;

			cost_aware_outlook(state, o->input, asked, &outlook);
			t->told += outlook.too_small;
			t->failed += o->peak > asked || (job->at_least[i] && o->peak >= asked);
		}
		if (job->at_least[i])
			rule->learn_at_least(state, o);
		else
			rule->learn(state, o);
	}
}

/* Frees the runs and ratios, which only neighbours_finish reads. */
static void drop_runs(struct neighbours *n)
{
	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		for (size_t stage = 0; stage < JOB_STAGES; stage++) {
			free(n->sample[e][stage].at);
			n->sample[e][stage] = (struct ratio_sample){0};
		}
	for (size_t i = 0; i < n->n_replayed; i++)
		free(n->replayed[i]);
	n->n_replayed = 0;
}

void neighbours_finish(struct neighbours *n)
{
	struct odds_tally tally[JOB_STAGES] = {0};

	for (unsigned e = 0; e < EXPERT_COUNT; e++)
		job_prior_summarise(&n->prior, (enum expert)e, n->sample[e]);
	for (size_t stage = 0; stage < JOB_STAGES; stage++)
		n->prior.odds[stage] = 1;
	for (size_t i = 0; i < n->n_replayed; i++)
		replay_job(&n->prior, n->replayed[i],
			i < WHOLE_JOBS ? NEIGHBOUR_RUNS_MAX : FIRST_RUNS, tally);
	drop_runs(n);
	for (size_t stage = 0; stage < JOB_STAGES; stage++) {
		/* By which factor the learnt correction differs from the built-in one. The value of
		 * the previous stage is the first guess for this stage. */
		double learnt =
			stage ? n->prior.odds[stage - 1] / job_prior_usual_odds[stage - 1] : 1;
		double odds =
			(tally[stage].failed + ODDS_WEIGHT * learnt * job_prior_usual_odds[stage]) /
			(tally[stage].told + ODDS_WEIGHT);

		n->prior.odds[stage] = fmin(fmax(odds, ODDS_LEAST), ODDS_MOST);
	}
}

void neighbours_free(struct neighbours *n)
{
	if (n)
		drop_runs(n);
	free(n);
}

const struct job_prior *neighbours_prior(const struct neighbours *n)
{
	return n && n->jobs >= NEIGHBOURS_LEAST ? &n->prior : NULL;
}
