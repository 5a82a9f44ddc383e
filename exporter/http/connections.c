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

static struct connection_list *list_of(struct connections *c, const struct connection *one)
{
	return one->busy ? &c->busy : &c->idle;
}

/* Shuts down a connection. The caller holds the lock. Until the lock is released, one->fd cannot be
 * closed: libmicrohttpd closes it after connections_leave, which waits for the lock. */
static void shut_down(struct connections *c, struct connection *one)
{
	TAILQ_REMOVE(list_of(c, one), one, link);
	one->shut_down = true;
	c->n--;
	/* libmicrohttpd notices the shutdown and closes the connection. */
	shutdown(one->fd, SHUT_RDWR);
}

/* If there are too many connections, shuts one down: the connection that has been idle longest. If
 * no connection is idle, takes the connection with the oldest request. The caller holds the
 * lock. */
static void make_room(struct connections *c)
{
	struct connection *one = TAILQ_FIRST(TAILQ_EMPTY(&c->idle) ? &c->busy : &c->idle);

	if (c->n > c->max && one)
		shut_down(c, one);
}

void connections_enter(struct connections *c, struct connection *one, int fd)
{
	*one = (struct connection){.connections = c, .fd = fd};
	pthread_mutex_lock(&c->lock);
	c->n++;
	make_room(c);
	TAILQ_INSERT_TAIL(&c->idle, one, link);
	pthread_mutex_unlock(&c->lock);
}

void connections_set_busy(struct connection *one, bool busy)
{
	struct connections *c = one->connections;

	pthread_mutex_lock(&c->lock);
	if (one->busy != busy && !one->shut_down) {
		TAILQ_REMOVE(list_of(c, one), one, link);
		TAILQ_INSERT_TAIL(busy ? &c->busy : &c->idle, one, link);
	}
	one->busy = busy;
	pthread_mutex_unlock(&c->lock);
}

void connections_relieve(struct connection *requesting)
{
	struct connections *c = requesting->connections;

	pthread_mutex_lock(&c->lock);
	struct connection *one = TAILQ_FIRST(&c->busy);

	if (one && one != requesting)
		shut_down(c, one);
	pthread_mutex_unlock(&c->lock);
}

void connections_leave(struct connection *one)
{
	struct connections *c = one->connections;

	pthread_mutex_lock(&c->lock);
	if (!one->shut_down) {
		c->n--;
		TAILQ_REMOVE(list_of(c, one), one, link);
	}
	pthread_mutex_unlock(&c->lock);
}
