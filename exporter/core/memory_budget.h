/* Bounds on the memory that clients can make the program use. The bounds follow from the memory
 * limit, which is read once at the start. The limit is the smallest of RLIMIT_AS, RLIMIT_DATA and
 * the limits of our control group and its visible parents. The bounds prevent two ends of the
 * program: a failed malloc aborts it (collectors/base/mem.h), and the kernel kills it above the
 * limit of a control group. SECURITY.md lists the bounds, too. */
#ifndef EXPORTER_CORE_MEMORY_BUDGET_H
#define EXPORTER_CORE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/buf.h"
#include "exporter/options/options.h"

/* X(field, maximum, parts, unit, name in the log): the bound is heap / parts / unit, at most
 * maximum. heap is the number of bytes that malloc may allocate before answers are refused. Code,
 * stacks, sockets and fragmentation take the memory between heap and the limit. */
/* clang-format off */
#define MEMORY_BUDGETS(X) \
X(answer, (size_t)64 << 20, 5, 1, "an answer") /* body of one answer */ \
X(of_samples, (size_t)64 << 20, 8, 1, "unread samples") /* unsent samples; at the bound no further answer starts */ \
X(of_history, (size_t)16 << 20, 16, 1, "other unread answers from the history") /* other unsent answers from the history; at the bound no further answer starts */ \
X(answers, (size_t)192 << 20, 2, 1, "all unread answers") /* all unsent answers; at 3/4 of the bound the connection with the oldest request is closed */ \
X(changes, (size_t)16 << 20, 16, 1, "bodies of changes") /* buffered bodies of requests */ \
X(making, (size_t)128 << 20, 3, 1, "for making an answer") /* memory for making one answer: exporter/answers/series_passes.c */ \
X(page, (size_t)64 << 20, 16, 1, "a page of a catalogue") /* one fetched page; its JSON takes ten times as much */ \
X(streams, 32, 8, (size_t)512 << 10, "streams") /* number of streams, EVENT_STREAM_TEXT_MAX bytes each */ \
X(connections, 65536, 1, (size_t)240 << 10, "connections") /* open connections; --web.max-connections applies too */
/* clang-format on */

struct memory_budget {
	uint64_t limit; /* bytes; 0 = no limit: every bound has its maximum */
	size_t heap;    /* bytes that malloc may allocate; SIZE_MAX = no limit */
	size_t socket;  /* bytes of a socket buffer in each direction; 0 = the kernel's default */
#define MEMORY_BUDGET_FIELD(field, most, parts, unit, log_name) size_t field;
	MEMORY_BUDGETS(MEMORY_BUDGET_FIELD)
};

/* Returns the bounds for a memory limit in bytes; 0 = no limit. */
struct memory_budget memory_budget_of(uint64_t limit);

/* Reads the limits, sets the bounds and logs them. Call it once, before threads start. */
void memory_budget_begin(const struct options *o);

/* Raises the soft limit of open files. The usual limit of 1024 exists for programs that use
 * select(2). Do not call it in a process that starts jobs, because jobs inherit the limit. */
void memory_budget_descriptors(void);

/* Returns the current bounds. Before memory_budget_begin they are the bounds without a limit. Any
 * thread. */
const struct memory_budget *memory_budget(void);
void memory_budget_set(uint64_t limit); /* for tests: sets the limit */

/* Returns true when an allocation of `more` bytes would exceed the bound of the heap. Any
 * thread. */
bool memory_budget_is_short(size_t more);

/* Returns free heap to the system. Call it after a large answer. */
void memory_budget_tidy(void);

/* A thread calls begin_answer before it makes an answer and end_answer after it. In between,
 * is_over checks the memory. Once memory was short, is_over stays true, and the thread must abandon
 * the answer. gave_up returns the last result of is_over without a check. end_answer returns the
 * final result. Outside of an answer all three return false. */
void memory_budget_begin_answer(void);
bool memory_budget_is_over(void);
bool memory_budget_gave_up(void);
bool memory_budget_end_answer(void);

/* Appends a size in MiB, such as "6 MiB". */
void memory_budget_words(struct buf *out, uint64_t bytes);

#endif
