#include "collectors/accounting/task_clock.h"

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
		.disabled = 1, /* do not count in this thread, which never calls exec */
		.enable_on_exec = 1,
		.inherit = 1,
		/* Needs less privilege. The task clock includes kernel time even so. */
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

int task_clock_read(const struct task_clock *c, uint64_t *ret)
{
	ssize_t n = c->fd < 0 ? 0 : read(c->fd, ret, sizeof *ret);

	return n == sizeof *ret ? 0 : n < 0 ? -errno : -ENODATA;
}

void task_clock_look(const struct task_clock *c, double stolen, struct task_clock_total *total)
{
	uint64_t ns;

	if (task_clock_read(c, &ns) < 0 || !((double)ns / 1e9 > total->seconds))
		return;
	double grown = (double)ns / 1e9 - total->seconds;

	total->seconds += grown;
	total->stolen_seconds += grown * stolen;
}
