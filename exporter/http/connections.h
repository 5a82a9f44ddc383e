/* The open connections of all listening addresses. A new connection is always accepted, so
 * thousands of idle clients cannot keep a scraper out. If the limit of connections is reached, the
 * connection that has been idle longest is closed. If no connection is idle, the connection with
 * the oldest request is closed, because its client probably does not read the answer. Any thread
 * may call these functions. */
#ifndef EXPORTER_HTTP_CONNECTIONS_H
#define EXPORTER_HTTP_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

struct connection {
	TAILQ_ENTRY(connection) link;
	struct connections *connections;
	int fd;
	/* busy: see connections_set_busy. shut_down: connections.c has called shutdown(2) for the
	 * connection, which is then in no list and is not counted in connections.n. */
	bool busy, shut_down;
};

TAILQ_HEAD(connection_list, connection);

struct connections {
	pthread_mutex_t lock;
	struct connection_list idle; /* longest idle first */
	struct connection_list busy; /* oldest request first */
	/* `n`: number of connections that are not shut down; `max`: its limit */
	size_t n, max;
};

void connections_init(struct connections *c, size_t max);
void connections_done(struct connections *c); /* call it when no connection is left */

/* Adds a new connection with the socket `fd`. The caller owns `fd` and closes it after
 * connections_leave. */
void connections_enter(struct connections *c, struct connection *one, int fd);
/* Tells whether the client waits for an answer. Call it with true when the whole request was
 * received, and with false when its answer was sent. */
void connections_set_busy(struct connection *one, bool busy);
/* Call it when unsent answers use too much memory. Frees one of these answers: shuts down the
 * connection with the oldest request. Does nothing if `requesting` itself has the oldest
 * request. */
void connections_relieve(struct connection *requesting);
void connections_leave(struct connection *one);

#endif
