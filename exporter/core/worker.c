#include "exporter/core/worker.h"

#include <errno.h>
#include <math.h>

#include "collectors/base/clock.h"
#include "collectors/base/thread.h"

/* worker_join_while_active checks the CPU time this many times within `patience`. */
#define SLICES 10

void worker_init(struct worker *w)
{
	*w = (struct worker){0};
	pthread_mutex_init(&w->lock, NULL);
	thread_cond_init(&w->changed);
}

static void *take_turns(void *context)
{
	struct worker *w = context;
	double seconds;

	do
		seconds = w->turn(w->context);
	while (seconds >= 0 && worker_wait(w, seconds));
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int worker_start(struct worker *w, const char *name, double (*turn)(void *context), void *context,
	struct err *e)
{
	w->turn = turn;
	w->context = context;
	int code = loose_thread_start(&w->thread, w->loose, name, take_turns, w, e);

	w->started = code == 0;
	return code;
}

void worker_wake(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->woken = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

bool worker_wait(struct worker *w, double seconds)
{
	struct timespec until = monotonic_after(fmax(seconds, 0));
	int result = 0;

	pthread_mutex_lock(&w->lock);
	while (!w->stop && !w->woken && result != ETIMEDOUT)
		result = pthread_cond_timedwait(&w->changed, &w->lock, &until);
	w->woken = false;
	pthread_mutex_unlock(&w->lock);
	return !w->stop;
}

void worker_stop(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

bool worker_join(struct worker *w, double seconds, const sigset_t *hurry)
{
	struct mono begin = now_read().mono;
	double left = seconds;

	if (!w->started)
		return true;
	while (thread_hurry(hurry))
		;
	pthread_mutex_lock(&w->lock);
	do {
		struct timespec until = monotonic_after(hurry ? fmin(left, HURRY_SECONDS) : left);
		int result = 0;

		while (!w->ended && result != ETIMEDOUT)
			result = pthread_cond_timedwait(&w->changed, &w->lock, &until);
		left = seconds - mono_seconds_between(begin, now_read().mono);
	} while (!w->ended && left > 0 && !thread_hurry(hurry));
	bool ended = w->ended;

	pthread_mutex_unlock(&w->lock);
	if (ended)
		loose_thread_join(&w->thread);
	w->started = !ended;
	return ended;
}

bool worker_join_while_active(struct worker *w, double patience)
{
	int64_t used = 0, before = -1;
	int silent = 0;

	/* Time during which the program is stopped (SIGSTOP) must not count. Therefore count slices
	 * of `patience`, not seconds: at most one slice ends while the program is stopped. */
	while (silent < SLICES && !worker_join(w, patience / SLICES, NULL)) {
		used = loose_thread_cpu_ns(&w->thread);
		silent = used > before ? 0 : silent + 1;
		before = used;
	}
	return silent < SLICES;
}

void worker_done(struct worker *w)
{
	worker_stop(w);
	if (w->started)
		loose_thread_join(&w->thread);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
}
