/* The one sentence of a recommendation: what to ask for, how sure that is, how good it was so far. */
#include <math.h>

#include "recommender/sizing/strategy.h"

#define SUMMARY_MAX 400

static void add_what(struct buf *b, const struct sizing *s)
{
	char words[WORDS_MAX];
	const struct resources *r = &s->resources;

	buf_adds(b, "Ask for ");
	if (r->cpu)
		buf_addf(b, "%llu CPU%s", (unsigned long long)r->cpu, r->cpu == 1 ? "" : "s");
	if (r->memory)
		buf_addf(b, "%s%s of memory", r->cpu ? " and " : "",
			words_bytes(words, (double)r->memory * MIB));
	if (r->gpu)
		buf_addf(b, ", with %llu GPU%s", (unsigned long long)r->gpu,
			r->gpu == 1 ? "" : "s");
	if (!isnan(s->demand.duration_seconds))
		buf_addf(b, " for about %s",
			words_seconds(words,
				s->demand.duration_seconds * fmax(1, s->cpu_slowdown)));
}

/* Nothing when nothing can be said. */
static void add_how_sure(struct buf *b, const struct sizing *s, size_t attempt)
{
	char words[WORDS_MAX], runs[WORDS_MAX];

	if (!isnan(s->memory_killed_at))
		buf_addf(b, ": the newest run was killed for memory at %s",
			words_bytes(words, s->memory_killed_at));
	else if (attempt > 1)
		buf_addf(b, ": attempt %zu, after smaller ones were too small", attempt);
	else if (!isnan(s->memory_too_small)) {
		buf_adds(b, ": ");
		if (s->memory_judged_by)
			buf_addf(b, "as far as %s can tell, ",
				words_runs(runs, s->memory_judged_by));
		buf_addf(b, "%s of runs are expected to need more memory",
			words_share(words, s->memory_too_small));
	}
}

void size_summary(struct sizing *s, const struct sizing_options *options, struct arena *arena)
{
	AUTO(buf_done) struct buf b = BUF_MAX(SUMMARY_MAX);
	char runs[WORDS_MAX];
	const struct hindsight *own = &s->hindsight, *seeds = &s->hindsight_baseline;

	if (!s->resources.cpu && !s->resources.memory) {
		s->summary = "Neither CPU nor memory was measured, so there is nothing to ask for.";
		return;
	}
	add_what(&b, s);
	add_how_sure(&b, s, options->attempt);
	if (own->runs && !isnan(own->waste))
		buf_addf(&b,
			"; on the last %s it would have wasted %.0f %% of what they used and been "
			"too small for %zu",
			words_sized_runs(runs, s, own->runs), 100 * own->waste, own->failures);
	if (own->runs && !isnan(own->waste) && !isnan(seeds->waste))
		buf_addf(&b, ", the largest of five peaks + 20 %%: %.0f %% and %zu",
			100 * seeds->waste, seeds->failures);
	if (!own->runs && s->runs == 1)
		buf_adds(&b, "; one run says little, so expect this to change");
	buf_addc(&b, '.');
	s->summary = arena_text(arena, buf_text(&b), b.len);
}
