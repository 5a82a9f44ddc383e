/* GPUs, their memory, and disk: what a failed attempt holds is dear or slow to fill, so auto is safe here. */
#include <math.h>

#include "recommender/sizing/strategy.h"

#define MARGIN 1.2 /* of size_disk_by_most */

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

/*
 * Where the growth of the job's own file systems was not seen: what it wrote is never less than what its files take,
 * but counts again what is overwritten or deleted; what all file systems grew by counts what others wrote.
 */
static double written_or_grown(const struct run *r)
{
	const struct distribution *space = run_column(r, "system_disk_space_used_bytes");
	double written = run_total(r, "disk_written_bytes");
	double grown = space ? space->max - space->min : (double)NAN;

	return written >= 0 && written < 0x1p62 ? fmin(written, grown) : (double)NAN;
}

/* Bytes of disk that a run needed; NaN when unknown. */
static double disk_need(const struct run *r)
{
	double v = run_peak(r, "disk_grown_bytes");

	return v >= 0 && v < 0x1p62 ? v : written_or_grown(r);
}

void size_disk(struct sizing *s, const struct method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena)
{
	struct summary disk = runs_summary(used, disk_need);
	char n[WORDS_MAX], most[WORDS_MAX], asked[WORDS_MAX];

	if (!disk.n)
		return;
	s->demand.disk_bytes = 0;
	if (!(disk.max > 0))
		return;
	s->demand.disk_bytes = space_for(m, runs, used, options, disk_need, disk.max);
	sizing_explain(s, arena, "disk %s: sized like memory, from %s that needed at most %s",
		words_bytes(asked, s->demand.disk_bytes), words_runs(n, disk.n),
		words_bytes(most, disk.max));
}

void size_disk_by_most(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct summary disk = runs_summary(used, disk_need);
	char n[WORDS_MAX], most[WORDS_MAX];

	if (!disk.n)
		return;
	s->demand.disk_bytes = disk.max * MARGIN;
	if (disk.max >= MIB)
		sizing_explain(s, arena, "disk: %s needed at most %s, plus 20 %%",
			words_runs(n, disk.n), words_bytes(most, disk.max));
}
