/* The outlook of a run while it runs: the job's past, given what the run did so far. */
#include "recommender/running.h"

#include <math.h>

#include "recommender/auto.h"
#include "recommender/strategy.h"

static struct runs successful(const struct runs *history, struct arena *arena)
{
	struct runs used = {0, arena_alloc(arena, (history->n + 1) * sizeof(struct run))};

	for (size_t i = 0; i < history->n && used.n < PAST_MAX; i++)
		if (history->run[i].outcome == OUTCOME_SUCCEEDED)
			used.run[used.n++] = history->run[i];
	return used;
}

static double ratio(double asked, double used)
{
	return asked > 0 && used > 0 ? asked / used : (double)NAN;
}

void running_outlook(const struct runs *history, const struct run *now, struct running *ret)
{
	AUTO(arena_done) struct arena arena = {0};
	const struct rule *rule = &auto_rules[RISK_BALANCED];
	struct runs used = successful(history, &arena);
	double input = now->input_bytes > 0 ? now->input_bytes : (double)NAN;
	double peak = run_memory_peak(now), limit = now->memory_limit_bytes;
	struct running r = {NAN, NAN, NAN, NAN, NAN, NAN};
	struct fed f;

	feed(&f, rule, &rule->defaults, history, &used, run_memory_peak);
	if (f.learnt) {
		double from = peak > 0 ? peak : 0;

		r.expected_peak_bytes = fmax(auto_quantile_from(f.state, input, 0.5, from), from);
		if (limit > 0)
			r.oom_risk = auto_chance_from(f.state, input, limit, from);
	}
	fed_done(&f);
	feed(&f, rule, &rule->defaults, history, &used, run_duration_as_bytes);
	if (f.learnt && now->duration_seconds >= 0) {
		double from = now->duration_seconds * SECOND_IN_BYTES;

		r.expected_duration_seconds =
			fmax(auto_quantile_from(f.state, input, 0.5, from), from) / SECOND_IN_BYTES;
		r.expected_end = now->started_at + r.expected_duration_seconds;
	}
	fed_done(&f);
	r.overprovisioned_memory =
		ratio(now->requested_memory_bytes > 0 ? now->requested_memory_bytes : limit, peak);
	r.overprovisioned_cpu = ratio(now->requested_cpu_cores, run_mean(now, "cpu_cores"));
	*ret = r;
}
