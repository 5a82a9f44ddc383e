#include "exporter/http/slow_queue.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "exporter/core/worker.h"
#include "exporter/core/memory_budget.h"

STAILQ_HEAD(slow_tasks, slow_task);

struct slow_queue {
	struct worker worker;
	bool loose;
	/* work that hangs (SLOW_WORK_SECONDS); NULL = none; only for the queue's thread */
	struct slow_work *hung;
	pthread_mutex_t lock; /* guards the members below */
	struct slow_tasks waiting;
	size_t n, most, bytes, most_bytes;
	bool stop;
};

/* The function of the worker: runs one task. When the queue stops, the waiting tasks are run, too,
 * but with `wanted` false: they refuse their requests. */
static double task_loop(void *context)
{
	struct slow_queue *q = context;

	pthread_mutex_lock(&q->lock);
	struct slow_task *task = STAILQ_FIRST(&q->waiting);
	bool stop = q->stop, wanted = !stop && q->bytes < q->most_bytes;

	if (task)
		STAILQ_REMOVE_HEAD(&q->waiting, link);
	pthread_mutex_unlock(&q->lock);
	if (!task)
		return stop ? WORKER_END : INFINITY;
	task->run(task, wanted);
	return 0;
}

bool slow_queue_is_loose(const struct slow_queue *q)
{
	return q->loose;
}

/* Returns true when an earlier work still hangs. */
static bool hangs(struct slow_queue *q)
{
	if (!q->hung)
		return false;
	if (!worker_join(&q->hung->worker, 0, NULL))
		return true;
	struct slow_work *over = TAKE(q->hung);

	worker_done(&over->worker);
	over->drop(over);
	return false;
}

static double make_once(void *context)
{
	struct slow_work *work = context;

	work->make(work);
	return WORKER_END;
}

bool slow_queue_work(struct slow_queue *q, struct slow_work *take)
{
	if (hangs(q)) {
		take->drop(take);
		return false;
	}
	worker_init(&take->worker);
	take->worker.loose = true;
	if (worker_start(&take->worker, "slow answers", make_once, take, NULL))
		make_once(take);
	if (worker_join_while_active(&take->worker, SLOW_WORK_SECONDS)) {
		worker_done(&take->worker);
		return true;
	}
	q->hung = take;
	return false;
}

void slow_queue_free(struct slow_queue *q)
{
	if (!q)
		return;
	worker_done(&q->worker);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

int slow_queue_open(struct slow_queue **ret, bool loose, size_t most, size_t most_bytes,
	struct err *e)
{
	struct slow_queue *q = xcalloc(1, sizeof *q);

	q->loose = loose;
	q->most = most;
	q->most_bytes = most_bytes;
	STAILQ_INIT(&q->waiting);
	pthread_mutex_init(&q->lock, NULL);
	worker_init(&q->worker);
	int code = worker_start(&q->worker, "slow answers", task_loop, q, e);

	if (code)
		slow_queue_free(q);
	else
		*ret = q;
	return code;
}

bool slow_queue_take(struct slow_queue *q, struct slow_task *task)
{
	pthread_mutex_lock(&q->lock);
	bool accepted = !q->stop && q->n < q->most;

	if (accepted) {
		q->n++;
		STAILQ_INSERT_TAIL(&q->waiting, task, link);
	}
	pthread_mutex_unlock(&q->lock);
	if (accepted)
		worker_wake(&q->worker);
	return accepted;
}

void slow_queue_weigh(struct slow_queue *q, size_t bytes)
{
	pthread_mutex_lock(&q->lock);
	q->bytes += bytes;
	pthread_mutex_unlock(&q->lock);
}

void slow_queue_leave(struct slow_queue *q, size_t bytes)
{
	pthread_mutex_lock(&q->lock);
	q->n--;
	q->bytes -= bytes;
	pthread_mutex_unlock(&q->lock);
}

int slow_queue_stop(struct slow_queue *q, double seconds)
{
	pthread_mutex_lock(&q->lock);
	q->stop = true;
	pthread_mutex_unlock(&q->lock);
	worker_wake(&q->worker);
	return worker_join(&q->worker, seconds, NULL) && !hangs(q) ? 0 : -ETIMEDOUT;
}

/* ---- one queue for each kind of request ---- */

/* Maximum number of tasks in one queue. */
#define ANSWERS_MAX 64u

int slow_queues_open(struct slow_queues *all, bool loose, struct err *e)
{
	const size_t bytes_max[SITE_WAYS] = {
		[SITE_LATER] = memory_budget()->of_history,
		[SITE_OF_SAMPLES] = memory_budget()->of_samples,
	};
	int code = 0;

	for (size_t i = 0; i < SITE_WAYS && code == 0; i++)
		if (bytes_max[i])
			code = slow_queue_open(&all->at[i], loose, ANSWERS_MAX, bytes_max[i], e);
	return code;
}

int slow_queues_stop(struct slow_queues *all, double seconds)
{
	struct mono begin = now_read().mono;

	for (size_t i = 0; i < SITE_WAYS; i++) {
		double left = seconds - mono_seconds_between(begin, now_read().mono);

		if (all->at[i] && slow_queue_stop(all->at[i], fmax(left, 0)))
			return -ETIMEDOUT;
	}
	return 0;
}

void slow_queues_free(struct slow_queues *all)
{
	for (size_t i = 0; i < SITE_WAYS; i++)
		slow_queue_free(all->at[i]);
}
