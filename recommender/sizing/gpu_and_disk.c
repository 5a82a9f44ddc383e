/* GPUs, their memory, and disk: what a failed attempt holds is dear or slow to fill, so auto is safe here. */
#include <math.h>

#include "recommender/sizing/strategy.h"

/* Sized like memory, and never below what a run was seen to need. */
static double space_for(const struct method *m, const struct runs *runs, const struct runs *used,
	const struct sizing_options *options, double (*peak)(const struct run *), double largest)
{
	const struct rule *rule = rule_of(m, RISK_SAFE);
	struct rule_options rule_options = rule_options_of(rule, options);
	struct fed f;
	double space;

	feed(&f, rule, &rule_options, runs, used, peak, m->rule ? FEED_SCORED : FEED_UNSCORED);
	space = fmax(rule->allocate(f.state, input_of_next(options)), largest);
	fed_done(&f);
	return space;
}

static void size_vram(struct sizing *s, const struct method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena)
{
	struct summary vram = runs_summary(used, run_vram_peak);
	char n[WORDS_MAX], peak[WORDS_MAX];

	if (!vram.n)
		return;
	s->demand.vram_bytes = 0;
	if (!(vram.max > 0))
		return;
	s->demand.vram_bytes = space_for(m, runs, used, options, run_vram_peak, vram.max);
	s->resources.vram = round_up_memory(s->demand.vram_bytes);
	sizing_explain(s, arena, "vram %llu MiB: sized like memory, from %s that held %s at most",
		(unsigned long long)s->resources.vram, words_runs(n, vram.n),
		words_bytes(peak, vram.max));
}

void size_gpus(struct sizing *s, const struct method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena)
{
	struct summary gpus = runs_summary(used, run_gpus),
		       vram = runs_summary(used, run_vram_peak);
	char n[WORDS_MAX];

	if (!gpus.n && !vram.n) {
		sizing_explain(s, arena, "gpu 0: no GPU use was recorded");
		return;
	}
	if (gpus.n) {
		s->demand.gpus = gpus.max;
		s->resources.gpu = (uint64_t)ceil(gpus.max);
		sizing_explain(s, arena, "gpu %llu: the most GPUs in use at once in %s",
			(unsigned long long)s->resources.gpu, words_runs(n, gpus.n));
	}
	size_vram(s, m, runs, used, options, arena);
}

void size_disk(struct sizing *s, const struct method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena)
{
	struct summary disk = runs_summary(used, run_disk);
	char n[WORDS_MAX], most[WORDS_MAX], asked[WORDS_MAX];

	if (!disk.n)
		return;
	s->demand.disk_bytes = 0;
	if (!(disk.max > 0))
		return;
	s->demand.disk_bytes = space_for(m, runs, used, options, run_disk, disk.max);
	sizing_explain(s, arena, "disk %s: sized like memory, from %s that needed at most %s",
		words_bytes(asked, s->demand.disk_bytes), words_runs(n, disk.n),
		words_bytes(most, disk.max));
}
