/* CPU time of a command that this thread is about to start, or of running threads, and of all
 * descendants from then on. The source is the kernel's software task clock with inheritance (perf_event_open(2)). Children count even if
 * no parent waits for them.
 *
 * Needs no privilege if kernel.perf_event_paranoid is 2 or less. Debian, Ubuntu and the default
 * seccomp filter of containers refuse perf_event_open.
 *
 * The clock misses set-user-ID programs, because the kernel removes the counter. Since Linux 6.16
 * it also misses the end of each process: do_exit() stops the counter before exit_mm() ("perf: Fix
 * sample vs do_exit()", see CONTRIBUTING.md).
 *
 * The clock is too high only on a virtual machine whose CPU the host takes away (steal in
 * /proc/stat), because it continues during that time. On a busy host it was 10 % too high. */
#ifndef COLLECTORS_ACCOUNTING_TASK_CLOCK_H
#define COLLECTORS_ACCOUNTING_TASK_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct task_clock {
	size_t n; /* 0 = no clock */
	int *fd;  /* one for each thread that it began with */
};

#define TASK_CLOCK_NONE ((struct task_clock){0})

/* Opens a clock. Call in the thread that will fork. Counting starts when the child calls exec.
 * Returns 0 or a negative errno. */
int task_clock_open(struct task_clock *ret);

/* Opens a clock of running threads, which counts from now on. The threads must belong to this user
 * (ptrace(2), "Ptrace access mode checking"). Processes that a thread forks later are included.
 * Returns 0 or a negative errno; then no clock is open. */
int task_clock_attach(struct task_clock *ret, const pid_t *thread, size_t n);
void task_clock_close(struct task_clock *c);

/* Reads the nanoseconds used so far by living and ended processes. Any thread may call it. Returns
 * 0 or a negative errno. */
int task_clock_read(const struct task_clock *c, uint64_t *ret);

struct task_clock_total {
	double seconds;
	/* Part of `seconds` in which the host ran other machines. Only this clock counts such
	 * time. */
	double stolen_seconds;
};

/* Updates `total`. `stolen` is the share (0 to 1) of the machine's CPU time since the last sample
 * that the host took. The run's own share is unknown, so the same share is assumed. If the clock
 * cannot be read, `total` stays. */
void task_clock_look(const struct task_clock *c, double stolen, struct task_clock_total *total);

#endif
