/* Lasting changes of a job's peaks: how soon requests follow, and how often auto sees a change although
 * nothing changed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/cost_aware.h"
#include "tests/bench/judge/judge.h"

#define CHANGE_AT       19 /* index of the first changed run: the 20th */
#define FOLLOWED        10 /* number of runs after the change that are judged */
#define RUNS_NEEDED     30
#define JOBS_OF_RULE(s) ((s)->n * JUDGED_RULES)

/* How a rule follows the change of one job. */
struct followed {
	void *before; /* state that has learnt the runs before the change only */
	/* Number of changed runs until the request followed, and until auto saw the change; 0 = not
	 * within FOLLOWED. */
	size_t taken, reset;
	bool asked;
};

struct change {
	double factor;                    /* peaks from CHANGE_AT on are multiplied by this */
	struct followed *of;              /* by job and rule */
	struct tally after[JUDGED_RULES]; /* attempts of the changed runs */
};

static struct followed *followed_of(struct change *c, const struct asked *a)
{
	return &c->of[a->index * JUDGED_RULES + (size_t)(a->rule - judged_rules)];
}

static void begin(struct followed *f, const struct asked *a)
{
	f->before = judged_start(a->rule, a->neighbours);
	for (size_t i = 0; i < CHANGE_AT; i++)
		a->rule->rule->learn(f->before, &a->job->run[i]);
}

#ifdef MOVES_RUNS
#define RUNS_BEFORE moved
#else
#define RUNS_BEFORE forgotten /* commits before runs were moved */
#endif

/* Returns the number of runs before the newest change that auto recognised. */
static size_t before_change(const struct asked *a)
{
	struct cost_aware_outlook o;

	if (!a->rule->is_auto || isnan(a->allocation))
		return 0;
	cost_aware_outlook(a->state, a->run->input, a->allocation, &o);
	return o.RUNS_BEFORE;
}

/* Returns true if the request is past the middle between the old request and factor x the old
 * request. */
static bool has_followed(const struct change *c, double now, double old)
{
	double middle = old * (1 + c->factor) / 2;

	return c->factor < 1 ? now < middle : now > middle;
}

static void ask_changed(void *context, const struct asked *a)
{
	struct change *c = context;
	struct followed *f = followed_of(c, a);
	size_t changed = a->earlier - CHANGE_AT;

	if (a->job->n < RUNS_NEEDED || a->earlier < CHANGE_AT || changed > FOLLOWED)
		return;
	if (!changed)
		begin(f, a);
	f->asked = true;
	tally_run(&c->after[a->rule - judged_rules], a->rule->rule, a->state, a->allocation,
		a->run);

	double old = a->rule->rule->allocate(f->before, a->run->input);

	if (changed && !f->taken && has_followed(c, a->allocation, old))
		f->taken = changed;
	if (changed && !f->reset && before_change(a) > 0)
		f->reset = changed;
}

static const struct table_column change_columns[] = {
	{"jobs", 0},
	{"in 5 %", 1},
	{"in 10 %", 1},
	{"reset 5 %", 1},
	{"reset 10 %", 1},
	{"waste %", 1},
	{"fail %", 1},
};

/* Numbers of jobs whose requests followed, or of which auto saw the change, within 5 and within 10
 * runs. */
struct follow_counts {
	double jobs, taken_5, taken_10, reset_5, reset_10;
};

static void count_followed(struct follow_counts *n, const struct followed *f)
{
	n->jobs += f->asked;
	n->taken_5 += f->taken && f->taken <= 5;
	n->taken_10 += f->taken > 0;
	n->reset_5 += f->reset && f->reset <= 5;
	n->reset_10 += f->reset > 0;
}

/* `after` is NULL for the row of all sources, because sums of different sources cannot be
 * compared. */
static void print_followed(const struct table *t, const struct judge_options *o, const char *source,
	const struct judged_rule *rule, const struct follow_counts *n, const struct tally *after)
{
	double cell[TALLY_N] = {NAN, NAN, NAN, NAN, NAN},
	       resets = rule->is_auto ? n->jobs : 0; /* only auto looks for changes */

	if (!(n->jobs > 0))
		return;
	if (after)
		tally_cells(after, cell);
	table_row(t, o, source, rule->name,
		(const double[]){n->jobs, judge_percent(n->taken_5, n->jobs),
			judge_percent(n->taken_10, n->jobs), judge_percent(n->reset_5, resets),
			judge_percent(n->reset_10, resets), cell[1], cell[2]});
}

/* Replays a source with changed peaks, prints its rows and adds to the counts of all sources. */
static void judge_source(const struct table *t, const struct source *s,
	const struct judge_options *o, double factor, struct follow_counts all[JUDGED_RULES])
{
	struct source changed = source_copy(s);
	struct change c = {.factor = factor};

	c.of = xcalloc(JOBS_OF_RULE(s) + 1, sizeof *c.of);
	for (size_t k = 0; k < changed.n; k++)
		for (size_t r = CHANGE_AT; r < changed.job[k].n; r++)
			changed.job[k].run[r].peak *= factor;
	replay_rounds(&(struct replay){
		.jobs = &changed,
		.neighbourhood = s->neighbourhood,
		.options = o,
		.ask = ask_changed,
		.context = &c,
	});
	for (size_t i = 0; i < JUDGED_RULES; i++) {
		struct follow_counts own = {0};

		for (size_t k = 0; k < s->n; k++) {
			count_followed(&own, &c.of[k * JUDGED_RULES + i]);
			count_followed(&all[i], &c.of[k * JUDGED_RULES + i]);
		}
		print_followed(t, o, s->name, &judged_rules[i], &own, &c.after[i]);
	}
	for (size_t k = 0; k < JOBS_OF_RULE(s); k++)
		free(c.of[k].before);
	free(c.of);
	source_done(&changed);
}

static void judge_change(const struct sources *s, const struct judge_options *o, double factor,
	const char *name, const char *title)
{
	struct follow_counts all[JUDGED_RULES] = {0};
	struct table t = {
		.name = name,
		.title = title,
		.row_name = "rule",
		.n = ARRAY_LEN(change_columns),
		.column = change_columns,
	};

	table_head(&t, o);
	for (size_t i = 0; i < s->n; i++)
		judge_source(&t, &s->source[i], o, factor, all);
	for (size_t i = 0; i < JUDGED_RULES && s->n > 1; i++)
		print_followed(&t, o, "all sources", &judged_rules[i], &all[i], NULL);
}

#define CHANGE_TITLE                                                                               \
	"\nin 5, in 10: jobs whose request passes the middle between the old and the new level "   \
	"within so many of these runs;\nreset: jobs of which auto sees the change; waste "         \
	"and failures of the runs from there on"

void judge_falls(const struct sources *s, const struct judge_options *o)
{
	judge_change(s, o, 0.5, "fall",
		"Falls: peaks are halved from the 20th run on, in jobs with 30 runs" CHANGE_TITLE);
}

void judge_rises(const struct sources *s, const struct judge_options *o)
{
	judge_change(s, o, 1.3, "rise-1.3",
		"Rises: peaks are 1.3 times larger from the 20th run on" CHANGE_TITLE);
	judge_change(s, o, 2, "rise-2",
		"Rises: peaks are doubled from the 20th run on" CHANGE_TITLE);
}

/* ---- false resets ---- */

#define SHUFFLED_RUNS 100
#define DRAWN_MIN     20 /* jobs with fewer runs are left out */
#define SHUFFLES      5

static void shuffle_runs(struct job *job, uint64_t *series)
{
	for (size_t i = job->n; i > 1; i--) {
		size_t other = judge_random_below(series, i);
		struct observation run = job->run[other];

		job->run[other] = job->run[i - 1];
		job->run[i - 1] = run;
	}
	job->n = SHUFFLED_RUNS;
}

/* Draws runs with repetition, for jobs with too few runs to shuffle. */
static void draw_runs(struct job *job, uint64_t *series)
{
	struct observation *drawn = xcalloc(SHUFFLED_RUNS, sizeof *drawn);

	for (size_t i = 0; i < SHUFFLED_RUNS; i++)
		drawn[i] = job->run[judge_random_below(series, job->n)];
	free(job->run);
	job->run = drawn;
	job->n = SHUFFLED_RUNS;
}

struct resets {
	double jobs[2], reset[2]; /* shuffled, drawn */
	const struct source *original;
};

static void ask_shuffled(void *context, const struct asked *a)
{
	struct resets *r = context;
	bool drawn = r->original->job[a->index].n < SHUFFLED_RUNS;

	if (a->rule->risk != RISK_BALANCED || a->earlier + 1 < SHUFFLED_RUNS)
		return;
	r->jobs[drawn]++;
	r->reset[drawn] += before_change(a) > 0;
}

static const struct table_column false_columns[] = {{"jobs", 0}, {"reset %", 2}};
static const struct table false_table = {
	.name = "false",
	.title =
		"False resets: runs in random order, so that nothing changes; jobs of which auto "
		"sees a change at least once in 100\ndrawn: jobs with 20 to 99 runs, each of which "
		"can come several times; 5 random orders of each job",
	.row_name = "runs",
	.n = ARRAY_LEN(false_columns),
	.column = false_columns,
};

static struct source shuffled_source(const struct source *s, uint64_t *series)
{
	struct source copy = source_copy(s);

	for (size_t k = 0; k < copy.n; k++)
		if (copy.job[k].n >= SHUFFLED_RUNS)
			shuffle_runs(&copy.job[k], series);
		else if (copy.job[k].n >= DRAWN_MIN)
			draw_runs(&copy.job[k], series);
		else
			copy.job[k].n = 0;
	return copy;
}

void judge_false_resets(const struct sources *s, const struct judge_options *o)
{
	static const char *const names[] = {"shuffled", "drawn"};

	table_head(&false_table, o);
	for (size_t i = 0; i < s->n; i++) {
		struct resets resets = {.original = &s->source[i]};
		uint64_t series = 1;

		for (size_t n = 0; n < SHUFFLES; n++) {
			struct source copy = shuffled_source(&s->source[i], &series);

			replay_rounds(&(struct replay){
				.jobs = &copy,
				.options = o,
				.auto_only = true,
				.ask = ask_shuffled,
				.context = &resets,
			});
			source_done(&copy);
		}
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			if (resets.jobs[k] > 0)
				table_row(&false_table, o, s->source[i].name, names[k],
					(const double[]){resets.jobs[k] / SHUFFLES,
						judge_percent(resets.reset[k], resets.jobs[k])});
	}
}
