/* Waste and failures, and the best constant in hindsight. */
#include <math.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "recommender/run.h"
#include "tests/bench/judge/judge.h"

/* Weight of the work lost to failed attempts. The waste already contains it once. */
#define LOST_WEIGHT 2.2

void tally_run(struct tally *t, const struct sizing_rule *rule, void *state, double allocation,
	const struct observation *run)
{
	double lost = 0;
	unsigned failures = 0;

	allocation = fmin(allocation, ALLOCATION_MAX);
	while (allocation < run->peak && allocation < ALLOCATION_MAX) {
		double next = rule->retry(state, allocation, ++failures);

		lost += allocation;
		allocation = fmin(next > allocation ? next : 2 * allocation, ALLOCATION_MAX);
	}
	t->runs++;
	t->failures += failures > 0;
	t->used += run->peak * run->duration;
	t->lost += lost * run->duration;
	t->wasted += (lost + fmax(0, allocation - run->peak)) * run->duration;
}

static void tally_add(struct tally *sum, const struct tally *more)
{
	sum->runs += more->runs;
	sum->failures += more->failures;
	sum->used += more->used;
	sum->wasted += more->wasted;
	sum->lost += more->lost;
}

double tally_score(const struct tally *t)
{
	return judge_percent(t->wasted + LOST_WEIGHT * t->lost, t->used);
}

void tally_cells(const struct tally *t, double ret[TALLY_N])
{
	ret[0] = (double)t->runs;
	ret[1] = judge_percent(t->wasted, t->used);
	ret[2] = judge_percent((double)t->failures, (double)t->runs);
	ret[3] = judge_percent(t->lost, t->used);
	ret[4] = tally_score(t);
}

static void add_ratio(struct score *s, double ratio)
{
	GROW(s->ratio, s->n, s->room);
	s->ratio[s->n++] = ratio;
}

void score_run(struct score *s, const struct asked *a)
{
	if (!a->earlier || isnan(a->allocation))
		return;
	tally_run(&s->tally, a->rule->rule, a->state, a->allocation, a->run);
	add_ratio(s, a->allocation / a->run->peak);
}

/* Plays one constant for all runs of a job but the first. The second attempt is the largest peak,
 * which hindsight knows. */
static struct tally play_constant(const struct job *job, double constant, double largest)
{
	struct tally t = {0};

	for (size_t i = 1; i < job->n; i++) {
		const struct observation *run = &job->run[i];
		bool failed = constant < run->peak;

		t.runs++;
		t.failures += failed;
		t.used += run->peak * run->duration;
		t.lost += failed ? constant * run->duration : 0;
		t.wasted += (failed ? constant + largest - run->peak : constant - run->peak) *
			    run->duration;
	}
	return t;
}

static double best_constant(const struct job *job, struct tally *ret)
{
	double largest = 0, best = NAN;

	for (size_t i = 1; i < job->n; i++)
		largest = fmax(largest, job->run[i].peak);
	for (size_t i = 1; i < job->n; i++) {
		struct tally t = play_constant(job, job->run[i].peak, largest);

		if (isnan(best) || tally_score(&t) < tally_score(ret)) {
			best = job->run[i].peak;
			*ret = t;
		}
	}
	return best;
}

void score_hindsight(struct score *s, const struct source *source, const bool *scored)
{
	for (size_t k = 0; k < source->n; k++) {
		const struct job *job = &source->job[k];
		struct tally t = {0};

		if (scored && !scored[k])
			continue;

		double constant = best_constant(job, &t);

		tally_add(&s->tally, &t);
		for (size_t i = 1; i < job->n; i++)
			add_ratio(s, constant / job->run[i].peak);
	}
}

static const struct table_column columns[] = {
	TALLY_COLUMNS,
	{"ratio50", 2},
	{"ratio95", 2},
};
static const struct table table = {
	.name = "score",
	.title = "Waste (failed attempts included) and lost (failed attempts alone), in % of used "
		 "GiB h; score = waste + 2.2 x lost",
	.row_name = "rule",
	.n = ARRAY_LEN(columns),
	.column = columns,
};

void score_head(const struct judge_options *o)
{
	table_head(&table, o);
}

void score_print(struct score *s, const struct judge_options *o, const char *source,
	const char *rule)
{
	double cell[ARRAY_LEN(columns)];

	if (!s->tally.runs)
		return;
	qsort(s->ratio, s->n, sizeof *s->ratio, stats_ascending);
	tally_cells(&s->tally, cell);
	cell[TALLY_N] = judge_quantile(s->ratio, s->n, 0.5);
	cell[TALLY_N + 1] = judge_quantile(s->ratio, s->n, 0.95);
	table_row(&table, o, source, rule, cell);
}

void score_done(struct score *s)
{
	free(s->ratio);
}
