#include "exporter/history/batch_writer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/core/paths.h"
#include "exporter/history/server_lock.h"

/* Minimum number of seconds between two renamings of a corrupt file (set_aside), and between two
 * checks (batch_writer_check). A broken disk may damage each fresh file. Without this limit, there
 * would be very many renamed files. */
#define SET_ASIDE_SECONDS 60

double batch_writer_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void batch_writer_init(struct batch_writer *w, const struct historian_config *config)
{
	*w = (struct batch_writer){
		.config = config,
		.set_aside_at = -INFINITY,
		.checked_at = -INFINITY,
	};
}

void batch_writer_done(struct batch_writer *w)
{
	history_close(TAKE(w->history));
	event_queue_done(&w->open);
}

/* ---- the file ---- */

static void log_set_aside(const struct err *notice)
{
	if (notice->code)
		log_line(LOG_LEVEL_ERROR, "history was corrupt; starting a fresh one", "err",
			notice->text, NULL);
}

/* Locks the open history file, so that no other server of this machine records into it. If another
 * server has the lock already, closes the file. */
static int lock_out_servers(struct batch_writer *w, struct err *e)
{
	const struct historian_config *c = w->config;
	int code = c->lock ? server_lock(c->lock, c->path, &c->here, e) : 0;

	if (code)
		history_close(TAKE(w->history));
	return code;
}

int batch_writer_open(struct batch_writer *w, struct err *e)
{
	struct err notice = {0};

	if (w->history)
		return 0;
	/* Create the folder again at each attempt, because it may have been deleted together with
	 * the file. */
	int code = path_make_folder(w->config->path, e);

	if (code)
		return code;
	path_give_to_owner(w->config->path);
	code = history_open(&w->history, w->config->path, HISTORY_WRITE, w->config->columns,
		&notice, e);

	log_set_aside(&notice);
	w->begin_again = true;
	if (code == 0)
		code = lock_out_servers(w, e);
	if (code == 0 && w->patient)
		history_wait_while(w->history, w->patient, w->patient_context);
	return code ? code : history_losses(w->history, &w->losses, e);
}

static void set_aside(struct batch_writer *w, const char *why)
{
	struct err notice = {0}, e = {0};

	if (batch_writer_clock() < w->set_aside_at + SET_ASIDE_SECONDS)
		return;
	w->set_aside_at = batch_writer_clock();
	if (history_set_aside(TAKE(w->history), why, &notice, &e))
		log_line(LOG_LEVEL_ERROR, "history is corrupt and cannot be set aside", "err",
			e.text, NULL);
	log_set_aside(&notice);
}

bool batch_writer_recover(struct batch_writer *w, const struct err *e)
{
	if (log_complaint_due(&w->complaint))
		log_line(LOG_LEVEL_WARN,
			"history cannot be written; samples wait in memory and are retried", "err",
			e->text, NULL);
	if (!w->history)
		return false;
	switch (e->code) {
	case -EBADMSG:
		set_aside(w, e->text);
		return !w->history;
	case -ESTALE:
		history_checkpoint(w->history);
		history_close(TAKE(w->history));
		return true;
	case -EBUSY:
	case -ENOSPC:
	case -ENOMEM:
		return false;
	default:
		/* Close the file, so that the next attempt opens it again: its descriptor may have
		 * become unusable, for example by a remount. */
		if (strcmp(w->config->path, ":memory:") != 0)
			history_close(TAKE(w->history));
		return false;
	}
}

/* ---- events ---- */

static int write_event(struct batch_writer *w, struct event *v, struct err *e)
{
	switch (v->kind) {
	case EVENT_BEGIN:
		return history_run_begin(w->history, &v->begin, e);
	case EVENT_SAMPLE:
		return history_samples(w->history, &v->sample, 1, e);
	case EVENT_FINISH:
		return history_run_finish(w->history, &v->finish, e);
	case EVENT_PAGE:
		return history_note_page(w->history, &v->page, e);
	}
	return 0;
}

/* Returns true for an error of a single event, such as a sample of an unknown run. The other events
 * of the batch can still be written. */
static bool is_refusal(int code)
{
	return code == -ENXIO || code == -EINVAL;
}

static int write_events(struct batch_writer *w, struct event_queue *batch, struct err *e)
{
	int code = 0;

	for (struct event *v = w->open.first; v && w->begin_again && code == 0; v = v->next)
		code = history_run_begin(w->history, &v->begin, e);
	for (struct event *v = batch->first; v && code == 0; v = v->next) {
		code = write_event(w, v, e);
		v->refused = is_refusal(code);
		if (!v->refused)
			continue;
		code = 0;
		if (log_complaint_due(&w->refusals))
			log_line(LOG_LEVEL_ERROR, "history refuses an event; it is dropped", "err",
				e->text, NULL);
	}
	return code;
}

static void forget_open(struct batch_writer *w, const char *run_id)
{
	struct event_queue kept = {0};
	struct event *v;

	while ((v = event_queue_pop(&w->open))) {
		if (strcmp(v->begin.run_id, run_id) == 0)
			free(v);
		else
			event_queue_push(&kept, v);
	}
	w->open = kept;
}

/* Call it after the commit. Frees the events of the batch, but keeps the begin events of open runs,
 * which are needed if the file is replaced later. */
static void settle_batch(struct batch_writer *w, struct event_queue *batch,
	struct batch_written *ret)
{
	struct event *v;

	while ((v = event_queue_pop(batch))) {
		ret->samples += v->kind == EVENT_SAMPLE && !v->refused;
		ret->refused += v->kind == EVENT_SAMPLE && v->refused;
		if (v->kind == EVENT_FINISH)
			forget_open(w, v->finish.run_id);
		if (v->kind == EVENT_BEGIN && !v->refused)
			event_queue_push(&w->open, v);
		else
			free(v);
	}
	w->begin_again = false;
}

int batch_writer_write(struct batch_writer *w, struct event_queue *batch, struct batch_written *ret,
	struct err *e)
{
	double start = batch_writer_clock();
	int code = history_transaction(w->history, e);

	double locked = batch_writer_clock();

	if (code)
		return code;
	code = history_end(w->history, write_events(w, batch, e), e);
	if (code)
		return code;
	double end = batch_writer_clock();

	*ret = (struct batch_written){.seconds = end - start, .disk_seconds = end - locked};
	settle_batch(w, batch, ret);
	return 0;
}

static int attempt_once(struct batch_writer *w,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	struct err *e)
{
	int code = batch_writer_open(w, e);

	if (code == 0)
		code = history_transaction(w->history, e);
	if (code)
		return code;
	code = history_end(w->history, function(w->history, context, e), e);
	return code < 0 ? code : 0;
}

int batch_writer_do(struct batch_writer *w,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	struct err *e)
{
	int code = attempt_once(w, function, context, e);

	if (code < 0 && !is_refusal(code))
		batch_writer_recover(w, e);
	return code;
}

/* ---- upkeep ---- */

static int close_orphans(struct batch_writer *w, double now, struct err *e)
{
	const struct orphan_rule rule = {
		.now = now,
		.stale_seconds = HISTORIAN_STALE_SECONDS,
		.here = &w->config->here,
		.alive = w->config->alive,
		.context = w->config->alive_context,
	};
	int code = history_transaction(w->history, e);

	if (code)
		return code;
	return history_end(w->history, history_close_orphans(w->history, &rule, e), e);
}

static int keep_within_limits(struct batch_writer *w, double now, struct err *e)
{
	struct history_losses before = w->losses;
	int code = history_prune(w->history, &w->config->limits, now, e);
	int failed = history_losses(w->history, &w->losses, code < 0 ? NULL : e);

	if (w->losses.jobs > before.jobs && log_complaint_due(&w->forgetting))
		log_line(LOG_LEVEL_WARN,
			"history is full: the oldest jobs were removed; raise --history.max-size or use fewer job names",
			NULL);
	if (w->losses.runs > before.runs && log_complaint_due(&w->losing))
		log_line(LOG_LEVEL_WARN,
			"history is full: runs were removed before they were sent; raise --history.max-size",
			NULL);
	return code < 0 || !failed ? code : failed;
}

int batch_writer_upkeep(struct batch_writer *w, struct err *e)
{
	double now = NAN;
	bool orphans = w->upkeep == UPKEEP_ORPHANS;

	if (w->upkeep == UPKEEP_NONE)
		return 0;
	int code = history_clock(w->history, now_read(), w->config->here.boot_id, &now, e);

	if (code == 0)
		code = orphans ? close_orphans(w, now, e) : keep_within_limits(w, now, e);
	if (code == 0)
		w->upkeep = orphans ? UPKEEP_LIMITS : UPKEEP_NONE;
	return code < 0 ? code : 0;
}

int batch_writer_check(struct batch_writer *w, struct err *e)
{
	if (batch_writer_clock() < w->checked_at + SET_ASIDE_SECONDS)
		return 0;
	w->checked_at = batch_writer_clock();
	return history_check(w->history, e);
}

void batch_writer_note_success(struct batch_writer *w)
{
	if (log_complaint_over(&w->complaint))
		log_line(LOG_LEVEL_INFO, "history can be written again", NULL);
}
