/* Process events and exit accounting made by a test instead of the kernel
 * (collectors/accounting/exit_events.h). */
#ifndef TESTS_SUPPORT_FAKE_EXIT_EVENTS_H
#define TESTS_SUPPORT_FAKE_EXIT_EVENTS_H

#include "collectors/accounting/exit_events.h"

/* Two pids with the same remainder count as the same process. */
#define FAKE_PIDS 1000

/* A test sets these members at index pid % FAKE_PIDS: whether the process is alive, and the value
 * of its CPU clock. */
struct fake_processes {
	bool alive[FAKE_PIDS];
	uint64_t clock_ns[FAKE_PIDS];
};

/* Returns the object that the next exit_events_start() will return, so that a test can prepare
 * it. */
struct exit_events *fake_exit_events_first(void);

struct fake_processes *fake_processes(struct exit_events *x);

/* Creates a process. `at_ns` is its time of creation on the monotonic clock. */
void fake_fork(struct exit_events *x, pid_t parent, pid_t pid, uint64_t at_ns);
/* Ends a process, which is reaped at once. Its exit event comes `took_ns` after its accounting
 * record. */
void fake_end(struct exit_events *x, pid_t pid, uint64_t cpu_ns, uint64_t took_ns);
/* From now on there are no records. */
void fake_without_records(struct exit_events *x, unsigned cpus);
/* Ends a process without a record. It is reaped at once. */
void fake_end_event(struct exit_events *x, pid_t pid, uint64_t at_ns);
/* Simulates lost events. */
void fake_loss(struct exit_events *x);

#endif
