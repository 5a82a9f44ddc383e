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

struct guest {
	TAILQ_ENTRY(guest) link;
	struct crowd *crowd;
	int fd;
	bool busy, told; /* told: its connection was shut down, and will leave soon */
};

TAILQ_HEAD(guests, guest);

struct crowd {
	pthread_mutex_t lock;
	struct guests idle; /* the longest silent first */
	struct guests busy; /* whose request came first first */
	size_t n, max;      /* n: those who were not told to go */
};

void crowd_init(struct crowd *c, size_t max);
void crowd_done(struct crowd *c); /* all have left */

/* Any thread. fd stays open until g leaves; it is the caller's. */
void crowd_enter(struct crowd *c, struct guest *g, int fd);
void crowd_busy(struct guest *g); /* a whole request is there */
void crowd_idle(struct guest *g); /* it was answered */
/* Somebody has to go, so that what they were answered is no longer held: of the others that are busy, the first. */
void crowd_relieve(struct guest *asking);
void crowd_leave(struct guest *g);

#endif
