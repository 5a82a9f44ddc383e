/* A clock that measures the CPU time of some threads, and of all processes that these threads
 * create later. A created process counts even if no parent waits for it. The threads may be running
 * already (task_clock_attach), or the calling thread is about to start a command (task_clock_open).
 * The source is the kernel's software task clock with inheritance (perf_event_open(2)).
 *
 * The clock needs no privilege if kernel.perf_event_paranoid is 2 or less. Debian, Ubuntu and the
 * default seccomp filter of containers refuse perf_event_open.
 *
 * The clock misses set-user-ID programs, because the kernel removes the counter from them. Since
 * Linux 6.16 the clock also misses the end of each process: do_exit() stops the counter before
 * exit_mm() (kernel commit "perf: Fix sample vs do_exit()").
 *
 * An upper bound of the missing CPU time needs the number of threads that ended. Counting the ends
 * costs each new thread of the run 2 us for each CPU of the machine. Therefore ends are counted
 * only if the number of threads times the number of CPUs is at most TASK_CLOCK_BUFFERS.
 *
 * The clock is too high in one case. On a virtual machine, it continues while the host takes the
 * CPU away (steal in /proc/stat). On a busy host it was 10 % too high. */
#ifndef COLLECTORS_ACCOUNTING_TASK_CLOCK_H
#define COLLECTORS_ACCOUNTING_TASK_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Maximum number of event buffers of a clock. Each takes two pages of locked memory, which is
 * limited: kernel.perf_event_mlock_kb allows a user 64 such buffers for each CPU. */
#define TASK_CLOCK_BUFFERS 16

struct task_clock {
	size_t n; /* 0 = no clock */
	int *fd;  /* one counter for each thread that the clock was opened for */
	/* One buffer for each of these threads on each CPU, to count the threads that end. If
	 * n_buffers is 0, they are not counted. */
	size_t n_buffers, n_cpus;
	void *buffer[TASK_CLOCK_BUFFERS];
};

#define TASK_CLOCK_NONE ((struct task_clock){0})

/* Opens a clock. Call in the thread that will fork. Counting starts when the child calls exec.
 * Returns 0 or a negative errno. */
int task_clock_open(struct task_clock *ret);

/* Opens a clock of running threads. The clock counts from now on, and includes processes that the
 * threads fork later. The threads must belong to this user (ptrace(2), "Ptrace access mode
 * checking"). Returns 0, or a negative errno without opening a clock. */
int task_clock_attach(struct task_clock *ret, const pid_t *thread, size_t n);
void task_clock_close(struct task_clock *c);

/* Reads the nanoseconds used so far by living and ended processes. Any thread may call it. Returns
 * 0 or a negative errno. */
int task_clock_read(const struct task_clock *c, uint64_t *ret);

/* Returns an upper bound of the number of threads that ended so far and that the clock counted.
 * `cpus` is the number of CPUs that the machine has now; NaN = unknown. Any thread may call it.
 * Returns NaN if the ends are not counted:
 * - threads x CPUs exceeded TASK_CLOCK_BUFFERS when the clock was opened.
 * - The kernel refused the buffers.
 * - A CPU came into use after the clock was opened. */
double task_clock_ends(const struct task_clock *c, double cpus);

struct task_clock_total {
	double seconds;
	/* Part of `seconds` in which the host used the CPU for other work. Only this clock counts
	 * stolen time as CPU time. */
	double stolen_seconds;
};

/* Updates `total`. `stolen` is the share (0 to 1) of CPU time that the host took from the whole
 * machine since the last sample. The same share is assumed for the run. If the clock cannot be
 * read, `total` stays unchanged. */
void task_clock_look(const struct task_clock *c, double stolen, struct task_clock_total *total);

#endif
