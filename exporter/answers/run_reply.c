/* The run that a request is about. */
#include "exporter/answers/run_reply.h"

#include <errno.h>
#include <stdio.h>

static int reply_none(struct reply *reply, const char *run_id, const char *job_name)
{
	char message[JOB_NAME_MAX + 64];

	if (run_id)
		snprintf(message, sizeof message, "no run \"%s\" is known", run_id);
	else
		snprintf(message, sizeof message, "no job \"%s\" is known", job_name);
	return reply_error(reply, 404, run_id ? "unknown_run" : "unknown_job", message, NULL, NULL);
}

bool span_asked_for(const struct arguments *a, struct span *ret, struct reply *reply)
{
	const char *dashes = a->flags ? "--" : "";
	char message[160];

	*ret = (struct span){argument_number(a, "from"), argument_number(a, "to")};
	if (!(ret->from > ret->to))
		return true;
	snprintf(message, sizeof message,
		"%sfrom is %.15g, which is later than %sto, %.15g: give the earlier time first",
		dashes, ret->from, dashes, ret->to);
	reply_error(reply, 400, "bad_parameter", message, NULL, NULL);
	return false;
}

int run_asked_for(struct app *app, const struct arguments *a, struct history **h,
	struct arena *arena, const struct run **ret, struct reply *reply, struct err *e)
{
	struct run_query query = {
		.run_id = argument_text(a, "run"), .open_stats = true, .limit = 1};
	struct runs found = {0};

	if (!query.run_id)
		query.job_name = argument_text(a, "job_name");
	if (!query.run_id && !query.job_name)
		return reply_error(reply, 400, "bad_parameter",
			a->flags ? "--run is missing: the id of a run, or --job-name for the "
				   "newest of a job" :
				   "run is missing: the id of a run, or job_name for the newest of "
				   "a job",
			NULL, NULL);
	int code = app_history(app, h, e);

	if (code == -ENOENT)
		return reply_no_history(app, reply);
	if (code == 0)
		code = history_runs(*h, &query, arena, &found, e);
	if (code)
		return code;
	if (found.n == 0)
		return reply_none(reply, query.run_id, query.job_name);
	*ret = found.run;
	return 1;
}
