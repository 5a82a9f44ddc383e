/* What others have the historian do. */
#include "exporter/history/historian_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "collectors/base/mem.h"

/* A deadline that never comes, as writer_clock() counts: some thirty years after the boot. */
#define LATEST 1e9

/* Guarded by the historian's lock. */
struct call {
	struct call *next;
	int (*function)(struct history *history, void *context, struct err *e);
	void *context;
	struct err e;
	int code;
	bool begun, done;
	bool left; /* nobody waits for it any more: freed when it is done */
};

void historian_wait(pthread_cond_t *cond, pthread_mutex_t *lock, double deadline)
{
	deadline = fmin(deadline, LATEST);
	struct timespec t = {.tv_sec = (time_t)deadline};

	t.tv_nsec = (long)((deadline - (double)t.tv_sec) * 1e9);
	pthread_cond_timedwait(cond, lock, &t);
}

void historian_run_calls(struct historian *h)
{
	while (h->calls) {
		struct call *c = h->calls;

		h->calls = c->next;
		c->begun = true;
		pthread_mutex_unlock(&h->lock);
		c->code = writer_do(&h->writer, c->function, c->context, &c->e);
		pthread_mutex_lock(&h->lock);
		c->done = true;
		if (c->left)
			free(c);
		pthread_cond_broadcast(&h->progress);
	}
}

/* Locked. */
static struct call **place_of(struct historian *h, const struct call *c)
{
	struct call **at = &h->calls;

	while (*at != c)
		at = &(*at)->next;
	return at;
}

/* Locked. Frees it, or leaves it to the thread. */
static int outcome_of(struct historian *h, struct call *c, struct err *e)
{
	int code = c->done ? c->code : c->begun ? -EINPROGRESS : -ETIMEDOUT;

	if (!c->done)
		err_set(e, code, "the disk of the history does not answer");
	else if (code && e)
		*e = c->e;
	if (code == -EINPROGRESS && !c->done) {
		c->left = true;
		return code;
	}
	if (!c->done)
		*place_of(h, c) = c->next;
	free(c);
	return code;
}

int historian_do_within(struct historian *h,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	double seconds, struct err *e)
{
	struct call *c = xcalloc(1, sizeof *c);
	double deadline = writer_clock() + seconds;

	c->function = function;
	c->context = context;
	pthread_mutex_lock(&h->lock);
	*place_of(h, NULL) = c;
	pthread_cond_signal(&h->wake);
	while (!c->done && writer_clock() < deadline)
		historian_wait(&h->progress, &h->lock, deadline);
	int code = outcome_of(h, c, e);

	pthread_mutex_unlock(&h->lock);
	return code;
}

int historian_do(struct historian *h,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	struct err *e)
{
	return historian_do_within(h, function, context, INFINITY, e);
}
