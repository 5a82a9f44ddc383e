/*
 * The open connections of all listening addresses. At the limit a new connection is accepted, and
 * the one that has been idle longest is closed: thousands of idle or slow clients cannot keep a
 * scraper out. If all are busy, the one with the oldest request is closed, since its client
 * probably does not read. Any thread.
 */
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
	bool busy, shut_down; /* shut_down: in no list, and not counted; leaves soon */
};

TAILQ_HEAD(connection_list, connection);

struct connections {
	pthread_mutex_t lock;
	struct connection_list idle; /* the longest idle first */
	struct connection_list busy; /* the oldest request first */
	size_t n, max;               /* n: without those that were shut down */
};

void connections_init(struct connections *c, size_t max);
void connections_done(struct connections *c); /* call after all have left */

/* The caller owns fd and closes it after connections_leave. */
void connections_enter(struct connections *c, struct connection *one, int fd);
/* busy: from a complete request to the end of its answer. */
void connections_set_busy(struct connection *one, bool busy);
/* Frees memory: shuts down the connection with the oldest request, but not the requesting one. */
void connections_relieve(struct connection *requesting);
void connections_leave(struct connection *one);

#endif
