/*
 * Every process of the machine, by pid and start time, and when to look at it next. A process is
 * looked at when it appears and each time its age has doubled: a shell may set variables and then
 * execute the job. Other processes cost almost nothing: /proc is listed only when the kernel has
 * given out a new number.
 *
 * One thread. Reads through host->proc.
 */
#ifndef COLLECTORS_PROCESS_PROCESS_BOOK_H
#define COLLECTORS_PROCESS_PROCESS_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/host.h"

/* Most processes in the book; more are ignored. */
#define PROCESS_BOOK_MAX 100000

struct booked_process {
	pid_t pid, ppid; /* ppid as of the last look */
	pid_t shown_by;  /* the thread whose files to read: see struct process_stat */
	uint64_t start_ticks;
	struct mono look_at; /* next look; the reader may set it earlier */
	bool listed;         /* used by the book only: found in the current list */
	/* The book does not read these two, except in process_book_again. */
	uint64_t program; /* changes at exec; 0 = not looked at yet */
	void *note;
};

struct process_book;

struct process_book *process_book_new(void);
void process_book_free(struct process_book *b);

/*
 * Brings the book up to date and calls look for each process that is due, parents before children
 * among processes that are new in this call. Calls forget for each process that is gone, before it
 * removes the entry. Both may use process_book_find; entries are valid until the next call. Returns
 * the number of processes in the book.
 */
size_t process_book_look(struct process_book *b, const struct host *h,
	void (*look)(void *context, struct booked_process *p),
	void (*forget)(void *context, struct booked_process *p), void *context);

/* NULL when it is not in the book. */
struct booked_process *process_book_find(const struct process_book *b, pid_t pid);

/* Makes all processes without a note due again as if new: the rules have changed. */
void process_book_again(struct process_book *b);

#endif
