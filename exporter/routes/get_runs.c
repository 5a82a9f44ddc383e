/* /runs: the runs of a job, newest first. */
#include "exporter/answers/job_runs.h"
#include "exporter/answers/run_json.h"

static const struct parameter parameters[] = {
	JOB_NAME_PARAMETER,
	{.name = "limit",
		.kind = PARAMETER_COUNT,
		.fallback = "50",
		.least = 1,
		.most = 10000,
		.help = "Most runs to give"},
	{0},
};

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	const char *job_name = argument_text(a, "job_name");
	AUTO(arena_done) struct arena arena = {0};
	struct runs runs;
	int code = job_runs(app, job_name, argument_count(a, "limit"), true, &arena, &runs, r, e);

	return code > 0 ? reply_json(r, 200, run_json_list(job_name, &runs)) : code;
}

const struct route route_runs = {
	.path = "/runs",
	.command = "runs",
	.help = "The runs of a job, newest first",
	.parameters = parameters,
	.answer = answer,
	.takes_long = true,
};
