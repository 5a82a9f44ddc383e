/* Connections in the order of their last request. */
#include "exporter/http/connections.h"

#include <sys/socket.h>

void connections_init(struct connections *c, size_t max)
{
	*c = (struct connections){.max = max};
	pthread_mutex_init(&c->lock, NULL);
	TAILQ_INIT(&c->idle);
	TAILQ_INIT(&c->busy);
}

void connections_done(struct connections *c)
{
	pthread_mutex_destroy(&c->lock);
}

static struct connection_list *list_of(struct connections *c, const struct connection *g)
{
	return g->busy ? &c->busy : &c->idle;
}

/* With the lock, under which nobody leaves: so the descriptor is still that of the guest. */
static void tell_to_go(struct connections *c, struct connection *g)
{
	TAILQ_REMOVE(list_of(c, g), g, link);
	g->shut_down = true;
	c->n--;
	/* Whoever waits for it sees the end of the connection, and closes it. */
	shutdown(g->fd, SHUT_RDWR);
}

/* With the lock. */
static void make_room(struct connections *c)
{
	struct connection *g = TAILQ_FIRST(TAILQ_EMPTY(&c->idle) ? &c->busy : &c->idle);

	if (c->n > c->max && g)
		tell_to_go(c, g);
}

void connections_enter(struct connections *c, struct connection *g, int fd)
{
	*g = (struct connection){.connections = c, .fd = fd};
	pthread_mutex_lock(&c->lock);
	c->n++;
	make_room(c);
	TAILQ_INSERT_TAIL(&c->idle, g, link);
	pthread_mutex_unlock(&c->lock);
}

static void set_busy(struct connection *g, bool busy)
{
	struct connections *c = g->connections;

	pthread_mutex_lock(&c->lock);
	if (g->busy != busy && !g->shut_down) {
		TAILQ_REMOVE(list_of(c, g), g, link);
		TAILQ_INSERT_TAIL(busy ? &c->busy : &c->idle, g, link);
	}
	g->busy = busy;
	pthread_mutex_unlock(&c->lock);
}

void connections_busy(struct connection *g)
{
	set_busy(g, true);
}

void connections_idle(struct connection *g)
{
	set_busy(g, false);
}

void connections_relieve(struct connection *asking)
{
	struct connections *c = asking->connections;

	pthread_mutex_lock(&c->lock);
	struct connection *g = TAILQ_FIRST(&c->busy);

	if (g && g != asking)
		tell_to_go(c, g);
	pthread_mutex_unlock(&c->lock);
}

void connections_leave(struct connection *g)
{
	struct connections *c = g->connections;

	pthread_mutex_lock(&c->lock);
	if (!g->shut_down) {
		c->n--;
		TAILQ_REMOVE(list_of(c, g), g, link);
	}
	pthread_mutex_unlock(&c->lock);
}
