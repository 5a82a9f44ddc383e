#include "exporter/answers/sizing_parameters.h"

#include <math.h>
#include <stdio.h>

#include "collectors/base/mem.h"

#define SECONDS_PER_DAY 86400

const char *sizing_parameter_strategy(size_t i)
{
	return strategies[i].name;
}

const char *sizing_parameter_risk(size_t i)
{
	return i < RISK_COUNT ? sizing_risk_name((enum risk)i) : NULL;
}

const char *sizing_parameter_cpu_for(size_t i)
{
	return i < CPU_FOR_COUNT ? sizing_cpu_for_name((enum cpu_for)i) : NULL;
}

const struct strategy *sizing_parameters_strategy(const struct arguments *a)
{
	return strategy_find(argument_text(a, "strategy"));
}

/* Parameters that only some strategies use. */
static const struct {
	const char *name;
	enum sizing_use use;
} special[] = {
	{"risk", USES_RISK},
	{"cpu_for", USES_CPU_FOR},
	{"percentile", USES_PERCENTILE},
	{"margin", USES_MARGIN},
};

/* Returns false with an error in `r` if a parameter is given that the strategy does not use. It is
 * not ignored, because the client expects an effect. */
static bool all_are_used(const struct arguments *a, const struct strategy *strategy,
	struct reply *r)
{
	for (size_t i = 0; i < ARRAY_LEN(special); i++) {
		const char *users[STRATEGIES_MAX + 1] = {0};
		char called[ARGUMENT_CALLED_MAX];
		size_t n = 0;

		if (!argument_text(a, special[i].name) || strategy->uses & special[i].use)
			continue;
		for (const struct strategy *s = strategies; s->name && n < STRATEGIES_MAX; s++)
			if (s->uses & special[i].use)
				users[n++] = s->name;
		reply_error_list(r, 400, "bad_parameter", "strategies", users,
			"%s: strategy %s does not use it",
			argument_called(a, special[i].name, called), strategy->name);
		return false;
	}
	return true;
}

bool sizing_parameters_read(const struct arguments *a, struct sizing_options *ret, struct reply *r)
{
	const char *risk = argument_text(a, "risk"), *cpu_for = argument_text(a, "cpu_for");
	double percentile = argument_number(a, "percentile"), margin = argument_number(a, "margin");
	double input = argument_number(a, "input_bytes");
	struct sizing_options o = {
		.runs = argument_count(a, "runs"),
		.percentile = isnan(percentile) ? 0 : percentile,
		.margin = isnan(margin) ? 0 : margin,
		.margin_given = !isnan(margin),
		.input_bytes = isnan(input) ? 0 : input,
		.input_given = !isnan(input),
		.attempt = argument_count(a, "attempt"),
		.hindsight = argument_flag(a, "details"),
	};

	if (!all_are_used(a, sizing_parameters_strategy(a), r))
		return false;
	if (risk)
		sizing_risk_parse(risk, &o.risk);
	if (cpu_for)
		sizing_cpu_for_parse(cpu_for, &o.cpu_for);
	*ret = o;
	return true;
}

double sizing_parameters_since(const struct arguments *a, double now)
{
	double days = argument_number(a, "window_days");

	return isnan(days) ? -INFINITY : now - days * SECONDS_PER_DAY;
}

struct runs sizing_parameters_runs(const struct runs *runs, double since)
{
	struct runs ret = *runs;

	while (ret.n && ret.run[ret.n - 1].started_at < since)
		ret.n--;
	return ret;
}
