#include "recommender/sizing/follower.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "recommender/run_labels.h"
#include "recommender/sizing/evidence.h"

#define RUNS_SEEN 20 /* newest runs to look at */

/* Two limits must differ by a twentieth, three or more by a twenty-fifth. Otherwise the noise of the
 * peaks could look like a share. */
#define LIMITS_DIFFER_TWO  1.05
#define LIMITS_DIFFER_MORE 1.04
/* The share is constant when it varies at most a fifth as much as the limit, by ratio, and never by
 * more than a tenth. A job with a constant peak has shares that vary as much as the limit. */
#define SHARE_VARIES      0.2
#define SHARE_VARIES_MOST 1.10
#define MUCH_SLOWER       1.5 /* duration / shortest duration */

struct seen {
	size_t runs, limits; /* limits: number of different ones */
	double share_low, share_high, limit_low, limit_high;
	double killed_at; /* largest limit under which a run was killed */
	double shortest;  /* seconds */
};

static bool usable(const struct run *r, const struct evidence *e)
{
	return r->outcome == OUTCOME_SUCCEEDED && !e->killed && e->peak > 0 &&
	       r->memory_limit_bytes > 0;
}

static struct seen look_at(const struct runs *runs)
{
	struct seen s = {.share_low = INFINITY, .limit_low = INFINITY, .shortest = INFINITY};
	double last = 0;

	for (size_t i = 0; i < runs->n && s.runs < RUNS_SEEN; i++) {
		const struct run *r = &runs->run[i];
		struct evidence e = evidence_of(r);

		if (e.killed)
			s.killed_at = fmax(s.killed_at, e.at_least);
		if (!usable(r, &e))
			continue;
		s.runs++;
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

static bool follows(const struct seen *s)
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

struct follower follower_of(const struct runs *runs)
{
	struct seen s = look_at(runs);
	struct follower f = {0};
	size_t left = s.runs;

	if (!s.runs || !(share_option(runs, f.option) || follows(&s)))
		return f;
	f.enough = INFINITY;
	for (size_t i = 0; left; i++) {
		const struct run *r = &runs->run[i];
		struct evidence e = evidence_of(r);

		if (!usable(r, &e))
			continue;
		left--;
		if (r->memory_limit_bytes > s.killed_at &&
			!(run_duration(r) > MUCH_SLOWER * s.shortest))
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
