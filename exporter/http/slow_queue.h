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
struct slow_task {
	STAILQ_ENTRY(slow_task) link;
	/*
	 * On the desk's thread. wanted: false when the desk closes, or too much is on its way. Says what it made by
	 * slow_queue_weigh, before anybody else can see it.
	 */
	void (*run)(struct slow_task *e, bool wanted);
};

struct slow_queue;

/* most: those that wait, that are being answered, and whose answer is being sent; most_bytes: of answers. */
int slow_queue_open(struct slow_queue **ret, size_t most, size_t most_bytes, struct err *e);

/* false: there are as many as may be, or the desk is closing. Then run is not called. */
bool slow_queue_take(struct slow_queue *d, struct slow_task *e);
void slow_queue_weigh(struct slow_queue *d, size_t bytes);

/* One that was taken is gone, with its answer of so many bytes. */
void slow_queue_leave(struct slow_queue *d, size_t bytes);

/*
 * Waits for the one that is being answered, and runs those that wait as not wanted. -ETIMEDOUT after so many seconds: its
 * thread is still in a question, and the desk with it; leave by _exit(2), or call it again. 0: once.
 */
int slow_queue_stop(struct slow_queue *d, double seconds);
void slow_queue_free(struct slow_queue *d); /* stopped, and all have left; NULL does nothing */

/* The desks of a server: one for each kind of slow question, so that a short answer does not wait for a day of samples. */
struct slow_queues {
	struct slow_queue *at[SITE_WAYS]; /* NULL: of SITE_AT_ONCE */
};

int slow_queues_open(struct slow_queues *d, struct err *e);

/* As slow_queue_stop, of all of them together. */
int slow_queues_stop(struct slow_queues *d, double seconds);
void slow_queues_free(struct slow_queues *d);

#endif
