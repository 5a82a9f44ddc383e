/* What execve(2) would have kept for the job and fork(2) does not. */
#include "exporter/wrapper/fork_losses.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void fork_losses_read(struct fork_losses *ret)
{
	struct schedule schedule = {0};

	*ret = (struct fork_losses){.parent = getpid()};
	prctl(PR_GET_PDEATHSIG, &ret->death_signal, 0, 0, 0);
	prctl(PR_GET_CHILD_SUBREAPER, &ret->adopts, 0, 0, 0);
	if (syscall(SYS_sched_getattr, 0, &schedule, sizeof schedule, 0) == 0 &&
		schedule.flags & SCHED_FLAG_RESET_ON_FORK)
		ret->schedule = schedule;
}

void fork_losses_make_good(const struct fork_losses *l)
{
	if (l->schedule.size)
		syscall(SYS_sched_setattr, 0, &l->schedule, 0);
	if (l->adopts)
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (!l->death_signal)
		return;
	prctl(PR_SET_PDEATHSIG, l->death_signal, 0, 0, 0);
	/* It ended before that, and nobody tells us any more. */
	if (getppid() != l->parent)
		kill(getpid(), l->death_signal);
}
