/* Enforces the limits of the history, one short step at a time. */
#include "exporter/history/tables.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Limits of the work in one step, so that a step locks the file for at most 50 ms. */
#define SAMPLES_AT_ONCE 2000
#define RUNS_AT_ONCE    1024
#define PACKED_AT_ONCE  64 /* runs of schema 13 or older that are rewritten */
#define PAGES_AT_ONCE   256

/* While runs are removed because of the size of the file, the size is checked again after this many
 * runs. */
#define RUNS_BETWEEN 32

/* A step of drop_oldest_samples checks at most this many runs. */
#define LOOKS_AT_ONCE 4096

/* The file is shortened when it exceeds its limit and has free pages. It is also shortened when
 * more than this number and more than a quarter of its pages are free. Otherwise, the free pages
 * stay in the file for new samples. */
#define FREE_PAGES_KEPT 256

/* When the file is too large, each open run keeps this many newest samples at full rate. */
#define OPEN_SAMPLES_KEPT 1000

struct doomed_runs {
	size_t n;
	int64_t run[RUNS_AT_ONCE];
	/* id of the run's job, which is removed with its last run; 0 = keep the job */
	int64_t job[RUNS_AT_ONCE];
};

struct page_counts {
	int64_t all, free, size;
};

static int count_pages(struct history *h, struct page_counts *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_PAGES, e);
	int code = sql_row(&q, e);

	if (code <= 0)
		return code;
	ret->all = sql_int(&q);
	ret->free = sql_int(&q);
	ret->size = sql_int(&q);
	return 0;
}

static uint64_t bytes_in_use(const struct page_counts *p)
{
	return (uint64_t)((p->all - p->free) * p->size);
}

/* Deletes at most `*left` samples of a run, the oldest first. Subtracts the number of deleted
 * samples from `*left`. */
static int drop_samples(struct history *h, int64_t run, int64_t *left, struct err *e)
{
	const int64_t values[] = {FIRST_SAMPLE_OF(run), LAST_SAMPLE_OF(run), *left - 1};
	int code = sql_use_run(h, STATEMENT_DROP_SAMPLES, values, ARRAY_LEN(values), e);

	*left -= sqlite3_changes64(h->file.db);
	return code;
}

struct prune_step {
	int64_t samples_left; /* number of samples that this step may still delete */
	/* The step ends as soon as the data in the file takes at most this many bytes. 0 = the step
	 * does not check the size. */
	uint64_t enough_bytes;
	/* bits of enum history_receiver: the receivers to which a run should be sent before it is
	 * removed */
	unsigned unsent;
	/* number of runs that this step removed before they were sent to all these receivers */
	int64_t lost;
};
#define STEP(...) ((struct prune_step){.samples_left = SAMPLES_AT_ONCE, __VA_ARGS__})

static int drop_row(struct history *h, int64_t run, struct prune_step *step, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_DROP_RUN, e);
	int64_t circumstances = 0, job = 0;
	double started_at = NAN;
	int code;

	sql_put_int(&q, run);
	sql_put_int(&q, step->unsent);
	while ((code = sql_row(&q, e)) > 0) {
		step->lost += sql_int(&q) != 0;
		circumstances = sql_int(&q);
		job = sql_int(&q);
		started_at = sql_double(&q);
		if (step->enough_bytes)
			h->no_room_until = fmax(h->no_room_until, started_at);
	}
	if (code == 0)
		code = circumstances_release(h, circumstances, e);
	if (code == 0)
		code = sql_use_run(h, STATEMENT_UNKEEP_RUN, &job, 1, e);
	return code ? code : history_set_last_run(h, job, started_at, e);
}

/* Deletes the samples of a run first, and the run itself when no samples are left. */
static int drop_run(struct history *h, int64_t run, struct prune_step *step, struct err *e)
{
	int code = drop_samples(h, run, &step->samples_left, e);

	if (code || step->samples_left <= 0)
		return code;
	code = sql_use_run(h, STATEMENT_DROP_STATS, &run, 1, e);
	return code ? code : drop_row(h, run, step, e);
}

static int finish_step(struct history *h, const struct prune_step *step, int code, struct err *e)
{
	if (code == 0 && step->lost)
		code = sql_use_run(h, STATEMENT_LOSE_RUNS, &step->lost, 1, e);
	return history_end(h, code ? code : 1, e);
}

static int find_excess(struct history *h, const struct history_limits *l, double now,
	struct doomed_runs *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_EXCESS_RUNS, e);
	int code;

	sql_put_int(&q, l->runs_per_job && l->runs_per_job < INT64_MAX ? (int64_t)l->runs_per_job :
									 INT64_MAX);
	sql_put_double(&q, l->retention_seconds > 0 ? now - l->retention_seconds : -INFINITY);
	sql_put_int(&q, RUNS_AT_ONCE);
	sql_put_int(&q, l->keep_unsent);
	sql_put_double(&q, RUN_LIMITS_DIFFER);
	while ((code = sql_row(&q, e)) > 0)
		ret->run[ret->n++] = sql_int(&q);
	return code;
}

/* Removes a job without runs. Adds its counts to the table `forgotten`, because history_activity
 * sums up all counts, and its result must never fall. */
static int forget_job(struct history *h, int64_t job, struct err *e)
{
	static const enum history_statement drop[] = {STATEMENT_DROP_OUTCOMES, STATEMENT_DROP_JOB};
	int code = sql_use_run(h, STATEMENT_FORGET_JOB, &job, 1, e);

	if (code || sqlite3_changes64(h->file.db) == 0)
		return code;
	for (size_t i = 0; i < ARRAY_LEN(drop) && code == 0; i++)
		code = sql_use_run(h, drop[i], &job, 1, e);
	return code;
}

/* Sets `*ret` to true when the step has freed enough (step->enough_bytes). */
static int is_enough(struct history *h, const struct prune_step *step, bool *ret, struct err *e)
{
	struct page_counts p = {0};
	int code = step->enough_bytes ? count_pages(h, &p, e) : 0;

	*ret = step->enough_bytes && code == 0 && bytes_in_use(&p) <= step->enough_bytes;
	return code;
}

/* Removes the runs of `doomed` in one transaction. Also removes the jobs of `doomed` that have no
 * run left. */
static int drop_doomed(struct history *h, const struct doomed_runs *doomed, struct prune_step step,
	struct err *e)
{
	bool enough = false;
	int code = history_transaction(h, e);

	if (code)
		return code;
	for (size_t i = 0; i < doomed->n && step.samples_left > 0 && code == 0 && !enough; i++) {
		code = drop_run(h, doomed->run[i], &step, e);
		if (code == 0 && step.samples_left > 0 && doomed->job[i])
			code = forget_job(h, doomed->job[i], e);
		if (code == 0 && i % RUNS_BETWEEN == RUNS_BETWEEN - 1)
			code = is_enough(h, &step, &enough, e);
	}
	return finish_step(h, &step, code, e);
}

static int drop_excess(struct history *h, const struct history_limits *l, double now, struct err *e)
{
	AUTO(freep) struct doomed_runs *doomed = xcalloc(1, sizeof *doomed);
	int code = find_excess(h, l, now, doomed, e);

	return code || doomed->n == 0 ? code :
					drop_doomed(h, doomed, STEP(.unsent = l->keep_unsent), e);
}

/* ---- size ---- */

/* Returns 1 when samples of the run may be removed. The newest run of a job may lose its samples
 * only if `newest_too` is true. */
static int may_lose_samples(struct history *h, int64_t run, bool newest_too, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_MAY_LOSE_SAMPLES, e);

	sql_put_int(&q, run);
	sql_put_int(&q, newest_too);
	return sql_row(&q, e);
}

/* Finds the first run that has samples, among the runs whose id is `*run` or greater. Sets `*run`
 * to its id and returns 1. Returns 0 when there is none. */
static int next_sampled(struct history *h, int64_t *run, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_NEXT_SAMPLED, e);

	sql_put_int(&q, FIRST_SAMPLE_OF(*run));
	int code = sql_row(&q, e);

	if (code > 0)
		*run = sql_int(&q);
	return code;
}

/* Removes samples; the oldest runs lose theirs first. A pass over all runs takes several calls. If
 * a pass has removed samples, another pass follows: a run that was skipped, because it was the
 * newest of its job, may now have a newer run. */
static int drop_oldest_samples(struct history *h, struct sample_pass *pass, bool newest_too,
	uint64_t enough_bytes, struct err *e)
{
	struct prune_step step = STEP(.enough_bytes = enough_bytes);
	bool enough = false, any = pass->any && pass->next;
	unsigned looked_at = 0;
	int code = history_transaction(h, e);

	if (code)
		return code;
	while (step.samples_left > 0 && !enough && looked_at++ < LOOKS_AT_ONCE &&
		(code = next_sampled(h, &pass->next, e)) > 0) {
		code = may_lose_samples(h, pass->next, newest_too, e);
		if (code > 0)
			code = drop_samples(h, pass->next, &step.samples_left, e);
		if (code == 0)
			code = is_enough(h, &step, &enough, e);
		if (code < 0)
			break;
		pass->next += step.samples_left > 0;
	}
	bool ended = code == 0 && step.samples_left > 0 && !enough && looked_at <= LOOKS_AT_ONCE;

	pass->any = any || step.samples_left < SAMPLES_AT_ONCE;
	if (ended)
		pass->next = 0;
	code = history_end(h, code < 0 ? code : 0, e);
	return code ? code : !ended || pass->any;
}

/* Removes the oldest ended runs that were sent to all receivers in `sent_to`, except the newest
 * ended run of each job. */
static int drop_oldest_runs(struct history *h, unsigned sent_to, struct prune_step step,
	struct err *e)
{
	AUTO(freep) struct doomed_runs *doomed = xcalloc(1, sizeof *doomed);
	int code;

	{
		AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_OLDEST_RUNS, e);

		sql_put_int(&q, sent_to);
		sql_put_int(&q, RUNS_AT_ONCE);
		while ((code = sql_row(&q, e)) > 0)
			doomed->run[doomed->n++] = sql_int(&q);
	}
	return code || doomed->n == 0 ? code : drop_doomed(h, doomed, step, e);
}

static int find_oldest_ended(struct history *h, struct doomed_runs *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_OLDEST_ENDED, e);
	int code;

	sql_put_int(&q, RUNS_AT_ONCE);
	while ((code = sql_row(&q, e)) > 0) {
		ret->run[ret->n] = sql_int(&q);
		ret->job[ret->n++] = sql_int(&q);
	}
	return code;
}

/* Removes the oldest ended runs, even if they are the newest runs of their jobs. Otherwise the
 * newest runs of jobs that never run again could fill the file. */
static int drop_oldest_jobs(struct history *h, struct prune_step step, struct err *e)
{
	AUTO(freep) struct doomed_runs *doomed = xcalloc(1, sizeof *doomed);
	int code = find_oldest_ended(h, doomed, e);

	return code || doomed->n == 0 ? code : drop_doomed(h, doomed, step, e);
}

int history_losses(struct history *h, struct history_losses *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_LOSSES, e);
	int code = sql_row(&q, e);

	if (code <= 0)
		return code;
	ret->jobs = sql_count(&q);
	ret->runs = sql_count(&q);
	return 0;
}

/* The -wal file may take 1/WAL_PARTS of max_bytes: 32 MiB of 1 GiB. SQLite copies it into the
 * database when it has half of this size, but at least WAL_PAGES_MIN and at most WAL_PAGES_MAX
 * pages.
 *
 * If forwarded runs are added, the maximum is WAL_PAGES_TAKEN pages. Hundreds of these runs change
 * the same pages of the table job. With a large -wal file, SQLite copies such a page only once. A
 * larger -wal file costs memory: 32 KiB for each 4096 pages. */
#define WAL_PARTS       32
#define WAL_PAGES_MAX   512
#define WAL_PAGES_TAKEN 4000
#define WAL_PAGES_MIN   16

static uint64_t room_for_data(const struct history_limits *l)
{
	return l->max_bytes - l->max_bytes / WAL_PARTS;
}

/* Removes the least valuable data first; history_prune in history.h lists the order. */
static int make_room(struct history *h, const struct history_limits *l, struct err *e)
{
	const struct prune_step step =
		STEP(.unsent = l->keep_unsent, .enough_bytes = room_for_data(l));
	int code = drop_oldest_samples(h, &h->older_samples, false, room_for_data(l), e);

	if (code == 0)
		code = drop_oldest_runs(h, l->keep_unsent, step, e);
	if (code == 0)
		code = drop_oldest_samples(h, &h->newest_samples, true, room_for_data(l), e);
	if (code == 0)
		code = history_thin_open(h, OPEN_SAMPLES_KEPT, e);
	if (code == 0 && l->keep_unsent)
		code = drop_oldest_runs(h, 0, step, e);
	return code ? code : drop_oldest_jobs(h, step, e);
}

/* Shortens the file by `n` pages. SQLite moves used pages from the end of the file to free pages,
 * then cuts off the end. */
static int give_back(struct history *h, int64_t n, struct err *e)
{
	char text[80];

	snprintf(text, sizeof text,
		"PRAGMA incremental_vacuum(%lld); PRAGMA wal_checkpoint(PASSIVE)", (long long)n);
	int code = sql_exec(&h->file, text, "shrink", e);

	/* If another process uses the file now, the next upkeep tries again. */
	return code == -EBUSY ? 0 : code ? code : 1;
}

/* Sets the size at which SQLite copies the -wal file into the database (WAL_PARTS). After the copy,
 * SQLite overwrites the -wal file from its start. It then shortens a file that is more than 5/4 of
 * this size. */
static int limit_wal(struct history *h, const struct history_limits *l, const struct page_counts *p,
	struct err *e)
{
	int64_t most = h->large_cache ? WAL_PAGES_TAKEN : WAL_PAGES_MAX;
	int64_t pages = l->max_bytes && p->size > 0 ?
				(int64_t)(l->max_bytes / WAL_PARTS / 2) / p->size :
				most;
	char text[80];

	pages = pages < WAL_PAGES_MIN ? WAL_PAGES_MIN : pages > most ? most : pages;
	if (pages == h->wal_pages)
		return 0;
	h->wal_pages = pages;

	int64_t bytes = pages * p->size / 4 * 5;

	sqlite3_wal_autocheckpoint(h->file.db, (int)pages);
	snprintf(text, sizeof text, "PRAGMA journal_size_limit = %lld", (long long)bytes);
	return sql_exec(&h->file, text, "set up", e);
}

/* Copies the -wal file into the database and empties it, if it is larger than 1/WAL_PARTS of
 * max_bytes. It grows while another process reads it, because SQLite cannot overwrite a -wal file
 * that is being read. SQLite itself would empty it only at a later write, and a full history may
 * get no more writes (historian_takes_runs). */
static int empty_wal(struct history *h, const struct history_limits *l, struct err *e)
{
	if (!l->max_bytes || history_wal_bytes(h) <= l->max_bytes / WAL_PARTS)
		return 0;
	int code = sql_exec(&h->file, "PRAGMA wal_checkpoint(TRUNCATE)", "shrink", e);

	return code == -EBUSY ? 0 : code;
}

static int shrink(struct history *h, const struct history_limits *l, struct err *e)
{
	uint64_t max_bytes = l->max_bytes;
	struct page_counts p = {0};
	int code = count_pages(h, &p, e);

	if (code)
		return code;
	code = limit_wal(h, l, &p, e);
	if (code == 0)
		code = empty_wal(h, l, e);
	if (code)
		return code;
	if (max_bytes && bytes_in_use(&p) > room_for_data(l)) {
		code = make_room(h, l, e);
		if (code)
			return code;
	}
	int64_t keep = p.all / 4 > FREE_PAGES_KEPT ? p.all / 4 : FREE_PAGES_KEPT;
	bool too_long = max_bytes && (uint64_t)(p.all * p.size) > room_for_data(l);

	if (p.free == 0 || (p.free <= keep && !too_long))
		return 0;
	return give_back(h, p.free < PAGES_AT_ONCE ? p.free : PAGES_AT_ONCE, e);
}

/* ---- runs of older files ---- */

/* Finds a run whose statistics are still rows of run_stat (schema 13 or older). Sets `*ret` to 0
 * when there is none. */
static int find_old_run(struct history *h, int64_t *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_OLD_RUN, e);
	int code = sql_row(&q, e);

	if (code > 0)
		*ret = sql_int(&q);
	return code < 0 ? code : 0;
}

/* Rewrites at most PACKED_AT_ONCE runs. Returns 1 when more may be left. */
static int pack_old_runs(struct history *h, struct err *e)
{
	int code = history_transaction(h, e);
	unsigned n = 0;

	for (; code == 0 && n < PACKED_AT_ONCE; n++) {
		int64_t run = 0;

		code = find_old_run(h, &run, e);
		if (code || !run)
			break;
		code = history_pack_run(h, run, e);
	}
	code = history_end(h, code, e);
	return code ? code : n == PACKED_AT_ONCE;
}

int history_prune(struct history *h, const struct history_limits *limits, double now, struct err *e)
{
	struct history_limits l = *limits;
	int code = history_check_moved(h, e);

	if (code == 0)
		code = history_agree(h, &l, now, e);
	if (code == 0)
		code = drop_excess(h, &l, now, e);
	if (code == 0)
		code = history_thin(h, l.full_rate_seconds, now, e);
	if (code == 0)
		code = shrink(h, &l, e);
	return code ? code : pack_old_runs(h, e);
}
