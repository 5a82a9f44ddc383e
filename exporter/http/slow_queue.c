/* A queue, and the thread that works it off. */
#include "exporter/http/slow_queue.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "exporter/core/worker.h"
#include "exporter/core/memory_budget.h"

STAILQ_HEAD(errands, errand);

struct desk {
	struct worker worker;
	pthread_mutex_t lock; /* guards what follows */
	struct errands waiting;
	size_t n, most, bytes, most_bytes;
	bool stop;
};

/* One question. Those that wait when the desk closes are run as well. */
static double work(void *context)
{
	struct desk *d = context;

	pthread_mutex_lock(&d->lock);
	struct errand *e = STAILQ_FIRST(&d->waiting);
	bool stop = d->stop, wanted = !stop && d->bytes < d->most_bytes;

	if (e)
		STAILQ_REMOVE_HEAD(&d->waiting, link);
	pthread_mutex_unlock(&d->lock);
	if (!e)
		return stop ? WORKER_END : INFINITY;
	e->run(e, wanted);
	return 0;
}

void desk_free(struct desk *d)
{
	if (!d)
		return;
	worker_done(&d->worker);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

int desk_open(struct desk **ret, size_t most, size_t most_bytes, struct err *e)
{
	struct desk *d = xcalloc(1, sizeof *d);

	d->most = most;
	d->most_bytes = most_bytes;
	STAILQ_INIT(&d->waiting);
	pthread_mutex_init(&d->lock, NULL);
	worker_init(&d->worker);
	int code = worker_start(&d->worker, "slow answers", work, d, e);

	if (code)
		desk_free(d);
	else
		*ret = d;
	return code;
}

bool desk_take(struct desk *d, struct errand *e)
{
	pthread_mutex_lock(&d->lock);
	bool taken = !d->stop && d->n < d->most;

	if (taken) {
		d->n++;
		STAILQ_INSERT_TAIL(&d->waiting, e, link);
	}
	pthread_mutex_unlock(&d->lock);
	if (taken)
		worker_wake(&d->worker);
	return taken;
}

void desk_weigh(struct desk *d, size_t bytes)
{
	pthread_mutex_lock(&d->lock);
	d->bytes += bytes;
	pthread_mutex_unlock(&d->lock);
}

void desk_leave(struct desk *d, size_t bytes)
{
	pthread_mutex_lock(&d->lock);
	d->n--;
	d->bytes -= bytes;
	pthread_mutex_unlock(&d->lock);
}

int desk_stop(struct desk *d, double seconds)
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

int http_desks_open(struct http_desks *d, struct err *e)
{
	/* Of those that whoever asked has not read yet. One more may be made. */
	const size_t bytes_max[SITE_WAYS] = {
		[SITE_LATER] = allowance()->of_history,
		[SITE_OF_SAMPLES] = allowance()->of_samples,
	};
	int code = 0;

	for (size_t i = 0; i < SITE_WAYS && code == 0; i++)
		if (bytes_max[i])
			code = desk_open(&d->at[i], ANSWERS_MAX, bytes_max[i], e);
	return code;
}

int http_desks_stop(struct http_desks *d, double seconds)
{
	struct mono begin = now_read().mono;

	for (size_t i = 0; i < SITE_WAYS; i++) {
		double left = seconds - mono_seconds_between(begin, now_read().mono);

		if (d->at[i] && desk_stop(d->at[i], fmax(left, 0)))
			return -ETIMEDOUT;
	}
	return 0;
}

void http_desks_free(struct http_desks *d)
{
	for (size_t i = 0; i < SITE_WAYS; i++)
		desk_free(d->at[i]);
}
