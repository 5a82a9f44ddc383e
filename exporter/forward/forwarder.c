/* The thread repeats a round: it finds waiting runs, posts them, and marks them as forwarded. Then
 * it waits for the next round. */
#include "exporter/forward/forwarder.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "exporter/client/download.h"
#include "exporter/history/historian.h"
#include "exporter/core/json.h"
#include "exporter/core/log.h"
#include "exporter/forward/run_message.h"
#include "exporter/forward/retry_list.h"
#include "exporter/client/bearer_token.h"
#include "exporter/core/random_share.h"
#include "exporter/core/signals.h"
#include "exporter/core/version.h"
#include "exporter/core/worker.h"

#define POLL_SECONDS    1.0 /* seconds between checks for ended runs */
#define CONNECT_SECONDS 5.0
#define POST_SECONDS    15.0
#define ANSWER_MAX      65536
#define ANSWER_LOGGED   200
#define RUNS_AT_ONCE    64

#define FIRST_DELAY   1.0
#define LONGEST_DELAY 300.0
/* The longest delay between retries while the program ends. The delay is short, because little time
 * is left. */
#define LONGEST_DELAY_AT_STOP 1.0
/* Maximum wait for the thread after an abort. An abort ends a transfer at once, so the thread takes
 * longer only when the disk hangs. */
#define ABORT_SECONDS 5.0

struct forwarder {
	struct forwarder_options options;
	char *url, user_agent[64];
	struct download_options download_options;
	/* Opened when the first run is posted. Until then, the 5 MB that libcurl takes are
	 * saved. */
	struct download *download;
	struct http_response answer;
	struct history *history;
	int64_t version;   /* history_version() before the last round without an error; -1 = none */
	unsigned failures; /* number of failed rounds in a row */
	struct complaint complaint;
	struct retry_list retry_list;
	double longest_delay; /* seconds; a run that is set aside waits at most this long */
	struct worker worker;
	atomic_bool stop;  /* forward the remaining runs, then end */
	atomic_bool abort; /* end now, even during a transfer */
};

static struct {
	atomic_bool active;
	atomic_ullong delivered, refused, failures, waiting, stuck;
} counts;

struct forward_counts forward_counts(void)
{
	return (struct forward_counts){
		.active = atomic_load(&counts.active),
		.delivered = atomic_load(&counts.delivered),
		.refused = atomic_load(&counts.refused),
		.failures = atomic_load(&counts.failures),
		.waiting = atomic_load(&counts.waiting),
		.stuck = atomic_load(&counts.stuck),
	};
}

/* ---- the receiver's answer ---- */

static bool is_error(const json_t *error, const char *code)
{
	const char *told = json_string_value(json_object_get(error, "code"));

	return told && strcmp(told, code) == 0;
}

bool forward_is_refusal(const struct http_response *a)
{
	json_t *o = json_loadb(buf_text(&a->body), a->body.len, 0, NULL);
	const json_t *error = json_object_get(o, "error");
	bool ret = (a->status == 400 && is_error(error, "bad_body")) ||
		   (a->status == 413 && is_error(error, "too_large"));

	json_decref(o);
	return ret;
}

bool forward_is_accepted(const struct http_response *a, const char *run_id)
{
	json_t *o = json_loadb(buf_text(&a->body), a->body.len, 0, NULL);
	const char *kept_id = json_string_value(json_object_get(o, "run_id"));
	bool ret =
		(a->status == 200 || a->status == 201) && kept_id && strcmp(kept_id, run_id) == 0;

	json_decref(o);
	return ret;
}

const char *forward_answer_text(struct http_response *a)
{
	if (a->body.len > ANSWER_LOGGED)
		a->body.data[ANSWER_LOGGED] = '\0';
	return buf_text(&a->body);
}

/* ---- one run ---- */

static int post(struct forwarder *f, const struct buf *body, struct err *e)
{
	char token[TOKEN_MAX] = "";
	int code = 0;

	if (f->options.token_file)
		code = bearer_token_read(f->options.token_file, token, e);
	if (code == 0 && !f->download)
		code = download_open(&f->download, &f->download_options, e);
	if (code)
		return code;
	response_headers_clear(&f->answer);
	code = download_post(f->download, f->url, token[0] ? token : NULL, buf_text(body),
		body->len, &f->answer, e);
	explicit_bzero(token, sizeof token);
	return code;
}

static void add_message(struct buf *out, const struct run *r)
{
	json_t *message = run_message(r);

	json_write(out, message);
	json_decref(message);
}

static int post_run(struct forwarder *f, const struct run *r, struct err *e)
{
	struct buf body AUTO(buf_done) = BUF_MAX(RUN_MESSAGE_MAX);

	add_message(&body, r);
	return post(f, &body, e);
}

struct forward_marks {
	const struct run *const *run;
	size_t n;
	double at;
};

static int mark_forwarded(struct history *h, void *context, struct err *e)
{
	const struct forward_marks *m = context;
	int code = 0;

	for (size_t i = 0; i < m->n && code == 0; i++)
		code = history_run_forwarded(h, m->run[i]->run_id, m->run[i]->outcome, m->at, e);
	return code;
}

static int mark_runs(struct forwarder *f, const struct run *const *run, size_t n, struct err *e)
{
	struct forward_marks m = {run, n, wall_seconds(now_read().wall)};

	return n ? historian_do(f->options.historian, mark_forwarded, &m, e) : 0;
}

static void note_refused(const char *run_id, const char *answer)
{
	log_line(LOG_LEVEL_ERROR, "run refused by the receiver; it is not sent again", "run_id",
		run_id, "answer", answer, NULL);
	atomic_fetch_add(&counts.refused, 1);
}

static void note_delivered(const char *run_id)
{
	atomic_fetch_add(&counts.delivered, 1);
	log_line(LOG_LEVEL_DEBUG, "run forwarded", "run_id", run_id, NULL);
}

/* Posts the run. If the receiver took the run or refused it for good, marks the run as forwarded
 * and returns 0. */
static int forward_run(struct forwarder *f, const struct run *r, struct err *e)
{
	int code = post_run(f, r, e), status = f->answer.status;

	if (code)
		return code;
	if (forward_is_refusal(&f->answer)) {
		note_refused(r->run_id, forward_answer_text(&f->answer));
	} else if (!forward_is_accepted(&f->answer, r->run_id)) {
		return err_set(e, -EIO, "%s answers %d%s: %s", f->url, status,
			status < 300 ? " without naming the run" : "",
			forward_answer_text(&f->answer));
	} else {
		note_delivered(r->run_id);
	}
	return mark_runs(f, &r, 1, e);
}

/* ---- all waiting runs ---- */

static int forward_by_id(struct forwarder *f, const char *run_id, struct arena *arena,
	struct err *e)
{
	struct run_query q = {.run_id = run_id, .limit = 1};
	struct runs runs = {0};
	int code = history_runs(f->history, &q, arena, &runs, e);

	/* The run may be gone, because the limits of the history may have removed it. */
	if (code || runs.n == 0)
		return code;
	return forward_run(f, &runs.run[0], e);
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

/* Returns true when a post failed because of this run: the receiver answered but could not store
 * the run. */
static bool is_about_the_run(int code, const struct http_response *a)
{
	return code == -EIO && a->status == 500;
}

static void note_failure(struct forwarder *f, const char *run_id, bool by_itself,
	const struct err *e)
{
	unsigned failures = retry_list_failures(&f->retry_list, run_id) + 1;
	struct retry_wait wait = {
		now_read().mono, retry_delay(failures, FIRST_DELAY, LONGEST_DELAY)};

	atomic_fetch_add(&counts.failures, 1);
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

struct outgoing_batch {
	struct buf body;
	const struct run *run[RUNS_AT_ONCE];
	size_t n;
};

static int gather_batch(struct forwarder *f, const struct waiting_runs *w, struct arena *arena,
	struct outgoing_batch *ret, struct err *e)
{
	int code = 0;

	for (size_t i = 0; i < w->n && ret->n < RUNS_AT_ONCE && code == 0; i++) {
		struct run_query q = {.run_id = w->run_id[i], .limit = 1};
		struct runs runs = {0};
		size_t len = ret->body.len;

		if (retry_list_is_aside(&f->retry_list, w->run_id[i]))
			continue;
		code = history_runs(f->history, &q, arena, &runs, e);
		if (code || runs.n == 0)
			continue;
		buf_addc(&ret->body, len ? ',' : '[');
		add_message(&ret->body, &runs.run[0]);
		if (ret->body.len + 1 > RUN_MESSAGE_MAX || ret->body.full) {
			ret->body.len = len;
			break;
		}
		ret->run[ret->n++] = &runs.run[0];
	}
	buf_addc(&ret->body, ']');
	return code;
}

/* Marks the runs that the receiver took or refused for good. The answer must name the runs in
 * the order of the batch. Stops at the first run that it does not name, or that failed for
 * another reason. Returns 1 when no run was marked. */
static int settle_batch(struct forwarder *f, const struct outgoing_batch *b, struct err *e)
{
	json_t *o = json_loadb(buf_text(&f->answer.body), f->answer.body.len, 0, NULL);
	const json_t *list = json_object_get(o, "runs");
	const struct run *settled[RUNS_AT_ONCE];
	size_t n = 0;

	for (size_t i = 0; i < b->n && f->answer.status == 200; i++) {
		const json_t *one = json_array_get(list, i), *error = json_object_get(one, "error");
		const char *id = json_string_value(json_object_get(one, "run_id"));

		if (!id || strcmp(id, b->run[i]->run_id) != 0 ||
			(error && !is_error(error, "bad_body")))
			break;
		if (error)
			note_refused(id, json_string_value(json_object_get(error, "message")));
		else
			note_delivered(id);
		settled[n++] = b->run[i];
	}
	json_decref(o);
	for (size_t i = 0; i < n; i++)
		note_success(f, settled[i]->run_id);
	int code = mark_runs(f, settled, n, e);

	return code ? code : n == 0;
}

/* Forwards the first waiting runs in one request. Returns 1 when they must go one by one: there
 * are fewer than 2, or the answer settled none of them. A receiver of an older version takes
 * only one run at a time. */
static int forward_batch(struct forwarder *f, const struct waiting_runs *w, struct arena *arena,
	struct err *e)
{
	struct outgoing_batch b = {.body = BUF_MAX(2 * RUN_MESSAGE_MAX)};
	int code = gather_batch(f, w, arena, &b, e);

	if (code == 0 && b.n > 1) {
		code = post(f, &b.body, e);
		atomic_fetch_add(&counts.failures, code != 0);
	}
	if (code == 0)
		code = b.n > 1 ? settle_batch(f, &b, e) : 1;
	buf_done(&b.body);
	return code;
}

/* Forwards the runs that are not set aside. Stops when the receiver seems to be down, that is,
 * after two failures in a row, or after one failure other than status 500. */
static int forward_fresh(struct forwarder *f, const struct waiting_runs *w, struct arena *arena,
	struct err *e)
{
	unsigned failed = 0;

	for (size_t i = 0; i < w->n && !f->abort; i++) {
		if (retry_list_is_aside(&f->retry_list, w->run_id[i]))
			continue;
		int code = forward_by_id(f, w->run_id[i], arena, e);
		bool by_itself = is_about_the_run(code, &f->answer);

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

/* Finds the oldest waiting runs, at most RUNS_AT_ONCE plus the number of runs that failed before.
 * Failed runs therefore never fill the whole list and block other runs. */
static int find_waiting(struct forwarder *f, struct arena *arena, struct waiting_runs *ret,
	struct err *e)
{
	size_t limit = RUNS_AT_ONCE + retry_list_count(&f->retry_list);
	int code = history_unforwarded(f->history, limit, arena, &ret->run_id, &ret->n, e);

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

	if (history_count_unforwarded(f->history, &waiting, NULL) == 0)
		atomic_store(&counts.waiting, waiting);
	atomic_store(&counts.stuck, retry_list_count_aside(&f->retry_list));
}

/* Forwards the runs of find_waiting. Returns 1 when more may be waiting. */
static int forward_some(struct forwarder *f, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct waiting_runs w = {0};
	int code = find_waiting(f, &arena, &w, e);

	if (code == 0)
		code = forward_batch(f, &w, &arena, e);
	if (code > 0)
		code = forward_fresh(f, &w, &arena, e);
	if (code == 0 && w.all)
		forward_stuck(f, &w, &arena);
	count_waiting(f);
	return code ? code : !w.all;
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

/* Returns the seconds to wait before the next round. Sets `*settled` to true when the round had
 * no error and no run waits for a retry. */
static double attempt_round(struct forwarder *f, bool *settled)
{
	struct err e = {0};
	int code = forward_all(f, &e);

	*settled = code == 0 && !f->abort && !retry_list_count(&f->retry_list);
	if (*settled)
		note_calm(f);
	if (code == 0)
		return POLL_SECONDS;
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
	download_close(f->download);
	buf_done(&f->answer.body);
	retry_list_done(&f->retry_list);
	free(f->url);
	free(f);
}

static char *runs_url(const char *url)
{
	struct buf b = BUF_MAX(8192);
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		len--;
	buf_add(&b, url, len);
	buf_adds(&b, "/runs");
	return buf_take(&b);
}

static void init(struct forwarder *f, const struct forwarder_options *o)
{
	f->options = *o;
	f->url = runs_url(o->url);
	f->version = -1;
	snprintf(f->user_agent, sizeof f->user_agent, "rightsize-exporter/%s", version.version);
	f->download_options = (struct download_options){
		.user_agent = f->user_agent,
		.ca_file = o->ca_file,
		.ca_option = "--forward.ca-file",
		.connect_seconds = CONNECT_SECONDS,
		.total_seconds = POST_SECONDS,
		.max_bytes = ANSWER_MAX,
		.stop = &f->abort,
	};
	worker_init(&f->worker);
}

int forwarder_start(struct forwarder **ret, const struct forwarder_options *o, struct err *e)
{
	struct forwarder *f = xcalloc(1, sizeof *f);

	init(f, o);
	int code = worker_start(&f->worker, "forwarder", forward, f, e);
	if (code) {
		forwarder_free(f);
		return code;
	}
	atomic_store(&counts.active, true);
	*ret = f;
	return 0;
}

/* Counts the waiting runs after an abort: the thread may have ended before it counted them. */
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
	if (atomic_load(&counts.waiting))
		log_line(LOG_LEVEL_WARN,
			"runs were not forwarded before the end; they wait in the history", NULL);
	forwarder_free(f);
	return 0;
}
