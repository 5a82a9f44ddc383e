/*
 * What execve(2) would have kept for the job and fork(2) does not. Of its caller's locks of fcntl(2) none can be: they stay
 * with the process, which is ours.
 */
#ifndef EXPORTER_FORK_LOSSES_H
#define EXPORTER_FORK_LOSSES_H

#include <stdint.h>
#include <sys/types.h>

/* As sched_getattr(2) has it: libc and the kernel's headers do not agree who declares it. */
struct schedule {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

struct fork_losses {
	pid_t parent;     /* who forks */
	int adopts;       /* children of children that ended (PR_SET_CHILD_SUBREAPER) */
	int death_signal; /* that it asked for when its own parent ends (PR_SET_PDEATHSIG); 0: none */
	struct schedule schedule; /* .size is 0 where fork(2) keeps it */
};

/* Before we adopt any; in the thread that forks: to its end, not to that of the process, belongs the signal (prctl(2)). */
void fork_losses_read(struct fork_losses *ret);

/*
 * In the child, while signals are blocked. Async-signal-safe. A real-time priority it has only with the right to ask for one
 * itself, which who was given ours may lack.
 */
void fork_losses_make_good(const struct fork_losses *l);

#endif
