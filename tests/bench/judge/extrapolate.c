/* Inputs larger than any that a job has learnt. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "recommender/run.h"
#include "tests/bench/judge/judge.h"

#define LEARNT_MIN 5

/* Classes of input / largest learnt input. */
static const struct reach_class {
	const char *name;
	double end;
} classes[] = {{"1", 1}, {"1-1.5", 1.5}, {"1.5-3", 3}, {"3+", INFINITY}};
#define CLASSES ARRAY_LEN(classes)

struct extrapolation {
	const size_t *learnt; /* number of first runs of each job that are learnt */
	struct tally tally[JUDGED_RULES][CLASSES];
	struct chance chance[JUDGED_RULES][CLASSES];
};

static double largest_learnt(const struct job *job, size_t learnt)
{
	double largest = 0;

	for (size_t i = 0; i < learnt; i++)
		largest = fmax(largest, job->run[i].input);
	return largest;
}

static void ask(void *context, const struct asked *a)
{
	struct extrapolation *x = context;
	size_t learnt = x->learnt[a->index], rule = (size_t)(a->rule - judged_rules), c = 0;

	if (learnt < LEARNT_MIN || a->earlier < learnt || isnan(a->allocation))
		return;

	double factor = a->run->input / largest_learnt(a->job, learnt);

	while (factor > classes[c].end)
		c++;
	tally_run(&x->tally[rule][c], a->rule->rule, a->state, a->allocation, a->run);
	if (a->rule->is_auto)
		chance_ask(&x->chance[rule][c], a);
}

static void learn(void *context, const struct asked *a)
{
	struct extrapolation *x = context;

	if (a->earlier < x->learnt[a->index])
		a->rule->rule->learn(a->state, a->run);
}

/* Puts the runs with an input below the median first, then the others. Drops runs without an
 * announced input. Returns the number of the first kind. */
static size_t divide(struct job *job)
{
	AUTO(freep) double *input = xcalloc(job->n + 1, sizeof *input);
	struct observation *run = xcalloc(job->n + 1, sizeof *run);
	size_t n = 0, learnt = 0, all = 0;

	for (size_t i = 0; i < job->n; i++)
		if (job->run[i].input > 0)
			input[n++] = job->run[i].input;
	qsort(input, n, sizeof *input, stats_ascending);

	double median = judge_quantile(input, n, 0.5);

	for (unsigned above = 0; above < 2; above++) {
		for (size_t i = 0; i < job->n; i++)
			if (job->run[i].input > 0 && above == !(job->run[i].input < median))
				run[all++] = job->run[i];
		learnt = above ? learnt : all;
	}
	free(job->run);
	job->run = run;
	job->n = all;
	return learnt;
}

static const struct table_column columns[] = {
	TALLY_COLUMNS,
	{"told %", 2},
	{"came %", 2},
};
static const struct table table = {
	.name = "extrapolate",
	.title =
		"Extrapolation: only runs with an input below the job's median are learnt, and the "
		"others asked for,\nby input / largest learnt input",
	.row_name = "rule, factor",
	.n = ARRAY_LEN(columns),
	.column = columns,
};

static void print(const struct judge_options *o, const char *source, const struct extrapolation *x)
{
	for (size_t i = 0; i < JUDGED_RULES; i++)
		for (size_t c = 0; c < CLASSES; c++) {
			const struct chance *chance = &x->chance[i][c];
			double cell[ARRAY_LEN(columns)];
			char name[64];

			if (!x->tally[i][c].runs)
				continue;
			tally_cells(&x->tally[i][c], cell);
			cell[TALLY_N] = judge_percent(chance->told, (double)chance->asked);
			cell[TALLY_N + 1] =
				judge_percent((double)chance->failed, (double)chance->asked);
			snprintf(name, sizeof name, "%s %s", judged_rules[i].name, classes[c].name);
			table_row(&table, o, source, name, cell);
		}
}

void judge_extrapolation(const struct sources *s, const struct judge_options *o)
{
	table_head(&table, o);
	for (size_t i = 0; i < s->n; i++) {
		struct source divided = source_copy(&s->source[i]);
		AUTO(freep) size_t *learnt = xcalloc(divided.n + 1, sizeof *learnt);
		struct extrapolation *x = xcalloc(1, sizeof *x);

		for (size_t k = 0; k < divided.n; k++)
			learnt[k] = divide(&divided.job[k]);
		x->learnt = learnt;
		replay_rounds(&(struct replay){
			.jobs = &divided,
			.neighbourhood = s->source[i].neighbourhood,
			.options = o,
			.ask = ask,
			.learn = learn,
			.context = x,
		});
		print(o, divided.name, x);
		free(x);
		source_done(&divided);
	}
}
