/*
 * Questions that take long to answer, such as the samples of a day, one after the other on a thread of their own: the
 * threads that serve scrapes never wait for them. The bytes of answers are counted until they were sent: while there are
 * too many on their way to slow readers, no other answer is made.
 */
#ifndef EXPORTER_HTTP_SLOW_QUEUE_H
#define EXPORTER_HTTP_SLOW_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "collectors/base/err.h"
#include "exporter/site/site.h"

/* One question; the caller's, until run was called. */
struct errand {
	STAILQ_ENTRY(errand) link;
	/*
	 * On the desk's thread. wanted: false when the desk closes, or too much is on its way. Says what it made by
	 * desk_weigh, before anybody else can see it.
	 */
	void (*run)(struct errand *e, bool wanted);
};

struct desk;

/* most: those that wait, that are being answered, and whose answer is being sent; most_bytes: of answers. */
int desk_open(struct desk **ret, size_t most, size_t most_bytes, struct err *e);

/* false: there are as many as may be, or the desk is closing. Then run is not called. */
bool desk_take(struct desk *d, struct errand *e);
void desk_weigh(struct desk *d, size_t bytes);

/* One that was taken is gone, with its answer of so many bytes. */
void desk_leave(struct desk *d, size_t bytes);

/*
 * Waits for the one that is being answered, and runs those that wait as not wanted. -ETIMEDOUT after so many seconds: its
 * thread is still in a question, and the desk with it; leave by _exit(2), or call it again. 0: once.
 */
int desk_stop(struct desk *d, double seconds);
void desk_free(struct desk *d); /* stopped, and all have left; NULL does nothing */

/* The desks of a server: one for each kind of slow question, so that a short answer does not wait for a day of samples. */
struct http_desks {
	struct desk *at[SITE_WAYS]; /* NULL: of SITE_AT_ONCE */
};

int http_desks_open(struct http_desks *d, struct err *e);

/* As desk_stop, of all of them together. */
int http_desks_stop(struct http_desks *d, double seconds);
void http_desks_free(struct http_desks *d);

#endif
