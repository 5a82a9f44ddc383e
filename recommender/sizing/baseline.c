/*
 * The seeds' rule (resource-tracker): CPU from the average, memory from the high-water mark + 20 %.
 * Their unit error (a division by 1024 too many, so that memory under 107 GiB became 128 MiB) and
 * their counting of GPUs by summed utilisation (two GPUs at 40 % gave 1) are not repeated.
 */
#include "recommender/sizing/strategy.h"

#include <math.h>

#define MARGIN 1.2

static double mean_cores(const struct run *r)
{
	return run_mean(r, "cpu_cores");
}

static void baseline_cpu(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct summary cores = runs_summary(used, mean_cores);

	if (!cores.n || !(round_cores(cores.mean) > 0)) {
		sizing_explain(s, arena,
			"cpu: unknown, no CPU time was measured in the last %zu successful run(s)",
			used->n);
		return;
	}
	s->demand.cpu_cores = cores.mean;
	s->resources.cpu = round_cores(cores.mean);
	sizing_explain(s, arena,
		"cpu %llu: %zu successful run(s) used %.2f cores on average (%.2f to %.2f), "
		"rounded to whole cores, at least 1",
		(unsigned long long)s->resources.cpu, cores.n, cores.mean, cores.min, cores.max);
}

static void baseline_memory(struct sizing *s, const struct runs *used, size_t attempt,
	struct arena *arena)
{
	struct summary peaks = runs_summary(used, run_memory_peak);
	char peak[WORDS_MAX], with_margin[WORDS_MAX];

	if (!peaks.n) {
		sizing_explain(s, arena,
			"memory: unknown, none was measured in the last %zu successful run(s)",
			used->n);
		return;
	}
	s->demand.memory_bytes = peaks.max * MARGIN;
	s->resources.memory = round_memory(s->demand.memory_bytes);
	sizing_explain(s, arena,
		"memory %llu MiB: the highest peak of %zu successful run(s) was %s, plus 20 %% is "
		"%s, rounded up",
		(unsigned long long)s->resources.memory, peaks.n, words_bytes(peak, peaks.max),
		words_bytes(with_margin, s->demand.memory_bytes));
	explain_memory_source(s, used, arena);
	if (attempt < 2)
		return;
	s->demand.memory_bytes =
		fmin(ldexp(s->demand.memory_bytes, (int)attempt - 1), ALLOCATION_MAX);
	s->resources.memory = round_memory(s->demand.memory_bytes);
	sizing_explain(s, arena, "memory %llu MiB: this is attempt %zu, and each doubles",
		(unsigned long long)s->resources.memory, attempt);
}

static void baseline_gpu(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct summary gpus = runs_summary(used, run_gpus),
		       vram = runs_summary(used, run_vram_peak);
	char peak[WORDS_MAX];

	if (!gpus.n && !vram.n) {
		sizing_explain(s, arena, "gpu 0: no GPU use was recorded");
		return;
	}
	if (gpus.n && gpus.max >= 0 && gpus.max < 1e6) {
		s->demand.gpus = gpus.max;
		s->resources.gpu = (uint64_t)ceil(gpus.max);
		sizing_explain(s, arena,
			"gpu %llu: the most GPUs in use at once in %zu successful run(s)",
			(unsigned long long)s->resources.gpu, gpus.n);
	}
	if (vram.n && vram.max >= 0) {
		s->demand.vram_bytes = vram.max * MARGIN;
		s->resources.vram = vram.max > 0 ? round_memory(s->demand.vram_bytes) : 0;
		sizing_explain(s, arena,
			"vram %llu MiB: the highest GPU memory in use was %s, plus 20 %%, rounded "
			"up",
			(unsigned long long)s->resources.vram, words_bytes(peak, vram.max));
	}
}

static void baseline_disk(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct summary disk = runs_summary(used, run_disk);
	char n[WORDS_MAX], most[WORDS_MAX];

	if (!disk.n)
		return;
	s->demand.disk_bytes = disk.max * MARGIN;
	if (disk.max >= MIB)
		sizing_explain(s, arena, "disk: %s needed at most %s, plus 20 %%",
			words_runs(n, disk.n), words_bytes(most, disk.max));
}

static void baseline_duration(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct summary seconds = runs_summary(used, run_duration);
	char mean[WORDS_MAX], min[WORDS_MAX], max[WORDS_MAX];

	if (!seconds.n)
		return;
	s->demand.duration_seconds = seconds.mean;
	sizing_explain(s, arena, "duration: %zu successful run(s) took %s on average (%s to %s)",
		seconds.n, words_seconds(mean, seconds.mean), words_seconds(min, seconds.min),
		words_seconds(max, seconds.max));
}

/* The rule looks at successful runs only; a reader must know when the newest one ran out of memory.
 */
static void warn_of_oom(struct sizing *s, const struct runs *runs, struct arena *arena)
{
	size_t newest = 0;
	char limit[WORDS_MAX];

	while (newest < runs->n && runs->run[newest].outcome == OUTCOME_RUNNING)
		newest++;
	if (newest == runs->n || runs->run[newest].outcome != OUTCOME_OOM_KILLED)
		return;

	double killed_at = run_killed_at(&runs->run[newest]);

	if (isnan(killed_at))
		sizing_explain(s, arena,
			"warning: the newest run was killed for memory; this rule does not count "
			"it");
	else
		sizing_explain(s, arena,
			"warning: the newest run was killed for memory at %s; this rule does not "
			"count it",
			words_bytes(limit, killed_at));
}

static void judge(struct sizing *s, const struct runs *runs, const struct runs *used,
	const struct sizing_options *options, struct arena *arena)
{
	struct rule_options window = baseline_rule.defaults;
	struct fed f;

	if (!(s->demand.memory_bytes > 0))
		return;
	if (options->runs)
		window.window = options->runs;
	limit_memory(s, used, NAN);
	feed(&f, &baseline_rule, &window, runs, used, run_memory_peak, FEED_SCORED);
	judge_memory(s, &f, false, runs, used, input_of_next(options));
	explain_limit(s, used, arena);
	fed_done(&f);
}

int baseline_size(const struct runs *runs, const struct sizing_options *options,
	struct arena *arena, struct sizing *ret, struct err *e)
{
	struct runs used;
	struct sizing s;
	int r = sizing_start(runs, options->runs ? options->runs : SIZING_RUNS, arena, &used, &s,
		e);

	if (r < 0)
		return r;
	baseline_cpu(&s, &used, arena);
	baseline_memory(&s, &used, options->attempt, arena);
	baseline_gpu(&s, &used, arena);
	baseline_duration(&s, &used, arena);
	baseline_disk(&s, &used, arena);
	explain_waits(&s, &used, arena);
	warn_of_oom(&s, runs, arena);
	judge(&s, runs, &used, options, arena);
	if (options->attempt > 1)
		s.memory_too_small = s.memory_expected_waste = NAN;
	size_summary(&s, options, arena);
	*ret = s;
	return 0;
}
