/* Runs that were killed at a limit. The peak of such a run is a lower bound of its need. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "tests/bench/judge/judge.h"

/* Ways to learn from a killed run. */
enum lesson {
	LESSON_TRUTH, /* its true peak, which is unknown in practice */
	LESSON_NOTHING,
	LESSON_VPA,      /* as a run that needed what the VPA requests after the kill */
	LESSON_AT_LEAST, /* as a run that needed at least the limit */
	LESSONS
};
static const char *const lesson_names[LESSONS] = {"truth", "nothing", "as VPA", "at least"};

#ifdef LEARNS_AT_LEAST
static void learn_at_least(const struct sizing_rule *rule, void *state, struct observation at_least)
{
	rule->learn_at_least(state, &at_least);
}
#define LESSONS_KNOWN LESSONS
#else
static void learn_at_least(const struct sizing_rule *rule, void *state, struct observation at_least)
{
	(void)rule;
	(void)state;
	(void)at_least;
}
#define LESSONS_KNOWN LESSON_AT_LEAST
#endif

struct limited {
	double limit; /* memory limit of the job's runs, bytes */
	size_t kills, successes;
	unsigned kills_in_a_row[JUDGED_RULES];
};

struct censored {
	enum lesson lesson;
	struct limited *job;
	struct tally tally[JUDGED_RULES];
	struct chance chance[JUDGED_RULES];
};

/* The VPA's request after a kill: 20 % above the limit, and at least 100 MiB. */
static double after_kill(double limit)
{
	return fmax(1.2 * limit, limit + 100 * MIB);
}

static bool is_killed(const struct limited *l, const struct asked *a)
{
	return a->run->peak > l->limit;
}

/* Returns true if the job has had a kill and a success before this run. This holds for all lessons
 * or for none, so all lessons are judged on the same runs. */
static bool is_judged(const struct limited *l, const struct asked *a)
{
	bool kill = false, success = false;

	for (size_t i = 0; i < a->earlier; i++) {
		kill |= a->job->run[i].peak > l->limit;
		success |= a->job->run[i].peak <= l->limit;
	}
	return kill && success;
}

static void ask(void *context, const struct asked *asked)
{
	struct censored *c = context;
	const struct limited *l = &c->job[asked->index];
	size_t rule = (size_t)(asked->rule - judged_rules);
	unsigned kills = l->kills_in_a_row[rule];
	struct asked a = *asked;

	if (!is_judged(l, &a) || isnan(a.allocation))
		return;
	if (c->lesson == LESSON_VPA && kills)
		a.allocation = fmax(fmax(a.allocation, after_kill(l->limit)),
			a.rule->rule->retry(a.state, l->limit, kills));
	tally_run(&c->tally[rule], a.rule->rule, a.state, a.allocation, a.run);
	if (a.rule->is_auto)
		chance_ask(&c->chance[rule], &a);
}

static void learn(void *context, const struct asked *a)
{
	struct censored *c = context;
	struct limited *l = &c->job[a->index];
	unsigned *kills = &l->kills_in_a_row[a->rule - judged_rules];
	struct observation killed = *a->run;

	if (!is_killed(l, a)) {
		if (*kills && c->lesson == LESSON_VPA && !a->rule->rule->successes_only) {
			killed.peak = after_kill(l->limit);
			a->rule->rule->learn(a->state, &killed);
		}
		*kills = 0;
		a->rule->rule->learn(a->state, a->run);
		return;
	}
	++*kills;
	killed.peak = l->limit;
	if (c->lesson == LESSON_TRUTH)
		a->rule->rule->learn(a->state, a->run);
	else if (c->lesson == LESSON_AT_LEAST)
		learn_at_least(a->rule->rule, a->state, killed);
}

#define SHARE_MIN 0.8 /* the limit is between this quantile and the largest peak */

static const struct table_column columns[] = {
	TALLY_COLUMNS,
	{"told %", 2},
	{"came %", 2},
};
static const struct table table = {
	.name = "censor",
	.title =
		"Kills: each job has a limit at a random quantile (0.8 to 1) of its peaks, and runs "
		"above it are killed there.\nAllocations after a kill and a success, judged by the "
		"true peaks, by what is learnt from killed runs",
	.row_name = "rule, learnt",
	.n = ARRAY_LEN(columns),
	.column = columns,
};

static void print(const struct judge_options *o, const char *source, const struct censored *c)
{
	for (size_t i = 0; i < JUDGED_RULES; i++) {
		const struct chance *chance = &c->chance[i];
		double cell[ARRAY_LEN(columns)];
		char name[64];

		if (!c->tally[i].runs)
			continue;
		tally_cells(&c->tally[i], cell);
		cell[TALLY_N] = judge_percent(chance->told, (double)chance->asked);
		cell[TALLY_N + 1] = judge_percent((double)chance->failed, (double)chance->asked);
		snprintf(name, sizeof name, "%s %s", judged_rules[i].name, lesson_names[c->lesson]);
		table_row(&table, o, source, name, cell);
	}
}

void judge_censored(const struct sources *s, const struct judge_options *o)
{
	table_head(&table, o);
	for (size_t i = 0; i < s->n; i++) {
		const struct source *source = &s->source[i];

		for (size_t lesson = 0; lesson < LESSONS_KNOWN; lesson++) {
			struct censored c = {.lesson = (enum lesson)lesson};
			uint64_t series = 1;

			c.job = xcalloc(source->n + 1, sizeof *c.job);
			for (size_t k = 0; k < source->n; k++)
				c.job[k].limit = judge_peak_quantile(&source->job[k],
					source->job[k].n,
					SHARE_MIN +
						(1 - SHARE_MIN) *
							(double)judge_random_below(&series, 1000) /
							1000);
			replay_source(source, o,
				(struct replay){
					.auto_only = true,
					.ask = ask,
					.learn = learn,
					.context = &c,
				});
			print(o, source->name, &c);
			free(c.job);
		}
	}
}
