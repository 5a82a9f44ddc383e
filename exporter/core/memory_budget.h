/* Bounds on the memory that clients can make the program use. The bounds are computed from the
 * memory limit, which is read once when the program starts. The limit is the smallest of RLIMIT_AS,
 * RLIMIT_DATA and the limits of our control group and its visible parents.
 *
 * The bounds keep the program alive. A failed malloc aborts the program (collectors/base/mem.h),
 * and the kernel kills the program when its control group exceeds its limit. SECURITY.md lists the
 * bounds, too. */
#ifndef EXPORTER_CORE_MEMORY_BUDGET_H
#define EXPORTER_CORE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/buf.h"
#include "exporter/options/options.h"

/* X(field, maximum, parts, unit, name in the log): a bound is `heap` / `parts` / `unit`, but not
 * more than `maximum`. `heap` is the number of bytes that malloc may allocate. Answers are refused
 * beyond `heap`. The memory between `heap` and the limit is for code, stacks, sockets and
 * fragmentation. */
/* clang-format off */
#define MEMORY_BUDGETS(X) \
X(answer, (size_t)64 << 20, 5, 1, "an answer") /* bytes of the body of one answer */ \
X(of_samples, (size_t)64 << 20, 8, 1, "unread samples") /* bytes of unsent samples; at the bound, new answers with samples are refused */ \
X(of_history, (size_t)16 << 20, 16, 1, "other unread answers from the history") /* bytes of other unsent answers from the history; at the bound, new ones are refused */ \
X(answers, (size_t)192 << 20, 2, 1, "all unread answers") /* all unsent answers; at 3/4 of the bound the connection with the oldest request is closed */ \
X(changes, (size_t)16 << 20, 16, 1, "bodies of changes") /* buffered bodies of requests */ \
X(making, (size_t)128 << 20, 3, 1, "for making an answer") /* memory for making one answer (see exporter/answers/series_passes.c) */ \
X(page, (size_t)64 << 20, 16, 1, "a page of a catalogue") /* one fetched page; its parsed JSON takes ten times as much memory */ \
X(streams, 32, 8, (size_t)512 << 10, "streams") /* number of streams, EVENT_STREAM_TEXT_MAX bytes each */ \
X(connections, 65536, 1, (size_t)240 << 10, "connections") /* open connections; --web.max-connections applies too */
/* clang-format on */

struct memory_budget {
	uint64_t limit; /* bytes; 0 = no limit: every bound has its maximum */
	size_t heap;    /* bytes that malloc may allocate; SIZE_MAX = no limit */
	size_t socket;  /* bytes of each of a socket's two buffers; 0 = the kernel's default */
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

/* Returns the current bounds. Before memory_budget_begin, the bounds have their maximum values. Any
 * thread. */
const struct memory_budget *memory_budget(void);
void memory_budget_set(uint64_t limit); /* for tests: sets the limit */

/* Returns true when an allocation of `more` bytes would exceed the `heap` bound. Any thread. */
bool memory_budget_is_short(size_t more);

/* Gives free heap back to the kernel. Call it after a large answer. */
void memory_budget_tidy(void);

/* A thread calls memory_budget_begin_answer before it makes an answer, and memory_budget_end_answer
 * when the answer is made. While it makes the answer, it calls memory_budget_is_over to check the
 * memory.
 *
 * When memory was short at one check, memory_budget_is_over returns true until the end of the
 * answer, and the thread must abandon the answer. memory_budget_gave_up and
 * memory_budget_end_answer return the result of the last check, without a new check. Outside of an
 * answer, all three functions return false. */
void memory_budget_begin_answer(void);
bool memory_budget_is_over(void);
bool memory_budget_gave_up(void);
bool memory_budget_end_answer(void);

/* Appends a size in MiB, such as "6 MiB". */
void memory_budget_words(struct buf *out, uint64_t bytes);

#endif
