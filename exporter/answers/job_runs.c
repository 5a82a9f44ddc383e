#include "exporter/answers/job_runs.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/core/memory_budget.h"
#include "exporter/text/suggest.h"
#include "exporter/core/json.h"
#include "recommender/sizing/rule.h"

int answer_open_history(struct app *app, struct history **ret, struct err *e)
{
	int code = history_open(ret, app->history_path, HISTORY_READ, &app->columns, NULL, e);

	if (code == 0)
		history_give_up_when(*ret, memory_budget_is_over);
	return code;
}

void answer_complete_job(struct app *app, struct arguments *a)
{
	AUTO(history_closep) struct history *h = NULL;
	char key[JOB_KEY_MAX];

	if (!a->job[0] || answer_open_history(app, &h, NULL))
		return;
	if (history_find_key(h, a->job, key, NULL) > 0)
		text_copy(key, a->job, sizeof a->job);
}

int answer_no_history(struct app *app, struct reply *reply)
{
	return reply_error(reply, 404, "no_history", "there is no history yet at %s",
		app->history_path);
}

static const char *text_of_job(const char *key, struct arena *arena)
{
	char text[JOB_TEXT_MAX];

	job_key_text(key, text);
	return arena_text(arena, text, strlen(text));
}

int answer_unknown_job(struct reply *reply, struct history *h, const char *job_name,
	struct arena *arena, struct err *e)
{
	const char *near[CLOSEST_MAX + 1];
	struct job_row *jobs;
	size_t n;
	int code = history_jobs(h, 0, arena, &jobs, &n, e);

	if (code)
		return code;
	const char **names = arena_alloc(arena, (n + 1) * sizeof *names);
	struct job_parts job = job_key_parts(job_name);
	size_t elsewhere = 0, known = 0;
	char asked[JOB_TEXT_MAX];

	for (size_t i = 0; i < n; i++) {
		struct job_parts other = job_key_parts(jobs[i].job_name);

		/* A client that asks about one namespace must not learn the names of jobs in other
		 * namespaces. */
		if (*job.space && strcmp(other.space, job.space) != 0)
			continue;
		names[known] = text_of_job(jobs[i].job_name, arena);
		if (strcmp(other.name, job.name) == 0 && elsewhere < CLOSEST_MAX)
			near[elsewhere++] = names[known];
		known++;
	}
	near[elsewhere] = NULL;
	job_key_text(job_name, asked);
	if (elsewhere)
		return reply_error_list(reply, 404, "unknown_job", "did_you_mean", near,
			"no job \"%s\" is known, only of this name elsewhere: give the namespace and "
			"the cluster that it has",
			asked);
	suggest_closest(asked, names, known, near);
	if (near[0])
		return reply_error_list(reply, 404, "unknown_job", "did_you_mean", near,
			"no job \"%s\" is known", asked);
	if (known == 1)
		return reply_error_list(reply, 404, "unknown_job", "did_you_mean", near,
			"no job \"%s\" is known, nor one like it: /jobs, or the command jobs, "
			"lists the only one",
			asked);
	if (known)
		return reply_error_list(reply, 404, "unknown_job", "did_you_mean", near,
			"no job \"%s\" is known, nor one like it: /jobs, or the command jobs, "
			"lists all %zu",
			asked, known);
	return reply_error_list(reply, 404, "unknown_job", "did_you_mean", near,
		"no job \"%s\" is known, nor any other%s yet", asked,
		*job.space ? " of this namespace" : "");
}

int job_runs_of(struct history *h, const char *job_name, size_t limit, bool open_stats,
	struct arena *arena, struct runs *ret, struct reply *reply, struct err *e)
{
	struct run_query query = {.job_name = job_name, .limit = limit, .open_stats = open_stats};
	int code = history_runs(h, &query, arena, ret, e);

	if (code)
		return code;
	return ret->n ? 1 : answer_unknown_job(reply, h, job_name, arena, e);
}

int job_runs(struct app *app, const char *job_name, size_t limit, bool open_stats,
	struct arena *arena, struct runs *ret, struct reply *reply, struct err *e)
{
	AUTO(history_closep) struct history *h = NULL;
	int code = answer_open_history(app, &h, e);

	if (code == -ENOENT)
		return answer_no_history(app, reply);
	if (code)
		return code;
	return job_runs_of(h, job_name, limit, open_stats, arena, ret, reply, e);
}

/* If all successful runs in `all` have about the same memory limit, adds to `all` the newest
 * successful run with another limit. */
static int add_other_limit(struct history *h, const char *job_name, struct arena *arena,
	struct runs *all, struct err *e)
{
	double limit = NAN;
	struct runs other = {0};

	for (size_t i = 0; i < all->n; i++) {
		const struct run *r = &all->run[i];

		if (r->outcome != OUTCOME_SUCCEEDED || !(r->memory_limit_bytes > 0))
			continue;
		if (isnan(limit))
			limit = r->memory_limit_bytes;
		if (run_limits_differ(r->memory_limit_bytes, limit))
			return 0;
	}
	if (isnan(limit))
		return 0;
	int code = history_runs(h,
		&(struct run_query){.job_name = job_name,
			.successful_only = true,
			.other_limit_than = limit,
			.limit = 1},
		arena, &other, e);

	if (code || !other.n)
		return code;
	struct run *both = arena_alloc(arena, (all->n + 1) * sizeof *both);

	memcpy(both, all->run, all->n * sizeof *both);
	both[all->n] = other.run[0];
	*all = (struct runs){all->n + 1, both};
	return 0;
}

int job_runs_to_size(struct history *h, const char *job_name, size_t measured, struct arena *arena,
	struct runs *ret, struct err *e)
{
	const struct run_query query = {.job_name = job_name,
		.enough_measured = measured ? measured : PEAKS_SEEN_MAX,
		.limit = RUNS_PER_SUCCESS * (measured ? measured : PEAKS_SEEN_MAX)};
	struct runs all;
	int code = history_runs(h, &query, arena, &all, e);

	if (code == 0)
		code = add_other_limit(h, job_name, arena, &all, e);
	if (code == 0)
		*ret = all;
	return code;
}

static void add_window(struct buf *out, double days)
{
	buf_adds(out, "within the last ");
	if (days != 1)
		buf_add_double(out, days);
	buf_adds(out, days == 1 ? "day" : " days");
}

int answer_no_successful_run(struct reply *reply, const char *job_name, const struct runs *runs,
	double window_days)
{
	struct buf message AUTO(buf_done) = BUF_MAX(1024);
	size_t count[OUTCOME_COUNT] = {0};
	char text[JOB_TEXT_MAX];
	bool first = true;

	for (size_t i = 0; i < runs->n; i++)
		count[runs->run[i].outcome]++;
	buf_addf(&message, "job \"%s\" has no successful run ", job_key_text(job_name, text));
	if (isnan(window_days))
		buf_adds(&message, "yet");
	else
		add_window(&message, window_days);
	buf_adds(&message, ", only");
	for (unsigned o = 0; o < OUTCOME_COUNT; o++) {
		if (!count[o])
			continue;
		buf_addf(&message, "%s %zu %s", first ? "" : ",", count[o],
			run_outcome_name((enum outcome)o));
		first = false;
	}
	return reply_error(reply, 404, "no_successful_run", "%s", buf_text(&message));
}

int answer_no_recent_run(struct reply *reply, const char *job_name, const struct runs *all,
	double window_days)
{
	struct buf message AUTO(buf_done) = BUF_MAX(1024);
	json_t *at = json_time(all->run[0].started_at);
	char text[JOB_TEXT_MAX];

	buf_addf(&message, "no run of job \"%s\" started ", job_key_text(job_name, text));
	add_window(&message, window_days);
	if (json_is_string(at))
		buf_addf(&message, "; the newest did at %s", json_string_value(at));
	json_decref(at);
	return reply_error(reply, 404, "no_recent_run", "%s", buf_text(&message));
}

/* ---- one run ---- */

bool answer_read_span(const struct arguments *a, struct span *ret, struct reply *reply)
{
	char called[2][ARGUMENT_CALLED_MAX];

	*ret = (struct span){argument_number(a, "from"), argument_number(a, "to")};
	if (!(ret->from > ret->to))
		return true;
	reply_error(reply, 400, "bad_parameter",
		"%s is %.15g, which is later than %s, %.15g: give the earlier time first",
		argument_called(a, "from", called[0]), ret->from,
		argument_called(a, "to", called[1]), ret->to);
	return false;
}

int run_found(struct app *app, const struct run_query *q, struct history **h, struct arena *arena,
	const struct run **ret, struct reply *reply, struct err *e)
{
	struct runs found = {0};
	char text[JOB_TEXT_MAX];
	int code = answer_open_history(app, h, e);

	if (code == -ENOENT)
		return answer_no_history(app, reply);
	if (code == 0)
		code = history_runs(*h, q, arena, &found, e);
	if (code)
		return code;
	if (found.n == 0)
		return reply_error(reply, 404, q->run_id ? "unknown_run" : "unknown_job",
			"no %s \"%s\" is known", q->run_id ? "run" : "job",
			q->run_id ? q->run_id : job_key_text(q->job_name, text));
	*ret = found.run;
	return 1;
}

int answer_find_run(struct app *app, const struct arguments *a, struct history **h,
	struct arena *arena, const struct run **ret, struct reply *reply, struct err *e)
{
	struct run_query query = {
		.run_id = argument_text(a, "run"), .open_stats = true, .limit = 1};
	char called[2][ARGUMENT_CALLED_MAX];

	if (!query.run_id)
		query.job_name = argument_job(a);
	if (!query.run_id && !query.job_name)
		return reply_error(reply, 400, "bad_parameter",
			"%s is missing: the id of a run, or %s for the newest of a job",
			argument_called(a, "run", called[0]),
			argument_called(a, "job_name", called[1]));
	int code = run_found(app, &query, h, arena, ret, reply, e);

	if (code > 0 && !argument_may_see(a, (*ret)->job_name))
		return reply_error(reply, 404, "unknown_run", "no run \"%s\" is known",
			query.run_id);
	return code;
}
