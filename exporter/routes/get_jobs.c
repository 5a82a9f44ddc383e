/* /jobs: the known jobs, and the outcomes of their runs. */
#include <errno.h>

#include "exporter/core/json_key.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/sizing_json.h"
#include "exporter/routes/get_jobs.h"
#include "recommender/run.h"

static const struct parameter parameters[] = {
	{.name = "limit",
		.kind = PARAMETER_COUNT,
		.fallback = "1000",
		.least = 1,
		.most = 100000,
		.help = "Most jobs to give"},
	{0},
};

static json_t *job_json(const struct job_row *j, uint32_t warnings)
{
	json_t *o = json_object(), *outcomes = json_object();

	for (unsigned i = 0; i < OUTCOME_COUNT; i++)
		json_put(outcomes, run_outcome_name((enum outcome)i),
			json_num((double)j->outcomes[i]));
	json_put(o, "job_name", json_text(j->job_name));
	json_put(o, "runs", json_num((double)j->runs));
	json_put(o, "outcomes", outcomes);
	json_put(o, "last_started_at", json_time(j->last_started_at));
	json_put(o, "last_outcome", json_text(run_outcome_name(j->last_outcome)));
	sizing_json_put_codes(o, warnings);
	return o;
}

json_t *jobs_json(const struct job_row *jobs, size_t n, const struct job_advice_table *warnings)
{
	json_t *o = json_object(), *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_push(array,
			job_json(&jobs[i], job_advice_warnings(warnings, jobs[i].job_name)));
	json_put(o, "jobs", array);
	return o;
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	AUTO(history_closep) struct history *h = NULL;
	size_t n = 0, limit = argument_count(a, "limit");
	struct job_row *jobs = NULL;
	int code = answer_open_history(app, &h, e);

	if (code == -ENOENT)
		return answer_no_history(app, r);
	if (code == 0)
		code = history_jobs(h, &arena, &jobs, &n, e);
	if (code)
		return code;
	AUTO(job_advice_done) struct job_advice_table *warnings = job_advice_get();

	return reply_json(r, 200, jobs_json(jobs, n < limit ? n : limit, warnings));
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"jobs", KEY_LIST, .required = true, .help = "The jobs, the most recent first"},
	{0},
};
/* clang-format on */

const struct route route_jobs = {
	.path = "/jobs",
	.command = "jobs",
	.help = "The known jobs, the most recent first, and how their runs ended",
	.parameters = parameters,
	.answer = answer,
	.takes_long = true,
	.gives = answer_keys,
	.errors = (const struct route_error[]){{404, "no_history"}, {0}},
};
