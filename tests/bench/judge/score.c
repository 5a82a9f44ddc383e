/* Waste and failures of each rule. */
#include <math.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "tests/bench/judge/judge.h"

/* Price of a failed attempt in the score: its allocation for the whole run, counted 2.2 times more
 * beside the waste that contains it. */
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

double tally_score(const struct tally *t)
{
	return 100 * (t->wasted + LOST_WEIGHT * t->lost) / t->used;
}

struct score {
	struct tally tally;
	size_t n, room;
	double *ratio; /* first allocation / peak of every scored run */
};

static void score_run(void *context, const struct asked *a)
{
	struct score *s = context;

	if (!a->earlier || isnan(a->allocation))
		return;
	tally_run(&s->tally, a->rule->rule, a->state, a->allocation, a->run);
	GROW(s->ratio, s->n, s->room);
	s->ratio[s->n++] = a->allocation / a->run->peak;
}

static const struct table_column columns[] = {
	{"runs", 0},
	{"waste %", 2},
	{"fail %", 2},
	{"lost %", 2},
	{"score", 2},
	{"ratio50", 2},
	{"ratio95", 2},
};
static const struct table scores = {
	.name = "score",
	.title = "Waste (failed attempts included) and lost (failed attempts alone), in % of used "
		 "GiB h; score = waste + 2.2 x lost",
	.row_name = "rule",
	.n = ARRAY_LEN(columns),
	.column = columns,
};

static void print_score(const struct judge_options *o, const char *source, const char *rule,
	struct score *s)
{
	const struct tally *t = &s->tally;

	if (!t->runs)
		return;
	qsort(s->ratio, s->n, sizeof *s->ratio, judge_ascending);
	table_row(&scores, o, source, rule,
		(const double[]){(double)t->runs, 100 * t->wasted / t->used,
			100 * (double)t->failures / (double)t->runs, 100 * t->lost / t->used,
			tally_score(t), judge_quantile(s->ratio, s->n, 0.5),
			judge_quantile(s->ratio, s->n, 0.95)});
	free(s->ratio);
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

static void score_hindsight(const struct source *source, struct score *s)
{
	for (size_t k = 0; k < source->n; k++) {
		const struct job *job = &source->job[k];
		struct tally t = {0};
		double constant = best_constant(job, &t);

		s->tally.runs += t.runs;
		s->tally.failures += t.failures;
		s->tally.used += t.used;
		s->tally.wasted += t.wasted;
		s->tally.lost += t.lost;
		for (size_t i = 1; i < job->n; i++) {
			GROW(s->ratio, s->n, s->room);
			s->ratio[s->n++] = constant / job->run[i].peak;
		}
	}
}

void judge_scores(const struct sources *s, const struct judge_options *o)
{
	table_head(&scores, o);
	for (size_t i = 0; i < s->n; i++) {
		const struct source *source = &s->source[i];
		struct score hindsight = {0};

		for (size_t k = 0; k < judged_rules_n; k++) {
			struct score score = {0};

			replay_rounds(source, &judged_rules[k], o->cap, score_run, &score);
			print_score(o, source->name, judged_rules[k].name, &score);
		}
		score_hindsight(source, &hindsight);
		print_score(o, source->name, "best-constant", &hindsight);
	}
}
