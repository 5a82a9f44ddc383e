#include "exporter/site/event_stream.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "exporter/core/memory_budget.h"
#include "exporter/core/log.h"
#include "exporter/core/worker.h"
#include "exporter/answers/series_view.h"
#include "exporter/history/historian.h"
#include "exporter/history/history.h"
#include "exporter/history/read_failed.h"

/* Maximum number of samples in one event. If there are more old samples when a stream begins, they
 * are sent in several events. */
#define SAMPLES_AT_ONCE 500

/* Minimum and maximum number of seconds between two reads of the history. */
#define LOOK_LEAST 0.2
#define LOOK_MOST  5.0

enum stream_state { STREAM_FREE, STREAM_OPEN, STREAM_ENDING };

struct event_stream {
	struct event_streams *event_streams;
	enum stream_state state;
	/* true = the thread uses this stream now, and frees it afterwards if `closed` is set */
	bool busy;
	bool closed;  /* the reader closed the stream */
	bool waiting; /* the reader is paused */
	bool behind;  /* the last event was full, so more samples may be ready */
	struct event_stream_reader reader;
	char run_id[RUN_ID_MAX];
	int64_t position;
	struct mono told_at; /* time of the last text */
	struct buf text;
	size_t bytes_read; /* part of `text` that the reader has taken */
};

/* Only the thread of the streams uses this struct. */
struct stream_look {
	struct history *history; /* NULL = not open */
	struct arena arena;
	bool complained;
};

struct event_streams {
	struct app *app;
	struct worker worker; /* the thread, which is woken when a stream is opened or needs text */
	struct stream_look look;
	pthread_mutex_t lock; /* guards the members below */
	bool stop;
	struct event_stream stream[EVENT_STREAMS_MAX];
};

struct event_streams *event_streams_new(struct app *app)
{
	struct event_streams *l = xcalloc(1, sizeof *l);

	l->app = app;
	pthread_mutex_init(&l->lock, NULL);
	worker_init(&l->worker);
	l->worker.loose = historian_is_loose(app->historian);
	return l;
}

static void resume(struct event_stream *s)
{
	if (!s->waiting)
		return;
	s->waiting = false;
	s->reader.resume(s->reader.reader);
}

static void release(struct event_stream *s)
{
	buf_done(&s->text);
	*s = (struct event_stream){.event_streams = s->event_streams};
}

void event_streams_stop(struct event_streams *l)
{
	pthread_mutex_lock(&l->lock);
	l->stop = true;
	for (size_t i = 0; i < EVENT_STREAMS_MAX; i++) {
		if (l->stream[i].state == STREAM_OPEN)
			l->stream[i].state = STREAM_ENDING;
		resume(&l->stream[i]);
	}
	pthread_mutex_unlock(&l->lock);
	worker_stop(&l->worker);
}

static void look_close(struct stream_look *look)
{
	history_close(TAKE(look->history));
}

void event_streams_free(struct event_streams *l)
{
	if (!l)
		return;
	worker_done(&l->worker);
	look_close(&l->look);
	arena_done(&l->look.arena);
	for (size_t i = 0; i < EVENT_STREAMS_MAX; i++)
		buf_done(&l->stream[i].text);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* ---- the thread ---- */

static void add_samples(struct buf *out, const struct series *raw, int64_t position,
	struct arena *arena)
{
	struct series view = series_view_of(raw, arena);

	buf_addf(out, "id: %lld\nevent: samples\ndata: ", (long long)position);
	series_view_json(out, &view);
	buf_adds(out, "\n\n");
}

/* Writes an event with the samples of a run after sample `*position`. Then sets `*position` to the
 * last sample in the event. Returns 1 when there may be more samples, and 0 when the run has ended
 * or was deleted from the history. Returns a negative errno when the history cannot be read. */
static int next_event(struct stream_look *look, const char *run_id, int64_t *position,
	struct buf *out, struct err *e)
{
	struct series raw = {0};

	arena_reset(&look->arena);
	int code = history_series_after(look->history, run_id, position, SAMPLES_AT_ONCE,
		series_view_sources(&look->arena), &look->arena, &raw, e);

	if (code == -ENOENT)
		code = 0;
	if (code >= 0 && raw.n)
		add_samples(out, &raw, *position, &look->arena);
	if (code == 0)
		buf_adds(out, "event: end\ndata: {}\n\n");
	return code;
}

/* Call it after the history could not be read. Logs only the first of several failures in a row.
 * Closes the history, so that the next attempt opens it again. */
static void look_failed(struct event_streams *l, struct stream_look *look, const struct err *e)
{
	history_read_failed(l->app, e->code);
	if (!look->complained)
		log_line(LOG_LEVEL_WARN, "event streams wait: the history cannot be read", "err",
			e->text, NULL);
	look->complained = true;
	look_close(look);
}

static bool look_ready(struct event_streams *l, struct stream_look *look)
{
	struct err e = {0};

	if (look->history && history_version(look->history) == -ESTALE)
		look_close(look);
	if (look->history || history_open(&look->history, l->app->history_path, HISTORY_READ,
				     &l->app->columns, NULL, &e) == 0)
		return true;
	look_failed(l, look, &e);
	return false;
}

/* Reads new samples of the stream's run, and makes them the next text of the stream. The caller
 * holds the lock, which is released while the history is read. */
static void feed_stream(struct event_streams *l, struct event_stream *s, struct stream_look *look)
{
	struct buf text = BUF_MAX(EVENT_STREAM_TEXT_MAX);
	int64_t position = s->position;
	struct mono now = now_read().mono;
	struct err e = {0};
	char run_id[RUN_ID_MAX];

	memcpy(run_id, s->run_id, sizeof run_id);
	s->busy = true;
	pthread_mutex_unlock(&l->lock);
	int code = look_ready(l, look) ? next_event(look, run_id, &position, &text, &e) : 1;

	if (code < 0)
		look_failed(l, look, &e);
	else if (look->history)
		look->complained = false;
	pthread_mutex_lock(&l->lock);
	s->busy = false;
	if (s->closed) {
		buf_done(&text);
		release(s);
		return;
	}
	if (text.len == 0 && mono_seconds_between(s->told_at, now) >= EVENT_STREAM_SILENCE_SECONDS)
		buf_adds(&text, ":\n\n");
	if (code == 0 && s->state == STREAM_OPEN)
		s->state = STREAM_ENDING;
	if (text.len) {
		s->told_at = now;
		s->behind = position - s->position >= SAMPLES_AT_ONCE;
		s->position = position;
		buf_done(&s->text);
		s->text = text;
		s->bytes_read = 0;
	}
	if (text.len || s->state == STREAM_ENDING)
		resume(s);
}

static bool any_open(const struct event_streams *l)
{
	for (size_t i = 0; i < EVENT_STREAMS_MAX; i++)
		if (l->stream[i].state != STREAM_FREE)
			return true;
	return false;
}

static double feed_all(void *context)
{
	struct event_streams *l = context;

	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < EVENT_STREAMS_MAX && !l->stop; i++) {
		struct event_stream *s = &l->stream[i];

		if (s->state == STREAM_OPEN && !s->closed && s->bytes_read == s->text.len)
			feed_stream(l, s, &l->look);
	}
	bool open = any_open(l);

	pthread_mutex_unlock(&l->lock);
	if (open)
		return fmin(fmax(l->app->options->sample_interval / 2, LOOK_LEAST), LOOK_MOST);
	look_close(&l->look);
	return INFINITY;
}

int event_streams_start(struct event_streams *l, struct err *e)
{
	return worker_start(&l->worker, "live", feed_all, l, e);
}

/* ---- readers ---- */

static struct event_stream *free_stream(struct event_streams *l)
{
	for (size_t i = 0; i < memory_budget()->streams; i++)
		if (l->stream[i].state == STREAM_FREE)
			return &l->stream[i];
	return NULL;
}

int event_stream_open(struct event_streams *l, const char *run_id, int64_t after,
	struct event_stream **ret, struct err *e)
{
	pthread_mutex_lock(&l->lock);
	struct event_stream *s = l->stop ? NULL : free_stream(l);

	if (!s) {
		pthread_mutex_unlock(&l->lock);
		return err_set(e, -EBUSY, "there are %zu live streams already",
			memory_budget()->streams);
	}
	*s = (struct event_stream){.event_streams = l,
		.state = STREAM_OPEN,
		.position = after,
		.told_at = now_read().mono};
	snprintf(s->run_id, sizeof s->run_id, "%s", run_id);
	*ret = s;
	pthread_mutex_unlock(&l->lock);
	worker_wake(&l->worker);
	return 0;
}

ssize_t event_stream_read(struct event_stream *s, char *out, size_t room,
	const struct event_stream_reader *reader)
{
	struct event_streams *l = s->event_streams;
	bool wakes = false;
	ssize_t n = 0;

	pthread_mutex_lock(&l->lock);
	size_t left = s->text.len - s->bytes_read;

	if (left) {
		n = (ssize_t)(left < room ? left : room);
		memcpy(out, s->text.data + s->bytes_read, (size_t)n);
		s->bytes_read += (size_t)n;
	} else if (s->state == STREAM_ENDING) {
		n = -1;
	} else {
		wakes = s->behind;
		s->behind = false;
		s->reader = *reader;
		s->waiting = true;
		reader->pause(reader->reader);
	}
	pthread_mutex_unlock(&l->lock);
	if (wakes)
		worker_wake(&l->worker);
	return n;
}

void event_stream_close(struct event_stream *s)
{
	if (!s)
		return;
	struct event_streams *l = s->event_streams;

	pthread_mutex_lock(&l->lock);
	s->waiting = false;
	if (s->busy)
		s->closed = true;
	else
		release(s);
	pthread_mutex_unlock(&l->lock);
}
