/* Replays runs of the history to a rule, oldest first. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "recommender/sizing/evidence.h"
#include "recommender/sizing/strategy.h"

double sizing_next_input(const struct sizing_options *options)
{
	double input = options->input_bytes;

	return (input > 0 || (options->input_given && input >= 0)) && isfinite(input) ? input : NAN;
}

double sizing_run_input(const struct run *r, bool announced)
{
	return announced ? r->input_bytes : run_total(r, "read_chars");
}

bool sizing_any_announced(const struct runs *used)
{
	for (size_t i = 0; i < used->n; i++)
		if (used->run[i].input_bytes >= 0)
			return true;
	return false;
}

/* Returns the request after a run was killed at `limit` bytes. As in the Kubernetes VPA, it is 20 %
 * above the limit, and at least 100 MiB above it. */
static double after_kill(double limit)
{
	return fmax(1.2 * limit, limit + 100 * MIB);
}

/* A streak: successive runs that were killed for memory or failed at their limit. A run that stays
 * below its limit ends the streak. */
struct streak {
	/* Smallest limit at which a run failed without a kill; 0 = none. The value is kept after
	 * the streak, until a run succeeds that needs this much memory. Otherwise a fault that
	 * comes and goes would raise the request each time. */
	double raised_from;
	unsigned kills;
	double killed_at; /* largest limit at which a run was killed; 0 = none */
	bool failed;      /* a run failed at its limit without a kill */
	double died_at;   /* largest limit at which a run of the streak was killed or failed */
	const struct run *last;
};

static void add_to_streak(struct streak *s, const struct run *r, const struct evidence *e)
{
	s->died_at = fmax(s->died_at, e->at_least);
	s->last = r;
	if (e->killed) {
		s->kills++;
		s->killed_at = fmax(s->killed_at, e->at_least);
	} else {
		s->failed = true;
		s->raised_from =
			s->raised_from > 0 ? fmin(s->raised_from, e->at_least) : e->at_least;
	}
}

/* Returns the request after the newest runs met their limit; 0 = they did not. Each kill raises the
 * request again. Failures without a kill raise it only once, above the smallest limit at which a
 * run failed. A job with a fault fails at any limit, so more memory would not help. */
static double after_streak(const struct replayed *f, const struct sizing_rule *rule,
	const struct streak *s)
{
	double request = s->died_at;

	if (s->failed)
		request = fmax(request, after_kill(s->raised_from));
	if (s->kills) {
		request = fmax(request, after_kill(s->killed_at));
		request = fmax(request, f->learnt ? rule->retry(f->state, s->killed_at, s->kills) :
						    2 * s->killed_at);
	}
	return request;
}

/* Returns the number of failed attempts of a streak (struct replayed): the attempt that the last run
 * tells. The number of kills counts only if it tells none: the runs of a streak may be first attempts
 * of several tasks, and attempts may be missing from the history. */
static size_t failed_attempts(const struct streak *s)
{
	double last = s->last->attempt;

	if (!s->kills)
		return s->failed;
	return last >= 1 && last < UINT_MAX ? (size_t)last : s->kills;
}

/* Returns an array of n + 1 elements, which the caller frees. Element k is the largest peak among
 * the newest k runs. Only successful runs that stayed below their limit count. */
static double *newest_peaks(const struct runs *runs, size_t n)
{
	double *largest = xcalloc(n + 1, sizeof *largest);

	for (size_t i = 0; i < n; i++) {
		struct evidence e = evidence_of(&runs->run[i]);

		largest[i + 1] = fmax(largest[i], e.memory == MEMORY_PEAK ? e.peak : (double)NAN);
	}
	return largest;
}

/* Makes the rule learn a streak as a single run that needed more than the limit. `fitted` is the
 * successful run after the streak, or NULL. Its duration is used, because the runs of the streak
 * ended early. Call this only if the peaks of all successful runs after the streak are below the
 * limit of the streak. */
static void learn_streak(struct replayed *f, const struct sizing_rule *rule, const struct streak *s,
	const struct run *fitted, bool announced, enum replay_kind how)
{
	double bound = s->kills ? s->killed_at : s->raised_from, need = after_kill(bound);
	struct observation o = rule_observation(need, sizing_run_input(s->last, announced),
		fitted ? run_duration(fitted) : (double)NAN);

	if (how == REPLAY_SCORED)
		rule_score(rule, f->state, &o, &f->record);
	if (rule->successes_only)
		return;
	if (rule->learn_at_least) {
		o.peak = bound;
		rule->learn_at_least(f->state, &o);
	} else {
		rule->learn(f->state, &o);
	}
	f->kills++;
	f->kills_seen += s->kills > 0;
	f->kills_at = fmax(f->kills_at, bound);
	f->kills_need = fmax(f->kills_need, need);
}

static void learn_success(struct replayed *f, const struct sizing_rule *rule, const struct run *r,
	double peak, bool announced, enum replay_kind how)
{
	struct observation o =
		rule_observation(peak, sizing_run_input(r, announced), run_duration(r));

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
	bool announced = sizing_any_announced(used);
	bool of_memory = peak == run_needs_memory; /* kills tell something only about memory */
	struct streak streak = {0};
	size_t oldest = 0, seen = 0;

	rule->start(f.state, options);
	while (oldest < runs->n && (seen < used->n || !used->n))
		seen += runs->run[oldest++].outcome == OUTCOME_SUCCEEDED;
	AUTO(freep) double *later = newest_peaks(runs, oldest);

	for (size_t i = oldest; i-- > 0;) {
		const struct run *r = &runs->run[i];
		struct evidence e = evidence_of(r);

		if (of_memory && e.memory == MEMORY_AT_LEAST)
			add_to_streak(&streak, r, &e);
		if (r->outcome != OUTCOME_SUCCEEDED || (of_memory && e.memory != MEMORY_PEAK))
			continue;
		if (streak.last && later[i + 1] < streak.died_at)
			learn_streak(&f, rule, &streak, r, announced, how);
		streak = (struct streak){
			.raised_from = peak(r) >= AT_LIMIT_SHARE * streak.raised_from ?
					       0 :
					       streak.raised_from};
		learn_success(&f, rule, r, peak(r), announced, how);
	}
	if (streak.last) {
		f.after_oom = after_streak(&f, rule, &streak);
		f.failed_attempts = failed_attempts(&streak);
		f.killed_at = streak.killed_at;
		f.failed_at = streak.failed ? streak.raised_from : 0;
	}
	*ret = f;
}

void replay_done(struct replayed *f)
{
	free(f->state);
}
