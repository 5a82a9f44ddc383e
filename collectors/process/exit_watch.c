#include "collectors/process/exit_watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/process/process.h"

/* ---- one process ---- */

/* A copy of struct pidfd_info and PIDFD_GET_INFO from linux/pidfd.h (6.15), because older headers
 * lack them. `struct info` has only the first 64 bytes of the kernel's struct. The kernel accepts
 * every size of at least 64 bytes. */
struct info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t exit_code;
};

_Static_assert(sizeof(struct info) == 64, "layout of the kernel's first version");

#define GET_INFO  _IOWR(0xff, 11, struct info)
#define INFO_EXIT (UINT64_C(1) << 3)

int exit_watch_open(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : (int)fd;
}

/* Returns poll events. POLLIN: the process has ended. POLLHUP (since Linux 6.9): the process has
 * ended and its parent has waited for it. */
static short state_of(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, 0) > 0 ? p.revents : 0;
}

bool exit_watch_ended(int pidfd)
{
	return state_of(pidfd) & (POLLIN | POLLHUP);
}

enum exit_status exit_watch_status(int pidfd, int *ret)
{
	struct info info = {.mask = INFO_EXIT};

	/* ENOTTY or EINVAL: the kernel lacks the request. ESRCH: Linux 6.13 and 6.14 support it for
	 * live processes only. */
	if (ioctl(pidfd, GET_INFO, &info) < 0)
		return EXIT_STATUS_UNKNOWN;
	if (info.mask & INFO_EXIT) {
		*ret = info.exit_code;
		return EXIT_STATUS_KNOWN;
	}
	/* If the parent has waited and the status is still unknown, the kernel will never report
	 * it. */
	return state_of(pidfd) & POLLHUP ? EXIT_STATUS_UNKNOWN : EXIT_STATUS_LATER;
}

/* ---- all watched processes ---- */

void exit_watches_init(struct exit_watches *e)
{
	e->epoll = epoll_create1(EPOLL_CLOEXEC);
}

void exit_watches_done(struct exit_watches *e)
{
	closep(&e->epoll);
	e->epoll = -1;
}

void exit_watch_begin(struct exit_watch *ret, const struct exit_watches *e, const struct host *host,
	pid_t pid, uint64_t start_ticks)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct process_stat stat;
	bool real = host->own_pid_namespace || host->other_pid_namespace;
	pid_t here = real ? process_number_here(host, pid) : 0;
	bool may = here > 0 && e->epoll >= 0 && descriptors_take(host->root_ends, 1);
	int fd = may ? exit_watch_open(here) : -1;

	*ret = (struct exit_watch){
		.pid = pid, .start_ticks = start_ticks, .pidfd = -1, .known = EXIT_STATUS_UNKNOWN};
	/* Check the start time, because the pid may have been reused before the pidfd was
	 * opened. */
	if (fd >= 0 &&
		(process_read_stat(host, pid, &stat) < 0 || stat.start_ticks != start_ticks ||
			epoll_ctl(e->epoll, EPOLL_CTL_ADD, fd, &event) < 0)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0) {
		descriptors_give(host->root_ends, may);
		return;
	}
	ret->pidfd = fd;
	ret->kept = host->root_ends;
	ret->known = EXIT_STATUS_LATER;
}

void exit_watch_look(struct exit_watch *x, const struct exit_watches *e, const struct host *host)
{
	struct epoll_event only_hangup = {0};

	if (x->pidfd < 0 || x->waited_for)
		return;
	if (!x->ended && exit_watch_ended(x->pidfd)) {
		x->ended = true;
		/* The pidfd stays readable and would wake the sampler again and again. From now on,
		 * wait only for POLLHUP, which shows that the parent has waited. */
		epoll_ctl(e->epoll, EPOLL_CTL_MOD, x->pidfd, &only_hangup);
	}
	if (!x->ended)
		return;
	x->known = exit_watch_status(x->pidfd, &x->status);
	/* It may take minutes until the parent waits. The stat file of the zombie may show the
	 * status before that. */
	if (x->known != EXIT_STATUS_KNOWN &&
		process_zombie_status(host, x->pid, x->start_ticks, &x->status))
		x->known = EXIT_STATUS_KNOWN;
	if (x->known == EXIT_STATUS_LATER)
		return;
	x->waited_for = true;
	epoll_ctl(e->epoll, EPOLL_CTL_DEL, x->pidfd, NULL);
}

void exit_watch_done(struct exit_watch *x)
{
	if (x->pidfd < 0)
		return;
	closep(&x->pidfd);
	x->pidfd = -1;
	descriptors_give(x->kept, 1);
}
