/*
 * The end of a process that need not be our child: a descriptor that becomes readable when it ends, and how it
 * ended where the kernel tells (PIDFD_GET_INFO, Linux 6.15 and later, once somebody has waited for it).
 */
#ifndef COLLECTORS_EXIT_STATUS_H
#define COLLECTORS_EXIT_STATUS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * A pidfd of a process in our own PID namespace, close-on-exec; negative errno. Whoever wants a certain process
 * compares its start time after this, because the number may just have been used again.
 */
int exit_status_open(pid_t pid);

/* Has it ended (it may still be a zombie)? */
bool exit_status_ended(int pidfd);

enum exit_status {
	EXIT_STATUS_KNOWN,
	EXIT_STATUS_LATER,  /* it lives, or nobody has waited for it yet */
	EXIT_STATUS_UNKNOWN /* this kernel does not tell */
};

/* *ret as wait(2) gives it, when known. */
enum exit_status exit_status_read(int pidfd, int *ret);

#endif
