#include "collectors/accounting/task_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collectors/base/mem.h"

/* Size of PERF_RECORD_FORK and of PERF_RECORD_EXIT: a header, four ids and a time
 * (perf_event_open(2)). */
#define RECORD_BYTES 32

static int open_event(struct perf_event_attr a, pid_t thread, int cpu, bool on_exec)
{
	a.type = PERF_TYPE_SOFTWARE;
	a.size = sizeof a;
	/* If `on_exec` is true, counting begins when a process calls exec. The calling thread never
	 * does, so only the program that its child executes is counted. */
	a.disabled = a.enable_on_exec = on_exec;
	a.inherit = 1;
	/* A counter that excludes kernel time needs less privilege. The task clock counts kernel
	 * time in spite of this flag. */
	a.exclude_kernel = a.exclude_hv = 1;
	long fd = syscall(SYS_perf_event_open, &a, thread, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int add_event(struct task_clock *c, pid_t thread, bool on_exec)
{
	int fd = open_event((struct perf_event_attr){.config = PERF_COUNT_SW_TASK_CLOCK}, thread,
		-1, on_exec);

	if (fd < 0)
		return fd;
	c->fd = xreallocarray(c->fd, c->n + 1, sizeof *c->fd);
	c->fd[c->n++] = fd;
	return 0;
}

/* ---- the number of ends ---- */

static size_t buffer_bytes(void)
{
	return 2 * (size_t)sysconf(_SC_PAGESIZE);
}

static void drop_buffers(struct task_clock *c)
{
	while (c->n_buffers)
		munmap(c->buffer[--c->n_buffers], buffer_bytes());
	c->n_cpus = 0;
}

/* Opens a buffer in which the kernel writes a record for each thread that is created or ends on
 * `cpu`. The buffer is mapped without the right to write, so the kernel overwrites old records. The
 * number of records is still known from the position of the newest record. The mapping keeps the
 * event alive, so its descriptor is closed. */
static int add_buffer(struct task_clock *c, pid_t thread, int cpu, bool on_exec)
{
	int fd = open_event((struct perf_event_attr){.config = PERF_COUNT_SW_DUMMY, .task = 1},
		thread, cpu, on_exec);

	if (fd < 0)
		return fd;
	void *buffer = mmap(NULL, buffer_bytes(), PROT_READ, MAP_SHARED, fd, 0);
	int code = buffer == MAP_FAILED ? -errno : 0;

	close(fd);
	if (code == 0)
		c->buffer[c->n_buffers++] = buffer;
	return code;
}

/* Opens one buffer for each of `n` threads on each CPU. (An inherited event with a buffer must
 * belong to one CPU, see perf_mmap() in kernel/events/core.c.) Opens none if there would be too
 * many, or if the kernel refuses one. */
static void add_buffers(struct task_clock *c, const pid_t *thread, size_t n, bool on_exec)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	bool failed = cpus < 1 || n * (size_t)cpus > TASK_CLOCK_BUFFERS;

	for (int cpu = 0; !failed && cpu < cpus; cpu++) {
		int code = 0;

		for (size_t i = 0; i < n && !failed; i++) {
			code = add_buffer(c, thread[i], cpu, on_exec);
			/* -ENODEV: the CPU is not in use. -ESRCH: the thread has ended. */
			failed = code && code != -ENODEV && code != -ESRCH;
		}
		c->n_cpus += code != -ENODEV;
	}
	if (failed)
		drop_buffers(c);
}

double task_clock_ends(const struct task_clock *c, double cpus)
{
	uint64_t records = 0;

	if (!c->n_buffers || (double)c->n_cpus < cpus)
		return NAN;
	for (size_t i = 0; i < c->n_buffers; i++) {
		const struct perf_event_mmap_page *head = c->buffer[i];

		records += __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE) / RECORD_BYTES;
	}
	/* The kernel writes one record when a thread starts and one when it ends. The first c->n
	 * threads started before the clock, so their missing start records are added here. Half of
	 * the records is an upper bound of the ends: a living thread has only its start record. */
	return floor((double)(records + c->n) / 2);
}

/* ---- the clock ---- */

int task_clock_open(struct task_clock *ret)
{
	int code = add_event(ret, 0, true);

	if (code == 0)
		add_buffers(ret, &(pid_t){0}, 1, true);
	return code;
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
	else
		add_buffers(ret, thread, n, false);
	return code;
}

void task_clock_close(struct task_clock *c)
{
	for (size_t i = 0; i < c->n; i++)
		close(c->fd[i]);
	free(c->fd);
	drop_buffers(c);
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
