#include "exporter/history/tables.h"
#include "recommender/catalogue/architecture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SQL_MAX 4096

static enum architecture architecture_of(const char *name)
{
	unsigned i;

	return name && catalogue_name_find(architecture_name, ARCHITECTURE_COUNT, name, &i) ?
		       (enum architecture)i :
		       ARCHITECTURE_UNKNOWN;
}

/* ---- runs ---- */

struct matched_run {
	int64_t id;
	struct packed_run packed;
	struct run run;
};

struct run_search {
	struct matched_run *found;
	size_t n, room;
};

static void finding_done(struct run_search *f)
{
	free(f->found);
}

/* Prepares the statement that selects runs. If `after` is NULL, the newest run comes first.
 * Otherwise selects only ended runs with an id above `*after`, in the order of their ids. The SQL
 * contains only the conditions that the query uses. A fixed SQL with "? IS NULL OR ..." for each
 * condition would be slow, because SQLite would use no index. */
static struct sql select_runs(struct history *h, const struct run_query *query,
	const int64_t *after, struct err *e)
{
	struct buf b AUTO(buf_done) = BUF_MAX(SQL_MAX);

	buf_adds(&b,
		"SELECT r.id, r.run_id, j.name, r.started_at, r.ended_at, r.duration_seconds,"
		" r.outcome, r.exit_code, r.exit_signal, r.host, r.cpu_missed_seconds,"
		" r.samples, r.interval_seconds, r.requested_cpu_cores,"
		" r.requested_memory_bytes, r.memory_limit_bytes, r.input_bytes, r.attempt,"
		" r.system_run, r.cpu_foreign_seconds, r.machine_cpus, r.machine_memory_bytes,"
		" r.not_measured, r.address_limit_bytes, r.address_peak_bytes, r.end_reason,"
		" r.stats_form, r.stats" CIRCUMSTANCE_TEXTS " FROM run r JOIN job j ON j.id = r.job"
		" LEFT JOIN circumstances c ON c.id = r.circumstances WHERE 1");
	if (query->job_name)
		buf_adds(&b, " AND r.job = (SELECT id FROM job WHERE name = ?)");
	if (query->run_id)
		buf_adds(&b, " AND r.run_id = ?");
	if (query->open_only)
		buf_adds(&b, " AND r.outcome = 'running'");
	if (query->successful_only)
		buf_adds(&b, " AND r.outcome = 'succeeded'");
	if (query->other_limit_than > 0)
		buf_adds(&b, " AND r.outcome <> 'running' AND r.memory_limit_bytes"
			     " NOT BETWEEN ? AND ?");
	buf_adds(&b, after ? " AND r.outcome <> 'running' AND r.id > ? ORDER BY r.id LIMIT ?" :
			     " ORDER BY r.started_at DESC, r.id DESC LIMIT ?");
	struct sql q = sql_prepare(&h->file, buf_text(&b), e);

	if (query->job_name)
		sql_put_text(&q, query->job_name);
	if (query->run_id)
		sql_put_text(&q, query->run_id);
	if (query->other_limit_than > 0) {
		sql_put_double(&q, query->other_limit_than / RUN_LIMITS_DIFFER);
		sql_put_double(&q, query->other_limit_than * RUN_LIMITS_DIFFER);
	}
	if (after)
		sql_put_int(&q, *after);
	sql_put_int(&q, query->limit && query->limit < INT64_MAX ? (int64_t)query->limit : -1);
	return q;
}

/* Reads the texts in the order of CIRCUMSTANCES. */
static void take_circumstances(struct sql *q, struct run *r, struct arena *arena)
{
	r->gpu_manufacturer = sql_keep_text(q, arena);
	r->gpu_model = sql_keep_text(q, arena);
	r->vendor_id = sql_keep_text(q, arena);
	r->instance_type = sql_keep_text(q, arena);
	r->region = sql_keep_text(q, arena);
	r->zone = sql_keep_text(q, arena);
	r->allocation = sql_keep_text(q, arena);
	r->system = sql_keep_text(q, arena);
	r->labels = sql_keep_text(q, arena);
	r->architecture = architecture_of(sql_text(q));
	r->cpu_level = sql_keep_text(q, arena);
	r->cpu_source = sql_keep_text(q, arena);
	r->memory_source = sql_keep_text(q, arena);
	r->network_source = sql_keep_text(q, arena);
	r->disk_source = sql_keep_text(q, arena);
}

static struct matched_run take_run(struct sql *q, struct arena *arena)
{
	struct matched_run f = {.id = sql_int(q)};
	struct run *r = &f.run;

	r->run_id = sql_keep_name(q, arena);
	r->job_name = sql_keep_name(q, arena);
	r->started_at = sql_double(q);
	r->ended_at = sql_double(q);
	r->duration_seconds = sql_double(q);
	r->outcome = sql_outcome(q);
	r->exit_code = sql_double(q);
	r->exit_signal = sql_double(q);
	r->host = sql_keep_text(q, arena);
	r->cpu_missed_seconds = sql_double(q);
	r->samples = sql_count(q);
	r->interval_seconds = sql_double(q);
	r->requested_cpu_cores = sql_double(q);
	r->requested_memory_bytes = sql_double(q);
	r->memory_limit_bytes = sql_double(q);
	r->input_bytes = sql_double(q);
	r->attempt = sql_double(q);
	r->system_run = sql_keep_text(q, arena);
	r->cpu_foreign_seconds = sql_double(q);
	r->machine_cpus = sql_double(q);
	r->machine_memory_bytes = sql_double(q);
	r->not_measured = sql_keep_text(q, arena);
	r->address_limit_bytes = sql_double(q);
	r->address_peak_bytes = sql_double(q);
	r->end_reason = sql_keep_text(q, arena);
	f.packed = sql_packed_run(q, arena);
	take_circumstances(q, r, arena);
	return f;
}

static int find_runs(struct run_search *f, struct history *h, const struct run_query *query,
	const int64_t *after, struct arena *arena, struct err *e)
{
	AUTO(sql_done) struct sql q = select_runs(h, query, after, e);
	size_t measured = 0;
	int code;

	while ((code = sql_row(&q, e)) > 0) {
		GROW(f->found, f->n, f->room);
		f->found[f->n] = take_run(&q, arena);
		const struct run *r = &f->found[f->n++].run;

		measured += r->outcome == OUTCOME_SUCCEEDED && !r->not_measured;
		if (query->enough_measured && measured == query->enough_measured)
			return 0;
	}
	return code;
}

/* Computes the duration, the number of samples and, if `stats` is true, the statistics of an open
 * run. The file stores them only for ended runs. */
static int read_open(struct history *h, struct matched_run *found, bool stats, struct arena *arena,
	struct err *e)
{
	struct sample_count count = {0};
	struct run *r = &found->run;
	int code = history_count(h, found->id, &count, e);

	r->samples = count.samples;
	r->duration_seconds = count.duration;
	if (code == 0 && stats)
		code = history_stats(h, found->id, arena, &r->stats, &r->n_stats, e);
	return code;
}

static int read_found(struct history *h, struct run_search *f, bool open_stats, struct arena *arena,
	struct runs *ret, struct err *e)
{
	struct run *run = arena_alloc(arena, f->n * sizeof *run);
	int code = 0;

	for (size_t i = 0; i < f->n && code == 0; i++) {
		if (f->found[i].run.outcome == OUTCOME_RUNNING)
			code = read_open(h, &f->found[i], open_stats, arena, e);
		else
			code = history_unpack_stats(h, f->found[i].id, &f->found[i].packed,
				i ? &run[i - 1] : NULL, arena, &f->found[i].run, e);
		run[i] = f->found[i].run;
	}
	if (code == 0)
		*ret = (struct runs){f->n, run};
	return code;
}

int history_runs(struct history *h, const struct run_query *q, struct arena *arena,
	struct runs *ret, struct err *e)
{
	AUTO(sql_reading_end) struct sql_reading reading = {0};
	AUTO(finding_done) struct run_search f = {0};
	int code = sql_reading_begin(&reading, h, e);

	if (code == 0)
		code = find_runs(&f, h, q, NULL, arena, e);
	return code ? code : read_found(h, &f, q->open_stats, arena, ret, e);
}

int history_runs_after(struct history *h, int64_t *position, size_t limit, struct arena *arena,
	struct runs *ret, struct err *e)
{
	const struct run_query q = {.limit = limit};
	AUTO(sql_reading_end) struct sql_reading reading = {0};
	AUTO(finding_done) struct run_search f = {0};
	int code = sql_reading_begin(&reading, h, e);

	if (code == 0)
		code = find_runs(&f, h, &q, position, arena, e);
	if (code == 0)
		code = read_found(h, &f, false, arena, ret, e);
	if (code == 0 && f.n)
		*position = f.found[f.n - 1].id;
	return code;
}

bool history_job_mark_same(const struct job_mark *a, const struct job_mark *b)
{
	return a->runs == b->runs && a->running == b->running && a->succeeded == b->succeeded &&
	       a->interrupted == b->interrupted && a->ids == b->ids && a->seconds == b->seconds;
}

int history_job_mark(struct history *h, const char *job_name, double since, struct job_mark *ret,
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_JOB_MARK, e);

	sql_put_text(&q, job_name);
	sql_put_double(&q, since);
	int code = sql_row(&q, e);

	if (code > 0) {
		ret->runs = sql_count(&q);
		ret->running = sql_count(&q);
		ret->succeeded = sql_count(&q);
		ret->interrupted = sql_count(&q);
		ret->ids = sql_double(&q);
		ret->seconds = sql_double(&q);
	}
	return code < 0 ? code : 0;
}

/* ---- jobs ---- */

struct job_search {
	struct job_row *row;
	int64_t *id;
	size_t n, room, id_room;
};

static void jobs_done(struct job_search *f)
{
	free(f->row);
	free(f->id);
}

static int find_jobs(struct job_search *f, struct history *h, size_t limit, struct arena *arena,
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_JOBS, e);
	int code;

	sql_put_int(&q, limit ? (int64_t)limit : -1);
	while ((code = sql_row(&q, e)) > 0) {
		struct job_row r = {0};

		GROW(f->row, f->n, f->room);
		GROW(f->id, f->n, f->id_room);
		f->id[f->n] = sql_int(&q);
		r.job_name = sql_keep_name(&q, arena);
		r.runs = sql_count(&q);
		r.last_started_at = sql_double(&q);
		r.last_outcome = sql_outcome(&q);
		r.outcomes[OUTCOME_RUNNING] = sql_count(&q);
		r.last_ended_at = sql_double(&q);
		for (size_t i = 0; i < ARRAY_LEN(r.exit); i++)
			r.exit[i] = (struct job_exit){NAN, NAN};
		f->row[f->n++] = r;
	}
	return code;
}

static int read_outcomes(struct history *h, int64_t job, uint64_t outcomes[OUTCOME_COUNT],
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_OUTCOMES, e);
	int code;

	sql_put_int(&q, job);
	while ((code = sql_row(&q, e)) > 0) {
		enum outcome o = sql_outcome(&q);

		outcomes[o] += sql_count(&q);
	}
	return code;
}

int history_job_outcomes(struct history *h, const struct job_head *job,
	uint64_t outcomes[OUTCOME_COUNT], struct err *e)
{
	outcomes[OUTCOME_RUNNING] += job->running;
	return read_outcomes(h, job->id, outcomes, e);
}

static int read_exit_status(struct history *h, int64_t job, enum outcome o, struct job_exit *ret,
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_EXIT_STATUS, e);

	sql_put_int(&q, job);
	sql_put_text(&q, run_outcome_name(o));
	int code = sql_row(&q, e);

	if (code > 0) {
		ret->code = sql_double(&q);
		ret->signal = sql_double(&q);
	}
	return code < 0 ? code : 0;
}

/* For each outcome of the job that is not a success, reads the exit status of the newest run with
 * this outcome. A job that never failed needs no query. */
static int read_exits(struct history *h, int64_t job, struct job_row *ret, struct err *e)
{
	int code = 0;

	for (unsigned o = 0; o < OUTCOME_COUNT && code == 0; o++)
		if (o != OUTCOME_RUNNING && o != OUTCOME_SUCCEEDED && ret->outcomes[o])
			code = read_exit_status(h, job, (enum outcome)o, &ret->exit[o], e);
	return code;
}

int history_count_jobs(struct history *h, size_t *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_COUNT_JOBS, e);
	int code = sql_row(&q, e);

	if (code > 0)
		*ret = sql_count(&q);
	return code < 0 ? code : 0;
}

int history_jobs(struct history *h, size_t limit, struct arena *arena, struct job_row **ret,
	size_t *ret_n, struct err *e)
{
	AUTO(sql_reading_end) struct sql_reading reading = {0};
	AUTO(jobs_done) struct job_search f = {0};
	int code = sql_reading_begin(&reading, h, e);

	if (code == 0)
		code = find_jobs(&f, h, limit, arena, e);
	for (size_t i = 0; i < f.n && code == 0; i++)
		code = read_outcomes(h, f.id[i], f.row[i].outcomes, e);
	for (size_t i = 0; i < f.n && code == 0; i++)
		code = read_exits(h, f.id[i], &f.row[i], e);
	if (code)
		return code;
	*ret = history_keep(arena, f.row, f.n * sizeof **ret);
	*ret_n = f.n;
	return 0;
}

int history_find_key(struct history *h, const char *key, char ret[static JOB_KEY_MAX],
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_KEYS_LIKE, e);
	bool exact = false;
	int code, n = 0;

	sql_put_text(&q, key);
	while ((code = sql_row(&q, e)) > 0 && !exact) {
		const char *found = sql_name(&q);

		exact = strcmp(found, key) == 0;
		if (n++ == 0)
			text_copy(found, ret, JOB_KEY_MAX);
	}
	return code < 0 ? code : exact || n == 1;
}

int history_names_near(struct history *h, const char *job_name, size_t limit, struct arena *arena,
	const char ***ret, size_t *ret_n, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_NAMES_NEAR, e);
	const char **name = arena_alloc(arena, 2 * limit * sizeof *name);
	size_t n = 0;
	int code;

	sql_put_text(&q, job_name);
	sql_put_int(&q, (int64_t)limit);
	while ((code = sql_row(&q, e)) > 0 && n < 2 * limit)
		name[n++] = sql_keep_name(&q, arena);
	if (code < 0)
		return code;
	*ret = name;
	*ret_n = n;
	return 0;
}

int64_t history_activity(struct history *h)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_ACTIVITY, NULL);
	int code = sql_row(&q, NULL);

	return code > 0 ? sql_int(&q) : code < 0 ? code : -EIO;
}

/* ---- open runs ---- */

/* Reads the columns in the order of STATEMENT_OPEN_RUNS. */
static struct open_run take_open_run(struct sql *q, struct arena *arena)
{
	struct open_run r = {0};

	r.id = sql_int(q);
	r.run_id = sql_keep_name(q, arena);
	r.job_name = sql_keep_name(q, arena);
	r.started_at = sql_double(q);
	r.interval_seconds = sql_double(q);
	r.root.pid = (pid_t)sql_int(q);
	r.root.start_ticks = (uint64_t)sql_int(q);
	r.root.reaper_pid = (pid_t)sql_int(q);
	r.root.reaper_start_ticks = (uint64_t)sql_int(q);
	r.root.pid_namespace = (uint64_t)sql_int(q);
	const char *boot_id = sql_text(q);

	snprintf(r.root.boot_id, sizeof r.root.boot_id, "%s", boot_id ? boot_id : "");
	r.owner_pid = (pid_t)sql_int(q);
	r.owner_start_ticks = (uint64_t)sql_int(q);
	return r;
}

int history_open_runs(struct history *h, struct arena *arena, struct open_run **ret, size_t *ret_n,
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_OPEN_RUNS, e);
	AUTO(freep) struct open_run *run = NULL;
	size_t n = 0, room = 0;
	int code = history_check_moved(h, e);

	if (code)
		return code;
	while ((code = sql_row(&q, e)) > 0) {
		GROW(run, n, room);
		run[n++] = take_open_run(&q, arena);
	}
	if (code)
		return code;
	*ret = history_keep(arena, run, n * sizeof *run);
	*ret_n = n;
	return 0;
}

/* ---- limits of a read ---- */

/* SQLite calls `over` (history_give_up_when) each time its virtual machine has run this many
 * instructions, which read about 10,000 values. */
#define STEPS_BETWEEN 16384

static int is_over(void *over)
{
	bool (*const *function)(void) = over;

	return (*function)();
}

void history_give_up_when(struct history *h, bool (*over)(void))
{
	h->over = over;
	sqlite3_progress_handler(h->file.db, STEPS_BETWEEN, is_over, &h->over);
}

int history_hold(struct history *h, struct err *e)
{
	return sqlite3_get_autocommit(h->file.db) ? sql_exec(&h->file, "BEGIN", "read", e) : 0;
}
