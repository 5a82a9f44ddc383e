/* The strategies with their formulas, sources and parameters. */
#include <string.h>

#include "recommender/sizing/strategy.h"

static const struct sizing_method auto_method = {.rule = NULL};
static const struct sizing_method max_method = {
	.rule = &rule_max,
	.because = "the largest peak plus the margin",
	.cpu_share = 1,
};
static const struct sizing_method percentile_method = {
	.rule = &rule_percentile,
	.because = "the percentile of the peaks plus the margin",
	.cpu_share = 0.95,
	.uses_percentile = true,
};
static const struct sizing_method krr_method = {
	.rule = &rule_krr,
	.because = "the largest peak + 15 %, or the largest limit that was too small + 25 %",
	.cpu_share = 0.95,
};
static const struct sizing_method vpa_method = {
	.rule = &rule_vpa,
	.because = "the 90th percentile of fading peaks + 15 %",
	.cpu_share = 0.9,
	.cpu_fades = true,
	.uses_percentile = true,
};

#define SIZE_BY(name)                                                                              \
	static int name##_size(const struct runs *runs, const struct sizing_options *options,      \
		struct arena *arena, struct sizing *ret, struct err *e)                            \
	{                                                                                          \
		return sizing_by_method(&name##_method, runs, options, arena, ret, e);             \
	}
SIZE_BY(auto)
SIZE_BY(max)
SIZE_BY(percentile)
SIZE_BY(krr)
SIZE_BY(vpa)

const struct strategy strategies[] = {
	{
		.name = "auto",
		.help = "Memory: several predictors (quantiles of the peaks, regressions on the "
			"input size). The ratios of peak to prediction so far say which values the "
			"next peak may take; for a new job they are those of the other jobs of the "
			"history. A killed run counts as a lower bound. The predictors are weighted "
			"by what each alone would have cost, and the allocation with the least "
			"expected cost is taken. A failed first attempt is priced as 1.5 "
			"(risk economy), 2.6 (balanced) or 7 runs (safe), plus 512 MiB. If peaks "
			"follow the memory limit, the request is held. "
			"CPU: with cpu_for speed, the widest of the last 20 runs, plus room. The "
			"room is the cheapest for their spread, with a slowed run priced as 105 "
			"cores. With cpu_for cost, the cores with the least (cores + memory in GiB "
			"/ 8, at least 1 / 32, + 25 per GPU) x time. Parameters: "
			"risk, cpu_for, input_bytes, runs (all, at most 200).",
		.uses = USES_RISK | USES_CPU_FOR,
		.size = auto_size,
	},
	{
		.name = "baseline",
		.help = "resource-tracker's rule. Memory: the highest peak + 20 %, rounded up to "
			"128, 256, 512, 1024, 2048 MiB or whole GiB. CPU: the average of the runs' "
			"mean cores, rounded, at least 1. Parameters: runs (5).",
		.size = baseline_size,
	},
	{
		.name = "max",
		.help = "Memory: the largest peak x (1 + margin). CPU: the most cores in use at "
			"any time. Parameters: margin (0.2), runs (200).",
		.uses = USES_MARGIN,
		.size = max_size,
	},
	{
		.name = "percentile",
		.help = "Memory: the percentile of the peaks, linear between ranks, x (1 + margin) "
			"(Witt et al., HPCS 2019, with P95). CPU: the cores that suffice for that "
			"share of the time of the widest run. Parameters: percentile (0.95), "
			"margin (0), runs (200).",
		.uses = USES_PERCENTILE | USES_MARGIN,
		.size = percentile_size,
	},
	{
		.name = "krr",
		.help = "Robusta KRR's simple strategy. Memory: the largest peak ever + 15 %, or "
			"the largest limit that was too small + 25 %. CPU: the 95th percentile "
			"over time of the widest run. Parameters: margin (0.15).",
		.uses = USES_MARGIN,
		.size = krr_size,
	},
	{
		.name = "vpa",
		.help = "The Kubernetes vertical pod autoscaler's target: P90 of a histogram with "
			"buckets growing by 5 % from 10 MB, weights halving every 24 runs, + 15 %; "
			"after an OOM kill the larger of + 20 % and + 100 MiB joins the histogram. "
			"CPU likewise over time. Parameters: percentile (0.9), margin (0.15).",
		.uses = USES_PERCENTILE | USES_MARGIN,
		.size = vpa_size,
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
