#include "recommender/behaviour/changes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "recommender/behaviour/segments.h"
#include "recommender/sizing/strategy.h"
#include "recommender/behaviour/trend.h"

#define SHIFT_RUNS_MIN  10
#define SHIFT_LEAST     3    /* fewest runs before the shift, and after it */
#define SHIFT_RATIO_MIN 1.05 /* smallest ratio of the medians before and after a shift */
#define TREND_RUNS_MIN  8
#define TREND_CHANCE    0.05
#define TREND_MIN       0.002 /* smallest reported trend: growth per run, as a share of the value */
#define PEAK_RUNS_MIN   5
#define PEAK_RATIO_MIN  1.05
#define OUTLIER_RUNS    8
/* A value is an outlier if its modified z-score (Iglewicz and Hoaglin) is above this. */
#define OUTLIER_SCORE 3.5
#define SPREAD_MIN    0.01 /* smallest spread of logarithms: differences below 1 % are noise */
#define MEASURES      3

const char *const change_kind_name[CHANGE_KINDS] = {
	[CHANGE_SHIFT] = "shift",
	[CHANGE_TREND] = "trend",
	[CHANGE_NEW_PEAK] = "new_peak",
	[CHANGE_ANOMALY] = "anomaly",
};

static double duration(const struct run *r)
{
	double seconds = run_duration(r);

	return seconds > 0 ? seconds : (double)NAN;
}

static double cpu_seconds(const struct run *r)
{
	double total = run_total(r, "cpu_seconds");

	return total > 0 ? total : (double)NAN;
}

static const struct measure {
	const char *name, *words;
	double (*of)(const struct run *);
	const char *(*print)(char out[WORDING_MAX], double v);
} measures[MEASURES] = {
	{"memory_peak_bytes", "peak memory", run_needs_memory, wording_bytes},
	{"duration_seconds", "duration", duration, wording_seconds},
	{"cpu_seconds", "CPU time", cpu_seconds, wording_seconds},
};

/* The values of one measure in the successful runs, oldest first. The values are logarithms. */
struct line {
	const struct measure *measure;
	size_t n;
	double log[TREND_MAX], log_input[TREND_MAX]; /* log_input NaN = unknown */
	const struct run *run[TREND_MAX];
};

struct findings {
	struct arena *arena;
	size_t n;
	struct change change[MEASURES * CHANGE_KINDS];
};

static void add_change(struct findings *f, const struct change *c, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void add_change(struct findings *f, const struct change *c, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	f->change[f->n] = *c;
	f->change[f->n++].words = arena_text(f->arena, text, strlen(text));
}

static void line_of(struct line *l, const struct measure *m, const struct runs *runs)
{
	size_t n = 0;

	l->measure = m;
	for (size_t i = 0; i < runs->n && n < TREND_MAX; i++)
		n += runs->run[i].outcome == OUTCOME_SUCCEEDED && m->of(&runs->run[i]) > 0;
	l->n = n;
	for (size_t i = 0; n > 0; i++) {
		const struct run *r = &runs->run[i];

		if (r->outcome != OUTCOME_SUCCEEDED || !(m->of(r) > 0))
			continue;
		l->run[--n] = r;
		l->log[n] = log(m->of(r));
		l->log_input[n] = r->input_bytes > 0 ? log(r->input_bytes) : (double)NAN;
	}
}

static double median_between(const struct line *l, size_t from, size_t end)
{
	double v[TREND_MAX];

	memcpy(v, l->log + from, (end - from) * sizeof *v);
	return trend_median(v, end - from);
}

/* Returns the index of the first run after the last shift. Returns 0 if there was no shift. */
static size_t find_shift(struct findings *f, const struct line *l)
{
	const double *channel[] = {l->log};
	size_t cut[TREND_MAX], cuts;
	char before[WORDING_MAX], after[WORDING_MAX];

	if (l->n < SHIFT_RUNS_MIN)
		return 0;
	cuts = segments_cut(channel, 1, l->n, SHIFT_LEAST, cut);
	if (!cuts)
		return 0;

	size_t at = cut[cuts - 1];
	double was = exp(median_between(l, cuts > 1 ? cut[cuts - 2] : 0, at));
	double is = exp(median_between(l, at, l->n));

	if (fmax(was / is, is / was) < SHIFT_RATIO_MIN)
		return 0;
	add_change(f,
		&(struct change){
			CHANGE_SHIFT, l->measure->name, l->run[at]->run_id, was, is, NAN, NULL},
		"%s %s from %s to %s (%+.0f %%) %zu runs ago, with run %s", l->measure->words,
		is > was ? "rose" : "fell", l->measure->print(before, was),
		l->measure->print(after, is), 100 * (is / was - 1), l->n - at, l->run[at]->run_id);
	return at;
}

/* Finds a trend in the runs from index `from` on, which is the first run after the last shift. The
 * runs before the shift are left out, because the shift would look like a trend. */
static void find_trend(struct findings *f, const struct line *l, size_t from, double requested)
{
	size_t n = l->n - from;
	double v[TREND_MAX];

	if (n < TREND_RUNS_MIN)
		return;

	struct trend t = trend_of(l->log + from, n);

	if (!(t.chance < TREND_CHANCE) || fabs(t.slope) < TREND_MIN)
		return;
	for (size_t i = 0; i < n; i++)
		v[i] = l->log[from + i] - t.slope * (double)i;

	double start = trend_median(v, n), next = exp(start + t.slope * (double)n);
	struct change c = {CHANGE_TREND, l->measure->name, NULL, exp(start), next, t.chance, NULL};
	double left = (log(requested) - log(next)) / t.slope;
	char expected[WORDING_MAX], limit[WORDING_MAX];

	if (l->measure->of != run_needs_memory || !(t.slope > 0 && left < 100))
		add_change(f, &c,
			"%s %s by %.1f %% per run over %zu runs; the next is expected to take %s",
			l->measure->words, t.slope > 0 ? "grows" : "falls",
			100 * fabs(exp(t.slope) - 1), n, l->measure->print(expected, next));
	else
		add_change(f, &c,
			"%s grows by %.1f %% per run over %zu runs; the next is expected to take "
			"%s, and the %s asked for are reached in about %.0f runs",
			l->measure->words, 100 * (exp(t.slope) - 1), n,
			l->measure->print(expected, next), wording_bytes(limit, requested),
			fmax(1, ceil(left) + 1));
}

static void find_new_peak(struct findings *f, const struct line *l)
{
	double before = -INFINITY, newest;
	char old_words[WORDING_MAX], new_words[WORDING_MAX];

	if (l->n <= PEAK_RUNS_MIN || l->measure->of != run_needs_memory)
		return;
	newest = l->log[l->n - 1];
	for (size_t i = 0; i + 1 < l->n; i++)
		before = fmax(before, l->log[i]);
	if (newest < before + log(PEAK_RATIO_MIN))
		return;
	add_change(f,
		&(struct change){CHANGE_NEW_PEAK, l->measure->name, l->run[l->n - 1]->run_id,
			exp(before), exp(newest), NAN, NULL},
		"%s of the newest run was %s, the most so far; before it was %s at most",
		l->measure->words, l->measure->print(new_words, exp(newest)),
		l->measure->print(old_words, exp(before)));
}

/* Estimates the logarithm of the newest value from the earlier runs, back to index `from` (the last
 * shift). If all input sizes are known, the estimate depends on the input. Writes the logarithms of
 * the earlier values to `residual`, sorted. The effect of the input is subtracted from them. */
static double expected_newest(const struct line *l, size_t from, double residual[TREND_MAX])
{
	size_t n = l->n - 1 - from;
	double x = 0, y = 0, xx = 0, xy = 0, slope = 0, level;

	for (size_t i = from; i + 1 < l->n; i++) {
		x += l->log_input[i] / (double)n;
		y += l->log[i] / (double)n;
	}
	for (size_t i = from; i + 1 < l->n; i++) {
		xx += (l->log_input[i] - x) * (l->log_input[i] - x);
		xy += (l->log_input[i] - x) * (l->log[i] - y);
	}
	if (xx > 1e-6 && !isnan(l->log_input[l->n - 1]))
		slope = xy / xx;
	for (size_t i = 0; i < n; i++)
		residual[i] = l->log[from + i] -
			      (slope > 0 || slope < 0 ? slope * l->log_input[from + i] : 0);
	level = trend_median(residual, n);
	return level + (slope > 0 || slope < 0 ? slope * l->log_input[l->n - 1] : 0);
}

static void find_anomaly(struct findings *f, const struct line *l, size_t from)
{
	double residual[TREND_MAX], expected, spread, error;
	char was[WORDING_MAX], usual[WORDING_MAX];
	size_t n = l->n - 1 - from;

	if (l->n < from + 1 + OUTLIER_RUNS)
		return;
	expected = expected_newest(l, from, residual);
	error = l->log[l->n - 1] - expected;

	double middle = residual[n / 2];

	for (size_t i = 0; i < n; i++)
		residual[i] = fabs(residual[i] - middle);
	spread = fmax(trend_median(residual, n), SPREAD_MIN);
	if (!(0.6745 * fabs(error) / spread > OUTLIER_SCORE) || fabs(error) < log(PEAK_RATIO_MIN))
		return;
	add_change(f,
		&(struct change){CHANGE_ANOMALY, l->measure->name, l->run[l->n - 1]->run_id,
			exp(expected), exp(l->log[l->n - 1]), NAN, NULL},
		"%s of the newest run was %s, %.3g times the %s expected%s", l->measure->words,
		l->measure->print(was, exp(l->log[l->n - 1])), exp(error),
		l->measure->print(usual, exp(expected)),
		isnan(l->log_input[l->n - 1]) ? "" : " for its input");
}

size_t changes_of_runs(const struct runs *runs, double requested_bytes, struct arena *arena,
	struct change **ret)
{
	struct findings *f = arena_alloc(arena, sizeof *f);
	struct line *l = arena_alloc(arena, sizeof *l);

	f->arena = arena;
	for (size_t m = 0; m < MEASURES; m++) {
		line_of(l, &measures[m], runs);
		if (!l->n)
			continue;

		size_t from = find_shift(f, l);

		find_trend(f, l, from, requested_bytes);
		find_new_peak(f, l);
		find_anomaly(f, l, from);
	}
	*ret = f->change;
	return f->n;
}
