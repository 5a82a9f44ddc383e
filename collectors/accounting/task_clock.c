#include "collectors/accounting/task_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collectors/base/mem.h"

static int open_event(pid_t thread, bool on_exec)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof a,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		/* The calling thread itself is not counted: it never calls exec. */
		.disabled = on_exec,
		.enable_on_exec = on_exec,
		.inherit = 1,
		/* A counter without kernel time needs less privilege. The task clock includes
		 * kernel time even with this flag. */
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &a, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int add_event(struct task_clock *c, pid_t thread, bool on_exec)
{
	int fd = open_event(thread, on_exec);

	if (fd < 0)
		return fd;
	c->fd = xreallocarray(c->fd, c->n + 1, sizeof *c->fd);
	c->fd[c->n++] = fd;
	return 0;
}

int task_clock_open(struct task_clock *ret)
{
	return add_event(ret, 0, true);
}

int task_clock_attach(struct task_clock *ret, const pid_t *thread, size_t n)
{
	int code = 0;

	for (size_t i = 0; i < n && code == 0; i++) {
		code = thread[i] > 0 ? add_event(ret, thread[i], false) : -ENXIO;
		/* -ESRCH: the thread has ended, so it needs no clock. */
		if (code == -ESRCH)
			code = 0;
	}
	if (code)
		task_clock_close(ret);
	return code;
}

void task_clock_close(struct task_clock *c)
{
	for (size_t i = 0; i < c->n; i++)
		close(c->fd[i]);
	free(c->fd);
	*c = TASK_CLOCK_NONE;
}

int task_clock_read(const struct task_clock *c, uint64_t *ret)
{
	uint64_t sum = 0, ns = 0;

	for (size_t i = 0; i < c->n; i++) {
		ssize_t n = read(c->fd[i], &ns, sizeof ns);

		if (n != sizeof ns)
			return n < 0 ? -errno : -ENODATA;
		sum += ns;
	}
	*ret = sum;
	return c->n ? 0 : -ENODATA;
}

void task_clock_look(const struct task_clock *c, double stolen, struct task_clock_total *total)
{
	uint64_t ns = 0;

	if (task_clock_read(c, &ns) < 0 || !((double)ns / 1e9 > total->seconds))
		return;
	double grown = (double)ns / 1e9 - total->seconds;

	total->seconds += grown;
	total->stolen_seconds += grown * stolen;
}
