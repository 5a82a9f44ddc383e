/*
 * State that the wrapper inherits by execve(2) and passes to its command, as if the caller had
 * executed the command itself: open descriptors, and attributes that fork(2) drops. The wrapper
 * must also distinguish its command from children that it had at its start (`prepare & exec
 * rightsize-exporter run ...`).
 */
#ifndef EXPORTER_WRAPPER_INHERITED_H
#define EXPORTER_WRAPPER_INHERITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/scan.h"

struct inherited {
	size_t n_children;
	pid_t *child;
	size_t n_fds;
	int *fd; /* ascending, from 3 on; valid if fds_known */
	bool fds_known;
};

/* Call before any thread starts or file is opened. Without /proc, fds_known is false. */
void inherited_read(struct inherited *ret);
void inherited_done(struct inherited *i);

bool inherited_child(const struct inherited *i, pid_t pid);

/* Parses a children file (proc_tid_children(5)) up to a non-number. The caller frees *ret. */
size_t inherited_parse_children(struct scan text, pid_t **ret);

/* Children of the calling thread; the main thread also adopts orphans. The caller frees *ret. */
size_t inherited_children(pid_t **ret);

/*
 * In the child of a fork: marks descriptors from 3 on close-on-exec unless they were inherited.
 * Libraries do not mark all of theirs. Async-signal-safe. Has no effect before Linux 5.11.
 */
void inherited_keep_only(const struct inherited *i);

/* struct sched_attr of sched_getattr(2): the headers of libc and of the kernel conflict. */
struct schedule {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/*
 * Attributes that execve(2) keeps and fork(2) drops. Locks of fcntl(2) are lost for the job: they
 * stay with the wrapper's process.
 */
struct fork_losses {
	pid_t parent;             /* the process that forks */
	int adopts;               /* adopts orphans (PR_SET_CHILD_SUBREAPER) */
	int death_signal;         /* sent at the end of its parent (PR_SET_PDEATHSIG); 0: none */
	struct schedule schedule; /* .size 0: fork(2) keeps it */
};

/*
 * Call before the process adopts orphans, in the thread that forks: the kernel sends the death
 * signal when that thread ends, not when its process ends.
 */
void fork_losses_read(struct fork_losses *ret);

/*
 * Restores the attributes in the child, while signals are blocked. Async-signal-safe. A real-time
 * priority needs the right to request one (sched(7)), which the child may lack although the wrapper
 * inherited the priority.
 */
void fork_losses_make_good(const struct fork_losses *l);

#endif
