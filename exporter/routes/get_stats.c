/* /stats: resource use of a job's last successful runs. */
#include <errno.h>
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

/* Returns 1 when there is a run, 0 with an error in `r`, or a negative errno. */
static int read_runs(struct app *app, const char *job_name, size_t most, struct arena *arena,
	struct runs *ret, struct reply *r, struct err *e)
{
	AUTO(history_closep) struct history *h = NULL;
	int code = answer_open_history(app, &h, e);

	if (code == -ENOENT)
		return answer_no_history(app, r);
	if (code == 0)
		code = job_runs_to_size(h, job_name, most, arena, ret, e);
	if (code)
		return code;
	return ret->n ? 1 : answer_unknown_job(r, h, job_name, arena, e);
}

/* Also answers about a job of which only kills are known, because these give a recommendation. */
static int answer_json(struct app *app, const char *job_name, const struct runs *runs,
	const struct stats_window *w, struct arena *arena, struct reply *r, struct err *e)
{
	struct catalogue_use use AUTO(catalogue_use_done) = {0};
	AUTO(job_neighbours_done) struct job_neighbours neighbours = {0};
	AUTO(sizing_result_done) struct sizing_result *next = NULL;
	struct behaviour behaviour;
	int code = sizing_by_default(app, job_name, &neighbours, &next, r, e);

	if (code <= 0)
		return code;
	code = behaviour_of(app, &use, runs, &neighbours, arena, &behaviour, e);
	if (code)
		return code;
	json_t *o = stats_json(job_name, w, &next->sizing, wall_seconds(now_read().wall));

	behaviour_json_put(o, &behaviour, &next->sizing);
	return reply_json(r, 200, o);
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	const char *job_name = argument_text(a, "job_name");
	AUTO(arena_done) struct arena arena = {0};
	size_t most = argument_count(a, "runs");
	struct runs runs;
	int code = read_runs(app, job_name, most, &arena, &runs, r, e);

	if (code <= 0)
		return code;
	struct stats_window w = stats_json_window(&runs, most, &arena);

	if (strcmp(argument_text(a, "format"), "json") == 0)
		return answer_json(app, job_name, &runs, &w, &arena, r, e);
	return w.n ? reply_json(r, 200, stats_json_resource_tracker(&w)) :
		     answer_no_successful_run(r, job_name, &runs, NAN);
}

const struct route route_stats = {
	.path = "/stats",
	.command = "stats",
	.help = "The use of resources by a job's last successful runs, run by run and together. "
		"Also changes between runs, phases, a forecast, and the recommended demand",
	.parameters = parameters,
	.answer = answer,
	.takes_long = true,
};
