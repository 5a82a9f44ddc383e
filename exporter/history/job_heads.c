/* Reads the list of jobs in two steps. First, history_job_heads reads a few facts of each job. With
 * these, the caller selects the jobs to show. Then history_overview reads the newest runs of the
 * selected jobs. */
#include <math.h>
#include <stdlib.h>

#include "exporter/history/tables.h"

static int read_heads(struct history *h, struct arena *arena, struct job_head **ret, size_t *ret_n,
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_JOB_HEADS, e);
	AUTO(freep) struct job_head *head = NULL;
	size_t n = 0, room = 0;
	int code;

	while ((code = sql_row(&q, e)) > 0) {
		struct job_head j = {.value = NAN};

		GROW(head, n, room);
		j.id = sql_int(&q);
		j.job_name = sql_keep_name(&q, arena);
		j.runs = sql_count(&q);
		j.running = sql_count(&q);
		j.last_started_at = sql_double(&q);
		j.last_outcome = sql_outcome(&q);
		j.requests = sql_count(&q) > 0;
		head[n++] = j;
	}
	if (code)
		return code;
	*ret = history_keep(arena, head, n * sizeof *head);
	*ret_n = n;
	return 0;
}

/* Sets `value` of each of the `n` heads. The statement `id` returns pairs of a job's id and its
 * value. The heads and these pairs are sorted by the id of the job. */
static int read_values(struct history *h, enum history_statement id, struct job_head *head,
	size_t n, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, id, e);
	size_t i = 0;
	int code;

	while ((code = sql_row(&q, e)) > 0) {
		int64_t job = sql_int(&q);

		while (i < n && head[i].id < job)
			i++;
		if (i < n && head[i].id == job)
			head[i].value = sql_double(&q);
	}
	return code;
}

int history_job_heads(struct history *h, enum head_value value, struct arena *arena,
	struct job_head **ret, size_t *ret_n, struct err *e)
{
	static const enum history_statement statement[] = {
		[HEAD_FAILURES] = STATEMENT_HEADS_FAILURES,
		[HEAD_DURATION] = STATEMENT_HEADS_DURATION,
		[HEAD_MEMORY] = STATEMENT_HEADS_MEMORY,
	};
	AUTO(sql_reading_end) struct sql_reading reading = {0};
	struct job_head *head = NULL;
	size_t n = 0;
	int code = sql_reading_begin(&reading, h, e);

	if (code == 0)
		code = read_heads(h, arena, &head, &n, e);
	if (code == 0 && value != HEAD_NOTHING)
		code = read_values(h, statement[value], head, n, e);
	if (code)
		return code;
	*ret = head;
	*ret_n = n;
	return 0;
}

/* Sets the members of `ret` that come from the statistics of the run. */
static int take_measured(struct history *h, int64_t id, const struct packed_run *packed,
	struct run_brief *ret, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct run r = {0};
	int code = history_unpack_stats(h, id, packed, NULL, &arena, &r, e);

	ret->memory_peak_bytes = run_peak(&r, "memory_peak_bytes");
	ret->cpu_seconds = run_total(&r, "cpu_seconds");
	ret->network_sent_bytes = run_total(&r, "network_sent_bytes");
	ret->disk_grown_bytes = run_peak(&r, "disk_grown_bytes");
	return code;
}

/* Reads the columns in the order of STATEMENT_OVERVIEW. */
static int take_run(struct history *h, struct sql *q, struct arena *arena, struct run_brief *ret,
	struct err *e)
{
	struct run_brief run = {0};
	int64_t id = sql_int(q);

	run.run_id = sql_keep_name(q, arena);
	run.started_at = sql_double(q);
	run.duration_seconds = sql_double(q);
	run.outcome = sql_outcome(q);
	run.requested_cpu_cores = sql_double(q);
	run.requested_memory_bytes = sql_double(q);
	run.host = sql_keep_text(q, arena);
	run.server.vendor_id = sql_keep_text(q, arena);
	run.server.instance_type = sql_keep_text(q, arena);
	run.server.region = sql_keep_text(q, arena);
	run.server.zone = sql_keep_text(q, arena);
	run.server.allocation = sql_keep_text(q, arena);
	struct packed_run packed = {.form = sql_int(q)};

	packed.stats = sql_blob(q, &packed.size);
	int code = take_measured(h, id, &packed, &run, e);

	*ret = run;
	return code;
}

static int read_brief(struct history *h, const struct job_head *job, size_t runs,
	struct arena *arena, struct job_brief *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_OVERVIEW, e);
	AUTO(freep) struct run_brief *run = NULL;
	size_t n = 0, room = 0;
	int code;

	sql_put_int(&q, job->id);
	sql_put_int(&q, (int64_t)runs);
	while ((code = sql_row(&q, e)) > 0) {
		GROW(run, n, room);
		if ((code = take_run(h, &q, arena, &run[n++], e)))
			break;
	}
	if (code == 0)
		*ret = (struct job_brief){
			job->job_name, job->runs, n, history_keep(arena, run, n * sizeof *run)};
	return code;
}

int history_overview(struct history *h, const struct job_head *job, size_t n, size_t runs,
	struct arena *arena, struct job_brief **ret, struct err *e)
{
	AUTO(sql_reading_end) struct sql_reading reading = {0};
	struct job_brief *brief = arena_alloc(arena, n * sizeof *brief);
	int code = sql_reading_begin(&reading, h, e);

	for (size_t i = 0; i < n && code == 0; i++)
		code = read_brief(h, &job[i], runs, arena, &brief[i], e);
	if (code == 0)
		*ret = brief;
	return code;
}
