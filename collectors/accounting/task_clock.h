/*
 * CPU time of a command that this thread is about to start, and of all its descendants: the
 * kernel's software task clock with inheritance (perf_event_open(2)). Children count even if no
 * parent waits for them.
 * Needs no privilege if kernel.perf_event_paranoid is 2 or less. Debian, Ubuntu and the default
 * seccomp filter of containers refuse it.
 * The clock misses set-user-ID programs (the kernel removes the counter). Since Linux 6.16 it also
 * misses the end of each process: do_exit() stops it before exit_mm() ("perf: Fix sample vs
 * do_exit()", see CONTRIBUTING.md).
 * The clock is never too high, except on a virtual machine whose CPU the host takes away (steal in
 * /proc/stat): it goes on meanwhile. 10 % too much was seen on a busy host.
 */
#ifndef COLLECTORS_ACCOUNTING_TASK_CLOCK_H
#define COLLECTORS_ACCOUNTING_TASK_CLOCK_H

#include <stdint.h>

struct task_clock {
	int fd;
};

#define TASK_CLOCK_NONE ((struct task_clock){-1})

/* Call in the thread that will fork. Counting starts when the child calls exec. Negative errno. */
int task_clock_open(struct task_clock *ret);
void task_clock_close(struct task_clock *c);

/* Nanoseconds so far of living and ended processes. Any thread. Negative errno. */
int task_clock_read(const struct task_clock *c, uint64_t *ret);

struct task_clock_total {
	double seconds;
	/* part of seconds while the host ran others; no other source counts it */
	double stolen_seconds;
};

/*
 * Updates a total. stolen: the share, 0 to 1, of the machine's CPU time since the last sample that
 * its host took. The run's share of it is unknown: the same is assumed. If the clock cannot be
 * read, the total stays.
 */
void task_clock_look(const struct task_clock *c, double stolen, struct task_clock_total *total);

#endif
