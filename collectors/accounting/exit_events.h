/*
 * Accounts of runs whose processes nobody here waits for, on a privileged host: process events and exit
 * accounting of the kernel, entered in a lineage by a thread of its own. What a process uses for taking down its
 * memory at its end is not in its record (some 60 us for a small one): see exit_cost.h. Needs CAP_NET_ADMIN and the initial PID,
 * user and network namespaces; what has not got them is told at the start, and other sources are used.
 *
 * Costs a wake-up of the thread at most every 10 ms while processes come and go anywhere on the machine.
 */
#ifndef COLLECTORS_EXIT_EVENTS_H
#define COLLECTORS_EXIT_EVENTS_H

#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/err.h"
#include "collectors/accounting/lineage.h"

struct exit_events;

/* -EPERM, -ENOENT, ...: not here, with the reason for people. The calling thread's namespaces count. */
int exit_events_start(struct exit_events **ret, struct err *e);
void exit_events_stop(struct exit_events *x); /* NULL does nothing */

/* As the calls of lineage.h; any thread. Pids are those of this process's namespace. */
unsigned exit_events_begin(struct exit_events *x, pid_t root, uint64_t base_ns);
void exit_events_add(struct exit_events *x, unsigned run, const pid_t *pid, size_t n);
void exit_events_forget(struct exit_events *x, unsigned run);

/* Brings the accounts of all runs up to date: call once per tick, before exit_events_tally. */
void exit_events_settle(struct exit_events *x);
void exit_events_tally(struct exit_events *x, unsigned run, struct lineage_tally *ret);

/* As lineage_living; each is called with a lock held, and must not call back. */
void exit_events_living(struct exit_events *x, unsigned run, void (*each)(void *context, pid_t pid),
	void *context);

unsigned exit_events_begin_others(struct exit_events *x);
void exit_events_share(struct exit_events *x, unsigned run, unsigned others);
enum lineage_change exit_events_compare(struct exit_events *x, unsigned others,
	const struct lineage_listing *listing);
void exit_events_group(struct exit_events *x, unsigned others, struct lineage_group *ret);

struct exit_events_health {
	uint64_t events, records;
	uint64_t lost;    /* times that the kernel's queue was full */
	uint64_t refused; /* records whose layout is not known */
};

struct exit_events_health exit_events_health(struct exit_events *x);

#endif
