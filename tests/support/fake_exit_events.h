/* Process events and exit accounting as a test tells them, in place of the kernel's; see collectors/accounting/exit_events.h. */
#ifndef TESTS_SUPPORT_FAKE_EXIT_EVENTS_H
#define TESTS_SUPPORT_FAKE_EXIT_EVENTS_H

#include "collectors/accounting/exit_events.h"

/* Processes with the same rest are the same. */
#define FAKE_PIDS 1000

/* Set by the test: which processes have a CPU clock and its value, by pid % FAKE_PIDS. */
struct fake_processes {
	bool alive[FAKE_PIDS];
	uint64_t clock_ns[FAKE_PIDS];
};

/*
 * The object that the next exit_events_start returns, for tests that must prepare it before that
 * call.
 */
struct exit_events *fake_exit_events_first(void);

struct fake_processes *fake_processes(struct exit_events *x);

/* Born at that time of the monotonic clock. */
void fake_fork(struct exit_events *x, pid_t parent, pid_t pid, uint64_t at_ns);
/* Ends with its record, took_ns before the event, and is reaped at once. */
void fake_end(struct exit_events *x, pid_t pid, uint64_t cpu_ns, uint64_t took_ns);
/* Some events are lost. */
void fake_loss(struct exit_events *x);

#endif
