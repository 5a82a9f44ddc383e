#include "exporter/remote/history_reader.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "collectors/base/job_key.h"
#include "exporter/core/log.h"
#include "exporter/core/random_share.h"
#include "exporter/core/worker.h"
#include "exporter/forward/forwarder.h"
#include "exporter/history/historian.h"
#include "exporter/remote/store_query.h"

#define CONNECT_SECONDS 5.0
#define QUERY_SECONDS   60.0
#define ANSWER_MAX      (48u << 20)
/* one query reads at most this many runs, unless a single job has more */
#define RUNS_OF_QUERY   500
#define JOBS_OF_QUERY   100
#define FIRST_DELAY     1.0
#define LONGEST_DELAY   60.0
#define SHORTEST_WINDOW 2.0 /* seconds; read_large does not divide a shorter window */
#define ROOM_SECONDS    0.2 /* seconds between two checks of wait_for_room */

/* A job whose runs were read. `runs`: number of its runs in the store when they were read. */
struct known_job {
	uint64_t hash; /* hash of the job's key; 0 = this element is free */
	double runs;
};

struct history_reader {
	struct history_reader_options options;
	char *url;
	struct store store;
	/* a hash table with at least twice as many elements as jobs */
	struct known_job *known;
	size_t n_known, room;
	struct mono listed; /* time of the last list of all jobs */
	unsigned failures;  /* failed rounds in a row */
	struct complaint complaint, full;
	struct worker worker;
};

static struct {
	atomic_bool active, complete;
	atomic_uint parts; /* thousandths of the first pass that are done */
	atomic_ullong runs, incomplete, collided, refused, failures;
} counts;

struct reader_counts reader_counts(void)
{
	return (struct reader_counts){
		.active = atomic_load(&counts.active),
		.complete = atomic_load(&counts.complete),
		.share = atomic_load(&counts.parts) / 1000.0,
		.runs = atomic_load(&counts.runs),
		.incomplete = atomic_load(&counts.incomplete),
		.collided = atomic_load(&counts.collided),
		.refused = atomic_load(&counts.refused),
		.failures = atomic_load(&counts.failures),
	};
}

/* ---- what is known of the jobs ---- */

static struct known_job *place_of(struct known_job *table, size_t room, uint64_t hash)
{
	size_t i = hash & (room - 1);

	while (table[i].hash && table[i].hash != hash)
		i = (i + 1) & (room - 1);
	return &table[i];
}

static void make_room(struct history_reader *r)
{
	size_t room = r->room ? 2 * r->room : 64;
	struct known_job *table = xcalloc(room, sizeof *table);

	for (size_t i = 0; i < r->room; i++)
		if (r->known[i].hash)
			*place_of(table, room, r->known[i].hash) = r->known[i];
	free(r->known);
	r->known = table;
	r->room = room;
}

static struct known_job *known(struct history_reader *r, const char *key)
{
	uint64_t hash = hash_text(key) | 1;

	if (2 * r->n_known >= r->room)
		make_room(r);
	struct known_job *k = place_of(r->known, r->room, hash);

	r->n_known += k->hash == 0;
	k->hash = hash;
	return k;
}

/* ---- runs ---- */

/* Adds a run from the remote store to the history. Marks the run as sent to both kinds of
 * receivers, so that this program does not send it again. */
static int add_run(struct history *h, const struct run *r, struct err *e)
{
	int code = history_run_add(h, r, e);

	if (code <= 0)
		return code;
	atomic_fetch_add(&counts.runs, 1);
	code = history_run_sent(h, RECEIVER_STORE, r->run_id, r->outcome, r->ended_at, e);
	return code ? code :
		      history_run_sent(h, RECEIVER_CENTRAL, r->run_id, r->outcome, r->ended_at, e);
}

struct addition {
	const struct runs *runs; /* sorted by job */
	uint64_t runs_per_job;
};

/* Adds the runs to the history, except those that the limits of the history would remove at
 * once. */
static int add_runs(struct history *h, void *context, struct err *e)
{
	const struct addition *a = context;
	const struct run *r = a->runs->run;
	double removed_until = 0;
	int code = 0;

	for (size_t i = 0; i < a->runs->n && code == 0; i++) {
		if (i == 0 || strcmp(r[i].job_name, r[i - 1].job_name) != 0)
			code = history_removed_until(h, r[i].job_name, a->runs_per_job,
				&removed_until, e);
		if (code == 0 && r[i].started_at > removed_until)
			code = add_run(h, &r[i], e);
	}
	return code;
}

/* If the history is full, waits until upkeep has removed enough runs. */
static int wait_for_room(struct history_reader *r, struct err *e)
{
	int code;

	while ((code = historian_takes_runs(r->options.historian, e)) == -EDQUOT) {
		if (log_complaint_due(&r->full))
			log_line(LOG_LEVEL_WARN,
				"the history is too small for the runs of the store; the reading waits",
				"err", e->text, NULL);
		if (!worker_wait(&r->worker, ROOM_SECONDS))
			break;
	}
	return code;
}

/* Reads the runs of a few jobs with one query. Sets `*complete` to false when some numbers of a run
 * have not arrived in the store yet. */
static int read_jobs(struct history_reader *r, const struct store_job *job, size_t n,
	const struct store_window *w, bool *complete, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct store_runs got = {.runs = {0, NULL}};
	int code = r->worker.stop ? err_set(e, -ECANCELED, "stopped") : wait_for_room(r, e);

	if (code == 0)
		code = store_runs(&r->store, job, n, w, &arena, &got, e);
	if (code)
		return code;
	*complete = *complete && got.incomplete == 0;
	atomic_fetch_add(&counts.incomplete, got.incomplete);
	atomic_fetch_add(&counts.collided, got.collided);
	atomic_fetch_add(&counts.refused, got.refused);
	struct addition a = {&got.runs, r->options.runs_per_job};

	return got.runs.n ? historian_do(r->options.historian, add_runs, &a, e) : 0;
}

/* Reads the newest runs of a job that has too many runs for one query. Divides the window into
 * halves, and reads the newer half first. Subtracts the number of runs that were read from `*left`,
 * and stops when `*left` is 0 or less. */
static int read_large(struct history_reader *r, const struct store_job *job,
	const struct store_window *w, double *left, bool *complete, struct err *e)
{
	double runs = 0, middle = w->from + (w->to - w->from) / 2;
	const struct store_window newer = {middle, w->to}, older = {w->from, middle};
	int code = store_count(&r->store, job->key, w, &runs, e);

	if (code || runs < 1)
		return code;
	if (runs <= RUNS_OF_QUERY || w->to - w->from <= SHORTEST_WINDOW) {
		*left -= runs;
		return read_jobs(r, job, 1, w, complete, e);
	}
	code = read_large(r, job, &newer, left, complete, e);
	return code || *left <= 0 ? code : read_large(r, job, &older, left, complete, e);
}

/* Returns how many of the first jobs can be read by one query. All jobs of a query must have the
 * same namespace and the same cluster. */
static size_t jobs_of_query(const struct store_job *job, size_t n)
{
	double runs = job[0].runs;
	size_t i = 1;

	for (; i < n && i < JOBS_OF_QUERY; i++) {
		runs += job[i].runs;
		if (runs > RUNS_OF_QUERY ||
			strcmp(job_key_place(job[i].key), job_key_place(job[0].key)) != 0)
			break;
	}
	return i;
}

/* Reads the runs of these jobs. `remember`: true = the window contains all runs of the store, so
 * the numbers of runs, job[i].runs, are stored. The next pass compares them with the new numbers
 * (changed). */
static int read_all(struct history_reader *r, const struct store_job *job, size_t n,
	const struct store_window *w, bool remember, struct err *e)
{
	int code = 0;

	for (size_t i = 0, some; i < n && code == 0; i += some) {
		double left = (double)r->options.runs_per_job;
		bool complete = true;

		some = jobs_of_query(job + i, n - i);
		code = some == 1 && job[i].runs > RUNS_OF_QUERY ?
			       read_large(r, &job[i], w, &left, &complete, e) :
			       read_jobs(r, job + i, some, w, &complete, e);
		for (size_t k = i; k < i + some && remember && complete && code == 0; k++)
			known(r, job[k].key)->runs = job[k].runs;
		if (!atomic_load(&counts.complete))
			atomic_store(&counts.parts, (unsigned)(1000 * (i + some) / n));
	}
	return code;
}

/* ---- rounds ---- */

/* Moves the jobs to the front whose number of runs in the store has changed since their runs were
 * read. Returns the number of these jobs. */
static size_t changed(struct history_reader *r, struct store_job *job, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		if (known(r, job[i].key)->runs < job[i].runs ||
			known(r, job[i].key)->runs > job[i].runs)
			job[left++] = job[i];
	return left;
}

/* Lists the jobs with runs in the window, and reads these runs. `all`: true = the window covers the
 * whole store, and only the jobs whose number of runs has changed are read. */
static int read_window(struct history_reader *r, const struct store_window *w, bool all,
	struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct store_job *job = NULL;
	size_t n = 0;
	int code = store_jobs(&r->store, w, &arena, &job, &n, e);

	if (code == 0 && all)
		n = changed(r, job, n);
	return code ? code : read_all(r, job, n, w, all, e);
}

static int read_round(struct history_reader *r, struct err *e)
{
	struct now now = now_read();
	double to = wall_seconds(now.wall);
	bool all = !atomic_load(&counts.complete) ||
		   mono_seconds_between(r->listed, now.mono) >= READER_LIST_SECONDS;
	const struct store_window w = {
		to - (all ? r->options.retention_seconds : READER_LATEST_SECONDS), to};
	int code = read_window(r, &w, all, e);

	if (code || !all)
		return code;
	r->listed = now.mono;
	if (!atomic_exchange(&counts.complete, true))
		log_line(LOG_LEVEL_INFO, "the history was read from the store", NULL);
	return 0;
}

static double read_store(void *context)
{
	struct history_reader *r = context;
	struct err e = {0};

	if (read_round(r, &e) == 0) {
		r->failures = 0;
		if (log_complaint_over(&r->complaint))
			log_line(LOG_LEVEL_INFO, "the history is read again", NULL);
		return READER_POLL_SECONDS;
	}
	if (r->worker.stop)
		return WORKER_END;
	r->failures++;
	atomic_fetch_add(&counts.failures, 1);
	if (log_complaint_due(&r->complaint))
		log_line(LOG_LEVEL_WARN,
			"the history cannot be read from the store; it is tried again", "err",
			e.text, NULL);
	return fmax(retry_delay(r->failures, FIRST_DELAY, LONGEST_DELAY),
		r->store.answer.retry_after_seconds > 0 ? r->store.answer.retry_after_seconds : 0);
}

/* ---- start and stop ---- */

static void reader_free(struct history_reader *r)
{
	worker_done(&r->worker);
	endpoint_done(&r->store.endpoint);
	buf_done(&r->store.answer.body);
	free(r->known);
	free(r->url);
	free(r);
}

int history_reader_start(struct history_reader **ret, const struct history_reader_options *o,
	struct err *e)
{
	struct history_reader *r = xcalloc(1, sizeof *r);
	struct endpoint_options p = o->endpoint;

	r->options = *o;
	r->url = forward_url(o->url, "/api/v1/query");
	r->store.url = r->url;
	p.connect_seconds = CONNECT_SECONDS;
	p.total_seconds = QUERY_SECONDS;
	p.answer_max = ANSWER_MAX;
	p.stop = &r->worker.stop;
	endpoint_init(&r->store.endpoint, &p);
	worker_init(&r->worker);
	int code = worker_start(&r->worker, "history reader", read_store, r, e);

	if (code) {
		reader_free(r);
		return code;
	}
	atomic_store(&counts.active, true);
	*ret = r;
	return 0;
}

void history_reader_stop(struct history_reader *r)
{
	if (r)
		reader_free(r);
}
