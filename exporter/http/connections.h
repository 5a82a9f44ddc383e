/*
 * Who is connected, at whatever address. When it is full, whoever comes is let in all the same, and the one that has asked
 * nothing for the longest time has to go: thousands of idle or endlessly slow clients keep no scraper out. Who is
 * being answered stays, unless all are: then the one whose answer takes longest goes, which most likely nobody reads.
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
	bool busy, shut_down; /* told: its connection was shut down, and will leave soon */
};

TAILQ_HEAD(connection_list, connection);

struct connections {
	pthread_mutex_t lock;
	struct connection_list idle; /* the longest silent first */
	struct connection_list busy; /* whose request came first first */
	size_t n, max;               /* n: those who were not told to go */
};

void connections_init(struct connections *c, size_t max);
void connections_done(struct connections *c); /* all have left */

/* Any thread. fd stays open until g leaves; it is the caller's. */
void connections_enter(struct connections *c, struct connection *g, int fd);
void connections_busy(struct connection *g); /* a whole request is there */
void connections_idle(struct connection *g); /* it was answered */
/* Somebody has to go, so that what they were answered is no longer held: of the others that are busy, the first. */
void connections_relieve(struct connection *asking);
void connections_leave(struct connection *g);

#endif
