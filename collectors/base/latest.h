/* One immutable value with many readers. A writer replaces the value. A reader that got the old
 * value may use it until it calls shared_drop. Any thread may call these functions. */
#ifndef COLLECTORS_BASE_LATEST_H
#define COLLECTORS_BASE_LATEST_H

#include <pthread.h>
#include <stdatomic.h>

struct shared {
	atomic_uint holders;
	/* called when all readers and the struct latest have dropped the value */
	void (*release)(struct shared *);
};

static inline void shared_init(struct shared *s, void (*release)(struct shared *))
{
	atomic_init(&s->holders, 1);
	s->release = release;
}

void shared_hold(struct shared *s);
void shared_drop(struct shared *s); /* NULL does nothing */

struct latest {
	pthread_mutex_t lock; /* guards `value` */
	struct shared *value;
};

#define LATEST_INIT ((struct latest){.lock = PTHREAD_MUTEX_INITIALIZER})

void latest_set(struct latest *l, struct shared *take); /* takes ownership; may be NULL */
struct shared *latest_get(struct latest *l);            /* the caller drops it; may be NULL */
void latest_done(struct latest *l);

#endif
