/* Sizes GPUs, GPU memory and disk. A failed attempt with too little of these is expensive, so the
 * strategy auto uses RISK_SAFE here. */
#include <math.h>

#include "recommender/sizing/strategy.h"

/* Number of newest successful runs from which the rule learns GPU memory and disk. Its work grows
 * with the square of the number. Older runs count by their largest value. */
#define SPACE_RUNS 60

/* Sizes GPU memory or disk with the method's rule for memory. `peak` reads the value of a run. The
 * result is never below `largest`, the largest value of the runs in `used`. */
static double space_for(const struct sizing_method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options,
	double (*peak)(const struct run *), double largest)
{
	const struct sizing_rule *rule = sizing_rule_of(m, RISK_SAFE);
	struct rule_options rule_options = sizing_rule_options(rule, options);
	struct runs newest = *used;
	struct replayed f;
	double space;

	newest.n = used->n < SPACE_RUNS ? used->n : SPACE_RUNS;
	replay_runs(&f, rule, &rule_options, runs, &newest, peak,
		m->rule ? REPLAY_SCORED : REPLAY_UNSCORED);
	space = fmax(rule->allocate(f.state, sizing_next_input(options)), largest);
	replay_done(&f);
	return space;
}

static void size_vram(struct sizing *s, const struct sizing_method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena)
{
	struct run_summary vram = run_needs_summary(used, run_needs_vram);
	char n[WORDING_MAX], peak[WORDING_MAX];

	if (!vram.n)
		return;
	s->demand.vram_bytes = 0;
	if (!(vram.max > 0))
		return;
	s->demand.vram_bytes = space_for(m, runs, used, options, run_needs_vram, vram.max);
	s->resources.vram = sizing_round_up(s->demand.vram_bytes);
	sizing_explain(s, arena, TOPIC_GPU, "%s held up to %s of GPU memory.",
		wording_runs(n, vram.n), wording_bytes(peak, vram.max));
	sizing_explain(s, arena, TOPIC_GPU, "The request of %s of GPU memory is sized like memory.",
		wording_bytes(peak, (double)s->resources.vram * MIB));
}

void sizing_explain_gpus(struct sizing *s, const char *runs, struct arena *arena)
{
	sizing_explain(s, arena, TOPIC_GPU, "%s used at most %llu GPU%s at once.", runs,
		(unsigned long long)s->resources.gpu, s->resources.gpu == 1 ? "" : "s");
}

void sizing_gpus(struct sizing *s, const struct sizing_method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena)
{
	struct run_summary gpus = run_needs_summary(used, run_needs_gpus),
			   vram = run_needs_summary(used, run_needs_vram);
	char n[WORDING_MAX];

	if (!gpus.n && !vram.n)
		return;
	if (gpus.n) {
		s->demand.gpus = gpus.max;
		s->resources.gpu = (uint64_t)ceil(gpus.max);
		sizing_explain_gpus(s, wording_runs(n, gpus.n), arena);
	}
	size_vram(s, m, runs, used, options, arena);
}

void sizing_disk(struct sizing *s, const struct sizing_method *m, const struct runs *runs,
	const struct runs *used, const struct sizing_options *options, struct arena *arena)
{
	struct run_summary disk = run_needs_summary(used, run_needs_disk);
	char n[WORDING_MAX], most[WORDING_MAX];

	if (!disk.n)
		return;
	s->demand.disk_bytes = 0;
	if (!(disk.max > 0))
		return;
	s->demand.disk_bytes = space_for(m, runs, used, options, run_needs_disk, disk.max);
	sizing_explain(s, arena, TOPIC_DISK, "%s needed up to %s.", wording_runs(n, disk.n),
		wording_bytes(most, disk.max));
	sizing_explain_shared_disk(s, used, arena);
	sizing_explain(s, arena, TOPIC_DISK, "The request of %s is sized like memory.",
		wording_bytes(most, s->demand.disk_bytes));
}
