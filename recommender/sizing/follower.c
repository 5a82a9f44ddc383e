#include "recommender/sizing/follower.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "recommender/run_labels.h"
#include "recommender/sizing/evidence.h"

/* Number of newest runs to read. While the request of a job is kept unchanged, all its limits are
 * equal. Many runs must be read to find other limits. */
#define RUNS_SEEN 200
#define RUNS_FREE 20 /* none of this many newest runs may have met its limit */

/* The largest limit must be this many times the smallest: after one change of the limit, and after
 * several. With a smaller difference, noise of the peaks could look like a constant share. */
#define LIMITS_DIFFER_TWO  1.05
#define LIMITS_DIFFER_MORE 1.04
/* The share is constant when it varies at most a fifth as much as the limit, by ratio, and never by
 * more than a tenth. A job with a constant peak has shares that vary as much as the limit. */
#define SHARE_VARIES      0.2
#define SHARE_VARIES_MOST 1.10
#define MUCH_SLOWER       1.5 /* duration / shortest duration */
/* A job whose memory grows looks like a follower, too, if its limit was raised at the same time.
 * The limit is therefore lowered at most by this factor at once. The next run under the lower limit
 * shows whether the job is a follower. */
#define LOWERED_MOST 1.6
#define SAME_INPUT   1.02

struct shares_seen {
	size_t runs, limits; /* limits: 1 + how often the limit changed from run to run */
	double share_low, share_high, limit_low, limit_high;
	double newest_limit;
	bool met_limit;  /* one of the newest runs met its limit, so it needs more than it got */
	double shortest; /* seconds */
	double input_low, input_high;
};

static bool usable(const struct run *r, const struct evidence *e)
{
	return r->outcome == OUTCOME_SUCCEEDED && !e->killed && e->peak > 0 &&
	       r->memory_limit_bytes > 0;
}

static struct shares_seen look_at(const struct runs *runs)
{
	struct shares_seen s = {.share_low = INFINITY,
		.limit_low = INFINITY,
		.shortest = INFINITY,
		.input_low = NAN,
		.input_high = NAN};
	double last = 0;

	for (size_t i = 0; i < runs->n && s.runs < RUNS_SEEN; i++) {
		const struct run *r = &runs->run[i];
		struct evidence e = evidence_of(r);

		s.met_limit |= i < RUNS_FREE && e.memory == MEMORY_AT_LEAST && !usable(r, &e);
		if (!usable(r, &e))
			continue;
		s.runs++;
		s.newest_limit = s.newest_limit > 0 ? s.newest_limit : r->memory_limit_bytes;
		s.input_low = fmin(s.input_low, r->input_bytes);
		s.input_high = fmax(s.input_high, r->input_bytes);
		s.limits += r->memory_limit_bytes < last || r->memory_limit_bytes > last;
		last = r->memory_limit_bytes;
		s.limit_low = fmin(s.limit_low, last);
		s.limit_high = fmax(s.limit_high, last);
		s.share_low = fmin(s.share_low, e.peak / last);
		s.share_high = fmax(s.share_high, e.peak / last);
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
	return limits >= log(s->limits == 2 ? LIMITS_DIFFER_TWO : LIMITS_DIFFER_MORE);
}

/* Label of runs with an option such as MaxRAMPercentage (collectors/naming/heap_options.h). */
#define SHARE_LABEL "heap_share_option"

/* Copies the option of the newest run that has one. Returns false when none has. */
static bool share_option(const struct runs *runs, char ret[FOLLOWER_OPTION_MAX])
{
	for (size_t i = 0; i < runs->n && i < RUNS_SEEN; i++) {
		struct slice option = run_labels_find(runs->run[i].labels,
			(struct slice){SHARE_LABEL, strlen(SHARE_LABEL)});

		if (!option.data)
			continue;
		snprintf(ret, FOLLOWER_OPTION_MAX, "%.*s", (int)option.len, option.data);
		return true;
	}
	return false;
}

struct limit_follower follower_of(const struct runs *runs)
{
	struct shares_seen s = look_at(runs);
	struct limit_follower f = {0};
	size_t left = s.runs;

	if (!s.runs || s.met_limit || s.input_high > SAME_INPUT * s.input_low)
		return f;
	if (!share_option(runs, f.option) && !follows(&s))
		return f;
	f.enough = INFINITY;
	for (size_t i = 0; left; i++) {
		const struct run *r = &runs->run[i];
		struct evidence e = evidence_of(r);

		if (!usable(r, &e))
			continue;
		left--;
		if (!(run_duration(r) > MUCH_SLOWER * s.shortest) &&
			r->memory_limit_bytes * LOWERED_MOST >= s.newest_limit)
			f.enough = fmin(f.enough, r->memory_limit_bytes);
	}
	if (isinf(f.enough))
		return f;
	f.runs = s.runs;
	f.share_low = s.share_low;
	f.share_high = s.share_high;
	f.limit_low = s.limit_low;
	f.limit_high = s.limit_high;
	return f;
}
