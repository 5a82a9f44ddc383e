/* The thread that ends the program when others do not. */
#include "exporter/leave.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/thread.h"
#include "exporter/historian.h"
#include "exporter/log.h"
#include "exporter/pause.h"

#define STACK_SIZE (64 * 1024)

struct leave {
	struct leaving leaving;
	pthread_t thread;
	struct pause pause;
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

static void *watch(void *context)
{
	struct leave *l = context;

	if (!pause_wait(&l->pause, LEAVE_SECONDS))
		return NULL;
	log_line(LOG_LEVEL_ERROR,
		"what watches, or reads the history, did not end in time: perhaps the kernel or "
		"the disk does not answer",
		NULL);
	leave_now(&l->leaving);
}

static void leave_free(struct leave *l)
{
	pause_done(&l->pause);
	free(l);
}

struct leave *leave_begin(const struct leaving *leaving)
{
	struct leave *l = leaving->app->historian ? xcalloc(1, sizeof *l) : NULL;

	if (!l)
		return NULL;
	l->leaving = *leaving;
	pause_init(&l->pause);
	if (thread_start(&l->thread, "leave", STACK_SIZE, watch, l, NULL) == 0)
		return l;
	leave_free(l);
	return NULL;
}

void leave_hurry(sigset_t *ret)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGQUIT};

	sigemptyset(ret);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		sigaddset(ret, ends[i]);
}

void leave_reached(struct leave *l)
{
	if (!l)
		return;
	pause_stop(&l->pause);
	pthread_join(l->thread, NULL);
	leave_free(l);
}
