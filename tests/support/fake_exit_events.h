/* Process events and exit accounting as a test tells them, in place of the kernel's; see collectors/accounting/exit_events.h. */
#ifndef TESTS_SUPPORT_FAKE_EXIT_EVENTS_H
#define TESTS_SUPPORT_FAKE_EXIT_EVENTS_H

#include "collectors/accounting/exit_events.h"

/* Processes with the same rest are the same. */
#define FAKE_PIDS 1000

/* What the test changes: who has a CPU clock, and what it shows; by pid % FAKE_PIDS. */
struct fake_processes {
	bool alive[FAKE_PIDS];
	uint64_t clock_ns[FAKE_PIDS];
};

/* What the next exit_events_start will give, for those who cannot come between that and what follows. */
struct exit_events *fake_exit_events_first(void);

struct fake_processes *fake_processes(struct exit_events *x);

/* Born at that time of the monotonic clock. */
void fake_fork(struct exit_events *x, pid_t parent, pid_t pid, uint64_t at_ns);
/* Ends with its record, took_ns before the event, and is reaped at once. */
void fake_end(struct exit_events *x, pid_t pid, uint64_t cpu_ns, uint64_t took_ns);
/* Some events are lost. */
void fake_loss(struct exit_events *x);

#endif
