/* Reads runs of other jobs, from which the request of a job with few runs is estimated. */
#include "exporter/history/tables.h"

#include <errno.h>
#include <math.h>

int history_job_origin(struct history *h, const char *job_name, struct arena *arena,
	struct run_origin *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_JOB_ORIGIN, e);

	sql_put_text(&q, job_name);
	int code = sql_row(&q, e);

	*ret = (struct run_origin){0};
	if (code > 0) {
		ret->system = sql_keep_text(&q, arena);
		ret->labels = sql_keep_text(&q, arena);
	}
	return code < 0 ? code : 0;
}

int history_recent_jobs(struct history *h, size_t runs, size_t limit, struct arena *arena,
	struct recent_job **ret, size_t *ret_n, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_RECENT_JOBS, e);
	AUTO(freep) struct recent_job *job = NULL;
	size_t n = 0, room = 0;
	int code;

	sql_put_int(&q, (int64_t)runs);
	sql_put_int(&q, (int64_t)limit);
	while ((code = sql_row(&q, e)) > 0) {
		GROW(job, n, room);
		struct recent_job *j = &job[n++];

		j->id = sql_int(&q);
		j->job_name = sql_keep_name(&q, arena);
		j->origin.system = sql_keep_text(&q, arena);
		j->origin.labels = sql_keep_text(&q, arena);
	}
	if (code)
		return code;
	*ret = history_keep(arena, job, n * sizeof *job);
	*ret_n = n;
	return 0;
}

static void take_peak(struct sql *q, struct arena *arena, struct run *r)
{
	double peak = sql_double(q);

	if (isnan(peak))
		return;
	r->stats = arena_alloc(arena, sizeof *r->stats);
	r->stats[r->n_stats++] = (struct column_stats){"memory_peak_bytes", {.max = peak}};
}

int history_memory_runs(struct history *h, int64_t job, size_t limit, struct arena *arena,
	struct runs *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_MEMORY_RUNS, e);
	struct runs found = {.run = arena_alloc(arena, limit * sizeof *found.run)};
	int code;

	sql_put_int(&q, job);
	sql_put_int(&q, (int64_t)limit);
	while ((code = sql_row(&q, e)) > 0) {
		struct run *r = &found.run[found.n++];

		r->outcome = sql_outcome(&q);
		r->duration_seconds = sql_double(&q);
		r->memory_limit_bytes = sql_double(&q);
		r->input_bytes = sql_double(&q);
		take_peak(&q, arena, r);
	}
	if (code == 0)
		*ret = found;
	return code;
}

int64_t history_ended(struct history *h)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_ENDED, NULL);
	int code = sql_row(&q, NULL);

	return code > 0 ? sql_int(&q) : code < 0 ? code : -EIO;
}
