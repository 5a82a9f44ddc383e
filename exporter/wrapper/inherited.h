/* State that the wrapper inherits by execve(2) and passes to its command: open descriptors, and
 * attributes that fork(2) drops. The command gets both as if the caller had executed the command
 * itself. The wrapper may also inherit children (`prepare & exec rightsize-exporter run ...`). The
 * PIDs of these children are recorded, because they do not belong to the command. */
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

/* Reads the state. Call before any thread starts or any file is opened. If /proc is missing,
 * fds_known is false. */
void inherited_read(struct inherited *ret);
void inherited_done(struct inherited *i);

/* Returns true when `pid` is one of the inherited children. */
bool inherited_child(const struct inherited *i, pid_t pid);

/* Parses a children file (proc_tid_children(5)), up to the first text that is not a number. Returns
 * the number of children. The caller frees `*ret`. */
size_t inherited_parse_children(struct scan text, pid_t **ret);

/* Reads the children of the calling thread. In the main thread, they include the adopted orphans.
 * Returns the number of children. The caller frees `*ret`. */
size_t inherited_children(pid_t **ret);

/* Marks all descriptors from 3 on as close-on-exec, except the inherited ones. The command must
 * not get other descriptors, and libraries in the wrapper may open descriptors that are not
 * close-on-exec. Call in the child of a fork. Async-signal-safe. Has no effect before Linux
 * 5.11, or if fds_known is false. */
void inherited_keep_only(const struct inherited *i);

/* Has the layout of struct sched_attr of sched_getattr(2). The kernel's header with that struct
 * cannot be included, because it conflicts with the header of libc. */
struct schedule {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* Attributes of a process that execve(2) keeps and fork(2) drops. Locks of fcntl(2) are not among
 * them, because they cannot be restored: they stay with the wrapper's process, and the job loses
 * them. */
struct fork_losses {
	pid_t parent;             /* the process that forks */
	int adopts;               /* the process adopts orphans (PR_SET_CHILD_SUBREAPER) */
	int death_signal;         /* signal when the parent ends (PR_SET_PDEATHSIG); 0 = none */
	struct schedule schedule; /* lost schedule; .size 0 = fork(2) keeps the schedule */
};

/* Reads the attributes. Call before the process adopts orphans, in the thread that forks. The
 * kernel sends the death signal when that thread ends, not when its process ends. */
void fork_losses_read(struct fork_losses *ret);

/* Restores the attributes in the child, while signals are blocked. Async-signal-safe. A real-time
 * priority needs the right to request one (sched(7)). The child may lack this right although the
 * wrapper inherited the priority. */
void fork_losses_make_good(const struct fork_losses *l);

#endif
