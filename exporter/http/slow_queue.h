/*
 * Answers slow requests, such as the samples of a day, one at a time on its thread: scrapes never
 * wait for them. Counts the bytes of answers until they are sent: while slow clients hold too many,
 * no other answer is made. Any thread may call.
 */
#ifndef EXPORTER_HTTP_SLOW_QUEUE_H
#define EXPORTER_HTTP_SLOW_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "collectors/base/err.h"
#include "exporter/site/site.h"

/* One request. The caller owns it and keeps it until run was called. */
struct slow_task {
	STAILQ_ENTRY(slow_task) link;
	/*
	 * Called on the queue's thread. wanted false: refuse, since the queue stops or too many
	 * bytes are unsent. Must call slow_queue_weigh before other threads see the answer.
	 */
	void (*run)(struct slow_task *task, bool wanted);
};

struct slow_queue;

/* most: tasks taken and not left. most_bytes: of unsent answers; the last may exceed it. */
int slow_queue_open(struct slow_queue **ret, size_t most, size_t most_bytes, struct err *e);

/* False: the queue is full or stops, and run is not called. */
bool slow_queue_take(struct slow_queue *q, struct slow_task *task);
/* Adds the bytes of an answer. */
void slow_queue_weigh(struct slow_queue *q, size_t bytes);

/* The answer of a taken task was sent or dropped; bytes as in slow_queue_weigh. */
void slow_queue_leave(struct slow_queue *q, size_t bytes);

/*
 * Waits for the running task and runs the waiting ones with wanted false. -ETIMEDOUT: the thread is
 * still in a task after these seconds and uses the queue; call again, or end the program by
 * _exit(2). Do not call again after 0.
 */
int slow_queue_stop(struct slow_queue *q, double seconds);
/* Call after the stop, when all tasks have left. NULL does nothing. */
void slow_queue_free(struct slow_queue *q);

/* One queue per kind of slow request: short answers do not wait for the samples of a day. */
struct slow_queues {
	struct slow_queue *at[SITE_WAYS]; /* NULL for SITE_AT_ONCE */
};

int slow_queues_open(struct slow_queues *all, struct err *e);

/* Stops all queues as slow_queue_stop does, within seconds in total. */
int slow_queues_stop(struct slow_queues *all, double seconds);
void slow_queues_free(struct slow_queues *all);

#endif
