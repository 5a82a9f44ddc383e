/*
 * The ends of processes that others wait for: one descriptor that wakes the sampler when any of them ends, so that
 * last counters are read while there is something to read, and how each ended as far as the kernel tells.
 */
#ifndef COLLECTORS_ENDINGS_H
#define COLLECTORS_ENDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/process/exit_status.h"
#include "collectors/host.h"

struct endings {
	int epoll; /* readable when endings_look has something to see; -1: nothing can be watched */
};

void endings_init(struct endings *e);
void endings_done(struct endings *e); /* after every ending_done */

struct ending {
	int pidfd;              /* -1: not watched */
	bool ended, waited_for; /* seen so far; never true when it is not watched */
	enum exit_status known;
	int status;               /* as wait(2) gives it, when known */
	struct descriptors *kept; /* that pidfd is taken of; borrowed until ending_done */
};

/* Watches a process, if it is still the one that started then and can be watched at all, as many as host->root_ends allows. */
void ending_begin(struct ending *ret, const struct endings *e, const struct host *host, pid_t pid,
	uint64_t start_ticks);

/* Brings it up to date. Once per tick. */
void ending_look(struct ending *x, const struct endings *e);
void ending_done(struct ending *x);

#endif
