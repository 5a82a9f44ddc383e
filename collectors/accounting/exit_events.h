/* A thread that receives the kernel's process events and exit records, and enters them in a table
 * of processes, the lineage (lineage.h). The thread serves runs whose processes are not children of
 * this exporter. An exit record lacks the CPU time of the process's end, about 60 us for a small
 * process (see exit_cost.h).
 *
 * The thread needs the initial PID, user and network namespaces. Records need CAP_NET_ADMIN. Before
 * Linux 6.6, events need CAP_NET_ADMIN too. If exit_events_start fails, runs use their other
 * sources of CPU time.
 *
 * Cost: while processes start or end on the machine, the thread wakes up at most once in 10 ms.
 * Without records, it wakes up at most once in 20 ms. */
#ifndef COLLECTORS_ACCOUNTING_EXIT_EVENTS_H
#define COLLECTORS_ACCOUNTING_EXIT_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/err.h"
#include "collectors/accounting/lineage.h"

struct exit_events;

/* Starts the thread, in the namespaces of the calling thread. Returns 0, or a negative errno with
 * the reason in `e`. `events_suffice` true: the thread also starts if the kernel sends events of
 * process starts and ends, but no exit records (lineage_without_records). Pass false outside the
 * initial PID namespace: the kernel does not answer there, and the call would wait 0.2 s in
 * vain. */
int exit_events_start(struct exit_events **ret, bool events_suffice, struct err *e);
/* Returns true if exit records arrive, not just events. Any thread may call it. */
bool exit_events_recorded(const struct exit_events *x);
void exit_events_stop(struct exit_events *x); /* NULL does nothing */

/* Any thread may call the functions below. The caller of exit_events_book, _update, _settle and
 * _compare must hold the lock. From exit_events_lock to exit_events_unlock, no other thread uses
 * the lineage. All pids are pids in this exporter's PID namespace. */
void exit_events_lock(struct exit_events *x);
void exit_events_unlock(struct exit_events *x);

struct lineage *exit_events_book(struct exit_events *x);
/* Enters all events that have happened so far. Call it before a process is added to the lineage.
 * Otherwise, an old event of an earlier process with the same pid could be entered for the new
 * process. */
void exit_events_update(struct exit_events *x);
/* Enters all events and updates the totals of all runs. Call once per tick before lineage_tally. */
void exit_events_settle(struct exit_events *x);
/* Enters all events until now, then calls lineage_compare. */
enum lineage_change exit_events_compare(struct exit_events *x, unsigned others,
	struct lineage_listing *listing);

struct exit_events_health {
	uint64_t events, records;
	/* Number of times that a socket's queue was full, so that messages were lost. */
	uint64_t lost;
	uint64_t refused; /* records with an unknown layout */
};

struct exit_events_health exit_events_health(struct exit_events *x);

#endif
