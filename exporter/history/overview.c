/* The newest runs of every job in one go, with the few numbers that an overview needs. */
#include "exporter/history/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reading_jobs {
	struct job_brief *job;
	size_t n, room;
	int64_t last;          /* id of the newest job */
	struct run_brief *run; /* of all jobs, one after the other */
	size_t n_runs, room_runs;
};

static void reading_jobs_done(struct reading_jobs *r)
{
	free(r->job);
	free(r->run);
}

static void take_row(struct reading_jobs *r, struct sql *q, struct arena *arena)
{
	int64_t id = sql_int(q);
	const char *name = sql_name(q);
	uint64_t runs = sql_count(q);
	struct run_brief run = {0};

	if (r->n == 0 || id != r->last) {
		GROW(r->job, r->n, r->room);
		r->job[r->n++] = (struct job_brief){
			.job_name = arena_text(arena, name, strlen(name)), .runs = runs};
		r->last = id;
	}
	run.run_id = sql_keep_name(q, arena);
	run.started_at = sql_double(q);
	run.duration_seconds = sql_double(q);
	run.outcome = sql_outcome(q);
	run.requested_cpu_cores = sql_double(q);
	run.requested_memory_bytes = sql_double(q);
	run.memory_peak_bytes = sql_double(q);
	run.cpu_seconds = sql_double(q);
	run.network_sent_bytes = sql_double(q);
	run.disk_grown_bytes = sql_double(q);
	run.host = sql_keep_text(q, arena);
	run.server.vendor_id = sql_keep_text(q, arena);
	run.server.instance_type = sql_keep_text(q, arena);
	run.server.region = sql_keep_text(q, arena);
	run.server.zone = sql_keep_text(q, arena);
	run.server.allocation = sql_keep_text(q, arena);
	GROW(r->run, r->n_runs, r->room_runs);
	r->run[r->n_runs++] = run;
	r->job[r->n - 1].n++;
}

static int newest_first(const void *a, const void *b)
{
	const struct job_brief *x = a, *y = b;

	return (x->run[0].started_at < y->run[0].started_at) -
	       (x->run[0].started_at > y->run[0].started_at);
}

int history_overview(struct history *h, size_t runs, struct arena *arena, struct job_brief **ret,
	size_t *ret_n, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_OVERVIEW, e);
	AUTO(reading_jobs_done) struct reading_jobs found = {0};
	int code;

	sql_put_int(&q, (int64_t)runs);
	while ((code = sql_row(&q, e)) > 0)
		take_row(&found, &q, arena);
	if (code)
		return code;
	struct run_brief *all = arena_alloc(arena, (found.n_runs + 1) * sizeof *all);
	struct job_brief *job = arena_alloc(arena, (found.n + 1) * sizeof *job);

	for (size_t i = 0; i < found.n_runs; i++)
		all[i] = found.run[i];
	for (size_t i = 0; i < found.n; i++) {
		job[i] = found.job[i];
		job[i].run = all;
		all += job[i].n;
	}
	qsort(job, found.n, sizeof *job, newest_first);
	*ret = job;
	*ret_n = found.n;
	return 0;
}
