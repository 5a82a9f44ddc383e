/*
 * A wait that can be ended from another thread.
 */
#ifndef EXPORTER_PAUSE_H
#define EXPORTER_PAUSE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct pause {
	pthread_mutex_t lock; /* guards the change of stop */
	pthread_cond_t changed;
	atomic_bool stop;
};

void pause_init(struct pause *p);
void pause_done(struct pause *p);

/* False when it was stopped, before or meanwhile. */
bool pause_wait(struct pause *p, double seconds);
void pause_stop(struct pause *p); /* any thread; for good */

#endif
