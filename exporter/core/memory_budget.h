/*
 * Bounds on the memory that clients can make the program use. They follow from the memory limit:
 * the smallest of our control group's, its visible parents', RLIMIT_AS and RLIMIT_DATA, read once
 * at the start. A failed malloc ends the program (collectors/base/mem.h), and a control group's
 * limit kills it: the bounds prevent both. SECURITY.md lists them too.
 */
#ifndef EXPORTER_CORE_MEMORY_BUDGET_H
#define EXPORTER_CORE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/buf.h"
#include "exporter/options/options.h"

/*
 * X(field, maximum, parts, unit, name in the log): the bound is heap / parts / unit, at most
 * maximum. heap is the number of bytes that malloc may allocate before answers are refused. The
 * rest of the limit is for code, stacks, sockets and fragmentation.
 */
/* clang-format off */
#define MEMORY_BUDGETS(X) \
X(answer, (size_t)64 << 20, 5, 1, "an answer") /* body of one answer */ \
X(of_samples, (size_t)64 << 20, 8, 1, "unread samples") /* unsent samples; at the bound no further answer starts */ \
X(of_history, (size_t)16 << 20, 16, 1, "other unread answers from the history") /* the same for other answers from the history */ \
X(answers, (size_t)192 << 20, 2, 1, "all unread answers") /* above it the oldest unread connection is closed */ \
X(changes, (size_t)16 << 20, 16, 1, "bodies of changes") /* buffered bodies of requests */ \
X(making, (size_t)128 << 20, 3, 1, "for making an answer") /* memory of one answer under way: exporter/answers/series_passes.c */ \
X(page, (size_t)64 << 20, 16, 1, "a page of a catalogue") /* one fetched page; its JSON takes ten times as much */ \
X(streams, 32, 8, (size_t)512 << 10, "streams") /* number of streams, EVENT_STREAM_TEXT_MAX bytes each */ \
X(connections, 65536, 1, (size_t)240 << 10, "connections") /* open connections; --web.max-connections applies too */
/* clang-format on */

struct memory_budget {
	uint64_t limit; /* bytes; 0 = no limit: every bound has its maximum */
	size_t heap;    /* SIZE_MAX = no limit */
	size_t socket;  /* bytes of a socket buffer, each direction; 0 = the kernel's default */
#define MEMORY_BUDGET_FIELD(field, most, parts, unit, log_name) size_t field;
	MEMORY_BUDGETS(MEMORY_BUDGET_FIELD)
};

/* The bounds for a limit in bytes; 0 = no limit. */
struct memory_budget memory_budget_of(uint64_t limit);

/* Reads the limits, sets the bounds and logs them. Once, before threads start. */
void memory_budget_begin(const struct options *o);

/*
 * Raises the soft limit of open files; the usual 1024 exists for programs that use select(2). Do
 * not call it in a process that starts jobs: jobs inherit the limit.
 */
void memory_budget_descriptors(void);

/* The current bounds; before memory_budget_begin those without a limit. Any thread. */
const struct memory_budget *memory_budget(void);
void memory_budget_set(uint64_t limit); /* in place of memory_budget_begin */

/* True when allocating more bytes would exceed the heap bound. Any thread. */
bool memory_budget_is_short(size_t more);

/* Returns free heap to the system. Call it after a large answer. */
void memory_budget_tidy(void);

/*
 * A thread brackets the making of an answer by begin_answer and end_answer. In between, is_over
 * checks the memory and stays true once memory was short: abandon the answer then. gave_up returns
 * the last result without a check, end_answer the final one. Outside the brackets all are false.
 */
void memory_budget_begin_answer(void);
bool memory_budget_is_over(void);
bool memory_budget_gave_up(void);
bool memory_budget_end_answer(void);

/* "6 MiB" */
void memory_budget_words(struct buf *out, uint64_t bytes);

#endif
