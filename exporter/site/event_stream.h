/*
 * Streams of what is being recorded: each follows one run, and gets its new samples as server-sent
 * events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as the history receives them.
 *
 * One thread looks into the history for all streams, and none waits for a client: a stream whose text
 * was not taken yet gets no more. There are at most EVENT_STREAMS_MAX, fewer where
 * memory is limited (exporter/core/memory_budget.h), and each holds EVENT_STREAM_TEXT_MAX at most.
 *
 *	id: 1234                              the number of the last sample
 *	event: samples
 *	data: {"n": 2, "at": [...], ...}      as the series of /series
 *
 *	event: end                            the run has ended and all was told; the stream ends too
 *	data: {}
 */
#ifndef EXPORTER_SITE_EVENT_STREAM_H
#define EXPORTER_SITE_EVENT_STREAM_H

#include <stdint.h>
#include <sys/types.h>

#include "exporter/core/app.h"

#define EVENT_STREAMS_MAX     32
#define EVENT_STREAM_TEXT_MAX (512u << 10)

/* Without samples a stream says so now and then: only by writing do we learn that a client is gone. */
#define EVENT_STREAM_SILENCE_SECONDS 15

struct event_streams;
struct event_stream;

struct event_streams *event_streams_new(struct app *app);
/* Starts the thread, once: without it streams are opened, and get nothing. */
int event_streams_start(struct event_streams *l, struct err *e);
void event_streams_free(struct event_streams
		*l); /* after event_streams_stop, when all streams are closed; NULL does nothing */

/* All streams end after what they hold; no more can be opened. Any thread. */
void event_streams_stop(struct event_streams *l);

/*
 * Follows a run from behind the sample of that number (0 = from its first). -EBUSY: there are EVENT_STREAMS_MAX
 * already, or event_streams_stop was called. Any thread.
 */
int event_stream_open(struct event_streams *l, const char *run_id, int64_t after,
	struct event_stream **ret, struct err *e);

/* How a reader waits. Both are called with a lock held and must not call back. */
struct event_stream_reader {
	void (*pause)(void *reader), (*resume)(void *reader);
	void *reader;
};

/*
 * Takes up to room bytes of text: how many, or -1 at the end of the stream. 0: there are none now; the reader
 * was paused, and is resumed when there are.
 */
ssize_t event_stream_read(struct event_stream *s, char *out, size_t room,
	const struct event_stream_reader *reader);

void event_stream_close(struct event_stream *s); /* NULL does nothing */

#endif
