/*
 * Accounts of runs whose processes nobody here waits for, on a privileged host: process events and exit
 * accounting of the kernel, entered in a lineage by a thread of its own. What a process uses for taking down its
 * memory at its end is not in its record (some 60 us for a small one): see exit_cost.h. Needs CAP_NET_ADMIN and the initial PID,
 * user and network namespaces; what has not got them is told at the start, and other sources are used.
 *
 * Costs a wake-up of the thread at most every 10 ms while processes come and go anywhere on the machine.
 */
#ifndef COLLECTORS_ACCOUNTING_EXIT_EVENTS_H
#define COLLECTORS_ACCOUNTING_EXIT_EVENTS_H

#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/err.h"
#include "collectors/accounting/lineage.h"

struct exit_events;

/* -EPERM, -ENOENT, ...: not here, with the reason for people. The calling thread's namespaces count. */
int exit_events_start(struct exit_events **ret, struct err *e);
void exit_events_stop(struct exit_events *x); /* NULL does nothing */

/*
 * Any thread: the book is the caller's alone from exit_events_lock to exit_events_unlock. What follows is for whoever has it.
 * Pids are those of this process's namespace.
 */
void exit_events_lock(struct exit_events *x);
void exit_events_unlock(struct exit_events *x);

struct lineage *exit_events_book(struct exit_events *x);
/* Enters what happened until now: before a run begins or a process is added, whose number may have been another's. */
void exit_events_update(struct exit_events *x);
/* Brings the accounts of all runs up to date: once per tick, before lineage_tally. */
void exit_events_settle(struct exit_events *x);
/* lineage_compare, of now. */
enum lineage_change exit_events_compare(struct exit_events *x, unsigned others,
	struct lineage_listing *listing);

struct exit_events_health {
	uint64_t events, records;
	uint64_t lost;    /* times that the kernel's queue was full */
	uint64_t refused; /* records whose layout is not known */
};

struct exit_events_health exit_events_health(struct exit_events *x);

#endif
