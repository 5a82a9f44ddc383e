/* Waiting on a condition, by the monotonic clock. */
#include "exporter/core/worker.h"

#include <errno.h>
#include <time.h>

#include "collectors/base/clock.h"

#define LONGEST_WAIT 1e6 /* seconds; keeps the arithmetic within bounds */

void pause_init(struct pause *p)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	atomic_init(&p->stop, false);
}

void pause_done(struct pause *p)
{
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
}

bool pause_wait(struct pause *p, double seconds)
{
	struct timespec until;
	int result = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	if (seconds > LONGEST_WAIT)
		seconds = LONGEST_WAIT;
	int64_t ns = until.tv_nsec + (seconds > 0 ? (int64_t)(seconds * 1e9) : 0);

	until.tv_sec += ns / NS_PER_S;
	until.tv_nsec = ns % NS_PER_S;
	pthread_mutex_lock(&p->lock);
	while (!atomic_load(&p->stop) && result != ETIMEDOUT)
		result = pthread_cond_timedwait(&p->changed, &p->lock, &until);
	pthread_mutex_unlock(&p->lock);
	return !atomic_load(&p->stop);
}

void pause_stop(struct pause *p)
{
	pthread_mutex_lock(&p->lock);
	atomic_store(&p->stop, true);
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}
