#include "recommender/behaviour/running.h"

#include <math.h>

#include "recommender/sizing/cost_aware.h"
#include "recommender/sizing/duration.h"
#include "recommender/sizing/strategy.h"

static void expect_peaks(const struct runs *history, const struct runs *used,
	const struct sizing_options *options, double ret[PROSPECT_POINTS])
{
	const struct sizing_rule *rule = &cost_aware_rules[RISK_BALANCED];
	struct rule_options rule_options = sizing_memory_options(rule, options);
	struct replayed f;

	replay_runs(&f, rule, &rule_options, history, used, run_needs_memory, REPLAY_UNSCORED);
	for (size_t i = 0; i < PROSPECT_POINTS; i++)
		ret[i] = NAN;
	if (f.learnt)
		cost_aware_quantiles(f.state, sizing_next_input(options), PROSPECT_POINTS, ret);
	replay_done(&f);
}

void running_prospect(const struct runs *history, const struct sizing_options *options,
	struct prospect *ret)
{
	AUTO(arena_done) struct arena arena = {0};
	struct runs used = sizing_runs_used(history, PEAKS_SEEN_MAX, &arena, NULL);
	struct duration_forecast duration = duration_forecast_of(&used, sizing_next_input(options));

	expect_peaks(history, &used, options, ret->peak);
	ret->expected_seconds = duration.seconds;
	for (size_t i = 0; i < PROSPECT_POINTS; i++)
		ret->duration[i] =
			duration_quantile(&duration, ((double)i + 0.5) / PROSPECT_POINTS);
}

double running_mark_at_half(const struct memory_mark *mark, size_t n, double seconds)
{
	double bytes = NAN;

	for (size_t i = 0; i < n && mark[i].seconds <= seconds / 2; i++)
		bytes = fmax(bytes, mark[i].bytes);
	return bytes;
}

/* Returns the number of points below `v`. */
static size_t points_below(const double point[PROSPECT_POINTS], double v)
{
	size_t i = 0;

	while (i < PROSPECT_POINTS && point[i] < v)
		i++;
	return i;
}

/* Returns the median of those points that are not below `v`. Returns `v` if all points are below
 * `v`. */
static double middle_from(const double point[PROSPECT_POINTS], double v)
{
	size_t first = points_below(point, v);

	return first == PROSPECT_POINTS ? v : point[first + (PROSPECT_POINTS - first) / 2];
}

/* Returns the share of the points above `w` among the points that are at least `v`; v <= w. Returns
 * 0.5 if all points are below `v`. */
static double share_above(const double point[PROSPECT_POINTS], double v, double w)
{
	size_t first = points_below(point, v), last = points_below(point, nextafter(w, INFINITY));

	return first == PROSPECT_POINTS ?
		       0.5 :
		       (double)(PROSPECT_POINTS - last) / (double)(PROSPECT_POINTS - first);
}

/* Returns the probability that the peak reaches the limit before the run ends. Assumes that the
 * peak continues to grow as fast as in the second half of the run so far. NaN = unknown. */
static double risk_by_trend(const struct prospect *p, const struct running_progress *now)
{
	double grown = now->peak_bytes - now->peak_at_half_bytes;
	double left = now->memory_limit_bytes - now->peak_bytes;

	if (!(grown >= 0) || !(now->seconds > 0))
		return NAN;
	if (grown <= 0)
		return 0;
	return share_above(p->duration, now->seconds,
		now->seconds + left / grown * now->seconds / 2);
}

static double oom_risk(const struct prospect *p, const struct running_progress *now)
{
	double mark = now->peak_bytes > 0 ? now->peak_bytes : 0, limit = now->memory_limit_bytes;

	if (!(limit > 0) || isnan(p->peak[0]))
		return NAN;
	if (mark >= limit)
		return 1;

	double past = share_above(p->peak, mark, limit), trend = risk_by_trend(p, now);
	double surprise = (double)points_below(p->peak, mark) / PROSPECT_POINTS;

	return isnan(trend) ? past : (1 - surprise) * past + surprise * trend;
}

static double requested_share(double requested, double used)
{
	return requested > 0 && used > 0 ? requested / used : (double)NAN;
}

void running_outlook(const struct prospect *p, const struct running_progress *now,
	struct running *ret)
{
	struct running r = {NAN, NAN, NAN, NAN, NAN, NAN};
	double requested = now->requested_memory_bytes > 0 ? now->requested_memory_bytes :
							     now->memory_limit_bytes;

	if (!isnan(p->peak[0]))
		r.expected_peak_bytes =
			middle_from(p->peak, now->peak_bytes > 0 ? now->peak_bytes : 0);
	r.oom_risk = oom_risk(p, now);
	if (!isnan(p->duration[0]) && now->seconds >= 0) {
		r.expected_duration_seconds = points_below(p->duration, now->seconds) ?
						      middle_from(p->duration, now->seconds) :
						      fmax(p->expected_seconds, now->seconds);
		r.expected_end = now->started_at + r.expected_duration_seconds;
	}
	r.overprovisioned_memory = requested_share(requested, now->peak_bytes);
	r.overprovisioned_cpu = requested_share(now->requested_cpu_cores, now->cores);
	*ret = r;
}
