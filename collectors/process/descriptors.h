/* What the descriptors of a process lead to: the links in /proc/PID/fd. */
#ifndef COLLECTORS_PROCESS_FDS_H
#define COLLECTORS_PROCESS_FDS_H

#include <sys/types.h>

#include "collectors/host.h"

/*
 * Calls each with the number and the target of every descriptor, until it returns non-zero, which
 * is then returned. *left is how many links may be read; it goes down, and -EAGAIN says that it did
 * not suffice. Other codes as tree_list: -EACCES for somebody else's process. Does not use
 * host->scratch.
 */
int process_fds(const struct host *h, pid_t pid, unsigned *left,
	int (*each)(void *context, int fd, const char *target), void *context);

#endif
