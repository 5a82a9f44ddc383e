/* The list of strategies, and what they share: choosing runs, rounding, sentences. */
#include "recommender/strategy.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct strategy strategies[] = {
	{
		.name = "baseline",
		.help = "CPU: the average of the runs' mean cores, rounded, at least 1. Memory: "
			"the highest peak + 20 %, "
			"rounded up to 128, 256, 512, 1024, 2048 MiB or whole GiB "
			"(resource-tracker's rule).",
		.size = baseline_size,
	},
	{0},
};

const struct strategy *strategy_find(const char *name)
{
	for (const struct strategy *s = strategies; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

const char *confidence_name(enum confidence c)
{
	switch (c) {
	case CONFIDENCE_NONE:
		return "none";
	case CONFIDENCE_LOW:
		return "low";
	case CONFIDENCE_MEDIUM:
		return "medium";
	case CONFIDENCE_HIGH:
		return "high";
	}
	return "none";
}

/* A number that can be a size: measured, positive, not absurd. */
static double size_or_nan(double v)
{
	return v > 0 && v < 0x1p62 ? v : NAN;
}

double run_memory_peak(const struct run *r)
{
	double peak = size_or_nan(run_peak(r, "memory_peak_bytes"));

	return isnan(peak) ? size_or_nan(run_peak(r, "memory_bytes")) : peak;
}

struct summary runs_summary(const struct runs *runs, double (*get)(const struct run *))
{
	struct summary s = {.min = NAN, .max = NAN, .mean = NAN};
	double sum = 0;

	for (size_t i = 0; i < runs->n; i++) {
		double v = get(&runs->run[i]);

		if (!isfinite(v))
			continue;
		s.n++;
		s.min = fmin(s.min, v);
		s.max = fmax(s.max, v);
		sum += v;
	}
	if (s.n)
		s.mean = sum / (double)s.n;
	return s;
}

uint64_t round_memory(double bytes)
{
	static const uint64_t steps[] = {128, 256, 512, 1024, 2048};
	double mib = bytes / MIB;

	if (!(bytes >= 0) || mib > 0x1p43)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		if (mib <= (double)steps[i])
			return steps[i];
	return (uint64_t)ceil(mib / 1024) * 1024;
}

uint64_t round_cores(double cores)
{
	if (!(cores >= 0) || cores > 1e6)
		return 0;
	return cores < 1 ? 1
			 : (uint64_t)rint(cores); /* rint: half to even, nobody sets another mode */
}

static enum confidence confidence_of(const struct runs *used)
{
	struct summary peaks = runs_summary(used, run_memory_peak);

	if (peaks.n < 3 || peaks.max > 2 * peaks.min)
		return CONFIDENCE_LOW;
	return peaks.n >= 5 && peaks.max <= 1.2 * peaks.min ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
}

/* Why no run can be used, with what was there instead. */
static int nothing_to_go_by(const struct runs *runs, struct err *e)
{
	size_t by_outcome[OUTCOME_COUNT] = {0};
	AUTO(buf_done) struct buf words = BUF_MAX(128);

	if (runs->n == 0)
		return err_set(e, -ENODATA, "no run is recorded");
	for (size_t i = 0; i < runs->n; i++)
		by_outcome[runs->run[i].outcome]++;
	for (unsigned o = 0; o < OUTCOME_COUNT; o++)
		if (by_outcome[o])
			buf_addf(&words, "%s%zu %s", words.len ? ", " : "", by_outcome[o],
				outcome_name((enum outcome)o));
	return err_set(e, -ENODATA, "none of the %zu recorded runs succeeded (%s)", runs->n,
		buf_text(&words));
}

int sizing_start(const struct runs *runs, size_t most, struct arena *arena, struct runs *used,
	struct sizing *ret, struct err *e)
{
	struct sizing s = {.demand = {NAN, NAN, NAN, NAN, NAN, NAN}, .first = NAN, .last = NAN};
	struct run *run = arena_alloc(arena, sizeof *run * (runs->n + 1));
	size_t excluded = 0;

	for (size_t i = 0; i < runs->n && s.runs < most; i++) {
		const struct run *r = &runs->run[i];

		if (r->outcome == OUTCOME_RUNNING)
			continue;
		if (r->outcome != OUTCOME_SUCCEEDED) {
			excluded++;
			continue;
		}
		s.excluded = excluded;
		s.samples += r->samples;
		s.first = fmin(s.first, r->started_at);
		s.last = fmax(s.last, r->started_at);
		run[s.runs++] = *r;
	}
	if (s.runs == 0)
		return nothing_to_go_by(runs, e);
	*used = (struct runs){.n = s.runs, .run = run};
	s.confidence = confidence_of(used);
	*ret = s;
	return 0;
}

void sizing_explain(struct sizing *s, struct arena *arena, const char *format, ...)
{
	char text[512];
	va_list args;

	if (s->n_explain == EXPLAIN_MAX)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	s->explain[s->n_explain++] = arena_text(arena, text, strlen(text));
}

const char *words_bytes(char out[WORDS_MAX], double bytes)
{
	double gib = bytes / MIB / 1024;

	if (gib >= 1024)
		snprintf(out, WORDS_MAX, "%.2f TiB", gib / 1024);
	else if (gib >= 1)
		snprintf(out, WORDS_MAX, gib < 10 ? "%.2f GiB" : "%.1f GiB", gib);
	else
		snprintf(out, WORDS_MAX, bytes < 10 * MIB ? "%.2f MiB" : "%.0f MiB", bytes / MIB);
	return out;
}

const char *words_seconds(char out[WORDS_MAX], double seconds)
{
	if (seconds >= 2 * 86400)
		snprintf(out, WORDS_MAX, "%.1f days", seconds / 86400);
	else if (seconds >= 2 * 3600)
		snprintf(out, WORDS_MAX, "%.1f h", seconds / 3600);
	else if (seconds >= 120)
		snprintf(out, WORDS_MAX, "%.1f min", seconds / 60);
	else
		snprintf(out, WORDS_MAX, "%.3g s", seconds);
	return out;
}
