/* The rules, and the replay of all jobs of a source round by round. */
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/cost_aware.h"
#include "tests/bench/caq.h"
#include "tests/bench/judge/judge.h"
#include "tests/bench/ponder.h"

const struct judged_rule judged_rules[JUDGED_RULES] = {
	{"seeds", &rule_baseline, false, 0},
	{"krr", &rule_krr, false, 0},
	{"vpa", &rule_vpa, false, 0},
	{"ponder", &bench_ponder, false, 0},
	{"caq-balanced", &bench_caq[RISK_BALANCED], false, 0},
	{"max-1.2", &rule_max, false, 0},
	{"auto-economy", &cost_aware_rules[RISK_ECONOMY], true, RISK_ECONOMY},
	{"auto-balanced", &cost_aware_rules[RISK_BALANCED], true, RISK_BALANCED},
	{"auto-safe", &cost_aware_rules[RISK_SAFE], true, RISK_SAFE},
};

bool judged_chosen(const struct judged_rule *rule, const struct judge_options *o)
{
	return !o->rules || strstr(rule->name, o->rules);
}

void *judged_start(const struct judged_rule *rule, const struct neighbours *n)
{
	void *state = xcalloc(1, rule->rule->state_size);

	rule->rule->start(state, &rule->rule->defaults);
	if (rule->is_auto && n)
		neighbourhood_tell(state, n);
	return state;
}

static bool plays(const struct replay *r, const struct judged_rule *rule)
{
	return judged_chosen(rule, r->options) && (rule->is_auto || !r->auto_only);
}

static void play_run(const struct replay *r, const struct asked *asked)
{
	struct asked a = *asked;

	if (a.rule->is_auto && a.neighbours)
		neighbourhood_tell(a.state, a.neighbours);
	a.allocation = a.rule->rule->allocate(a.state, a.run->input);
	r->ask(r->context, &a);
	if (r->learn)
		r->learn(r->context, &a);
	else
		a.rule->rule->learn(a.state, a.run);
}

/* Replays run number `round` of every job that has that many runs. Returns the number of runs
 * replayed. */
static size_t play_round(const struct replay *r, size_t round, void **states)
{
	size_t played = 0;

	for (size_t k = 0; k < r->jobs->n; k++) {
		struct asked a = {
			.job = &r->jobs->job[k],
			.index = k,
			.earlier = round,
			.neighbours = neighbourhood_of(r->neighbourhood, k),
		};

		if (round >= a.job->n)
			continue;
		a.run = &a.job->run[round];
		for (size_t i = 0; i < JUDGED_RULES; i++) {
			void **state = &states[k * JUDGED_RULES + i];

			a.rule = &judged_rules[i];
			if (!plays(r, a.rule))
				continue;
			if (!*state)
				*state = judged_start(a.rule, NULL);
			a.state = *state;
			play_run(r, &a);
		}
		played++;
	}
	return played;
}

void replay_rounds(const struct replay *r)
{
	void **states = xcalloc(r->jobs->n * JUDGED_RULES + 1, sizeof *states);

	for (size_t round = 0, played = 1; played; round++) {
		if (r->neighbourhood)
			neighbourhood_renew(r->neighbourhood, round);
		played = play_round(r, round, states);
	}
	for (size_t i = 0; i < r->jobs->n * JUDGED_RULES; i++)
		free(states[i]);
	free(states);
}

void replay_source(const struct source *s, const struct judge_options *o, struct replay how)
{
	how.jobs = s;
	how.neighbourhood = s->neighbourhood;
	how.options = o;
	replay_rounds(&how);
}
