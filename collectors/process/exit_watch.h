/*
 * The ends of processes, which need not be our children: a descriptor that becomes readable when one ends, and how it
 * ended where the kernel tells (PIDFD_GET_INFO, Linux 6.15 and later, once somebody has waited for it). And one descriptor that wakes the sampler when any of many ends, so that
 * last counters are read while there is something to read, and how each ended as far as the kernel tells.
 */
#ifndef COLLECTORS_PROCESS_EXIT_WATCH_H
#define COLLECTORS_PROCESS_EXIT_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/host.h"

/*
 * A pidfd of a process in our own PID namespace, close-on-exec; negative errno. Whoever wants a certain process
 * compares its start time after this, because the number may just have been used again.
 */
int exit_watch_open(pid_t pid);

/* Has it ended (it may still be a zombie)? */
bool exit_watch_ended(int pidfd);

enum exit_status {
	EXIT_STATUS_KNOWN,
	EXIT_STATUS_LATER,  /* it lives, or nobody has waited for it yet */
	EXIT_STATUS_UNKNOWN /* this kernel does not tell */
};

/* *ret as wait(2) gives it, when known. */
enum exit_status exit_watch_status(int pidfd, int *ret);

struct exit_watches {
	int epoll; /* readable when endings_look has something to see; -1: nothing can be watched */
};

void exit_watches_init(struct exit_watches *e);
void exit_watches_done(struct exit_watches *e); /* after every exit_watch_done */

struct exit_watch {
	int pidfd;              /* -1: not watched */
	bool ended, waited_for; /* seen so far; never true when it is not watched */
	enum exit_status known;
	int status;               /* as wait(2) gives it, when known */
	struct descriptors *kept; /* that pidfd is taken of; borrowed until exit_watch_done */
};

/* Watches a process, if it is still the one that started then and can be watched at all, as many as host->root_ends allows. */
void exit_watch_begin(struct exit_watch *ret, const struct exit_watches *e, const struct host *host,
	pid_t pid, uint64_t start_ticks);

/* Brings it up to date. Once per tick. */
void exit_watch_look(struct exit_watch *x, const struct exit_watches *e);
void exit_watch_done(struct exit_watch *x);

#endif
