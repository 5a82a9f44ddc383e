/*
 * One immutable value, many readers: a writer swaps in the next value; readers keep the one they hold
 * until they drop it. Callable from any thread.
 */
#ifndef COLLECTORS_BASE_LATEST_H
#define COLLECTORS_BASE_LATEST_H

#include <pthread.h>
#include <stdatomic.h>

struct shared {
	atomic_uint holders;
	void (*release)(struct shared *); /* called by the last holder */
};

static inline void shared_init(struct shared *s, void (*release)(struct shared *))
{
	atomic_init(&s->holders, 1);
	s->release = release;
}

void shared_hold(struct shared *s);
void shared_drop(struct shared *s); /* NULL does nothing */

struct latest {
	pthread_mutex_t lock; /* guards value */
	struct shared *value;
};

#define LATEST_INIT ((struct latest){.lock = PTHREAD_MUTEX_INITIALIZER})

void latest_set(struct latest *l, struct shared *take); /* NULL allowed */
struct shared *latest_get(struct latest *l);            /* held for the caller, or NULL */
void latest_done(struct latest *l);

#endif
