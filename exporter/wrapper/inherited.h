/*
 * What this process was given by whoever executed it, and a command that it starts should find as if there were nothing
 * between: open descriptors. And what has nothing to do with that command: children from before (`prepare & exec
 * rightsize-exporter run ...`).
 */
#ifndef EXPORTER_INHERITED_H
#define EXPORTER_INHERITED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collectors/base/scan.h"

struct inherited {
	size_t n_children;
	pid_t *child;
	size_t n_fds;
	int *fd; /* ascending, from 3 on */
	bool fds_known;
};

/* Before any thread starts and anything is opened. What /proc does not tell is not known. */
void inherited_read(struct inherited *ret);
void inherited_done(struct inherited *i);

bool inherited_child(const struct inherited *i, pid_t pid);

/* Of /proc/PID/task/TID/children (proc_tid_children(5)): up to what is no number. The caller frees. */
size_t children_parse(struct scan text, pid_t **ret);

/* Children of the calling thread, to which the kernel also gives orphans if it is the first one. The caller frees. */
size_t children_of_thread(pid_t **ret);

/*
 * In the child of a fork: descriptors from 3 on that were not inherited, ours and those of libraries that do not mark
 * them, close when it executes something. Async-signal-safe; nothing happens before Linux 5.11.
 */
void inherited_keep_only(const struct inherited *i);

#endif
