/* /jobs: the known jobs, and the outcomes of their runs. */
#include <errno.h>

#include "exporter/core/json_key.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/sizing_json.h"
#include "exporter/routes/get_jobs.h"
#include "exporter/routes/job_list.h"
#include "recommender/run.h"

static const struct parameter parameters[] = {
	JOB_LIST_PARAMETERS,
	{0},
};

static json_t *job_json(const struct job_row *j, uint32_t warnings)
{
	json_t *o = json_object(), *outcomes = json_object();

	for (unsigned i = 0; i < OUTCOME_COUNT; i++)
		json_put(outcomes, run_outcome_name((enum outcome)i),
			json_num((double)j->outcomes[i]));
	json_put_job(o, j->job_name);
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

static int read_rows(struct history *h, const struct job_list *list, struct arena *arena,
	struct job_row **ret, struct err *e)
{
	struct job_row *row = arena_alloc(arena, (list->n + 1) * sizeof *row);
	int code = 0;

	for (size_t i = 0; i < list->n && code == 0; i++) {
		const struct job_head *j = &list->job[i];

		row[i] = (struct job_row){.job_name = j->job_name,
			.runs = j->runs,
			.last_started_at = j->last_started_at,
			.last_outcome = j->last_outcome};
		code = history_job_outcomes(h, j, row[i].outcomes, e);
	}
	if (code == 0)
		*ret = row;
	return code;
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	AUTO(history_closep) struct history *h = NULL;
	AUTO(job_advice_done) struct job_advice_table *advice = job_advice_get();
	struct job_list list;
	struct job_row *row = NULL;
	int code = answer_open_history(app, &h, e);

	if (code == -ENOENT)
		return answer_no_history(app, r);
	if (code == 0)
		code = history_hold(h, e);
	if (code == 0)
		code = job_list_read(h, a, advice, &arena, &list, e);
	if (code == 0)
		code = read_rows(h, &list, &arena, &row, e);
	if (code)
		return code;
	json_t *o = jobs_json(row, list.n, advice);

	job_list_put(o, &list);
	return reply_json(r, 200, o);
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"jobs", KEY_LIST, .required = true, .help = "The jobs, the most recent first unless sort says another order"},
	JOB_LIST_KEYS,
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
