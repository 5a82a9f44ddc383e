#include "recommender/sizing/follower.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "recommender/run_labels.h"
#include "recommender/sizing/evidence.h"
#include "recommender/sizing/rule.h"

/* Effects of a run that met its limit:
 * - The job may need more than a constant share of its limit. While such a run is among the newest
 *   RUNS_FREE runs, the job counts as a follower only if other runs show the constant share by
 *   themselves. These are either the runs before it, or the runs after it. The limits of the runs
 *   after it must differ by LIMITS_DIFFER_MUCH.
 * - The limit of the run counts as too small until RUNS_FREE newer runs have succeeded under the
 *   same or a smaller limit. */
#define RUNS_FREE          20
#define LIMITS_DIFFER_MUCH 1.25

/* A follower is recognised only if its limits differed enough. If they hardly differ, the peaks of
 * any steady job look like a constant share. After one change of the limit, largest / smallest
 * limit must be at least RUN_LIMITS_DIFFER (1.05). After two or more changes, LIMITS_DIFFER_MORE is
 * enough. */
#define LIMITS_DIFFER_MORE 1.04
/* A job uses a constant share of its limit if two conditions are true:
 * - The share (peak / limit) varies at most a fifth as much as the limit: log(largest / smallest
 *   share) <= log(largest / smallest limit) / 5. With a constant peak, the share would vary as much
 *   as the limit.
 * - The largest share is at most 1.1 times the smallest. */
#define SHARE_VARIES      0.2
#define SHARE_VARIES_MOST 1.10
/* The share may also drift or spread by itself. Then the job is a follower if its peaks move with
 * its limit beyond what time explains: on a line of log(peak) over log(limit), both without their
 * trend in time, the slope is above SLOPE_LEAST by SLOPE_ERRORS standard errors. The slope of a job
 * that follows its limit is 1. The slope of any other job is 0, also if it grows or walks at
 * random, because its limit follows its earlier peaks.
 *
 * Two kinds of limits show nothing of this: those of later attempts, which only larger runs get,
 * and those that go up and down from run to run, because they may be chosen by the size of the
 * task. The steps of such limits add up to more than STEPS_MOST times their range. */
#define SLOPE_LEAST  0.5
#define SLOPE_ERRORS 2
#define SLOPE_RUNS   7
#define STEPS_MOST   4
/* Least standard deviation of log(peak) that is assumed: few runs often lie on a line by chance. */
#define PEAK_VARIES 0.01
/* A run is slow if it takes more than this many times the shortest duration. */
#define MUCH_SLOWER 1.5
/* The request of a follower is at least the newest limit divided by this number. Reason: if the
 * need of a job grows while its limit is raised, the job looks like a follower, and a much smaller
 * request would fail. The next run under the lowered limit shows whether it is a follower.
 *
 * A smaller request is allowed if the limit was lowered before, and a run succeeded then. Example:
 * the limits were 4 GiB, 1 GiB and 4 GiB, and all runs succeeded: the request may be 1 GiB. */
#define LOWERED_MOST 1.6
/* Limits follow the inputs when the inputs explain at least this share of the variance of the
 * limits. If the peaks follow the inputs, too, they look like a constant share of the limits. */
#define INPUTS_EXPLAIN 0.5
#define SAME_INPUT     1.02
/* Limits count as equal if the larger is at most this many times the smaller: a target may round a
 * limit. */
#define SAME_LIMIT 1.01

struct shares_seen {
	size_t limits; /* 1 + number of times that the limit changed from run to run */
	double share_low, share_high, limit_low, limit_high;
	double shortest; /* shortest duration of these runs, seconds */
	double input_low, input_high;
};

static bool usable(const struct run *r, const struct evidence *e)
{
	return r->outcome == OUTCOME_SUCCEEDED && !e->killed && e->peak > 0 &&
	       r->memory_limit_bytes > 0;
}

/* The newest runs that succeeded under a memory limit, newest first. */
struct usable_runs {
	size_t n;
	const struct run *run[PEAKS_SEEN_MAX + 1];
};

static void find_usable(const struct runs *runs, struct usable_runs *ret)
{
	bool limits_differ = false;

	ret->n = 0;
	for (size_t i = 0; i < runs->n; i++) {
		const struct run *r = &runs->run[i];
		struct evidence e = evidence_of(r);

		if (!usable(r, &e))
			continue;
		bool differs = ret->n && run_limits_differ(r->memory_limit_bytes,
						 ret->run[0]->memory_limit_bytes);

		if (ret->n < PEAKS_SEEN_MAX || differs)
			ret->run[ret->n++] = r;
		limits_differ |= differs;
		if (limits_differ && ret->n >= PEAKS_SEEN_MAX)
			return;
	}
}

/* Runs that met their limit. */
struct met_limits {
	size_t since;     /* usable runs that are newer than all of them */
	double too_small; /* largest of their limits that still counts, bytes; 0 = none */
	bool recent;      /* one of them is among the newest RUNS_FREE runs */
};

static struct met_limits met_limits_of(const struct runs *runs, const struct usable_runs *u)
{
	struct met_limits m = {.since = u->n};

	for (size_t i = 0, newer = 0; i < runs->n; i++) {
		const struct run *r = &runs->run[i];
		struct evidence e = evidence_of(r);
		size_t under = 0;

		if (usable(r, &e)) {
			newer += newer < u->n && r == u->run[newer];
			continue;
		}
		if (e.memory != MEMORY_AT_LEAST)
			continue;
		m.since = newer < m.since ? newer : m.since;
		m.recent |= i < RUNS_FREE;
		for (size_t k = 0; k < newer; k++)
			under += u->run[k]->memory_limit_bytes <= e.at_least;
		if (under < RUNS_FREE)
			m.too_small = fmax(m.too_small, e.at_least);
	}
	return m;
}

/* Summarises the runs `first` to `end` - 1. */
static struct shares_seen look_at(const struct usable_runs *u, size_t first, size_t end)
{
	struct shares_seen s = {.share_low = INFINITY,
		.limit_low = INFINITY,
		.shortest = INFINITY,
		.input_low = NAN,
		.input_high = NAN};
	double last = 0;

	for (size_t i = first; i < end; i++) {
		const struct run *r = u->run[i];
		double share = evidence_of(r).peak / r->memory_limit_bytes;

		s.input_low = fmin(s.input_low, r->input_bytes);
		s.input_high = fmax(s.input_high, r->input_bytes);
		s.limits += r->memory_limit_bytes < last || r->memory_limit_bytes > last;
		last = r->memory_limit_bytes;
		s.limit_low = fmin(s.limit_low, last);
		s.limit_high = fmax(s.limit_high, last);
		s.share_low = fmin(s.share_low, share);
		s.share_high = fmax(s.share_high, share);
		if (run_duration(r) > 0)
			s.shortest = fmin(s.shortest, run_duration(r));
	}
	return s;
}

static bool follows(const struct shares_seen *s)
{
	double limits = log(s->limit_high / s->limit_low);
	double shares = log(s->share_high / s->share_low);

	if (s->limits < 2 || shares > SHARE_VARIES * limits || shares > log(SHARE_VARIES_MOST))
		return false;
	return limits >= log(s->limits == 2 ? RUN_LIMITS_DIFFER : LIMITS_DIFFER_MORE);
}

/* Returns the sum of squares of y around its line over x. */
static double squares_around(const struct stats_line *l)
{
	double squares = l->yy - l->y * l->y / l->n, explained = stats_line_explains(l);

	return isnan(explained) ? squares : squares * (1 - explained);
}

/* Returns true if the peaks of the runs from index `first` to before index `end` move with the limit
 * beyond what time explains. */
static bool moves_with_limit(const struct usable_runs *u, size_t first, size_t end)
{
	struct stats_line limits = {0}, peaks = {0}, rest = {0};
	double low = INFINITY, high = -INFINITY, steps = 0, last = NAN;

	for (size_t i = first; i < end; i++)
		if (!(u->run[i]->attempt > 1)) {
			stats_line_add(&limits, (double)i, log(u->run[i]->memory_limit_bytes));
			stats_line_add(&peaks, (double)i, log(evidence_of(u->run[i]).peak));
		}
	if (!(limits.n >= SLOPE_RUNS))
		return false;
	for (size_t i = first; i < end; i++) {
		double limit = log(u->run[i]->memory_limit_bytes), time = (double)i;

		if (u->run[i]->attempt > 1)
			continue;
		low = fmin(low, limit);
		high = fmax(high, limit);
		steps += isnan(last) ? 0 : fabs(limit - last);
		last = limit;
		stats_line_add(&rest, limit - stats_line_slope(&limits) * time,
			log(evidence_of(u->run[i]).peak) - stats_line_slope(&peaks) * time);
	}

	double slope = stats_line_slope(&rest), moved = rest.xx - rest.x * rest.x / rest.n;
	double varies = fmax(squares_around(&rest) / (rest.n - 3), PEAK_VARIES * PEAK_VARIES);

	return high - low >= log(RUN_LIMITS_DIFFER) && steps <= STEPS_MOST * (high - low) &&
	       slope - SLOPE_ERRORS * sqrt(varies / moved) > SLOPE_LEAST;
}

/* Returns true if the runs from index `first` to before index `end` show a follower. */
static bool shown_by(const struct usable_runs *u, size_t first, size_t end)
{
	struct shares_seen s = look_at(u, first, end);

	return follows(&s) || moves_with_limit(u, first, end);
}

/* Label of runs with an option such as MaxRAMPercentage (collectors/naming/heap_options.h). */
#define SHARE_LABEL "heap_share_option"

/* Copies the option of the newest run that has such a label. Returns false when no run has one. */
static bool share_option(const struct runs *runs, char ret[FOLLOWER_OPTION_MAX])
{
	for (size_t i = 0; i < runs->n && i < PEAKS_SEEN_MAX; i++) {
		struct slice option = run_labels_find(runs->run[i].labels,
			(struct slice){SHARE_LABEL, strlen(SHARE_LABEL)});

		if (!option.data)
			continue;
		snprintf(ret, FOLLOWER_OPTION_MAX, "%.*s", (int)option.len, option.data);
		return true;
	}
	return false;
}

/* Sets f->enough, the smallest limit that was enough, and f->at_enough, the number of runs under
 * that limit. Limits up to `too_small` were not enough. A limit from before the newest limit was
 * first used counts only if the newest limit is at most `lowered_most` times as large. */
static void find_enough(const struct usable_runs *u, const struct shares_seen *s, double too_small,
	double lowered_most, struct limit_follower *f)
{
	double newest_limit = u->run[0]->memory_limit_bytes;
	size_t oldest_as_large = 0;

	for (size_t i = 0; i < u->n; i++)
		if (u->run[i]->memory_limit_bytes * SAME_LIMIT >= newest_limit)
			oldest_as_large = i;
	f->enough = INFINITY;
	for (size_t i = 0; i < u->n; i++) {
		double limit = u->run[i]->memory_limit_bytes;

		if (run_duration(u->run[i]) > MUCH_SLOWER * s->shortest ||
			(limit * lowered_most < newest_limit && i > oldest_as_large) ||
			limit <= too_small)
			continue;
		if (limit * SAME_LIMIT < f->enough)
			f->at_enough = 0;
		f->at_enough += limit <= SAME_LIMIT * f->enough;
		f->enough = fmin(f->enough, limit);
	}
}

/* Returns true if the announced inputs may explain the limits: larger inputs, larger limits. */
static bool limits_follow_inputs(const struct usable_runs *u, const struct shares_seen *s)
{
	struct stats_line l = {0};

	if (!(s->input_high > SAME_INPUT * s->input_low))
		return false;
	for (size_t i = 0; i < u->n; i++)
		if (u->run[i]->input_bytes >= 0)
			stats_line_add(&l, log(u->run[i]->input_bytes + 1),
				log(u->run[i]->memory_limit_bytes));
	return !(stats_line_explains(&l) < INPUTS_EXPLAIN);
}

/* Returns true if the job counts as a follower despite the runs that met their limit. If one of
 * these is among the newest RUNS_FREE runs, a run must have succeeded after it. In addition, the
 * runs before it or the runs after it must show the constant share by themselves. */
static bool follows_still(const struct usable_runs *u, const struct met_limits *met)
{
	struct shares_seen since = look_at(u, 0, met->since);

	if (!met->recent || !met->since)
		return !met->recent;
	return shown_by(u, met->since, u->n) ||
	       (shown_by(u, 0, met->since) &&
		       since.limit_high >= LIMITS_DIFFER_MUCH * since.limit_low);
}

struct limit_follower follower_of(const struct runs *runs)
{
	struct limit_follower f = {0};
	struct usable_runs u;

	find_usable(runs, &u);
	struct met_limits met = met_limits_of(runs, &u);
	struct shares_seen s = look_at(&u, 0, u.n);

	if (!u.n)
		return f;
	bool told = share_option(runs, f.option);

	if (told ? met.recent && !met.since :
		   !shown_by(&u, 0, u.n) || limits_follow_inputs(&u, &s) ||
				!follows_still(&u, &met))
		return f;
	/* If the share is not constant, the need may have grown once, together with the limit. */
	find_enough(&u, &s, met.too_small, told || follows(&s) ? LOWERED_MOST : SAME_LIMIT, &f);
	if (isinf(f.enough))
		return f;
	f.runs = u.n;
	f.share_low = s.share_low;
	f.share_high = s.share_high;
	f.limit_low = s.limit_low;
	f.limit_high = s.limit_high;
	return f;
}
