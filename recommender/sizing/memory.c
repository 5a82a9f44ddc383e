/* Sizes the memory of the next run, forecasts the result and explains it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "recommender/sizing/cost_aware.h"
#include "recommender/sizing/endings.h"
#include "recommender/sizing/follower.h"
#include "recommender/sizing/neighbours.h"
#include "recommender/sizing/strategy.h"

const struct sizing_rule *sizing_rule_of(const struct sizing_method *m, enum risk risk)
{
	return m->rule ? m->rule : &cost_aware_rules[risk];
}

struct rule_options sizing_rule_options(const struct sizing_rule *rule,
	const struct sizing_options *options)
{
	struct rule_options o = rule->defaults;

	if (options->runs && options->runs < PEAKS_SEEN_MAX)
		o.window = options->runs;
	if (options->percentile > 0)
		o.percentile = fmin(options->percentile, 1);
	if (options->margin_given)
		o.margin = options->margin;
	return o;
}

struct rule_options sizing_memory_options(const struct sizing_rule *rule,
	const struct sizing_options *options)
{
	struct rule_options o = sizing_rule_options(rule, options);

	o.prior = neighbours_prior(options->neighbours);
	return o;
}

static struct hindsight hindsight_of(const struct replay_record *r)
{
	/* Clients of POST /runs can send runs with almost no use of memory. Below 1 byte second,
	 * waste / use has no meaning. */
	double waste = r->used >= 1 ? r->wasted / r->used : (double)NAN;

	return (struct hindsight){r->runs, r->failures, waste};
}

static struct hindsight hindsight_of_baseline(const struct runs *runs, const struct runs *used)
{
	struct replayed f;

	replay_runs(&f, &rule_baseline, &rule_baseline.defaults, runs, used, run_needs_memory,
		REPLAY_SCORED);
	struct hindsight ret = hindsight_of(&f.record);

	replay_done(&f);
	return ret;
}

void sizing_judge_memory(struct sizing *s, struct replayed *own, bool own_is_auto,
	const struct runs *runs, const struct runs *used, const struct sizing_options *options)
{
	const struct sizing_rule *balanced = &cost_aware_rules[RISK_BALANCED];
	struct rule_options balanced_options = sizing_memory_options(balanced, options);
	double input = sizing_next_input(options);
	struct replayed other = {0}, *judge = own;
	struct cost_aware_outlook o;

	if (options->hindsight) {
		s->hindsight = hindsight_of(&own->record);
		s->hindsight_baseline = hindsight_of_baseline(runs, used);
	}
	if (!own_is_auto) {
		replay_runs(&other, balanced, &balanced_options, runs, used, run_needs_memory,
			REPLAY_UNSCORED);
		judge = &other;
	}
	if (judge->learnt) {
		cost_aware_outlook(judge->state, input, s->demand.memory_bytes, &o);
		s->memory_too_small = o.too_small;
		s->memory_expected_waste = o.expected_waste;
		if (o.runs >= RUNS_FOR_SPREAD) {
			s->memory_low = cost_aware_quantile(judge->state, input, 0.1);
			s->memory_high = cost_aware_quantile(judge->state, input, 0.9);
		}
		cost_aware_allocations(judge->state, input, s->memory_at_risk);
	}
	s->memory_kills = judge->kills;
	if (judge->kills && s->confidence > CONFIDENCE_LOW)
		s->confidence = CONFIDENCE_LOW;
	replay_done(&other);
}

static void explain_auto(struct sizing *s, struct replayed *f, enum risk risk, double input,
	struct arena *arena)
{
	char words[WORDING_MAX], runs[WORDING_MAX];
	struct cost_aware_outlook o;

	cost_aware_outlook(f->state, input, s->demand.memory_bytes, &o);
	sizing_explain(s, arena, TOPIC_MEMORY,
		"%s costs least, if a failed first attempt costs as much as %g runs (risk %s).",
		wording_request(words, s), cost_aware_risk_price[risk], sizing_risk_name(risk));
	sizing_explain(s, arena, TOPIC_MEMORY_MORE,
		"The forecast from %s relies most on %s: %s (%.0f %% of the weight).",
		wording_runs(runs, o.runs < f->learnt ? o.runs : f->learnt),
		experts[o.leading].words, wording_bytes(words, o.leading_value),
		100 * o.leading_weight);
	if (o.moved)
		sizing_explain(s, arena, TOPIC_MEMORY,
			"%zu run%s before a lasting change of the peak count%s as if on the new level.",
			o.moved, o.moved == 1 ? "" : "s", o.moved == 1 ? "s" : "");
}

/* Explains the streaks of kills and of failures at a limit that the rule has learnt (struct
 * replayed). */
static void explain_kills(struct sizing *s, const struct replayed *f, struct arena *arena)
{
	char words[WORDING_MAX];
	bool one = f->kills == 1;

	if (!f->kills)
		return;
	/* If a streak has no kill, the sentence says "failed" instead of "killed". */
	if (f->kills_seen == f->kills)
		sizing_explain(s, arena, TOPIC_MEMORY,
			"%zu run%s killed for memory at %s%s, and no later run needed as much.",
			f->kills, one ? " was" : "s were", one ? "" : "up to ",
			wording_bytes(words, f->kills_at));
	else
		sizing_explain(s, arena, TOPIC_MEMORY,
			"%zu run%s failed at %s memory limit of %s%s, and no later run needed as "
			"much.",
			f->kills, one ? "" : "s", one ? "its" : "their", one ? "" : "up to ",
			wording_bytes(words, f->kills_at));
	sizing_explain(s, arena, TOPIC_MEMORY, "%s as a run that needed %s%s.",
		one ? "It counts" : "Each counts", one ? "" : "more, up to ",
		wording_bytes(words, f->kills_need));
}

/* Explains the request after the newest runs met their limit. The strategy `auto` has not learnt
 * these runs yet, so its forecasts do not apply to this request. */
static void explain_streak(struct sizing *s, const struct replayed *f, struct arena *arena)
{
	char words[WORDING_MAX];

	s->memory_too_small = s->memory_expected_waste = NAN;
	if (f->killed_at > 0) {
		s->memory_killed_at = f->killed_at;
		sizing_explain(s, arena, TOPIC_MEMORY,
			"The newest run was killed for memory at %s.",
			wording_bytes(words, f->killed_at));
		sizing_explain(s, arena, TOPIC_MEMORY, "The request is %s until a run succeeds.",
			wording_request(words, s));
	} else {
		s->memory_failed_at = f->failed_at;
		sizing_explain(s, arena, TOPIC_MEMORY,
			"The newest run met its memory limit and failed, first at %s.",
			wording_bytes(words, f->failed_at));
		sizing_explain(s, arena, TOPIC_MEMORY,
			"The request is raised once, to %s, until a run succeeds.",
			wording_request(words, s));
	}
}

/* The memory limit is at least base x LIMIT_SHARE + LIMIT_MORE, even if the request is smaller. The
 * base is usually the largest observed peak (limit_of). The room above the base is needed because a
 * run that exceeds its limit is killed, usually without a retry with more memory. The control group
 * also counts kernel memory: page tables, kernel stacks, sockets, names of files. */
#define LIMIT_SHARE 1.05
#define LIMIT_MORE  (16 * MIB)

/* Runs that died at a limit show a lower bound of the need. If there is no other estimate, the
 * request is this many times the bound, and at least LIMIT_MORE above it. */
#define ABOVE_THE_DEAD 1.1

/* Runs that were killed or ended at a limit set a lower bound of the request. Returns this bound in
 * bytes; NaN = there is no such run. */
static double least_of_the_dead(const struct sizing *s, const struct replayed *f)
{
	double died_at = s->endings.died_at;

	return f->learnt || f->after_oom > 0 ? fmax(died_at, s->endings.died_above + MIB) :
					       fmax(ABOVE_THE_DEAD * died_at, died_at + LIMIT_MORE);
}

static void explain_the_dead(struct sizing *s, struct arena *arena)
{
	char had[WORDING_MAX];

	sizing_explain(s, arena, TOPIC_MEMORY,
		"Runs with up to %s met a limit of memory or time, or failed below that limit.",
		wording_bytes(had, s->endings.died_at));
	sizing_explain(s, arena, TOPIC_MEMORY, "The request of %s is not smaller.",
		wording_request(had, s));
}

/* If the job uses a constant share of its limit (follower.h), requests the smallest limit that was
 * enough. Returns false and changes nothing in three cases:
 * - The job does not follow its limit.
 * - The newest runs met their limit.
 * - A run was killed or ended at a limit with as much memory. */
static bool hold_follower(struct sizing *s, const struct runs *runs, const struct replayed *f,
	size_t attempt, struct arena *arena)
{
	struct limit_follower seen = follower_of(runs);
	char low[WORDING_MAX], high[WORDING_MAX], enough[WORDING_MAX];

	if (!seen.runs || f->after_oom > 0 || seen.enough <= s->endings.died_at)
		return false;
	s->demand.memory_bytes = s->memory_bytes_limit = rule_doubled(seen.enough, attempt);
	s->memory_too_small = s->memory_expected_waste = NAN;
	s->memory_low = s->memory_high = NAN;
	for (size_t i = 0; i < ATTEMPTS_TOLD; i++)
		s->memory_attempts[i] = rule_doubled(seen.enough, i + 1);
	if (seen.at_enough < HELD_RUNS)
		warnings_add(&s->warnings, arena, WARNING_LIMIT_NOT_PROVEN, seen.at_enough,
			"%zu run%s succeeded undisturbed under %s. Check the request by hand until %d "
			"have.",
			seen.at_enough, seen.at_enough == 1 ? "" : "s",
			wording_bytes(enough, seen.enough), HELD_RUNS);
	s->resources.memory = sizing_round_up(s->demand.memory_bytes);
	sizing_explain(s, arena, TOPIC_MEMORY,
		"The request stays at %s, because the job takes a share of the memory that it gets.",
		wording_request(enough, s));
	wording_bytes(enough, seen.enough);
	if (seen.option[0])
		warnings_add(&s->warnings, arena, WARNING_MEMORY_FOLLOWS_LIMIT, seen.runs,
			"The job takes a share of the memory that it gets (option %s), up to %.0f %% of "
			"its limit. %s is enough, so the request stays there. To change the need, "
			"change the option.",
			seen.option, 100 * seen.share_high, enough);
	else
		warnings_add(&s->warnings, arena, WARNING_MEMORY_FOLLOWS_LIMIT, seen.runs,
			"The job used %.0f to %.0f %% of its memory limit, under limits from %s to %s. "
			"Java heaps and caches take such a share of what they get. %s is enough, so the "
			"request stays there. To change the need, set the size of the heap or the "
			"cache.",
			100 * seen.share_low, 100 * seen.share_high,
			wording_bytes(low, seen.limit_low), wording_bytes(high, seen.limit_high),
			enough);
	return true;
}

static void explain_attempt(struct sizing *s, size_t attempt, struct arena *arena)
{
	char requested[WORDING_MAX];

	s->memory_too_small = s->memory_expected_waste =
		NAN; /* only a first attempt has these forecasts */
	sizing_explain(s, arena, TOPIC_MEMORY,
		"Attempt %zu requests %s, because the earlier attempts failed.", attempt,
		wording_request(requested, s));
}

/* Explains how well a strategy would have sized the earlier runs. */
static void explain_hindsight(struct sizing *s, const char *strategy, const struct hindsight *h,
	struct arena *arena)
{
	char failures[WORDING_MAX], runs[WORDING_MAX];

	if (!h->runs || isnan(h->waste))
		return;
	snprintf(failures, sizeof failures, "%zu first attempt%s", h->failures,
		h->failures == 1 ? "" : "s");
	sizing_explain(s, arena, TOPIC_MEMORY_MORE,
		"On the last %s, %s would have wasted %.0f %%, and %s would have failed.",
		wording_sized_runs(runs, s, h->runs), strategy, 100 * h->waste,
		h->failures ? failures : "no first attempt");
}

static void explain_quality(struct sizing *s, struct arena *arena)
{
	char low[WORDING_MAX], high[WORDING_MAX];

	if (!isnan(s->memory_low) && !isnan(s->memory_too_small) &&
		!isnan(s->memory_expected_waste)) {
		sizing_explain(s, arena, TOPIC_MEMORY, "4 of 5 runs should peak between %s and %s.",
			wording_bytes(low, s->memory_low), wording_bytes(high, s->memory_high));
		sizing_explain(s, arena, TOPIC_MEMORY,
			"Runs are expected to waste %.0f %% of the memory that they use.",
			100 * s->memory_expected_waste);
	}
	explain_hindsight(s, "this strategy", &s->hindsight, arena);
	explain_hindsight(s, "strategy baseline", &s->hindsight_baseline, arena);
}

#define TMPFS_WORTH_TELLING MIB

static const struct peak_source {
	const char *name, *words; /* words: text after "the peak of a run is" */
} sources[] = {
	{"samples", "the largest sum of its processes at one sample"},
	{"vmhwm",
		"the kernel's high-water mark of one process plus the other processes at that time"},
	{"taskstats", "the high-water mark of a process that ended between two samples"},
	{"limit", "the limit of its control group, at which the kernel killed a process"},
	{"rusage",
		"the high-water mark of its largest process, which the kernel reports at its end"},
	/* The sources below occur only in imported runs. */
	{"sacct", "the largest value that Slurm sampled, every 30 s unless it is set otherwise"},
	{"nextflow", "the sum of the high-water marks of its processes that Nextflow saw"},
	{"snakemake", "the largest sum of its processes that Snakemake sampled, up to every 30 s"},
	{"resource-tracker", "the largest sum of its processes at one sample of resource-tracker"},
	{"cadvisor", "the largest working set of its containers that Prometheus scraped"},
	{"process-exporter", "the largest resident size of its group that Prometheus scraped"},
};

static size_t runs_from(const struct runs *used, const struct peak_source *source)
{
	size_t n = 0;

	for (size_t i = 0; i < used->n; i++) {
		const char *name = used->run[i].memory_source;

		n += name && strcmp(name, source->name) == 0;
	}
	return n;
}

static double process_peak(const struct run *r)
{
	return run_peak(r, "memory_peak_process_bytes");
}

static double group_peak(const struct run *r)
{
	return run_peak(r, "memory_cgroup_peak_bytes");
}

/* Explains how much memory files in tmpfs took. They need a sentence of their own, because no
 * process accounts for their memory. */
static void explain_tmpfs(struct sizing *s, const struct runs *used, struct arena *arena)
{
	size_t known = 0;
	char most[WORDING_MAX], runs[WORDING_MAX];

	for (size_t i = 0; i < used->n; i++)
		known += run_needs_tmpfs_known(&used->run[i]);
	double tmpfs = run_needs_summary(used, run_needs_tmpfs).max;

	if (tmpfs >= TMPFS_WORTH_TELLING)
		sizing_explain(s, arena, TOPIC_MEMORY,
			"The peaks include files in tmpfs such as /dev/shm, up to %s.",
			wording_bytes(most, tmpfs));
	if (known < used->n)
		sizing_explain(s, arena, TOPIC_MEMORY,
			"Files in tmpfs such as /dev/shm come on top: %s had no own control group "
			"to count them.",
			wording_runs(runs, used->n - known));
}

void sizing_explain_source(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct run_summary process = run_needs_summary(used, process_peak);
	struct run_summary group = run_needs_summary(used, group_peak);
	char peak[WORDING_MAX];
	size_t known = 0;

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		size_t n = runs_from(used, &sources[i]);

		known += n;
		if (n > 0 && n == used->n)
			sizing_explain(s, arena, TOPIC_MEMORY_MORE, "The peak of a run is %s.",
				sources[i].words);
		else if (n > 0)
			sizing_explain(s, arena, TOPIC_MEMORY_MORE,
				"In %zu of %zu runs, the peak of a run is %s.", n, used->n,
				sources[i].words);
	}
	if (known && process.n)
		sizing_explain(s, arena, TOPIC_MEMORY_MORE, "The largest single process had %s.",
			wording_bytes(peak, process.max));
	if (known && group.n)
		sizing_explain(s, arena, TOPIC_MEMORY_MORE,
			"The peak of the control group, up to %s, is not used, because it includes "
			"the page cache.",
			wording_bytes(peak, group.max));
	explain_tmpfs(s, used, arena);
}

/* Adds a sentence when the announced input is larger than all earlier ones. */
static void explain_reach(struct sizing *s, const struct runs *used, double input,
	struct arena *arena)
{
	double largest = NAN;

	for (size_t i = 0; i < used->n; i++)
		largest = fmax(largest, used->run[i].input_bytes);
	if (largest > 0 && input > largest)
		sizing_explain(s, arena, TOPIC_MEMORY,
			input < 999.5 * largest ?
				"The announced input is %.3g times the largest earlier one, and the "
				"chance of a failure grows with the square." :
				"The announced input is %.0f times the largest earlier one, and the "
				"chance of a failure grows with the square.",
			input / largest);
}

static void raise_base(struct limit_base *base, double bytes, const char *name)
{
	if (bytes > base->bytes) {
		base->bytes = bytes;
		base->name = name;
	}
}

/* Sets the memory limit to the larger of two values: the demand, and base->bytes plus room for
 * kernel memory. */
static void limit_above(struct sizing *s, const struct limit_base *base)
{
	s->memory_bytes_limit = s->demand.memory_bytes;
	if (base->bytes > 0)
		s->memory_bytes_limit = fmax(s->memory_bytes_limit,
			fmin(base->bytes * LIMIT_SHARE + LIMIT_MORE, ALLOCATION_MAX));
}

struct limit_base sizing_limit_memory(struct sizing *s, const struct runs *used)
{
	struct limit_base base = {0};

	raise_base(&base, run_needs_summary(used, run_needs_memory).max, "the largest peak");
	limit_above(s, &base);
	return base;
}

/* Sets the memory limit. `for_input`: the next input is known, so peaks of other inputs do not
 * matter. m->rule is NULL for the strategy auto. */
static struct limit_base limit_of(struct sizing *s, const struct sizing_method *m,
	const struct replayed *f, const struct runs *used, bool for_input)
{
	struct limit_base base = {.for_input = for_input};

	if (for_input)
		raise_base(&base, s->memory_high, "the highest peak to expect");
	else
		raise_base(&base, run_needs_summary(used, run_needs_memory).max,
			"the largest peak");
	if (!m->rule)
		raise_base(&base, s->memory_at_risk[RISK_SAFE], "the request at risk safe");
	raise_base(&base, for_input ? f->after_oom : f->kills_need, "the need after kills");
	raise_base(&base, s->endings.died_at, "the memory of a run that died at its limit");
	limit_above(s, &base);
	return base;
}

static bool all_announced(const struct runs *used)
{
	for (size_t i = 0; i < used->n; i++)
		if (!(used->run[i].input_bytes >= 0))
			return false;
	return used->n > 0;
}

void sizing_explain_limit(struct sizing *s, const struct limit_base *base, struct arena *arena)
{
	char limit[WORDING_MAX], of[WORDING_MAX];

	if (isnan(s->memory_bytes_limit))
		return;
	/* Rounded to whole MiB, as in the line that the user pastes. */
	sizing_explain(s, arena, TOPIC_MEMORY,
		"For systems with a limit beside the request, the limit is %s%s.",
		wording_bytes(limit, (double)sizing_round_up(s->memory_bytes_limit) * MIB),
		base->for_input ? ", for this input" : "");
	if (s->memory_bytes_limit > s->demand.memory_bytes)
		sizing_explain(s, arena, TOPIC_MEMORY_MORE,
			"The limit is %s, %s, plus 5 %% and 16 MiB for the kernel.", base->name,
			wording_bytes(of, base->bytes));
}

#define ATTEMPTS_MAX 10

/* Returns the rule's allocation for attempt number `attempt`. Attempt 1 had `first`, and the
 * attempts in between had the allocations of the rule. */
static double allocation_of_attempt(const struct sizing_rule *rule, void *state, double first,
	size_t attempt)
{
	double allocation = first;

	for (unsigned failures = 1; failures < attempt && failures < ATTEMPTS_MAX; failures++)
		allocation = rule->retry(state, allocation, failures);
	return fmin(allocation, ALLOCATION_MAX);
}

/* Returns the demand for attempt number options->attempt, in bytes. `first` is the rule's
 * allocation for attempt 1, and `least` is its lower bound. If the newest runs met their limit, the
 * demand is at least f->after_oom, which makes up for the attempts that these runs were. Each
 * attempt that is missing from the history doubles this bound. */
static double demand_of(const struct sizing_rule *rule, const struct replayed *f, double first,
	double least, const struct sizing_options *options)
{
	size_t attempt =
		options->attempt > f->failed_attempts ? options->attempt - f->failed_attempts : 1;

	first = fmax(first, least);
	if (attempt > 1 && first > 0)
		first = f->learnt ? allocation_of_attempt(rule, f->state, first, attempt) :
				    rule_doubled(first, attempt);
	return fmin(fmax(first, rule_doubled(f->after_oom, attempt)), ALLOCATION_MAX);
}

static void tell_attempts(struct sizing *s, const struct sizing_rule *rule, void *state,
	double first)
{
	for (size_t i = 0; i < ATTEMPTS_TOLD; i++)
		s->memory_attempts[i] = allocation_of_attempt(rule, state, first, i + 1);
}

/* Explains the request of a strategy other than auto. */
static void explain_rule(struct sizing *s, const struct sizing_method *m,
	const struct run_summary *peaks, struct arena *arena)
{
	char n[WORDING_MAX], low[WORDING_MAX], high[WORDING_MAX];

	sizing_explain(s, arena, TOPIC_MEMORY, "The request of %s is %s.", wording_request(n, s),
		m->because);
	sizing_explain(s, arena, TOPIC_MEMORY, "%s peaked between %s and %s.",
		wording_runs(n, peaks->n), wording_bytes(low, peaks->min),
		wording_bytes(high, peaks->max));
}

/* Explains what decided the demand. Call it after the demand is final. `least`: the smallest
 * request that is allowed after runs died, bytes. */
static void explain_demand(struct sizing *s, const struct sizing_method *m, const struct runs *used,
	const struct sizing_options *options, double least, struct replayed *f, struct arena *arena)
{
	struct run_summary peaks = run_needs_summary(used, run_needs_memory);

	if (f->after_oom > 0 && s->demand.memory_bytes <= f->after_oom)
		explain_streak(s, f, arena);
	else if (s->demand.memory_bytes <= least)
		explain_the_dead(s, arena);
	else if (options->attempt > 1)
		explain_attempt(s, options->attempt, arena);
	else if (!m->rule)
		explain_auto(s, f, options->risk, sizing_next_input(options), arena);
	else
		explain_rule(s, m, &peaks, arena);
}

void sizing_memory(struct sizing *s, const struct sizing_method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena)
{
	const struct sizing_rule *rule = sizing_rule_of(m, options->risk);
	struct rule_options rule_options = sizing_memory_options(rule, options);
	double input = sizing_next_input(options), least;
	struct limit_base limit;
	struct replayed f;

	replay_runs(&f, rule, &rule_options, runs, used, run_needs_memory,
		m->rule || options->hindsight ? REPLAY_SCORED : REPLAY_UNSCORED);
	least = least_of_the_dead(s, &f);
	s->demand.memory_bytes =
		demand_of(rule, &f, rule->allocate(f.state, input), least, options);
	if (!(s->demand.memory_bytes > 0)) {
		char n[WORDING_MAX];

		s->demand.memory_bytes = NAN;
		sizing_explain(s, arena, TOPIC_MEMORY,
			"The need is unknown, because no memory was measured in %s.",
			wording_runs(n, used->n));
		replay_done(&f);
		return;
	}
	s->resources.memory = sizing_round_up(s->demand.memory_bytes);
	sizing_judge_memory(s, &f, !m->rule, runs, used, options);
	if (s->demand.memory_bytes <= least) {
		/* The estimator has not learnt the runs that died, so its forecasts do not apply to
		 * this request. */
		s->memory_too_small = s->memory_expected_waste = NAN;
		s->memory_low = s->memory_high = NAN;
	}
	limit = limit_of(s, m, &f, used, !m->rule && !isnan(input) && all_announced(used));
	if (options->attempt <= 1)
		tell_attempts(s, rule, f.state, s->demand.memory_bytes);
	if (m->rule || !hold_follower(s, runs, &f, options->attempt, arena))
		explain_demand(s, m, used, options, least, &f, arena);
	explain_kills(s, &f, arena);
	sizing_explain_source(s, used, arena);
	explain_reach(s, used, input, arena);
	explain_quality(s, arena);
	sizing_explain_limit(s, &limit, arena);
	replay_done(&f);
}
