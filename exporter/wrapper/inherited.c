#include "exporter/wrapper/inherited.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

#define FIRST_FD 3 /* first descriptor after the standard streams */

static int ascending(const void *a, const void *b)
{
	const int *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void read_fds(struct inherited *ret)
{
	DIR *d = opendir("/proc/self/fd");
	size_t room = 0;

	if (!d)
		return;
	for (struct dirent *entry = readdir(d); entry; entry = readdir(d)) {
		struct scan s = SCAN(entry->d_name, strlen(entry->d_name));
		uint64_t fd;

		if (!scan_u64(&s, &fd) || !scan_end(&s) || fd < FIRST_FD || fd > INT_MAX ||
			(int)fd == dirfd(d))
			continue;
		GROW(ret->fd, ret->n_fds, room);
		ret->fd[ret->n_fds++] = (int)fd;
	}
	closedir(d);
	if (ret->n_fds)
		qsort(ret->fd, ret->n_fds, sizeof *ret->fd, ascending);
	ret->fds_known = true;
}

size_t inherited_parse_children(struct scan text, pid_t **ret)
{
	size_t n = 0, room = 0;
	uint64_t pid;

	*ret = NULL;
	while (scan_u64(&text, &pid) && pid <= INT32_MAX) {
		GROW(*ret, n, room);
		(*ret)[n++] = (pid_t)pid;
	}
	return n;
}

size_t inherited_children(pid_t **ret)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	AUTO(freep) char *line = NULL;
	size_t size = 0;
	ssize_t len = f ? getline(&line, &size, f) : 0;

	if (f)
		fclose(f);
	return inherited_parse_children(SCAN(len > 0 ? line : "", len > 0 ? len : 0), ret);
}

void inherited_read(struct inherited *ret)
{
	*ret = (struct inherited){0};
	read_fds(ret);
	/* inherited_children reads the children of one thread. Only this thread exists so far, so
	 * these are all children of the process. */
	ret->n_children = inherited_children(&ret->child);
}

void inherited_done(struct inherited *i)
{
	free(i->child);
	free(i->fd);
	*i = (struct inherited){0};
}

bool inherited_child(const struct inherited *i, pid_t pid)
{
	for (size_t k = 0; k < i->n_children; k++)
		if (i->child[k] == pid)
			return true;
	return false;
}

static void close_at_exec(unsigned first, unsigned last)
{
	if (first <= last)
		syscall(SYS_close_range, first, last, CLOSE_RANGE_CLOEXEC);
}

void inherited_keep_only(const struct inherited *i)
{
	unsigned from = FIRST_FD;

	if (!i->fds_known)
		return;
	for (size_t k = 0; k < i->n_fds; k++) {
		close_at_exec(from, (unsigned)i->fd[k] - 1);
		from = (unsigned)i->fd[k] + 1;
	}
	close_at_exec(from, UINT_MAX);
}

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
	/* If the parent ended before the call of prctl, the kernel does not send the signal.
	 * Send it here. */
	if (getppid() != l->parent)
		kill(getpid(), l->death_signal);
}
