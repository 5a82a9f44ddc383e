/* The open connections of all listening addresses. When the limit is reached, a new connection is
 * accepted, and the connection that has been idle longest is closed. Thousands of idle or slow
 * clients therefore cannot keep a scraper out. If all connections are busy, the connection with the
 * oldest request is closed, because its client probably does not read the answer. Any thread may
 * call these functions. */
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
	/* `shut_down`: the connection is in no list and connections.n does not count it */
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

/* The caller owns `fd` and closes it after connections_leave. */
void connections_enter(struct connections *c, struct connection *one, int fd);
/* A connection is busy from a complete request to the end of the answer. */
void connections_set_busy(struct connection *one, bool busy);
/* Frees memory: shuts down the connection with the oldest request, unless that connection is
 * `requesting`. */
void connections_relieve(struct connection *requesting);
void connections_leave(struct connection *one);

#endif
