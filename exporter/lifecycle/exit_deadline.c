/* The thread that ends the program when others do not. */
#include "exporter/lifecycle/exit_deadline.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/thread.h"
#include "exporter/history/historian.h"
#include "exporter/core/log.h"
#include "exporter/core/worker.h"

/* So often it looks whether who is waited for is at work. */
#define SLICES 10

struct leave {
	struct leaving leaving;
	pthread_t thread;
	struct worker worker;
	_Atomic clockid_t works; /* CPU time of who is waited for; 0: of nobody in particular */
};

_Noreturn void leave_now(const struct leaving *l)
{
	struct historian *h = l->app->historian;

	if (historian_flush(h, HISTORIAN_STOP_SECONDS) && l->last) {
		l->last(l);
		historian_flush(h, HISTORIAN_STOP_SECONDS);
	}
	fflush(stdout);
	_exit(l->exit_code);
}

/* Of a thread that has ended, or of none: 0. */
static int64_t used_ns(clockid_t clock)
{
	struct timespec t = {0};

	if (clock)
		clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* For LEAVE_SECONDS in which nothing is done; false: it was reached. */
static bool wait_silence(struct leave *l)
{
	clockid_t last = 0;
	int64_t used = 0;

	for (int silent = 0; silent < SLICES; silent++) {
		if (!worker_wait(&l->worker, (double)LEAVE_SECONDS / SLICES))
			return false;
		clockid_t works = atomic_load(&l->works);
		int64_t now = used_ns(works);

		if (works == last && now > used)
			silent = -1;
		last = works;
		used = now;
	}
	return true;
}

static void *watch(void *context)
{
	struct leave *l = context;

	if (!wait_silence(l))
		return NULL;
	log_line(LOG_LEVEL_ERROR,
		"what watches, or reads the history, did not end in time: perhaps the kernel or "
		"the disk does not answer",
		NULL);
	leave_now(&l->leaving);
}

static void leave_free(struct leave *l)
{
	worker_done(&l->worker);
	free(l);
}

struct leave *leave_begin(const struct leaving *leaving)
{
	struct leave *l = leaving->app->historian ? xcalloc(1, sizeof *l) : NULL;

	if (!l)
		return NULL;
	l->leaving = *leaving;
	worker_init(&l->worker);
	if (thread_start(&l->thread, "leave", watch, l, NULL) == 0)
		return l;
	leave_free(l);
	return NULL;
}

void leave_works(struct leave *l, pthread_t thread)
{
	clockid_t clock;

	if (l && pthread_getcpuclockid(thread, &clock) == 0)
		atomic_store(&l->works, clock);
}

void leave_reached(struct leave *l)
{
	if (!l)
		return;
	worker_stop(&l->worker);
	pthread_join(l->thread, NULL);
	leave_free(l);
}
