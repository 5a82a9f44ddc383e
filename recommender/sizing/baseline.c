/* The strategy `baseline` is the rule of the program resource-tracker: CPU is the average, and
 * memory is the high-water mark + 20 %. Two faults of resource-tracker are not copied. First, it
 * divides memory by 1024 once too often, so it requests its minimum, 128 MiB, for every peak below
 * 107 GiB. Second, it adds the utilisations of all GPUs, and so counts two GPUs at 40 % as one. */
#include "recommender/plausible.h"
#include "recommender/sizing/endings.h"
#include "recommender/sizing/run_warnings.h"
#include "recommender/sizing/strategy.h"

#include <math.h>

#define MARGIN 1.2

static double mean_cores(const struct run *r)
{
	return run_cpu_uncertain(r) ? (double)NAN : run_mean(r, "cpu_cores");
}

static void baseline_cpu(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct run_summary cores = run_needs_summary(used, mean_cores);
	char n[WORDING_MAX];

	if (s->uncertain_cpu && !cores.n) {
		sizing_explain(s, arena, TOPIC_CPU,
			"The need is unknown, because the CPU time of %s is too uncertain.",
			wording_runs(n, s->uncertain_cpu));
		return;
	}
	if (!cores.n || !(sizing_round_cores(cores.mean) > 0)) {
		sizing_explain(s, arena, TOPIC_CPU,
			"The need is unknown, because no CPU time was measured in %s.",
			wording_runs(n, used->n));
		return;
	}
	s->demand.cpu_cores = cores.mean;
	s->resources.cpu = sizing_round_cores(cores.mean);
	sizing_explain(s, arena, TOPIC_CPU, "%s used %.2f cores on average (%.2f to %.2f).",
		wording_runs(n, cores.n), cores.mean, cores.min, cores.max);
	sizing_explain(s, arena, TOPIC_CPU,
		"The request of %llu CPU%s is this average, rounded to whole cores, at least 1.",
		(unsigned long long)s->resources.cpu, s->resources.cpu == 1 ? "" : "s");
}

static void baseline_memory(struct sizing *s, const struct runs *used, size_t attempt,
	struct arena *arena)
{
	struct run_summary peaks = run_needs_summary(used, run_needs_memory);
	char peak[WORDING_MAX], request[WORDING_MAX], n[WORDING_MAX];

	if (!peaks.n) {
		sizing_explain(s, arena, TOPIC_MEMORY,
			"The need is unknown, because no memory was measured in %s.",
			wording_runs(n, used->n));
		return;
	}
	s->demand.memory_bytes = peaks.max * MARGIN;
	s->resources.memory = sizing_round_memory(s->demand.memory_bytes);
	for (size_t i = 0; i < ATTEMPTS_TOLD; i++)
		s->memory_attempts[i] = rule_doubled(s->demand.memory_bytes, i + 1);
	sizing_explain(s, arena, TOPIC_MEMORY, "The largest peak of %s is %s.",
		wording_runs(n, peaks.n), wording_bytes(peak, peaks.max));
	sizing_explain(s, arena, TOPIC_MEMORY, "With 20 %% more, this is %s, rounded up to %s.",
		wording_bytes(peak, s->demand.memory_bytes), wording_request(request, s));
	sizing_explain_source(s, used, arena);
	if (attempt < 2)
		return;
	s->demand.memory_bytes = rule_doubled(s->demand.memory_bytes, attempt);
	s->resources.memory = sizing_round_memory(s->demand.memory_bytes);
	sizing_explain(s, arena, TOPIC_MEMORY,
		"Attempt %zu requests %s, because each attempt doubles the memory.", attempt,
		wording_request(request, s));
}

static void baseline_gpu(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct run_summary gpus = run_needs_summary(used, run_needs_gpus),
			   vram = run_needs_summary(used, run_needs_vram);
	char n[WORDING_MAX], peak[WORDING_MAX];

	if (!gpus.n && !vram.n)
		return;
	if (gpus.n && gpus.max >= 0 && gpus.max < 1e6) {
		s->demand.gpus = gpus.max;
		s->resources.gpu = (uint64_t)ceil(gpus.max);
		sizing_explain_gpus(s, wording_runs(n, gpus.n), arena);
	}
	if (vram.n && vram.max >= 0) {
		s->demand.vram_bytes = vram.max * MARGIN;
		s->resources.vram = vram.max > 0 ? sizing_round_memory(s->demand.vram_bytes) : 0;
		sizing_explain(s, arena, TOPIC_GPU,
			"The GPU memory is the largest peak, %s, plus 20 %%, rounded up.",
			wording_bytes(peak, vram.max));
	}
}

static void baseline_disk(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct run_summary disk = run_needs_summary(used, run_needs_disk);
	char n[WORDING_MAX], most[WORDING_MAX];

	if (!disk.n)
		return;
	s->demand.disk_bytes = disk.max * MARGIN;
	if (disk.max < MIB)
		return;
	sizing_explain(s, arena, TOPIC_DISK, "%s needed up to %s, and 20 %% is added.",
		wording_runs(n, disk.n), wording_bytes(most, disk.max));
	sizing_explain_shared_disk(s, used, arena);
}

static void baseline_duration(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct run_summary seconds = run_needs_summary(used, run_duration);
	char n[WORDING_MAX], mean[WORDING_MAX], min[WORDING_MAX], max[WORDING_MAX];

	if (!seconds.n)
		return;
	s->demand.duration_seconds = seconds.mean;
	sizing_explain(s, arena, TOPIC_DURATION, "%s took %s on average (%s to %s).",
		wording_runs(n, seconds.n), wording_seconds(mean, seconds.mean),
		wording_seconds(min, seconds.min), wording_seconds(max, seconds.max));
}

static void judge_baseline(struct sizing *s, const struct runs *runs, const struct runs *used,
	const struct sizing_options *options, struct arena *arena)
{
	struct rule_options window = rule_baseline.defaults;
	struct replayed f;

	if (!(s->demand.memory_bytes > 0))
		return;
	if (options->runs)
		window.window = options->runs;
	struct limit_base limit = sizing_limit_memory(s, used);

	replay_runs(&f, &rule_baseline, &window, runs, used, run_needs_memory, REPLAY_SCORED);
	sizing_judge_memory(s, &f, false, runs, used, options);
	sizing_explain_limit(s, &limit, arena);
	replay_done(&f);
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
	sizing_explain_waits(&s, &used, arena);
	judge_baseline(&s, runs, &used, options, arena);
	if (options->attempt > 1)
		s.memory_too_small = s.memory_expected_waste = NAN;
	run_warnings_add(&s, &used, options, arena);
	s.endings = endings_of(runs);
	endings_warn(&s, runs, &used, arena);
	sizing_summary(&s, options, arena);
	*ret = s;
	return 0;
}
