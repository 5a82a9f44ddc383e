/* pidfds in an epoll. */
#include "collectors/process/exit_watch.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/process/process.h"

void endings_init(struct endings *e)
{
	e->epoll = epoll_create1(EPOLL_CLOEXEC);
}

void endings_done(struct endings *e)
{
	closep(&e->epoll);
	e->epoll = -1;
}

void ending_begin(struct ending *ret, const struct endings *e, const struct host *host, pid_t pid,
	uint64_t start_ticks)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct process_stat stat;
	bool may = host->own_pid_namespace && e->epoll >= 0 && descriptors_take(host->root_ends, 1);
	int fd = may ? exit_status_open(pid) : -1;

	*ret = (struct ending){.pidfd = -1, .known = EXIT_STATUS_UNKNOWN};
	/* The number may have changed hands before the descriptor was there. */
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

void ending_look(struct ending *x, const struct endings *e)
{
	struct epoll_event only_hangup = {0};

	if (x->pidfd < 0 || x->waited_for)
		return;
	if (!x->ended && exit_status_ended(x->pidfd)) {
		x->ended = true;
		/* It stays readable: from now on only that somebody waited for it is news. */
		epoll_ctl(e->epoll, EPOLL_CTL_MOD, x->pidfd, &only_hangup);
	}
	if (!x->ended)
		return;
	x->known = exit_status_read(x->pidfd, &x->status);
	if (x->known == EXIT_STATUS_LATER)
		return;
	x->waited_for = true;
	epoll_ctl(e->epoll, EPOLL_CTL_DEL, x->pidfd, NULL);
}

void ending_done(struct ending *x)
{
	if (x->pidfd < 0)
		return;
	closep(&x->pidfd);
	x->pidfd = -1;
	descriptors_give(x->kept, 1);
}
