/*
 * Watches processes, which need not be our children, for their end. A pidfd becomes readable when
 * the process ends. Its wait status is known after its parent has waited for it, on kernels with
 * PIDFD_GET_INFO (Linux 6.15 and later). One epoll descriptor wakes the sampler when any of many
 * ends, while its last counters can still be read.
 */
#ifndef COLLECTORS_PROCESS_EXIT_WATCH_H
#define COLLECTORS_PROCESS_EXIT_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/host.h"

/*
 * Opens a close-on-exec pidfd of a process in our own PID namespace; negative errno. To be sure of
 * the process, compare its start time after this call: the number may have been reused.
 */
int exit_watch_open(pid_t pid);

/* Has the process ended (it may still be a zombie)? */
bool exit_watch_ended(int pidfd);

enum exit_status {
	EXIT_STATUS_KNOWN,
	EXIT_STATUS_LATER,  /* it lives, or its parent has not waited for it yet */
	EXIT_STATUS_UNKNOWN /* this kernel does not report it */
};

/* *ret is the status as wait(2) gives it, set when known. */
enum exit_status exit_watch_status(int pidfd, int *ret);

struct exit_watches {
	int epoll; /* readable when a watched process changed; -1: nothing can be watched */
};

void exit_watches_init(struct exit_watches *e);
void exit_watches_done(struct exit_watches *e); /* call it after every exit_watch_done */

struct exit_watch {
	int pidfd;              /* -1: not watched */
	bool ended, waited_for; /* never true when not watched */
	enum exit_status known;
	int status;               /* as wait(2) gives it, when known */
	struct descriptors *kept; /* budget that pidfd counts in; borrowed until exit_watch_done */
};

/* Watches a process if its start time matches and host->root_ends has room. */
void exit_watch_begin(struct exit_watch *ret, const struct exit_watches *e, const struct host *host,
	pid_t pid, uint64_t start_ticks);

/* Updates ended, waited_for and status. Call it once per tick. */
void exit_watch_look(struct exit_watch *x, const struct exit_watches *e);
void exit_watch_done(struct exit_watch *x);

#endif
