#include "recommender/sizing/endings.h"

#include <math.h>
#include <stdlib.h>

#include "recommender/sizing/evidence.h"
#include "recommender/sizing/strategy.h"

/* A run that was cut (ended from outside) or met its memory limit gives a lower bound of the
 * request. The bound ends when this many later runs have succeeded: CUT_FADES after a cut run,
 * LIMIT_FADES after a run that met its memory limit. LIMIT_FADES is smaller, because the estimator
 * also learns the limit. */
#define CUT_FADES   20
#define LIMIT_FADES 5

static void count_code(struct endings *e, const struct run *r)
{
	bool signal = !isnan(r->exit_signal);
	double code = signal ? r->exit_signal : r->exit_code;
	size_t i = 0;

	if (!(code >= 0 && code <= 255))
		return;
	while (i < e->n_codes && (e->code[i].code != (int)code || e->code[i].signal != signal))
		i++;
	if (i == ENDING_CODES_MAX)
		return;
	e->n_codes += i == e->n_codes;
	e->code[i].signal = signal;
	e->code[i].code = (int)code;
	e->code[i].runs++;
}

static void count_failed(struct endings *e, const struct run *r, const struct evidence *seen)
{
	double seconds = run_duration(r);

	e->failed_peak_low = fmin(e->failed_peak_low, seen->peak);
	e->failed_peak_high = fmax(e->failed_peak_high, seen->peak);
	e->failed_seconds_low = fmin(e->failed_seconds_low, seconds);
	e->failed_seconds_high = fmax(e->failed_seconds_high, seconds);
	count_code(e, r);
	if (!seen->cut)
		return;
	e->cut++;
	if (e->succeeded < CUT_FADES) {
		e->died_at = fmax(e->died_at, seen->peak);
		e->died_above = fmax(e->died_above, seen->peak);
		e->cut_seconds = fmax(e->cut_seconds, seconds);
	}
}

/* Exit codes do not always show that a time limit stopped a run. Three or more failed runs
 * therefore count as stopped by a time limit if they lasted equally long, and longer than every
 * successful run. With a fault of the job, they would end earlier. */
#define SAME_DURATION      1.02
#define SAME_DURATION_RUNS 3

static bool same_duration(double a, double b)
{
	return a <= SAME_DURATION * b && b <= SAME_DURATION * a;
}

static bool cut_together(const struct runs *runs, size_t n, double seconds)
{
	size_t same = 0;

	for (size_t i = 0; i < n; i++) {
		double other = run_duration(&runs->run[i]);

		if (runs->run[i].outcome == OUTCOME_SUCCEEDED && seconds <= SAME_DURATION * other)
			return false;
		same += runs->run[i].outcome == OUTCOME_FAILED && same_duration(seconds, other);
	}
	return same >= SAME_DURATION_RUNS;
}

static bool any_succeeded(const struct runs *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (runs->run[i].outcome == OUTCOME_SUCCEEDED)
			return true;
	return false;
}

static int most_frequent_first(const void *a, const void *b)
{
	const struct ending_code *left = a, *right = b;

	return (left->runs < right->runs) - (left->runs > right->runs);
}

/* A program that sizes itself by its memory limit can fail under a small limit without a kill.
 * Returns the smallest limit under which one of the newest LIMITS_SEEN runs succeeded. Returns NaN
 * if fewer than two of these runs failed, or ended in an unknown way, under a smaller limit. */
#define LIMITS_SEEN 20
static double limit_before_failures(const struct runs *runs)
{
	double fitted = NAN;
	size_t n = runs->n < LIMITS_SEEN ? runs->n : LIMITS_SEEN, failed = 0;

	for (size_t i = 0; i < n; i++)
		if (runs->run[i].outcome == OUTCOME_SUCCEEDED &&
			runs->run[i].memory_limit_bytes > 0)
			fitted = fmin(fitted, runs->run[i].memory_limit_bytes);
	for (size_t i = 0; i < n; i++) {
		const struct run *r = &runs->run[i];
		bool ended = r->outcome == OUTCOME_FAILED || r->outcome == OUTCOME_UNKNOWN;

		failed += ended && r->memory_limit_bytes < fitted;
	}
	return failed >= 2 ? fitted : (double)NAN;
}

struct endings endings_of(const struct runs *runs)
{
	struct endings e = {
		.failed_peak_low = NAN,
		.failed_peak_high = NAN,
		.failed_seconds_low = NAN,
		.failed_seconds_high = NAN,
		.died_at = NAN,
		.died_above = NAN,
		.limit_killed = NAN,
		.cut_seconds = NAN,
	};

	size_t n = runs->n < PEAKS_SEEN_MAX ? runs->n : PEAKS_SEEN_MAX;
	bool any = any_succeeded(runs, n);

	for (size_t i = 0; i < n; i++) {
		const struct run *r = &runs->run[i];
		struct evidence seen = evidence_of(r);

		seen.cut = seen.cut ||
			   (any && seen.memory == MEMORY_TRIED && r->outcome == OUTCOME_FAILED &&
				   cut_together(runs, n, run_duration(r)));
		e.killed += seen.killed;
		e.at_limit += seen.memory == MEMORY_AT_LEAST && !seen.killed;
		if (seen.memory == MEMORY_AT_LEAST)
			e.limit_killed = fmax(e.limit_killed, seen.at_least);
		if (seen.memory == MEMORY_AT_LEAST && e.succeeded < LIMIT_FADES)
			e.died_at = fmax(e.died_at, seen.at_least);
		if (seen.killed && e.succeeded < LIMIT_FADES)
			e.died_above = fmax(e.died_above, seen.at_least);
		switch (r->outcome) {
		case OUTCOME_SUCCEEDED:
			e.succeeded++;
			break;
		case OUTCOME_FAILED:
		case OUTCOME_OOM_KILLED:
			e.failed++;
			count_failed(&e, r, &seen);
			break;
		case OUTCOME_UNKNOWN:
			e.unknown++;
			break;
		case OUTCOME_INTERRUPTED:
			e.interrupted++;
			break;
		case OUTCOME_RUNNING:
		case OUTCOME_COUNT:
			break;
		}
	}
	qsort(e.code, e.n_codes, sizeof e.code[0], most_frequent_first);
	e.died_above = fmax(e.died_above, limit_before_failures(runs));
	e.died_at = fmax(e.died_at, e.died_above);
	return e;
}

/* The newest ended runs. */
struct newest {
	/* Number of runs among the newest LIMITS_SEEN that met their limit without a kill. A run
	 * does not count if a later run needed as much and succeeded. */
	size_t at_limit;
	double first_limit, last_limit; /* limits of the oldest and newest of these runs, bytes */
	size_t killed;                  /* runs killed for memory among the newest KILLED_OF runs */
	/* Number of newest runs in a row that did not succeed and were not killed for memory. */
	size_t failed;
};

#define KILLED_OF    6
#define KILLED_AGAIN 3
#define FAILED_AGAIN 3

static struct newest look_at_newest(const struct runs *runs)
{
	struct newest n = {0};
	bool only_failed = true;
	double later = 0; /* largest peak of the newer runs that fitted */

	for (size_t i = 0, ended = 0; i < runs->n && i < PEAKS_SEEN_MAX; i++) {
		const struct run *r = &runs->run[i];
		struct evidence e = evidence_of(r);

		if (r->outcome == OUTCOME_RUNNING)
			continue;
		n.killed += e.killed && ended < KILLED_OF;
		only_failed = only_failed && r->outcome != OUTCOME_SUCCEEDED && !e.killed;
		n.failed += only_failed;
		if (e.memory == MEMORY_PEAK)
			later = fmax(later, e.peak);
		if (ended < LIMITS_SEEN && e.memory == MEMORY_AT_LEAST && !e.killed &&
			later < AT_LIMIT_SHARE * e.at_least) {
			n.last_limit = n.at_limit ? n.last_limit : e.at_least;
			n.first_limit = e.at_least;
			n.at_limit++;
		}
		ended++;
	}
	return n;
}

/* A limit counts as raised when it is more than this many times the earlier one. */
#define LIMIT_RAISED 1.05

static void warn_of_limits(struct sizing *s, const struct runs *runs, struct arena *arena)
{
	struct newest newest = look_at_newest(runs);
	const struct endings *e = &s->endings;
	char limit[WORDING_MAX], first[WORDING_MAX];

	if (newest.killed >= KILLED_AGAIN)
		warnings_add(&s->warnings, arena, WARNING_KILLED_AGAIN, newest.killed,
			"%zu of the newest %d runs were killed for memory. Look for a leak, for a far "
			"larger input, or for a machine that is too full.",
			newest.killed, KILLED_OF);
	if (newest.failed >= FAILED_AGAIN)
		warnings_add(&s->warnings, arena, WARNING_NEWEST_RUNS_FAILED, newest.failed,
			"The newest %zu runs failed, or did not end in a known way. Look for the reason "
			"before you use a smaller request.",
			newest.failed);
	wording_bytes(limit, newest.last_limit);
	wording_bytes(first, newest.first_limit);
	if (e->killed && isnan(e->limit_killed))
		warnings_add(&s->warnings, arena, WARNING_KILLED_FOR_MEMORY, e->killed,
			"The kernel killed %zu run%s, or a process of %s, because memory ran out. "
			"Neither a limit nor a peak is known.",
			e->killed, e->killed == 1 ? "" : "s", e->killed == 1 ? "it" : "them");
	else if (e->killed)
		warnings_add(&s->warnings, arena, WARNING_KILLED_FOR_MEMORY, e->killed,
			"The kernel killed %zu run%s, or a process of %s, because memory ran out at "
			"%s%s. The need was above that.",
			e->killed, e->killed == 1 ? "" : "s", e->killed == 1 ? "it" : "them",
			e->killed == 1 ? "" : "up to ", wording_bytes(limit, e->limit_killed));
	if (newest.at_limit > 1 && newest.last_limit > LIMIT_RAISED * newest.first_limit)
		warnings_add(&s->warnings, arena, WARNING_FAILS_AT_ANY_LIMIT, newest.at_limit,
			"Runs failed at a memory limit of %s, and again after it was raised to %s. More "
			"memory may not help. Look for a fault in the job.",
			first, limit);
	if (e->at_limit)
		warnings_add(&s->warnings, arena, WARNING_FAILED_AT_MEMORY_LIMIT, e->at_limit,
			"%zu run%s failed, or ended in an unknown way, at the memory limit, and no kill "
			"was seen. The need was at least as large as the limit.",
			e->at_limit, e->at_limit == 1 ? "" : "s");
}

/* The peak or the duration of failed runs counts as clearly larger when it is this many times the
 * largest of the successful runs. */
#define CLEARLY_MORE 1.5

static void warn_of_failed(struct sizing *s, const struct runs *used, struct arena *arena)
{
	const struct endings *e = &s->endings;
	double peak = run_needs_summary(used, run_needs_memory).max,
	       seconds = run_needs_summary(used, run_duration).max;
	char failed[WORDING_MAX], fitted[WORDING_MAX];

	if (e->cut)
		warnings_add(&s->warnings, arena, WARNING_CUT_BY_TIME_LIMIT, e->cut,
			"%zu run%s ended from outside, most often by a time limit. %s would have lasted "
			"longer, and may need more memory.",
			e->cut, e->cut == 1 ? " was" : "s were", e->cut == 1 ? "It" : "They");
	if (e->failed_peak_high > CLEARLY_MORE * peak)
		warnings_add(&s->warnings, arena, WARNING_FAILED_RUNS_USED_MORE, e->failed,
			"Failed runs used up to %s of memory, successful runs at most %s. The successful "
			"runs may not show the whole need.",
			wording_bytes(failed, e->failed_peak_high), wording_bytes(fitted, peak));
	else if (e->failed_seconds_high > CLEARLY_MORE * seconds)
		warnings_add(&s->warnings, arena, WARNING_FAILED_RUNS_USED_MORE, e->failed,
			"Failed runs lasted up to %s, successful runs at most %s. The successful runs "
			"may not show how long the job takes.",
			wording_seconds(failed, e->failed_seconds_high),
			wording_seconds(fitted, seconds));
}

void endings_warn(struct sizing *s, const struct runs *runs, const struct runs *used,
	struct arena *arena)
{
	if (!(s->demand.memory_bytes > 0))
		warnings_add(&s->warnings, arena, WARNING_MEMORY_UNKNOWN, 0,
			"No memory was measured, so the answer requests none.");
	if (!(s->demand.cpu_cores > 0))
		warnings_add(&s->warnings, arena, WARNING_CPU_UNKNOWN, 0,
			"%s, so the answer requests no CPU.",
			s->uncertain_cpu ? "The CPU time of no run is certain enough" :
					   "No CPU time was measured");
	warn_of_limits(s, runs, arena);
	warn_of_failed(s, used, arena);
}
