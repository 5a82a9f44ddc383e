#include "collectors/base/latest.h"

#include <stddef.h>

void shared_hold(struct shared *s)
{
	atomic_fetch_add_explicit(&s->holders, 1, memory_order_relaxed);
}

void shared_drop(struct shared *s)
{
	if (s && atomic_fetch_sub_explicit(&s->holders, 1, memory_order_acq_rel) == 1)
		s->release(s);
}

void latest_set(struct latest *l, struct shared *take)
{
	pthread_mutex_lock(&l->lock);
	struct shared *old = l->value;

	l->value = take;
	pthread_mutex_unlock(&l->lock);
	shared_drop(old);
}

struct shared *latest_get(struct latest *l)
{
	pthread_mutex_lock(&l->lock);
	struct shared *s = l->value;

	if (s)
		shared_hold(s);
	pthread_mutex_unlock(&l->lock);
	return s;
}

void latest_done(struct latest *l)
{
	latest_set(l, NULL);
	pthread_mutex_destroy(&l->lock);
}
