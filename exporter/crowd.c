/* Connections in the order of their last request. */
#include "exporter/crowd.h"

#include <sys/socket.h>

void crowd_init(struct crowd *c, size_t max)
{
	*c = (struct crowd){.max = max};
	pthread_mutex_init(&c->lock, NULL);
	TAILQ_INIT(&c->idle);
}

void crowd_done(struct crowd *c)
{
	pthread_mutex_destroy(&c->lock);
}

/* With the lock, under which nobody leaves: so the descriptor is still that of the guest. */
static void make_room(struct crowd *c)
{
	struct guest *g = TAILQ_FIRST(&c->idle);

	if (c->n <= c->max || !g)
		return;
	TAILQ_REMOVE(&c->idle, g, link);
	g->told = true;
	c->n--;
	/* Whoever waits for it sees the end of the connection, and closes it. */
	shutdown(g->fd, SHUT_RDWR);
}

void crowd_enter(struct crowd *c, struct guest *g, int fd)
{
	*g = (struct guest){.crowd = c, .fd = fd};
	pthread_mutex_lock(&c->lock);
	c->n++;
	make_room(c);
	TAILQ_INSERT_TAIL(&c->idle, g, link);
	pthread_mutex_unlock(&c->lock);
}

void crowd_busy(struct guest *g)
{
	struct crowd *c = g->crowd;

	pthread_mutex_lock(&c->lock);
	if (!g->busy && !g->told)
		TAILQ_REMOVE(&c->idle, g, link);
	g->busy = true;
	pthread_mutex_unlock(&c->lock);
}

void crowd_idle(struct guest *g)
{
	struct crowd *c = g->crowd;

	pthread_mutex_lock(&c->lock);
	if (g->busy && !g->told)
		TAILQ_INSERT_TAIL(&c->idle, g, link);
	g->busy = false;
	pthread_mutex_unlock(&c->lock);
}

void crowd_leave(struct guest *g)
{
	struct crowd *c = g->crowd;

	pthread_mutex_lock(&c->lock);
	if (!g->told) {
		c->n--;
		if (!g->busy)
			TAILQ_REMOVE(&c->idle, g, link);
	}
	pthread_mutex_unlock(&c->lock);
}
