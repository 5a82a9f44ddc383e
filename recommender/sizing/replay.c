/* Replays runs of the history to a rule, oldest first. */
#include <math.h>
#include <stdlib.h>

#include "recommender/sizing/strategy.h"

double sizing_next_input(const struct sizing_options *options)
{
	double input = options->input_bytes;

	return (input > 0 || (options->input_given && input >= 0)) && isfinite(input) ? input : NAN;
}

/* Returns the input size of a run: the announced size, or the bytes read if no run of the job
 * announced a size. */
static double input_of(const struct run *r, bool announced)
{
	return announced ? r->input_bytes : run_total(r, "read_chars");
}

static bool any_announced(const struct runs *used)
{
	for (size_t i = 0; i < used->n; i++)
		if (used->run[i].input_bytes >= 0)
			return true;
	return false;
}

/* Returns the request after an OOM kill, computed as in the VPA: 20 % above the limit, and at least
 * 100 MiB above it. */
static double after_kill(double limit)
{
	return fmax(1.2 * limit, limit + 100 * MIB);
}

static void feed_kill(struct replayed *f, const struct sizing_rule *rule, const struct run *r,
	unsigned kills)
{
	double limit = run_needs_killed_at(r);

	if (isnan(limit))
		return;
	f->killed_at = fmax(f->killed_at, limit);
	f->after_oom = fmax(f->after_oom, after_kill(limit));
	if (f->learnt)
		f->after_oom = fmax(f->after_oom, rule->retry(f->state, limit, kills));
	else
		f->after_oom = fmax(f->after_oom, 2 * limit);
}

/* Returns an array: ret[k] is the largest peak of a successful run among the newest k runs. The
 * caller frees it. */
static double *newest_peaks(const struct runs *runs, size_t n)
{
	double *largest = xcalloc(n + 1, sizeof *largest);

	for (size_t i = 0; i < n; i++) {
		bool succeeded = runs->run[i].outcome == OUTCOME_SUCCEEDED;

		largest[i + 1] =
			fmax(largest[i], succeeded ? run_needs_memory(&runs->run[i]) : (double)NAN);
	}
	return largest;
}

/* Learns consecutive kills before a success as a single run. Call this only if no later run needed
 * as much memory as the limit of these kills. */
static void learn_kills(struct replayed *f, const struct sizing_rule *rule,
	const struct run *killed, const struct run *success, bool announced, enum replay_kind how)
{
	double need = after_kill(f->killed_at);
	struct observation o =
		rule_observation(need, input_of(killed, announced), run_duration(success));

	if (how == REPLAY_SCORED)
		rule_score(rule, f->state, &o, &f->record);
	if (rule->successes_only)
		return;
	rule->learn(f->state, &o);
	f->kills++;
	f->kills_at = fmax(f->kills_at, f->killed_at);
	f->kills_need = fmax(f->kills_need, need);
}

static void learn_success(struct replayed *f, const struct sizing_rule *rule, const struct run *r,
	double peak, bool announced, enum replay_kind how)
{
	struct observation o = rule_observation(peak, input_of(r, announced), run_duration(r));

	if (!(peak > 0))
		return;
	if (how == REPLAY_SCORED)
		rule_replay(rule, f->state, &o, &f->record);
	else
		rule->learn(f->state, &o);
	f->learnt++;
}

void replay_runs(struct replayed *ret, const struct sizing_rule *rule,
	const struct rule_options *options, const struct runs *runs, const struct runs *used,
	double (*peak)(const struct run *), enum replay_kind how)
{
	struct replayed f = {.state = xcalloc(1, rule->state_size)};
	bool announced = any_announced(used);
	bool of_memory = peak == run_needs_memory; /* kills matter only for memory */
	size_t oldest = 0, seen = 0;
	unsigned kills = 0;
	const struct run *killed = NULL;

	rule->start(f.state, options);
	while (oldest < runs->n && (seen < used->n || !used->n))
		seen += runs->run[oldest++].outcome == OUTCOME_SUCCEEDED;
	AUTO(freep) double *later = newest_peaks(runs, oldest);

	for (size_t i = oldest; i-- > 0;) {
		const struct run *r = &runs->run[i];

		if (r->outcome == OUTCOME_OOM_KILLED && of_memory) {
			feed_kill(&f, rule, r, ++kills);
			killed = r;
		}
		if (r->outcome != OUTCOME_SUCCEEDED)
			continue;
		if (killed && f.killed_at > 0 && later[i + 1] < f.killed_at)
			learn_kills(&f, rule, killed, r, announced, how);
		f.after_oom = f.killed_at = kills = 0;
		learn_success(&f, rule, r, peak(r), announced, how);
	}
	*ret = f;
}

void replay_done(struct replayed *f)
{
	free(f->state);
}
