/* Event streams. A stream sends the new samples of one run to one client as server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). It sends a sample when the
 * sample reaches the history.
 *
 * One thread reads the history for all streams. It never waits for a client: a stream gets new text
 * only when its reader has taken all earlier text. At most EVENT_STREAMS_MAX streams can be open,
 * or fewer when memory is limited (memory_budget.h). A stream stores at most EVENT_STREAM_TEXT_MAX
 * bytes of text.
 *
 * There are two events:
 * - "samples" has new samples. Its data is JSON as in the answer of /series: {"n": 2, "at": [...],
 *   ...}. Its id is the number of the last sample.
 * - "end" says that the run has ended and that all samples were sent. Its data is {}. The stream ends
 *   after it. */
#ifndef EXPORTER_SITE_EVENT_STREAM_H
#define EXPORTER_SITE_EVENT_STREAM_H

#include <stdint.h>
#include <sys/types.h>

#include "exporter/core/app.h"

#define EVENT_STREAMS_MAX     32
#define EVENT_STREAM_TEXT_MAX (512u << 10)

/* Seconds. A stream without new samples sends a comment at this interval, because only a write to
 * the socket reveals that the client is gone. */
#define EVENT_STREAM_SILENCE_SECONDS 15

struct event_streams;
struct event_stream;

struct event_streams *event_streams_new(struct app *app);
/* Starts the thread that reads the history. Call it once. A stream can be opened earlier, but gets
 * its first text after this call. */
int event_streams_start(struct event_streams *l, struct err *e);
/* Call it after event_streams_stop and after all streams were closed. NULL does nothing. */
void event_streams_free(struct event_streams *l);

/* Ends all streams after their last text. No stream can be opened afterwards. Any thread. */
void event_streams_stop(struct event_streams *l);

/* Opens a stream of the samples with numbers above `after` (0 = all samples). -EBUSY: too many
 * streams are open, or event_streams_stop was called. Any thread. */
int event_stream_open(struct event_streams *l, const char *run_id, int64_t after,
	struct event_stream **ret, struct err *e);

/* Functions that pause and resume the reader of a stream, that is, the HTTP connection to which the
 * stream is sent. They are called with a lock held and must not call functions of this file. */
struct event_stream_reader {
	void (*pause)(void *reader), (*resume)(void *reader);
	void *reader;
};

/* Copies up to `room` bytes of text to `out`. Returns their number, or -1 at the end of the stream.
 * If there is no text now, calls reader->pause and returns 0. When there is new text,
 * reader->resume is called. */
ssize_t event_stream_read(struct event_stream *s, char *out, size_t room,
	const struct event_stream_reader *reader);

void event_stream_close(struct event_stream *s); /* NULL does nothing */

#endif
