/* /stats: resource use of a job's last successful runs. */
#include <math.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "exporter/answers/behaviour.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/sizing.h"
#include "exporter/answers/stats_json.h"

static const char *format_choice(size_t i)
{
	static const char *const names[] = {"json", "resource-tracker", NULL};

	return names[i];
}

static const struct parameter parameters[] = {
	JOB_NAME_PARAMETER,
	RUNS_PARAMETER,
	{.name = "format",
		.kind = PARAMETER_CHOICE,
		.fallback = "json",
		.choice = format_choice,
		.help = "resource-tracker gives the keys and units of its stats()"},
	{0},
};

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	const char *job_name = argument_text(a, "job_name");
	AUTO(arena_done) struct arena arena = {0};
	struct runs runs;
	int code = job_runs(app, job_name, 0, false, &arena, &runs, r, e);

	if (code <= 0)
		return code;
	struct stats_window w = stats_json_window(&runs, argument_count(a, "runs"), &arena);

	if (w.n == 0)
		return answer_no_successful_run(r, job_name, &runs, NAN);
	if (strcmp(argument_text(a, "format"), "resource-tracker") == 0)
		return reply_json(r, 200, stats_json_resource_tracker(&w));
	struct catalogue_use use AUTO(catalogue_use_done) = {0};
	AUTO(sizing_result_done) struct sizing_result *next = NULL;
	struct behaviour behaviour;

	code = sizing_by_default(app, job_name, &next, r, e);
	if (code <= 0)
		return code;
	code = behaviour_of(app, &use, &runs, &arena, &behaviour, e);
	if (code)
		return code;
	json_t *o = stats_json(job_name, &w, &next->sizing.warnings, wall_seconds(now_read().wall));

	behaviour_json_put(o, &behaviour);
	return reply_json(r, 200, o);
}

const struct route route_stats = {
	.path = "/stats",
	.command = "stats",
	.help = "What a job's last successful runs used, each and together, what changed, and what "
		"is to be expected",
	.parameters = parameters,
	.answer = answer,
	.takes_long = true,
};
