/*
 * Streams of what is being recorded: each follows one run, and gets its new samples as server-sent
 * events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as the history receives them.
 *
 * One thread looks into the history for all streams, and none waits for a client: a stream whose text
 * was not taken yet gets no more. There are at most LIVE_STREAMS, fewer where
 * memory is limited (exporter/core/memory_budget.h), and each holds LIVE_TEXT_MAX at most.
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

#define LIVE_STREAMS  32
#define LIVE_TEXT_MAX (512u << 10)

/* Without samples a stream says so now and then: only by writing do we learn that a client is gone. */
#define LIVE_SILENCE_SECONDS 15

struct live;
struct live_stream;

struct live *live_new(struct app *app);
/* Starts the thread, once: without it streams are opened, and get nothing. */
int live_start(struct live *l, struct err *e);
void live_free(struct live
		*l); /* after live_stop, when all streams are closed; NULL does nothing */

/* All streams end after what they hold; no more can be opened. Any thread. */
void live_stop(struct live *l);

/*
 * Follows a run from behind the sample of that number (0 = from its first). -EBUSY: there are LIVE_STREAMS
 * already, or live_stop was called. Any thread.
 */
int live_open(struct live *l, const char *run_id, int64_t after, struct live_stream **ret,
	struct err *e);

/* How a reader waits. Both are called with a lock held and must not call back. */
struct live_reader {
	void (*pause)(void *reader), (*resume)(void *reader);
	void *reader;
};

/*
 * Takes up to room bytes of text: how many, or -1 at the end of the stream. 0: there are none now; the reader
 * was paused, and is resumed when there are.
 */
ssize_t live_read(struct live_stream *s, char *out, size_t room, const struct live_reader *reader);

void live_close(struct live_stream *s); /* NULL does nothing */

#endif
