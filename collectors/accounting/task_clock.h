/*
 * CPU time of a command that this thread is about to start, and of all that will descend from it, whoever waits
 * for it or not: the kernel's software task clock with inheritance (perf_event_open(2)). Allowed without privilege
 * where kernel.perf_event_paranoid is 2 or less; Debian, Ubuntu and the default filter of containers refuse it.
 *
 * What it does not see: programs that run with another user's rights than their caller's (set-user-ID; the kernel
 * takes the counter away), and, since Linux 6.16, the end of each process, when its memory is taken down (do_exit() stops
 * it before exit_mm() since "perf: Fix sample vs do_exit()"; CONTRIBUTING.md). So it is never too much, but
 * where a virtual machine's CPU is taken away by its host (steal in /proc/stat): it goes on meanwhile, so that a tenth
 * too much was seen on a busy host.
 */
#ifndef COLLECTORS_ACCOUNTING_TASK_CLOCK_H
#define COLLECTORS_ACCOUNTING_TASK_CLOCK_H

#include <stdint.h>

struct task_clock {
	int fd;
};

#define TASK_CLOCK_NONE ((struct task_clock){-1})

/* In the thread that will fork, before it does. Counting starts when the child executes something. */
int task_clock_open(struct task_clock *ret);
void task_clock_close(struct task_clock *c);

/* Nanoseconds so far, of the living and the ended. Any thread. Negative errno. */
int task_clock_read(const struct task_clock *c, uint64_t *ret);

struct task_clock_total {
	double seconds;
	double stolen_seconds; /* of these, while the host ran others; the kernel's other accounts leave it out */
};

/*
 * Brings a total up to date. stolen: the part of what the whole machine did since the last look that its host took,
 * 0 to 1: how much of it met these processes nobody tells. Keeps what it has when the clock cannot be read.
 */
void task_clock_look(const struct task_clock *c, double stolen, struct task_clock_total *total);

#endif
