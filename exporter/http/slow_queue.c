/* A queue, and the thread that works it off. */
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
	pthread_mutex_t lock; /* guards what follows */
	struct slow_tasks waiting;
	size_t n, most, bytes, most_bytes;
	bool stop;
};

/* One question. Those that wait when the desk closes are run as well. */
static double task_loop(void *context)
{
	struct slow_queue *d = context;

	pthread_mutex_lock(&d->lock);
	struct slow_task *e = STAILQ_FIRST(&d->waiting);
	bool stop = d->stop, wanted = !stop && d->bytes < d->most_bytes;

	if (e)
		STAILQ_REMOVE_HEAD(&d->waiting, link);
	pthread_mutex_unlock(&d->lock);
	if (!e)
		return stop ? WORKER_END : INFINITY;
	e->run(e, wanted);
	return 0;
}

void slow_queue_free(struct slow_queue *d)
{
	if (!d)
		return;
	worker_done(&d->worker);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

int slow_queue_open(struct slow_queue **ret, size_t most, size_t most_bytes, struct err *e)
{
	struct slow_queue *d = xcalloc(1, sizeof *d);

	d->most = most;
	d->most_bytes = most_bytes;
	STAILQ_INIT(&d->waiting);
	pthread_mutex_init(&d->lock, NULL);
	worker_init(&d->worker);
	int code = worker_start(&d->worker, "slow answers", task_loop, d, e);

	if (code)
		slow_queue_free(d);
	else
		*ret = d;
	return code;
}

bool slow_queue_take(struct slow_queue *d, struct slow_task *e)
{
	pthread_mutex_lock(&d->lock);
	bool accepted = !d->stop && d->n < d->most;

	if (accepted) {
		d->n++;
		STAILQ_INSERT_TAIL(&d->waiting, e, link);
	}
	pthread_mutex_unlock(&d->lock);
	if (accepted)
		worker_wake(&d->worker);
	return accepted;
}

void slow_queue_weigh(struct slow_queue *d, size_t bytes)
{
	pthread_mutex_lock(&d->lock);
	d->bytes += bytes;
	pthread_mutex_unlock(&d->lock);
}

void slow_queue_leave(struct slow_queue *d, size_t bytes)
{
	pthread_mutex_lock(&d->lock);
	d->n--;
	d->bytes -= bytes;
	pthread_mutex_unlock(&d->lock);
}

int slow_queue_stop(struct slow_queue *d, double seconds)
{
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_mutex_unlock(&d->lock);
	worker_wake(&d->worker);
	return worker_join(&d->worker, seconds, NULL) ? 0 : -ETIMEDOUT;
}

/* ---- one for each kind of question ---- */

/* Of each kind: at the same time. */
#define ANSWERS_MAX 64u

int slow_queues_open(struct slow_queues *d, struct err *e)
{
	/* Of those that whoever asked has not read yet. One more may be made. */
	const size_t bytes_max[SITE_WAYS] = {
		[SITE_LATER] = memory_budget()->of_history,
		[SITE_OF_SAMPLES] = memory_budget()->of_samples,
	};
	int code = 0;

	for (size_t i = 0; i < SITE_WAYS && code == 0; i++)
		if (bytes_max[i])
			code = slow_queue_open(&d->at[i], ANSWERS_MAX, bytes_max[i], e);
	return code;
}

int slow_queues_stop(struct slow_queues *d, double seconds)
{
	struct mono begin = now_read().mono;

	for (size_t i = 0; i < SITE_WAYS; i++) {
		double left = seconds - mono_seconds_between(begin, now_read().mono);

		if (d->at[i] && slow_queue_stop(d->at[i], fmax(left, 0)))
			return -ETIMEDOUT;
	}
	return 0;
}

void slow_queues_free(struct slow_queues *d)
{
	for (size_t i = 0; i < SITE_WAYS; i++)
		slow_queue_free(d->at[i]);
}
