/* A queue for slow requests, such as a request for the samples of a day. Its thread answers one
 * request at a time, so the threads of the HTTP server stay free for scrapes. The queue counts the
 * bytes of answers that are not sent yet. It refuses requests while slow clients leave too many
 * bytes unread. Any thread may call these functions. */
#ifndef EXPORTER_HTTP_SLOW_QUEUE_H
#define EXPORTER_HTTP_SLOW_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "collectors/base/err.h"
#include "exporter/core/worker.h"
#include "exporter/site/site.h"

/* One request. The caller owns the struct and keeps it until `run` was called. */
struct slow_task {
	STAILQ_ENTRY(slow_task) link;
	/* Makes the answer. Called on the queue's thread. `wanted` false = make a refusal, because
	 * the queue stops or too many bytes are unsent. The function must call slow_queue_weigh
	 * before other threads can send the answer. */
	void (*run)(struct slow_task *task, bool wanted);
};

/* The part of a task that reads the history. slow_queue_work runs it on a loose thread, because the
 * disk may never answer. */
struct slow_work {
	struct worker worker;
	/* Makes the answer on a loose thread (exporter/core/loose_thread.h). */
	void (*make)(struct slow_work *work);
	/* Frees the work if slow_queue_work returned false. */
	void (*drop)(struct slow_work *work);
};

/* A struct slow_work hangs if its thread uses no CPU time for this many seconds. */
#define SLOW_WORK_SECONDS 3.0

struct slow_queue;

/* Opens a queue and starts its thread. `most` is the maximum number of tasks between
 * slow_queue_take and slow_queue_leave. `most_bytes` is the limit of unsent bytes: a task is
 * refused when the answers before it have reached the limit. `loose` true = the disk may never
 * answer, so tasks must use slow_queue_work. */
int slow_queue_open(struct slow_queue **ret, bool loose, size_t most, size_t most_bytes,
	struct err *e);

/* Returns `loose` of slow_queue_open: tasks must use slow_queue_work. */
bool slow_queue_is_loose(const struct slow_queue *q);

/* Calls take->make on a loose thread while the queue's thread waits. Returns true when take->make
 * has returned; the caller then frees `take`. Returns false when take->make hangs
 * (SLOW_WORK_SECONDS). While an earlier call of `make` hangs, returns false and does not call
 * take->make. Call it only on the queue's thread. */
bool slow_queue_work(struct slow_queue *q, struct slow_work *take);

/* Adds a task. Returns false and never calls task->run when the queue is full or stops. */
bool slow_queue_take(struct slow_queue *q, struct slow_task *task);
/* Adds the bytes of an answer to the unsent bytes. */
void slow_queue_weigh(struct slow_queue *q, size_t bytes);

/* Call it for each task that slow_queue_take accepted, after its answer was sent or dropped.
 * `bytes` is the number that was passed to slow_queue_weigh. */
void slow_queue_leave(struct slow_queue *q, size_t bytes);

/* Stops the queue: waits for the running task, and calls task->run of the waiting tasks with
 * `wanted` false. Returns -ETIMEDOUT when a task still runs after `seconds`, or when a struct
 * slow_work still hangs. The thread then still uses the queue: call slow_queue_stop again, or end
 * the program by _exit(2). After the result 0, do not call it again. */
int slow_queue_stop(struct slow_queue *q, double seconds);
/* Call it after slow_queue_stop, and after slow_queue_leave for all tasks. NULL does nothing. */
void slow_queue_free(struct slow_queue *q);

/* One queue for each kind of slow request, so that short answers do not wait for the samples of a
 * day. */
struct slow_queues {
	/* the queue for each enum site_way; NULL for SITE_AT_ONCE */
	struct slow_queue *at[SITE_WAYS];
};

int slow_queues_open(struct slow_queues *all, bool loose, struct err *e);

/* Stops all queues as slow_queue_stop does, within `seconds` in total. */
int slow_queues_stop(struct slow_queues *all, double seconds);
void slow_queues_free(struct slow_queues *all);

#endif
