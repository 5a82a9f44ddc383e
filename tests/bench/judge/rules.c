/* All rules side by side: scores of all jobs, and of wide jobs alone. */
#include <math.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "tests/bench/judge/judge.h"

struct judged {
	size_t source;
	struct score score[JUDGED_RULES];
	struct chances *chances;
	const bool *scored; /* by job; NULL = all */
};

static void ask(void *context, const struct asked *a)
{
	struct judged *j = context;

	if (j->scored && !j->scored[a->index])
		return;
	score_run(&j->score[a->rule - judged_rules], a);
	if (a->rule->is_auto && j->chances)
		chances_ask(j->chances, j->source, a);
}

void judge_rules(const struct sources *s, const struct judge_options *o)
{
	struct chances *chances = chances_new(s->n);

	score_head(o);
	for (size_t i = 0; i < s->n; i++) {
		const struct source *source = &s->source[i];
		struct judged j = {.source = i, .chances = chances};
		struct score hindsight = {0};

		replay_source(source, o, (struct replay){.ask = ask, .context = &j});
		for (size_t k = 0; k < JUDGED_RULES; k++) {
			score_print(&j.score[k], o, source->name, judged_rules[k].name);
			score_done(&j.score[k]);
		}
		score_hindsight(&hindsight, source, NULL);
		score_print(&hindsight, o, source->name, "best-constant");
		score_done(&hindsight);
	}
	chances_print(chances, s, o);
	free(chances);
}

/* A job is wide if its peaks differ more than tenfold and no input is known. */
#define WIDE 10

static bool is_wide(const struct job *job)
{
	for (size_t i = 0; i < job->n; i++)
		if (!isnan(job->run[i].input))
			return false;
	return judge_peak_quantile(job, job->n, 1) > WIDE * judge_peak_quantile(job, job->n, 0);
}

void judge_wide(const struct sources *s, const struct judge_options *o)
{
	score_head(o);
	for (size_t i = 0; i < s->n; i++) {
		const struct source *source = &s->source[i];
		AUTO(freep) bool *wide = xcalloc(source->n + 1, sizeof *wide);
		struct judged j = {.scored = wide};
		struct score hindsight = {0}, *best = NULL;

		for (size_t k = 0; k < source->n; k++)
			wide[k] = is_wide(&source->job[k]);
		replay_source(source, o, (struct replay){.ask = ask, .context = &j});
		for (size_t k = 0; k < JUDGED_RULES; k++) {
			score_print(&j.score[k], o, source->name, judged_rules[k].name);
			if (!judged_rules[k].is_auto && j.score[k].tally.runs &&
				(!best ||
					tally_score(&j.score[k].tally) < tally_score(&best->tally)))
				best = &j.score[k];
		}
		if (best)
			score_print(best, o, source->name, "best of these rules");
		score_hindsight(&hindsight, source, wide);
		score_print(&hindsight, o, source->name, "best-constant");
		score_done(&hindsight);
		for (size_t k = 0; k < JUDGED_RULES; k++)
			score_done(&j.score[k]);
	}
}
