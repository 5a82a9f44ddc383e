/* What the files of the historian share. */
#ifndef EXPORTER_HISTORIAN_PRIVATE_H
#define EXPORTER_HISTORIAN_PRIVATE_H

#include <pthread.h>

#include "exporter/history/historian.h"
#include "exporter/history/batch_writer.h"

struct call; /* exporter/history/historian_calls.c */

struct historian {
	struct historian_config config;
	char *path; /* config.path */
	pthread_t thread;

	pthread_mutex_t lock; /* guards what follows, up to the empty line */
	pthread_cond_t wake, progress;
	struct ring ring;
	struct call *calls;
	uint64_t handed;        /* events */
	uint64_t settled;       /* of them: committed, refused or dropped */
	size_t samples_at_hand; /* taken from the ring, and being written */
	bool stop, hurry, gave_up, suspect, ended;
	double paused_until, upkeep_at; /* by writer_clock(), as are the next two */
	double stop_at, upkeep_until;   /* while it stops: the ends of writing and of upkeep */
	double pause;                   /* after the last failure, in seconds */
	struct historian_health health;

	struct writer writer;             /* of the thread alone */
	unsigned commits;                 /* likewise */
	uint64_t said_dropped, said_lost; /* likewise: as of the last look */
	struct complaint joining, losing; /* likewise */
};

/* Until cond is told of, or that time by writer_clock(). */
void historian_wait(pthread_cond_t *cond, pthread_mutex_t *lock, double deadline);

/* On the historian's thread, with the lock, which is let go meanwhile. */
void historian_run_calls(struct historian *h);

#endif
