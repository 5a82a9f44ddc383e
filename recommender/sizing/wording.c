/* Formats numbers for people, and writes the sentences of a sizing. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "recommender/sizing/strategy.h"
#include "recommender/waits.h"

const char *wording_bytes(char out[WORDING_MAX], double bytes)
{
	double gib = bytes / MIB / 1024;

	if (gib >= 1024)
		snprintf(out, WORDING_MAX, "%.2f TiB", gib / 1024);
	else if (gib >= 1)
		snprintf(out, WORDING_MAX, gib < 10 ? "%.2f GiB" : "%.1f GiB", gib);
	else
		snprintf(out, WORDING_MAX, bytes < 10 * MIB ? "%.2f MiB" : "%.0f MiB", bytes / MIB);
	return out;
}

const char *wording_seconds(char out[WORDING_MAX], double seconds)
{
	if (seconds >= 2 * 86400)
		snprintf(out, WORDING_MAX, "%.1f days", seconds / 86400);
	else if (seconds >= 2 * 3600)
		snprintf(out, WORDING_MAX, "%.1f h", seconds / 3600);
	else if (seconds >= 120)
		snprintf(out, WORDING_MAX, "%.1f min", seconds / 60);
	else
		snprintf(out, WORDING_MAX, "%.3g s", seconds);
	return out;
}

/* Writes a probability, but never 0 % or 100 %. A small probability gets few digits, because more
 * digits are not known. */
const char *wording_share(char out[WORDING_MAX], double share)
{
	double percent = 100 * share;

	if (percent < 0.1)
		snprintf(out, WORDING_MAX, "less than 0.1 %%");
	else if (percent > 99)
		snprintf(out, WORDING_MAX, "more than 99 %%");
	else
		snprintf(out, WORDING_MAX, percent < 10 ? "%.1f %%" : "%.0f %%", percent);
	return out;
}

const char *wording_sized_runs(char out[WORDING_MAX], const struct sizing *s, size_t n)
{
	if (!s->memory_kills)
		return wording_runs(out, n);
	snprintf(out, WORDING_MAX, "%zu run%s", n, n == 1 ? "" : "s");
	return out;
}

const char *wording_runs(char out[WORDING_MAX], size_t n)
{
	snprintf(out, WORDING_MAX, "%zu successful run%s", n, n == 1 ? "" : "s");
	return out;
}

const char *wording_cores(char out[WORDING_MAX], double cores)
{
	snprintf(out, WORDING_MAX, "%g", cores);
	snprintf(out + strlen(out), WORDING_MAX - strlen(out),
		strcmp(out, "1") == 0 ? " core" : " cores");
	return out;
}

const char *wording_request(char out[WORDING_MAX], const struct sizing *s)
{
	return wording_bytes(out, (double)s->resources.memory * MIB);
}

static const char *const topic_names[TOPIC_COUNT] = {
	[TOPIC_RUNS] = "runs",
	[TOPIC_MEMORY] = "memory",
	[TOPIC_MEMORY_MORE] = "memory",
	[TOPIC_CPU] = "cpu",
	[TOPIC_DURATION] = "duration",
	[TOPIC_DURATION_MORE] = "duration",
	[TOPIC_GPU] = "gpu",
	[TOPIC_DISK] = "disk",
	[TOPIC_WAITS] = "waits",
	[TOPIC_WAITS_MORE] = "waits",
};

bool sizing_topic_is_more(enum topic t)
{
	return t == TOPIC_MEMORY_MORE || t == TOPIC_DURATION_MORE || t == TOPIC_WAITS_MORE;
}

#define SENTENCE_MAX 512

void sizing_explain(struct sizing *s, struct arena *arena, enum topic topic, const char *format,
	...)
{
	char text[SENTENCE_MAX];
	int n = snprintf(text, sizeof text, "%s: ", topic_names[topic]);
	size_t at = s->n_explain;
	va_list args;

	if (s->n_explain == EXPLAIN_MAX)
		return;
	va_start(args, format);
	vsnprintf(text + n, sizeof text - (size_t)n, format, args);
	va_end(args);
	for (; at > 0 && s->explain_topic[at - 1] > topic; at--) {
		s->explain[at] = s->explain[at - 1];
		s->explain_topic[at] = s->explain_topic[at - 1];
	}
	s->explain[at] = arena_text(arena, text, strlen(text));
	s->explain_topic[at] = topic;
	s->n_explain++;
}

void sizing_explain_shared_disk(struct sizing *s, const struct runs *used, struct arena *arena)
{
	if (run_needs_disk_shared(used))
		sizing_explain(s, arena, TOPIC_DISK,
			"Other processes write to the same disk, so this is an upper bound.");
}

#define FASTER 0.98 /* a duration counts as shorter if it is below this share of the other one */

bool sizing_gains_by_cores(const struct sizing *s)
{
	return s->n_at_cores &&
	       s->at_cores[s->n_at_cores - 1].seconds < FASTER * s->at_cores[0].seconds;
}

static void explain_cpu_wait(struct sizing *s, const struct waits *w, const char *runs,
	struct arena *arena)
{
	char seconds[WORDING_MAX];

	sizing_explain(s, arena, TOPIC_WAITS_MORE,
		"Threads of %s waited %s for a CPU, %.0f %% of the time that they could have run.",
		runs, wording_seconds(seconds, w->cpu_seconds), 100 * w->cpu_share);
	if (w->throttled_seconds > 0)
		sizing_explain(s, arena, TOPIC_WAITS_MORE, "A CPU quota held them back for %s.",
			wording_seconds(seconds, w->throttled_seconds));
	sizing_explain(s, arena, TOPIC_WAITS_MORE, "%s would have made the runs faster.",
		!s->n_at_cores           ? "More cores or a less busy machine" :
		sizing_gains_by_cores(s) ? "More cores" :
					   "A less busy machine or a larger CPU limit");
}

void sizing_explain_waits(struct sizing *s, const struct runs *used, struct arena *arena)
{
	const struct run **list = arena_alloc(arena, (used->n + 1) * sizeof *list);
	char runs[WORDING_MAX];
	size_t n = 0;

	for (size_t i = 0; i < used->n; i++)
		if (!used->run[i].not_measured)
			list[n++] = &used->run[i];
	struct waits w = waits_of(list, n);

	wording_runs(runs, n);
	switch (w.verdict) {
	case WAITED_UNKNOWN:
	case WAITED_LITTLE:
		break;
	case WAITED_FOR_CPU:
		explain_cpu_wait(s, &w, runs, arena);
		break;
	case WAITED_FOR_MEMORY:
		sizing_explain(s, arena, TOPIC_WAITS,
			"Threads of %s waited for memory for %.0f %% of the time.", runs,
			100 * w.memory_share);
		sizing_explain(s, arena, TOPIC_WAITS,
			"More memory would have made the runs faster.");
		break;
	case WAITED_FOR_STORAGE:
		sizing_explain(s, arena, TOPIC_WAITS,
			"Threads of %s waited for storage for %.0f %% of the time.", runs,
			100 * w.storage_share);
		sizing_explain(s, arena, TOPIC_WAITS,
			"More cores would not have made the runs faster.");
		break;
	case WAITED_IDLE:
		sizing_explain(s, arena, TOPIC_WAITS,
			"No thread ran or waited for a CPU for %.0f %% of the time of %s.",
			100 * w.idle_share, runs);
		sizing_explain(s, arena, TOPIC_WAITS,
			"More cores would not have made the runs faster.");
		break;
	}
}

#define SUMMARY_MAX 200 /* bytes; a list of jobs shows the summary in one line or two */

/* Appends the first sentence: what to request. */
static void add_request(struct buf *b, const struct sizing *s)
{
	char words[WORDING_MAX];
	const struct resources *r = &s->resources;

	buf_adds(b, "Request ");
	if (r->cpu)
		buf_addf(b, "%llu CPU%s", (unsigned long long)r->cpu, r->cpu == 1 ? "" : "s");
	if (r->memory)
		buf_addf(b, "%s%s", r->cpu ? r->gpu ? ", " : " and " : "",
			wording_request(words, s));
	if (r->gpu)
		buf_addf(b, " and %llu GPU%s", (unsigned long long)r->gpu, r->gpu == 1 ? "" : "s");
	if (!isnan(s->demand.duration_seconds))
		buf_addf(b, " for about %s",
			wording_seconds(words,
				s->demand.duration_seconds * fmax(1, s->cpu_slowdown)));
	/* Name the input, to explain a request below the largest earlier peak: that peak may come
	 * from a larger input. */
	if (!isnan(s->input_bytes))
		buf_addf(b, " %s an input of %s", isnan(s->demand.duration_seconds) ? "for" : "and",
			wording_bytes(words, s->input_bytes));
	buf_addc(b, '.');
}

/* A smaller chance is written as "1 run in 7", which is easier to read than a percentage. A chance
 * of this size or more is written in per cent, because "1 run in N" is too coarse: 38 % would
 * become "1 run in 3". */
#define PERCENT_FROM 0.2

const char *sizing_chance_words(char out[CHANCE_WORDS_MAX], double chance)
{
	char words[WORDING_MAX];

	if (isnan(chance))
		return NULL;
	if (chance < 0.0005)
		snprintf(out, CHANCE_WORDS_MAX, "fewer than 1 run in 2000");
	else if (chance < PERCENT_FROM)
		snprintf(out, CHANCE_WORDS_MAX, "about 1 run in %.0f", round(1 / chance));
	else
		snprintf(out, CHANCE_WORDS_MAX, "%s of runs", wording_share(words, chance));
	return out;
}

/* Appends a second sentence: how far to trust the request. It says the first of these that applies:
 * - The newest run was killed for memory or met its memory limit.
 * - The request is for a retry.
 * - There is only one run.
 * - How many runs may need more memory. */
static void add_how_sure(struct buf *b, const struct sizing *s, size_t attempt)
{
	char words[WORDING_MAX], chance[CHANCE_WORDS_MAX] = "";

	if (!isnan(s->memory_too_small))
		sizing_chance_words(chance, s->memory_too_small);
	if (!isnan(s->memory_killed_at))
		buf_addf(b, " The newest run was killed for memory at %s.",
			wording_bytes(words, s->memory_killed_at));
	else if (s->memory_failed_at > 0)
		buf_addf(b, " The newest run met its memory limit, first at %s.",
			wording_bytes(words, s->memory_failed_at));
	else if (attempt > 1)
		buf_addf(b, " This is for attempt %zu, after smaller requests were too small.",
			attempt);
	else if (s->runs == 1 && isnan(s->memory_too_small))
		buf_adds(b, " One run says little.");
	else if (s->runs == 1)
		buf_addf(b, " One run says little: %s may need more memory.", chance);
	else if (!isnan(s->memory_too_small))
		buf_addf(b, " %c%s may need more memory.", toupper((unsigned char)chance[0]),
			chance + 1);
}

void sizing_summary(struct sizing *s, const struct sizing_options *options, struct arena *arena)
{
	AUTO(buf_done) struct buf b = BUF_MAX(SUMMARY_MAX);

	if (!s->resources.cpu && !s->resources.memory) {
		s->summary = "Neither CPU nor memory was measured, so there is nothing to request.";
		return;
	}
	add_request(&b, s);
	add_how_sure(&b, s, options->attempt);
	s->summary = arena_text(arena, buf_text(&b), b.len);
}
