/* /runs: the runs of a job, newest first. */
#include "exporter/core/json_key.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/run_json.h"
#include "exporter/forward/run_message.h"

static const struct parameter parameters[] = {
	JOB_NAME_PARAMETERS,
	{.name = "limit",
		.kind = PARAMETER_COUNT,
		.fallback = "50",
		.least = 1,
		.most = 10000,
		.help = "Most runs to give"},
	{.name = "details",
		.kind = PARAMETER_FLAG,
		.fallback = "false",
		.help = "Gives each run all keys, with null for what is not known. Without it, a run has only known values"},
	{.name = "export",
		.kind = PARAMETER_FLAG,
		.fallback = "false",
		.help = "Gives the ended runs as the command export prints them, with the statistics of all "
			"columns. POST /runs takes such an answer of up to 256 KiB"},
	{0},
};

/* A run that has not ended cannot be posted. */
static json_t *exported(const char *job_name, const struct runs *runs)
{
	json_t *o = json_object(), *array = json_array();

	for (size_t i = 0; i < runs->n; i++)
		if (runs->run[i].outcome != OUTCOME_RUNNING)
			json_push(array, run_message(&runs->run[i]));
	json_put_job(o, job_name);
	json_put(o, "runs", array);
	return o;
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	const char *job_name = argument_job(a);
	AUTO(arena_done) struct arena arena = {0};
	struct runs runs;
	int code = job_runs(app, job_name, argument_count(a, "limit"), true, &arena, &runs, r, e);

	if (code <= 0)
		return code;
	return reply_json(r, 200,
		argument_flag(a, "export") ?
			exported(job_name, &runs) :
			run_json_list(job_name, &runs, argument_flag(a, "details")));
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"job_name", KEY_TEXT, .required = true, .help = "Name of the job"},
	JOB_PLACE_KEYS,
	{"runs", KEY_LIST, .required = true, .help = "The runs, newest first"},
	{0},
};
/* clang-format on */

const struct route route_runs = {
	.path = "/runs",
	.command = "runs",
	.help = "The runs of a job, newest first",
	.parameters = parameters,
	.answer = answer,
	.takes_long = true,
	.gives = answer_keys,
	.errors = (const struct route_error[]){JOB_ERRORS, {0}},
};
