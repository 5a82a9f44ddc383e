/* State that the wrapper gets from its caller and passes on to its command: open descriptors, and
 * attributes that a process loses by fork(2). The command gets both, as if the caller had executed
 * it directly.
 *
 * The caller may have started children and then become the wrapper (`prepare & exec
 * rightsize-exporter run ...`). The wrapper records the PIDs of these children, because they do not
 * belong to the command. */
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
	int *fd; /* inherited descriptors from 3 on, ascending; valid if fds_known */
	bool fds_known;
};

/* Reads the state. Call it before any thread starts and any file is opened. If /proc is missing,
 * fds_known is false. */
void inherited_read(struct inherited *ret);
void inherited_done(struct inherited *i);

/* Returns true when `pid` is one of the inherited children. */
bool inherited_child(const struct inherited *i, pid_t pid);

/* Parses the text of a file /proc/PID/task/TID/children (proc_tid_children(5)), up to the first
 * word that is not a number. Sets `*ret` to the PIDs of the children, which the caller frees.
 * Returns their number. */
size_t inherited_parse_children(struct scan text, pid_t **ret);

/* Reads the PIDs of the children of the calling thread. In the main thread, they include orphans
 * that the process has adopted. The caller frees `*ret`. Returns the number of children. */
size_t inherited_children(pid_t **ret);

/* Marks all descriptors from 3 on as close-on-exec, except the inherited ones. This is needed
 * because libraries in the wrapper may open descriptors without close-on-exec, which the command
 * must not get. Call it in the child of a fork. Async-signal-safe. Has no effect before Linux 5.11,
 * or if fds_known is false. */
void inherited_keep_only(const struct inherited *i);

/* The same as struct sched_attr of sched_getattr(2). The kernel's header with that struct cannot be
 * included, because it conflicts with a header of libc. */
struct schedule {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* Attributes of a process that execve(2) keeps but fork(2) does not pass to the child. Locks of
 * fcntl(2) are such attributes, too, but cannot be restored: the wrapper keeps them, and the job
 * does not have them. */
struct fork_losses {
	pid_t parent;     /* the process that forks */
	int adopts;       /* 1 = the process adopts orphans (PR_SET_CHILD_SUBREAPER) */
	int death_signal; /* signal when the parent ends (PR_SET_PDEATHSIG); 0 = none */
	/* schedule that fork(2) resets; .size 0 = fork(2) does not reset it */
	struct schedule schedule;
};

/* Reads the attributes. Call it before PR_SET_CHILD_SUBREAPER is set for the wrapper itself. Call
 * it in the thread that will call fork(2), because the kernel sends the death signal when that
 * thread ends, not when its process ends. */
void fork_losses_read(struct fork_losses *ret);

/* Restores the attributes in the child. Call it while signals are blocked. Async-signal-safe. A
 * real-time priority may stay lost: the wrapper may have inherited it without the right to set it
 * (sched(7)). */
void fork_losses_make_good(const struct fork_losses *l);

#endif
