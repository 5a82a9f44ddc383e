/*
 * How much the program may hold for others, by how much memory it may have: its own control group's limit, the smallest of
 * those above it that can be seen, and RLIMIT_AS and RLIMIT_DATA. A malloc that fails ends the program (collectors/base/mem.h), and
 * a control group's limit kills it: it is these bounds that keep both from happening. They are read once, at the start.
 *
 * Each bound is a row here and in SECURITY.md.
 */
#ifndef EXPORTER_CORE_MEMORY_BUDGET_H
#define EXPORTER_CORE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/buf.h"
#include "exporter/options/options.h"

/*
 * field, the most, of so many parts of the heap one, a unit of it in bytes, and what the log calls it. heap is what malloc may have
 * given out before answers are refused; the rest of the limit is for the program's own files, stacks, sockets, and pieces that malloc
 * cannot give back.
 */
/* clang-format off */
#define MEMORY_BUDGETS(X) \
X(answer, (size_t)64 << 20, 5, 1, "an answer") /* the body of one */ \
X(of_samples, (size_t)64 << 20, 8, 1, "unread samples") /* of the desk for these: with so many no other is made */ \
X(of_history, (size_t)16 << 20, 16, 1, "other unread answers from the history") /* of the other desk */ \
X(answers, (size_t)192 << 20, 2, 1, "all unread answers") /* all: with more who was answered first is hung up on */ \
X(changes, (size_t)16 << 20, 16, 1, "bodies of changes") /* bodies of requests that are kept */ \
X(making, (size_t)128 << 20, 3, 1, "for making an answer") /* what one answer may take while it is made: exporter/answers/series_passes.c */ \
X(page, (size_t)64 << 20, 16, 1, "a page of a catalogue") /* of a catalogue, as it is fetched; its JSON takes ten times as much */ \
X(streams, 32, 8, (size_t)512 << 10, "streams") /* number of streams, of EVENT_STREAM_TEXT_MAX each */ \
X(connections, 65536, 1, (size_t)240 << 10, "connections") /* at the same time, besides --web.max-connections */
/* clang-format on */

struct memory_budget {
	uint64_t limit; /* 0: none is known, and all are as large as they may be */
	size_t heap;    /* SIZE_MAX: likewise */
	size_t socket;  /* the kernel's buffers of a connection, each way; 0: as it likes */
#define MEMORY_BUDGET_FIELD(field, most, parts, unit, log_name) size_t field;
	MEMORY_BUDGETS(MEMORY_BUDGET_FIELD)
};

/* What a limit comes to; 0 = none. */
struct memory_budget memory_budget_of(uint64_t limit);

/* Looks at the limits, takes up what they come to, and says so in the log. Once, before threads start. */
void memory_budget_begin(const struct options *o);

/*
 * As many open files as the process may have, up to enough: the usual 1024 are for the sake of programs that use select(2). Only
 * where no job is ever started, which would inherit them.
 */
void memory_budget_descriptors(void);

/* What holds; before memory_budget_begin that of no limit. Any thread. */
const struct memory_budget *memory_budget(void);
void memory_budget_set(uint64_t limit); /* in place of memory_budget_begin */

/* Would so many bytes more be too many? Any thread. */
bool memory_budget_is_short(size_t more);

/* After an answer that was large: what it left behind in the heap is given back. */
void memory_budget_tidy(void);

/*
 * Between the two this thread makes an answer that takes what it takes: memory_budget_is_over looks whether it is to be given up
 * because memory is short, and goes on saying so. Outside of them it never is. memory_budget_gave_up: did it say so? That costs
 * nothing. memory_budget_end_answer says it for the last time.
 */
void memory_budget_begin_answer(void);
bool memory_budget_is_over(void);
bool memory_budget_gave_up(void);
bool memory_budget_end_answer(void);

/* "6 MiB" */
void memory_budget_words(struct buf *out, uint64_t bytes);

#endif
