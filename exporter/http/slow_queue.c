/* A queue, and the thread that works it off. */
#include "exporter/http/slow_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"

#define STACK_SIZE ((size_t)512 * 1024)

STAILQ_HEAD(errands, errand);

struct desk {
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t wake, gone;
	struct errands waiting;
	size_t n, most, bytes, most_bytes;
	bool stop, ended;
};

static void *work(void *desk)
{
	struct desk *d = desk;

	pthread_mutex_lock(&d->lock);
	for (;;) {
		struct errand *e = STAILQ_FIRST(&d->waiting);
		bool wanted = !d->stop && d->bytes < d->most_bytes;

		if (e) {
			STAILQ_REMOVE_HEAD(&d->waiting, link);
			pthread_mutex_unlock(&d->lock);
			e->run(e, wanted);
			pthread_mutex_lock(&d->lock);
		} else if (d->stop) {
			break;
		} else {
			pthread_cond_wait(&d->wake, &d->lock);
		}
	}
	d->ended = true;
	pthread_cond_signal(&d->gone);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

int desk_open(struct desk **ret, size_t most, size_t most_bytes, struct err *e)
{
	struct desk *d = xcalloc(1, sizeof *d);
	pthread_attr_t attributes;
	pthread_condattr_t monotonic;

	d->most = most;
	d->most_bytes = most_bytes;
	STAILQ_INIT(&d->waiting);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->wake, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&d->gone, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	int code = pthread_create(&d->thread, &attributes, work, d);

	pthread_attr_destroy(&attributes);
	if (code) {
		desk_free(d);
		return err_system(e, -code, "start the thread for long answers");
	}
	*ret = d;
	return 0;
}

bool desk_take(struct desk *d, struct errand *e)
{
	pthread_mutex_lock(&d->lock);
	bool taken = !d->stop && d->n < d->most;

	if (taken) {
		d->n++;
		STAILQ_INSERT_TAIL(&d->waiting, e, link);
		pthread_cond_signal(&d->wake);
	}
	pthread_mutex_unlock(&d->lock);
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
	struct timespec until = monotonic_after(seconds);
	int late = 0;

	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_cond_signal(&d->wake);
	while (!d->ended && !late)
		late = pthread_cond_timedwait(&d->gone, &d->lock, &until);
	bool ended = d->ended;

	pthread_mutex_unlock(&d->lock);
	if (!ended)
		return -ETIMEDOUT;
	pthread_join(d->thread, NULL);
	return 0;
}

void desk_free(struct desk *d)
{
	if (!d)
		return;
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->wake);
	pthread_cond_destroy(&d->gone);
	free(d);
}
