/* The thread works in rounds. In each round, it finds the runs that were not sent yet ("waiting
 * runs"), posts them, and marks them as sent. */
#include "exporter/forward/forwarder.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "exporter/history/historian.h"
#include "exporter/core/log.h"
#include "exporter/forward/retry_list.h"
#include "exporter/core/random_share.h"
#include "exporter/core/signals.h"
#include "exporter/core/worker.h"

#define POLL_SECONDS    1.0 /* seconds between checks for ended runs */
#define HASTY_SECONDS   0.2 /* the same with `hasty` */
#define CONNECT_SECONDS 5.0
#define POST_SECONDS    15.0
#define ANSWER_MAX      (256u << 10)
#define ANSWER_LOGGED   200
#define BODY_MAX        (32u << 20) /* largest request, bytes */

#define FIRST_DELAY   1.0
#define LONGEST_DELAY 300.0
/* Maximum delay between retries while the program ends, when little time is left. */
#define LONGEST_DELAY_AT_STOP 1.0
/* Maximum number of seconds to wait for the thread after an abort. An abort ends a transfer at
 * once, so the thread takes longer only when the disk hangs. */
#define ABORT_SECONDS 5.0

struct forwarder {
	struct forwarder_options options;
	char *url;
	struct endpoint endpoint;
	struct http_response answer;
	struct history *history;
	/* Result of history_version() before the last round without an error; -1 = there was no
	 * such round, or a later round had an error. */
	int64_t version;
	unsigned failures; /* number of failed rounds in a row */
	struct complaint complaint, refusals;
	struct retry_list retry_list;
	double longest_delay; /* seconds; a run that is set aside waits at most this long */
	struct worker worker;
	atomic_bool stop;  /* true = forward the remaining runs, then end */
	atomic_bool abort; /* true = end now, even during a transfer */
};

struct counters {
	atomic_bool active;
	atomic_ullong delivered, refused, failures, waiting, stuck;
};
static struct counters counters[2];

static struct counters *counters_of(enum history_receiver to)
{
	return &counters[to == RECEIVER_STORE];
}

struct forward_counts forward_counts(enum history_receiver to)
{
	struct counters *c = counters_of(to);

	return (struct forward_counts){
		.active = atomic_load(&c->active),
		.delivered = atomic_load(&c->delivered),
		.refused = atomic_load(&c->refused),
		.failures = atomic_load(&c->failures),
		.waiting = atomic_load(&c->waiting),
		.stuck = atomic_load(&c->stuck),
	};
}

static struct counters *own_counters(const struct forwarder *f)
{
	return counters_of(f->options.protocol->to);
}

const char *forward_answer_text(const struct http_response *a, struct arena *arena)
{
	return arena_text(arena, buf_text(&a->body),
		a->body.len < ANSWER_LOGGED ? a->body.len : ANSWER_LOGGED);
}

/* ---- one request ---- */

/* The runs of one request, and the receiver's decision about each. */
struct delivery {
	enum history_receiver to;
	const struct run *run[FORWARD_RUNS_MAX];
	enum run_verdict verdict[FORWARD_RUNS_MAX];
	size_t n;
	double at;
};

static int mark_sent(struct history *h, void *context, struct err *e)
{
	const struct delivery *d = context;
	int code = 0;

	for (size_t i = 0; i < d->n && code == 0; i++)
		if (d->verdict[i] != VERDICT_OPEN)
			code = history_run_sent(h, d->to, d->run[i]->run_id, d->run[i]->outcome,
				d->at, e);
	return code;
}

/* Counts a refused run. Logs only the 1st, 10th, 100th ... of the runs that are refused in a
 * row. */
static void note_refused(struct forwarder *f, const char *run_id, const char *why)
{
	if (log_complaint_due(&f->refusals))
		log_line(LOG_LEVEL_ERROR, "run refused by the receiver; it is not sent again",
			"run_id", run_id, "answer", why, NULL);
	atomic_fetch_add(&own_counters(f)->refused, 1);
}

static void note_delivered(struct forwarder *f, const char *run_id)
{
	log_complaint_over(&f->refusals);
	atomic_fetch_add(&own_counters(f)->delivered, 1);
	log_line(LOG_LEVEL_DEBUG, "run forwarded", "run_id", run_id, NULL);
}

/* Posts runs of `d` in one request: the first ones, as many as fit into it. Sets d->n to the number
 * of posted runs. */
static int post(struct forwarder *f, struct delivery *d, struct err *e)
{
	const struct forward_protocol *p = f->options.protocol;
	struct buf body AUTO(buf_done) = BUF_MAX(BODY_MAX);

	d->n = p->write(&body, d->run, d->n);
	const struct endpoint_document document = {
		p->content_type, p->header, buf_text(&body), body.len};

	return endpoint_post(&f->endpoint, f->url, &document, &f->answer, e);
}

/* Returns true if the status is not a decision about the runs: the receiver, or a proxy in front of
 * it, is busy or down. */
static bool is_busy(const struct http_response *a)
{
	return a->status == 429 || a->status > 500;
}

/* Sends the first runs of `d` in one request. Marks the runs that the receiver took or refused as
 * sent. Returns:
 * - 0: at least one run was marked.
 * - 1: the receiver decided about no run; `e` contains the reason.
 * - a negative errno: the receiver is busy, or another failure; `e` contains the reason. */
static int deliver(struct forwarder *f, struct delivery *d, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	size_t settled = 0;
	int code = post(f, d, e);

	if (code)
		return code;
	const char *why = f->options.protocol->read(&f->answer, d->run, d->n, d->verdict, &arena);

	for (size_t i = 0; i < d->n; i++) {
		settled += d->verdict[i] != VERDICT_OPEN;
		if (d->verdict[i] == VERDICT_REFUSED)
			note_refused(f, d->run[i]->run_id, why);
		else if (d->verdict[i] == VERDICT_TAKEN)
			note_delivered(f, d->run[i]->run_id);
	}
	d->to = f->options.protocol->to;
	d->at = wall_seconds(now_read().wall);
	if (settled)
		return historian_do(f->options.historian, mark_sent, d, e);
	err_set(e, -EIO, "%s answers %d: %s", f->url, f->answer.status, why);
	return is_busy(&f->answer) ? -EIO : 1;
}

/* ---- all waiting runs ---- */

static int forward_by_id(struct forwarder *f, const char *run_id, struct arena *arena,
	struct err *e)
{
	struct run_query q = {.run_id = run_id, .limit = 1};
	struct runs runs = {0};
	int code = history_runs(f->history, &q, arena, &runs, e);

	/* The run may be gone: the history deletes runs that exceed its limits. */
	if (code || runs.n == 0)
		return code;
	struct delivery d = {.run = {&runs.run[0]}, .n = 1};

	code = deliver(f, &d, e);
	return code > 0 ? -EIO : code;
}

static void note_calm(struct forwarder *f)
{
	f->failures = 0;
	if (log_complaint_over(&f->complaint))
		log_line(LOG_LEVEL_INFO, "runs are forwarded again", NULL);
}

static void note_success(struct forwarder *f, const char *run_id)
{
	retry_list_remove(&f->retry_list, run_id);
	note_calm(f);
}

/* Returns true when a run was refused because of the run itself: the receiver answered, but could
 * not store it. `code` is the result of the request, which contained only this run. */
static bool is_about_the_run(const struct forwarder *f, int code)
{
	const int *of_run = f->options.protocol->statuses_of_run;

	return code == -EIO && (f->answer.status == of_run[0] || f->answer.status == of_run[1]);
}

static void note_failure(struct forwarder *f, const char *run_id, bool by_itself,
	const struct err *e)
{
	unsigned failures = retry_list_failures(&f->retry_list, run_id) + 1;
	struct retry_wait wait = {
		now_read().mono, retry_delay(failures, FIRST_DELAY, LONGEST_DELAY)};

	atomic_fetch_add(&own_counters(f)->failures, 1);
	if (retry_list_add(&f->retry_list, run_id, by_itself, wait))
		log_line(LOG_LEVEL_WARN,
			"run cannot be forwarded; it waits in the history and is retried after others",
			"run_id", run_id, "err", e->text, NULL);
}

struct waiting_runs {
	const char **run_id;
	size_t n;
	bool all;
};

/* ---- several runs in one request ---- */

static int gather_batch(struct forwarder *f, const struct waiting_runs *w, struct arena *arena,
	struct delivery *ret, struct err *e)
{
	int code = 0;

	for (size_t i = 0; i < w->n && ret->n < f->options.protocol->runs_at_once && code == 0;
		i++) {
		struct run_query q = {.run_id = w->run_id[i], .limit = 1};
		struct runs runs = {0};

		if (retry_list_is_aside(&f->retry_list, w->run_id[i]))
			continue;
		code = history_runs(f->history, &q, arena, &runs, e);
		if (code == 0 && runs.n)
			ret->run[ret->n++] = &runs.run[0];
	}
	return code;
}

/* Sends the first waiting runs in one request, as many as fit. Adds the number of runs that the
 * receiver took or refused to `*settled`. Returns 1 when the runs must be sent one by one: only one
 * run waits, or the receiver decided about none of them. */
static int forward_batch(struct forwarder *f, const struct waiting_runs *w, struct arena *arena,
	size_t *settled, struct err *e)
{
	struct delivery *d = arena_alloc(arena, sizeof *d);
	int code = gather_batch(f, w, arena, d, e);

	if (code == 0 && d->n < 2)
		return 1;
	if (code == 0)
		code = deliver(f, d, e);
	for (size_t i = 0; i < d->n && code == 0; i++)
		if (d->verdict[i] != VERDICT_OPEN) {
			note_success(f, d->run[i]->run_id);
			++*settled;
		}
	atomic_fetch_add(&own_counters(f)->failures, code < 0);
	return code;
}

/* Sends the waiting runs, except those set aside after failures (retry_list.h), one by one. Stops
 * when the receiver seems to be down: after two failures in a row, or after one failure that the
 * run did not cause (is_about_the_run). */
static int forward_fresh(struct forwarder *f, const struct waiting_runs *w, struct arena *arena,
	struct err *e)
{
	unsigned failed = 0;

	for (size_t i = 0; i < w->n && !f->abort; i++) {
		if (retry_list_is_aside(&f->retry_list, w->run_id[i]))
			continue;
		int code = forward_by_id(f, w->run_id[i], arena, e);
		bool by_itself = is_about_the_run(f, code);

		if (f->abort)
			return code;
		if (code == 0)
			note_success(f, w->run_id[i]);
		else
			note_failure(f, w->run_id[i], by_itself, e);
		failed = code ? failed + 1 : 0;
		if (code && (!by_itself || failed > 1))
			return code;
	}
	return 0;
}

/* Retries the runs that are set aside and whose wait is over. Stops at the first failure. */
static void forward_stuck(struct forwarder *f, const struct waiting_runs *w, struct arena *arena)
{
	for (size_t i = 0; i < w->n && !f->abort; i++) {
		const char *run_id = w->run_id[i];
		struct err e = {0};

		if (!retry_list_is_due(&f->retry_list, run_id, now_read().mono, f->longest_delay))
			continue;
		int code = forward_by_id(f, run_id, arena, &e);

		if (code && !f->abort)
			note_failure(f, run_id, true, &e);
		if (code)
			return;
		note_success(f, run_id);
	}
}

/* Finds the oldest waiting runs. Failed runs wait, too, and could fill the whole list. The list is
 * therefore longer than one request (runs_at_once) by the number of failed runs. */
static int find_waiting(struct forwarder *f, struct arena *arena, struct waiting_runs *ret,
	struct err *e)
{
	size_t limit = f->options.protocol->runs_at_once + retry_list_count(&f->retry_list);
	int code = history_unsent(f->history, f->options.protocol->to, limit, arena, &ret->run_id,
		&ret->n, e);

	if (code)
		return code;
	ret->all = ret->n < limit;
	if (ret->all)
		retry_list_keep_only(&f->retry_list, ret->run_id, ret->n);
	return 0;
}

static void count_waiting(struct forwarder *f)
{
	uint64_t waiting = 0;

	if (history_count_unsent(f->history, f->options.protocol->to, &waiting, NULL) == 0)
		atomic_store(&own_counters(f)->waiting, waiting);
	atomic_store(&own_counters(f)->stuck, retry_list_count_aside(&f->retry_list));
}

/* Counts the waiting runs that are not set aside after failures (retry_list.h). */
static size_t count_fresh(const struct forwarder *f, const struct waiting_runs *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += !retry_list_is_aside(&f->retry_list, w->run_id[i]);
	return n;
}

/* Sends the runs that find_waiting finds. Returns 1 when more runs may be waiting. */
static int forward_some(struct forwarder *f, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct waiting_runs w = {0};
	int code = find_waiting(f, &arena, &w, e);
	size_t fresh = count_fresh(f, &w), settled = 0;

	if (code == 0)
		code = forward_batch(f, &w, &arena, &settled, e);
	if (code > 0) {
		code = forward_fresh(f, &w, &arena, e);
		settled = fresh;
	}
	bool all = w.all && settled >= fresh;

	if (code == 0 && all)
		forward_stuck(f, &w, &arena);
	count_waiting(f);
	return code ? code : !all;
}

static int forward_all(struct forwarder *f, struct err *e)
{
	int code = 0;

	if (!f->history)
		code = history_open(&f->history, f->options.history_path, HISTORY_READ, NULL, NULL,
			e);
	if (code)
		return code == -ENOENT ? 0 : code;
	int64_t seen = history_version(f->history);

	if (seen >= 0 && seen == f->version &&
		!retry_list_any_due(&f->retry_list, now_read().mono, f->longest_delay))
		return 0;
	f->version = -1;
	while ((code = forward_some(f, e)) > 0 && !f->abort)
		;
	if (code == 0)
		f->version = seen;
	return code;
}

/* Does one round. Returns how many seconds to wait before the next round. Sets `*settled` to true
 * when nothing needs a retry: the round had no error, and the retry list is empty. */
static double attempt_round(struct forwarder *f, bool *settled)
{
	struct err e = {0};
	int code = forward_all(f, &e);

	*settled = code == 0 && !f->abort && !retry_list_count(&f->retry_list);
	if (*settled)
		note_calm(f);
	if (code == 0)
		return f->options.hasty ? HASTY_SECONDS : POLL_SECONDS;
	history_close(TAKE(f->history));
	f->version = -1;
	if (f->abort)
		return 0;
	f->failures++;
	if (log_complaint_due(&f->complaint))
		log_line(LOG_LEVEL_WARN,
			"runs cannot be forwarded; they wait in the history and are retried", "err",
			e.text, NULL);
	return fmax(retry_delay(f->failures, FIRST_DELAY, LONGEST_DELAY),
		f->answer.retry_after_seconds > 0 ? f->answer.retry_after_seconds : 0);
}

/* ---- the thread ---- */

static double forward(void *context)
{
	struct forwarder *f = context;
	bool settled, stopping = f->stop;

	f->longest_delay = stopping ? LONGEST_DELAY_AT_STOP : LONGEST_DELAY;
	double wait = attempt_round(f, &settled);

	if (stopping && settled)
		return WORKER_END;
	return stopping ? fmin(wait, LONGEST_DELAY_AT_STOP) : wait;
}

/* ---- start and stop ---- */

static void forwarder_free(struct forwarder *f)
{
	worker_done(&f->worker);
	history_close(f->history);
	endpoint_done(&f->endpoint);
	buf_done(&f->answer.body);
	retry_list_done(&f->retry_list);
	free(f->url);
	free(f);
}

char *forward_url(const char *url, const char *path)
{
	struct buf b = BUF_MAX(8192);
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		len--;
	buf_add(&b, url, len);
	buf_adds(&b, path);
	return buf_take(&b);
}

static void init(struct forwarder *f, const struct forwarder_options *o)
{
	f->options = *o;
	f->url = forward_url(o->url, o->path);
	f->version = -1;
	struct endpoint_options p = o->endpoint;

	p.connect_seconds = CONNECT_SECONDS;
	p.total_seconds = POST_SECONDS;
	p.answer_max = ANSWER_MAX;
	p.stop = &f->abort;
	endpoint_init(&f->endpoint, &p);
	worker_init(&f->worker);
	f->worker.loose = historian_is_loose(f->options.historian);
}

int forwarder_start(struct forwarder **ret, const struct forwarder_options *o, struct err *e)
{
	struct forwarder *f = xcalloc(1, sizeof *f);

	init(f, o);
	int code = worker_start(&f->worker, o->protocol->thread, forward, f, e);
	if (code) {
		forwarder_free(f);
		return code;
	}
	atomic_store(&own_counters(f)->active, true);
	*ret = f;
	return 0;
}

/* Counts the waiting runs after an abort, because the thread may have ended before it counted
 * them. */
static void count_after_abort(struct forwarder *f)
{
	if (!f->history)
		history_open(&f->history, f->options.history_path, HISTORY_READ, NULL, NULL, NULL);
	if (f->history)
		count_waiting(f);
}

int forwarder_stop(struct forwarder *f, double timeout_seconds)
{
	sigset_t hurry;

	if (!f)
		return 0;
	signals_end(&hurry);
	f->stop = true;
	worker_wake(&f->worker);
	if (!worker_join(&f->worker, timeout_seconds, &hurry)) {
		f->abort = true;
		worker_stop(&f->worker);
		if (!worker_join(&f->worker, ABORT_SECONDS, NULL)) {
			log_line(LOG_LEVEL_ERROR,
				"runs were not forwarded before the end: the history's disk does not answer",
				NULL);
			return -ETIMEDOUT;
		}
		count_after_abort(f);
	}
	if (atomic_load(&own_counters(f)->waiting))
		log_line(LOG_LEVEL_WARN,
			"runs were not forwarded before the end; they wait in the history", NULL);
	forwarder_free(f);
	return 0;
}
