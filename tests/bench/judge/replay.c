/* Replays the jobs of a source together, round by round. */
#include <math.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/cost_aware.h"
#include "tests/bench/judge/judge.h"

const struct judged_rule judged_rules[] = {
	{"seeds", &rule_baseline, false, 0},
	{"krr", &rule_krr, false, 0},
	{"vpa", &rule_vpa, false, 0},
	{"ponder", &rule_ponder, false, 0},
	{"caq-balanced", &rule_caq[RISK_BALANCED], false, 0},
	{"max-1.2", &rule_max, false, 0},
	{"auto-economy", &cost_aware_rules[RISK_ECONOMY], true, RISK_ECONOMY},
	{"auto-balanced", &cost_aware_rules[RISK_BALANCED], true, RISK_BALANCED},
	{"auto-safe", &cost_aware_rules[RISK_SAFE], true, RISK_SAFE},
};
const size_t judged_rules_n = ARRAY_LEN(judged_rules);

const struct judged_rule *judged_auto(enum risk risk)
{
	const struct judged_rule *r = judged_rules;

	while (!r->is_auto || r->risk != risk)
		r++;
	return r;
}

/* Hands over what the neighbours did before this round. Does nothing: no rule can learn from
 * neighbours yet. */
static void renew_neighbours(const struct source *s, size_t round)
{
	(void)s;
	(void)round;
}

void replay_rounds(const struct source *s, const struct judged_rule *rule, size_t cap,
	void (*ask)(void *context, const struct asked *a), void *context)
{
	void **state = xcalloc(s->n, sizeof *state);
	bool more = true;

	for (size_t k = 0; k < s->n; k++) {
		state[k] = xcalloc(1, rule->rule->state_size);
		rule->rule->start(state[k], &rule->rule->defaults);
	}
	for (size_t round = 0; more && round < cap; round++) {
		more = false;
		if (rule->is_auto)
			renew_neighbours(s, round);
		for (size_t k = 0; k < s->n; k++) {
			const struct job *job = &s->job[k];

			if (round >= job->n)
				continue;

			const struct observation *run = &job->run[round];
			struct asked a = {rule, job, round, run, state[k],
				rule->rule->allocate(state[k], run->input)};

			ask(context, &a);
			rule->rule->learn(state[k], run);
			more = true;
		}
	}
	for (size_t k = 0; k < s->n; k++)
		free(state[k]);
	free(state);
}
