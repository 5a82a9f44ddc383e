/* The list of jobs as JSON. */
#include "exporter/routes/get_jobs.h"

static json_t *job_json(const struct job_row *j)
{
	json_t *o = json_object(), *outcomes = json_object();

	for (unsigned i = 0; i < OUTCOME_COUNT; i++)
		json_put(outcomes, outcome_name((enum outcome)i), json_num((double)j->outcomes[i]));
	json_put(o, "job_name", json_text(j->job_name));
	json_put(o, "runs", json_num((double)j->runs));
	json_put(o, "outcomes", outcomes);
	json_put(o, "last_started_at", json_time(j->last_started_at));
	json_put(o, "last_outcome", json_text(outcome_name(j->last_outcome)));
	return o;
}

json_t *jobs_json(const struct job_row *jobs, size_t n)
{
	json_t *o = json_object(), *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_push(array, job_json(&jobs[i]));
	json_put(o, "jobs", array);
	return o;
}
