/* Bounds on the memory that clients can make the program use. They are computed from the memory
 * limit, which is read once when the program starts. The memory limit is the smallest of RLIMIT_AS,
 * RLIMIT_DATA, and the memory limits of the program's control group and of its visible parents.
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

/* X(field, maximum, parts, unit, name in the log) declares one bound: `heap` / `parts` / `unit`,
 * but at most `maximum`. Example: with a heap of 400 MiB, parts 4 and unit 1 MiB, the bound is 100.
 * `heap` is the number of bytes that malloc may allocate. The rest of the memory limit is for code,
 * stacks, sockets and fragmentation. `unit` is 1 for a bound in bytes. For a bound on things, such
 * as connections, it is the size of one thing in bytes. A request is refused if its answer would
 * exceed `heap`. */
/* clang-format off */
#define MEMORY_BUDGETS(X) \
X(answer, (size_t)64 << 20, 5, 1, "an answer") /* maximum size of the body of one answer, in bytes */ \
X(of_samples, (size_t)64 << 20, 8, 1, "unread samples") /* bytes of all unsent answers with samples; when the bound is reached, new answers with samples are refused */ \
X(of_history, (size_t)16 << 20, 16, 1, "other unread answers from the history") /* bytes of all unsent answers from the history without samples; when the bound is reached, new answers of this kind are refused */ \
X(answers, (size_t)192 << 20, 2, 1, "all unread answers") /* bytes of all unsent answers; when 3/4 of the bound are used, the connection with the oldest request is closed */ \
X(changes, (size_t)16 << 20, 16, 1, "bodies of changes") /* bytes of all buffered request bodies */ \
X(making, (size_t)128 << 20, 3, 1, "for making an answer") /* bytes used while one answer is made (see exporter/answers/series_passes.c) */ \
X(page, (size_t)64 << 20, 16, 1, "a page of a catalogue") /* bytes of one fetched page; its parsed JSON takes ten times as much memory */ \
X(streams, 32, 8, (size_t)512 << 10, "streams") /* number of event streams; each takes up to EVENT_STREAM_TEXT_MAX bytes */ \
X(connections, 65536, 1, (size_t)240 << 10, "connections") /* number of open connections; --web.max-connections is a second limit */
/* clang-format on */

struct memory_budget {
	uint64_t limit; /* memory limit in bytes; 0 = no limit, so each bound is its maximum */
	size_t heap;    /* bytes that malloc may allocate; SIZE_MAX = no limit */
	size_t socket;  /* bytes of each of a socket's two buffers; 0 = the kernel's default */
#define MEMORY_BUDGET_FIELD(field, most, parts, unit, log_name) size_t field;
	MEMORY_BUDGETS(MEMORY_BUDGET_FIELD)
};

/* Returns the bounds for a memory limit in bytes; 0 = no limit. */
struct memory_budget memory_budget_of(uint64_t limit);

/* Reads the memory limits of this process and sets the bounds from them (memory_budget_of). Logs
 * the bounds. Call it once, before threads start. */
void memory_budget_begin(const struct options *o);

/* Raises the soft limit of open files, as far as the hard limit allows. The soft limit is usually
 * 1024 for the sake of programs that use select(2); this program does not use it. Do not call this
 * function in a process that starts jobs, because jobs inherit the limit. */
void memory_budget_descriptors(void);

/* Returns the current bounds. Before memory_budget_begin, the bounds have their maximum values. Any
 * thread. */
const struct memory_budget *memory_budget(void);
void memory_budget_set(uint64_t limit); /* for tests: sets the limit */

/* Returns true when `more` bytes, together with the memory that is used now, exceed
 * memory_budget.heap. Any thread. */
bool memory_budget_is_short(size_t more);

/* Gives free heap back to the kernel. Call it after a large answer. */
void memory_budget_tidy(void);

/* With these functions, a thread abandons an answer when memory is short. The thread calls
 * memory_budget_begin_answer before the answer, memory_budget_is_over again and again while it
 * makes the answer, and memory_budget_end_answer after it. When memory_budget_is_over returns true,
 * the thread must abandon the answer. Until memory_budget_end_answer, it then always returns true.
 *
 * If the thread itself finds that memory is short, it calls memory_budget_give_up, with the same
 * effect. memory_budget_gave_up and memory_budget_end_answer do not check the memory: they return
 * true if the answer was given up. Between two answers, all functions return false. */
void memory_budget_begin_answer(void);
bool memory_budget_is_over(void);
void memory_budget_give_up(void); /* does nothing when no answer is being made */
bool memory_budget_gave_up(void);
bool memory_budget_end_answer(void);

/* Appends a size in MiB, such as "6 MiB". */
void memory_budget_words(struct buf *out, uint64_t bytes);

#endif
