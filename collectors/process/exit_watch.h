/* Detects the end of processes, even if they are not our children. A pidfd becomes readable when
 * its process ends. One epoll descriptor covers all watched processes, and wakes the sampler as
 * soon as one of them ends. The sampler must be fast: it can read the last counters of a process
 * only until the parent waits for the process.
 *
 * A wait status other than 0 is read from the stat file of the zombie. On Linux 6.15 and later
 * (PIDFD_GET_INFO), each wait status can be read after the parent has waited. */
#ifndef COLLECTORS_PROCESS_EXIT_WATCH_H
#define COLLECTORS_PROCESS_EXIT_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/host.h"

/* Opens a close-on-exec pidfd of a process in our own PID namespace. Returns the pidfd or a
 * negative errno. Compare the start time of the process after this call, because the kernel may
 * have reused the pid. */
int exit_watch_open(pid_t pid);

/* Returns true when the process has ended, even while it is a zombie. */
bool exit_watch_ended(int pidfd);

enum exit_status {
	EXIT_STATUS_KNOWN,
	EXIT_STATUS_LATER,  /* process lives, or its parent has not waited yet */
	EXIT_STATUS_UNKNOWN /* the kernel does not report the status */
};

/* Finds out the exit status of the process. If the status is known, writes it to `*ret`, in the
 * format of wait(2). */
enum exit_status exit_watch_status(int pidfd, int *ret);

struct exit_watches {
	int epoll; /* readable when a watched process ends or was waited for; -1 = no epoll */
};

void exit_watches_init(struct exit_watches *e);
void exit_watches_done(struct exit_watches *e); /* call it last, when no watch is left */

struct exit_watch {
	pid_t pid; /* in host->proc */
	uint64_t start_ticks;
	int pidfd; /* descriptor of the process; -1 = the process is not watched */
	/* `ended`: the process has ended. `waited_for`: the status is final. It is known, or will
	 * never be known: the parent has waited for the process, or the kernel does not report it.
	 * Both are false if the process is not watched. */
	bool ended, waited_for;
	enum exit_status known;
	int status;               /* as in wait(2); set when known is EXIT_STATUS_KNOWN */
	struct descriptors *kept; /* limit on open pidfds; borrowed until exit_watch_done */
};

/* Begins to watch the process `pid`. `pidfd` is -1 (not watched) in two cases: the process did not
 * start at `start_ticks`, or host->root_ends permits no more pidfds. */
void exit_watch_begin(struct exit_watch *ret, const struct exit_watches *e, const struct host *host,
	pid_t pid, uint64_t start_ticks);

/* Updates `ended`, `waited_for`, `known` and `status`. Call it once per tick. */
void exit_watch_look(struct exit_watch *x, const struct exit_watches *e, const struct host *host);
void exit_watch_done(struct exit_watch *x);

#endif
