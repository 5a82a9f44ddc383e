/* Connections in the order of their last request. */
#include "exporter/http/connections.h"

#include <sys/socket.h>

void crowd_init(struct crowd *c, size_t max)
{
	*c = (struct crowd){.max = max};
	pthread_mutex_init(&c->lock, NULL);
	TAILQ_INIT(&c->idle);
	TAILQ_INIT(&c->busy);
}

void crowd_done(struct crowd *c)
{
	pthread_mutex_destroy(&c->lock);
}

static struct guests *list_of(struct crowd *c, const struct guest *g)
{
	return g->busy ? &c->busy : &c->idle;
}

/* With the lock, under which nobody leaves: so the descriptor is still that of the guest. */
static void tell_to_go(struct crowd *c, struct guest *g)
{
	TAILQ_REMOVE(list_of(c, g), g, link);
	g->told = true;
	c->n--;
	/* Whoever waits for it sees the end of the connection, and closes it. */
	shutdown(g->fd, SHUT_RDWR);
}

/* With the lock. */
static void make_room(struct crowd *c)
{
	struct guest *g = TAILQ_FIRST(TAILQ_EMPTY(&c->idle) ? &c->busy : &c->idle);

	if (c->n > c->max && g)
		tell_to_go(c, g);
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

static void set_busy(struct guest *g, bool busy)
{
	struct crowd *c = g->crowd;

	pthread_mutex_lock(&c->lock);
	if (g->busy != busy && !g->told) {
		TAILQ_REMOVE(list_of(c, g), g, link);
		TAILQ_INSERT_TAIL(busy ? &c->busy : &c->idle, g, link);
	}
	g->busy = busy;
	pthread_mutex_unlock(&c->lock);
}

void crowd_busy(struct guest *g)
{
	set_busy(g, true);
}

void crowd_idle(struct guest *g)
{
	set_busy(g, false);
}

void crowd_relieve(struct guest *asking)
{
	struct crowd *c = asking->crowd;

	pthread_mutex_lock(&c->lock);
	struct guest *g = TAILQ_FIRST(&c->busy);

	if (g && g != asking)
		tell_to_go(c, g);
	pthread_mutex_unlock(&c->lock);
}

void crowd_leave(struct guest *g)
{
	struct crowd *c = g->crowd;

	pthread_mutex_lock(&c->lock);
	if (!g->told) {
		c->n--;
		TAILQ_REMOVE(list_of(c, g), g, link);
	}
	pthread_mutex_unlock(&c->lock);
}
