#include "exporter/lifecycle/exit_deadline.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "exporter/history/historian.h"
#include "exporter/core/log.h"
#include "exporter/core/loose_thread.h"
#include "exporter/core/worker.h"

/* EXIT_DEADLINE_SECONDS are divided into this many slices. After each slice, the worker checks
 * whether the thread of exit_deadline_works has used CPU time. */
#define SLICES 10

struct exit_deadline {
	struct exit_plan exit_plan;
	struct worker worker;
	int silent; /* consecutive slices in which the awaited thread used no CPU time */
	clockid_t last_works;
	int64_t last_used;
	_Atomic clockid_t works; /* CPU clock of the awaited thread; 0 = no thread */
};

_Noreturn void exit_deadline_leave(const struct exit_plan *l)
{
	struct historian *h = l->app->historian;

	if (historian_settle(h, HISTORIAN_STOP_SECONDS) && l->last) {
		l->last(l);
		historian_settle(h, HISTORIAN_STOP_SECONDS);
	}
	loose_threads_leave(l->exit_code);
}

static bool is_at_work(struct exit_deadline *l)
{
	clockid_t works = l->works;
	int64_t used = works ? clock_read_ns(works) : 0;
	bool ret = works == l->last_works && used > l->last_used;

	l->last_works = works;
	l->last_used = used;
	return ret;
}

/* The function of the worker, called after each slice. It counts slices instead of seconds, so that
 * time during which the program was stopped (SIGSTOP) does not count. */
static double watch_deadline(void *context)
{
	struct exit_deadline *l = context;

	l->silent = is_at_work(l) ? 0 : l->silent + 1;
	if (l->silent < SLICES)
		return (double)EXIT_DEADLINE_SECONDS / SLICES;
	log_line(LOG_LEVEL_ERROR,
		"exiting: a thread did not end in time; perhaps the kernel or the disk does not answer",
		NULL);
	exit_deadline_leave(&l->exit_plan);
}

void exit_deadline_reached(struct exit_deadline *l)
{
	if (!l)
		return;
	worker_done(&l->worker);
	free(l);
}

struct exit_deadline *exit_deadline_begin(const struct exit_plan *exit_plan)
{
	struct exit_deadline *l = exit_plan->app->historian ? xcalloc(1, sizeof *l) : NULL;

	if (!l)
		return NULL;
	l->exit_plan = *exit_plan;
	/* The thread calls watch_deadline before it has waited for a slice. Start at -1, so that
	 * this call does not count. */
	l->silent = -1;
	worker_init(&l->worker);
	if (worker_start(&l->worker, "leave", watch_deadline, l, NULL) == 0)
		return l;
	exit_deadline_reached(l);
	return NULL;
}

void exit_deadline_works(struct exit_deadline *l, pthread_t thread)
{
	clockid_t clock;

	if (l && pthread_getcpuclockid(thread, &clock) == 0)
		atomic_store(&l->works, clock);
}
