/* A counter that is handed down to every descendant. */
#include "collectors/task_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collectors/base/mem.h"

int task_clock_open(struct task_clock *ret)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof a,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1, /* in ourselves, who never execute anything */
		.enable_on_exec = 1,
		.inherit = 1,
		/* Needs less privilege; this clock counts the kernel's part all the same. */
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	ret->fd = (int)fd;
	return 0;
}

void task_clock_close(struct task_clock *c)
{
	closep(&c->fd);
	*c = TASK_CLOCK_NONE;
}

/* While a process ends, it is for an instant counted in itself and in what is handed up: then one of these is less. */
#define READINGS 3

int task_clock_read(const struct task_clock *c, uint64_t *ret)
{
	uint64_t least = UINT64_MAX, ns;

	for (int i = 0; i < READINGS; i++) {
		ssize_t n = c->fd < 0 ? 0 : read(c->fd, &ns, sizeof ns);

		if (n != sizeof ns)
			return n < 0 ? -errno : -ENODATA;
		least = ns < least ? ns : least;
	}
	*ret = least;
	return 0;
}
