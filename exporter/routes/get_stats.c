/* /stats: resource use of a job's last successful runs. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "exporter/core/json_key.h"
#include "exporter/answers/behaviour.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/server_answer.h"
#include "exporter/answers/sizing.h"
#include "exporter/answers/sizing_json.h"
#include "exporter/answers/stats_json.h"

static const char *format_choice(size_t i)
{
	static const char *const names[] = {"json", "resource-tracker", NULL};

	return names[i];
}

static const struct parameter parameters[] = {
	JOB_NAME_PARAMETERS,
	RUNS_PARAMETER,
	{.name = "format",
		.kind = PARAMETER_CHOICE,
		.fallback = "json",
		.choice = format_choice,
		.help = "resource-tracker gives the keys and units of its stats()"},
	DETAILS_PARAMETER("the statistics of each run, and columns without a value (format json)"),
	{0},
};

/* Reads the newest runs of the job. Returns 1 when there is a run. If there is none, writes an
 * error to `r` and returns 0. Returns a negative errno when the history cannot be read. */
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

/* Writes the answer as JSON. It needs no successful run: runs that were killed for lack of memory
 * are enough for a recommendation. */
static int answer_json(struct app *app, const char *job_name, bool details, const struct runs *runs,
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
	json_t *o = stats_json(job_name, w, &next->sizing, wall_seconds(now_read().wall), details);

	behaviour_json_put(o, &behaviour, &next->sizing);
	return reply_json(r, 200, o);
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	const char *job_name = argument_job(a);
	AUTO(arena_done) struct arena arena = {0};
	size_t most = argument_count(a, "runs");
	struct runs runs;
	int code = read_runs(app, job_name, most, &arena, &runs, r, e);

	if (code <= 0)
		return code;
	struct stats_window w = stats_json_window(&runs, most, &arena);

	if (strcmp(argument_text(a, "format"), "json") == 0)
		return answer_json(app, job_name, argument_flag(a, "details"), &runs, &w, &arena, r,
			e);
	return w.n ? reply_json(r, 200, stats_json_resource_tracker(&w)) :
		     answer_no_successful_run(r, job_name, &runs, NAN);
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"job_name", KEY_TEXT, .required = true, .help = "Name of the job"},
	JOB_PLACE_KEYS,
	{"generated_at", KEY_TIME, .required = true, .help = "When the answer was made"},
	WARNING_KEYS,
	{"resources", KEY_OBJECT, .required = true, .help = "What to request, in the units of Metaflow: CPUs, MiB, GPUs"},
	{"demand", KEY_OBJECT, .required = true, .help = "What the next run will need"},
	{"runs_analyzed", KEY_NUMBER, .required = true, .help = "Number of runs below"},
	{"runs_excluded", KEY_NUMBER, .required = true, .help = "Number of runs that did not succeed"},
	{"runs_not_measured", KEY_NUMBER, .required = true, .help = "Number of runs without numbers"},
	{"cpu_doubt", KEY_TEXT, .help = "Why CPU time may be wrong"},
	{"first_started_at", KEY_TIME, .help = "Start of the oldest of these runs"},
	{"last_started_at", KEY_TIME, .help = "Start of the newest"},
	{"over_runs", KEY_OBJECT, .required = true, .help = "Statistics over these runs"},
	{"waits", KEY_OBJECT, .required = true, .help = "What the runs waited for"},
	{"runs", KEY_LIST, .help = "With details: statistics of each run"},
	{"forecast", KEY_OBJECT, .required = true, .help = "What the next runs will need"},
	{"changes", KEY_LIST, .required = true, .help = "Changes between runs"},
	{"phases", KEY_LIST, .required = true, .help = "Phases of the newest run"},
	{"split", KEY_OBJECT, .help = "What the phases cost on servers of their own"},
	{"running", KEY_LIST, .required = true, .help = "Forecasts of running runs"},
	{0},
};
/* clang-format on */

const struct route route_stats = {
	.path = "/stats",
	.command = "stats",
	.help = "Resource use of a job's successful runs, changes, phases, a forecast, and the "
		"recommended demand",
	.parameters = parameters,
	.answer = answer,
	.takes_long = true,
	.gives = answer_keys,
	.other_json = true,
	.errors = (const struct route_error[]){SIZING_ERRORS, {0}},
};
