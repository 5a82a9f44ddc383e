/*
 * A process hands things on when it executes a program. A command should find them as if its caller had executed it, and
 * not this wrapper: open descriptors, and the attributes that fork(2) does not keep. The wrapper has to tell its command
 * from children that it was executed with (`prepare & exec rightsize-exporter run ...`).
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
	int *fd; /* ascending, from 3 on */
	bool fds_known;
};

/* Before any thread starts and anything is opened. What /proc does not tell is not known. */
void inherited_read(struct inherited *ret);
void inherited_done(struct inherited *i);

bool inherited_child(const struct inherited *i, pid_t pid);

/* Of /proc/PID/task/TID/children (proc_tid_children(5)): up to what is no number. The caller frees. */
size_t inherited_parse_children(struct scan text, pid_t **ret);

/* Children of the calling thread, to which the kernel also gives orphans if it is the first one. The caller frees. */
size_t inherited_children(pid_t **ret);

/*
 * In the child of a fork: descriptors from 3 on that were not inherited, ours and those of libraries that do not mark
 * them, close when it executes something. Async-signal-safe; nothing happens before Linux 5.11.
 */
void inherited_keep_only(const struct inherited *i);

/* The layout of sched_getattr(2): libc and the kernel's headers do not agree who declares it. */
struct schedule {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/*
 * execve(2) would have kept these for the job and fork(2) does not. The caller's locks of fcntl(2) cannot be given to the
 * job: they stay with the process, which is ours.
 */
struct fork_losses {
	pid_t parent;     /* who forks */
	int adopts;       /* children of children that ended (PR_SET_CHILD_SUBREAPER) */
	int death_signal; /* that it asked for when its own parent ends (PR_SET_PDEATHSIG); 0: none */
	struct schedule schedule; /* .size is 0 where fork(2) keeps it */
};

/*
 * Before we adopt any, and in the thread that forks: prctl(2) sends the signal when that thread ends, not when its process
 * does.
 */
void fork_losses_read(struct fork_losses *ret);

/*
 * In the child, while signals are blocked. Async-signal-safe. The job gets a real-time priority only when it has the right
 * to ask for one itself, which a process that inherited ours may lack.
 */
void fork_losses_make_good(const struct fork_losses *l);

#endif
