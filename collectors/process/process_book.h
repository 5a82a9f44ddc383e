/*
 * Every process of the machine, by number and start time, and when to look at which: once when it appears, and
 * again when it has become twice as old, because until then it may have executed something else (a shell that
 * sets variables and then becomes the job). Processes that nobody follows cost next to nothing after that:
 * /proc is listed only when the kernel has given out a new process number.
 *
 * One thread. Reads through host->proc.
 */
#ifndef COLLECTORS_PROCESS_PROCESS_BOOK_H
#define COLLECTORS_PROCESS_PROCESS_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/host.h"

/* More are not entered. */
#define PROCESS_BOOK_MAX 100000

struct booked_process {
	pid_t pid, ppid; /* ppid as of the last look */
	pid_t shown_by;  /* by whose files it is to be read then: see struct process_stat */
	uint64_t start_ticks;
	struct mono look_at; /* the next time; who looks may make it sooner */
	bool listed;         /* of the book alone: seen in the list at hand */
	/* The reader's own. */
	uint64_t
		program; /* whatever tells that it executed something since; 0 = not looked at yet */
	void *note;
};

struct process_book;

struct process_book *process_book_new(void);
void process_book_free(struct process_book *b);

/*
 * Brings the book up to date, and calls look for each process that is due: parents before children, as far as
 * they are new at the same time. forget is told of each that is gone, before its entry is. Both may use
 * process_book_find; entries are valid until the next call. Returns how many are in the book.
 */
size_t process_book_look(struct process_book *b, const struct host *h,
	void (*look)(void *context, struct booked_process *p),
	void (*forget)(void *context, struct booked_process *p), void *context);

/* NULL when it is not in the book. */
struct booked_process *process_book_find(const struct process_book *b, pid_t pid);

/* All without a note are due at the next look, as if they were new: other rules are in force. */
void process_book_again(struct process_book *b);

#endif
