/* A list of all processes of the machine, by pid and start time. The caller checks each process, to
 * recognise its job. The list decides when: first when a process appears, and again at each
 * doubling of its age, at least 0.1 s apart. One check is not enough, because a shell may set
 * variables and then execute the job.
 *
 * Between two checks a process costs almost nothing. Most ticks try only the pids that the kernel
 * has assigned since the previous tick. All of /proc is listed at every 60th tick, after more than
 * 16 new pids, and when the newest pid is unknown.
 *
 * Only one thread may use a list. Reads through host->proc. */
#ifndef COLLECTORS_PROCESS_PROCESS_BOOK_H
#define COLLECTORS_PROCESS_PROCESS_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/host.h"

/* Maximum number of processes in the list. Further processes are ignored. */
#define PROCESS_BOOK_MAX 100000

struct booked_process {
	pid_t pid, ppid; /* `ppid` is from the last check */
	pid_t shown_by;  /* thread whose files to read; see struct process_stat */
	uint64_t start_ticks;
	struct mono look_at; /* time of the next check; the caller may set an earlier one */
	bool listed;         /* internal: the pid was in the current listing of /proc */
	/* The members below are the caller's. Only process_book_again uses them: it reads `note`
	 * and resets `program`. */
	bool refused;     /* true = the environment may not be read, and the caller has counted this
			   * process */
	uint64_t program; /* hash of the command line: shows whether the process has called exec; 0
			   * = not checked yet */
	void *note;
};

struct process_book;

struct process_book *process_book_new(void);
void process_book_free(struct process_book *b);

/* Updates the list. Calls `look` for each process that must be checked now, oldest first, so that
 * parents come before children. Calls `forget` for each process that is gone, before its entry is
 * removed. Both callbacks may use process_book_find. Entries are valid until the next call. Returns
 * the number of processes in the list. */
size_t process_book_look(struct process_book *b, const struct host *h,
	void (*look)(void *context, struct booked_process *p),
	void (*forget)(void *context, struct booked_process *p), void *context);

/* Returns NULL when the list has no such process. */
struct booked_process *process_book_find(const struct process_book *b, pid_t pid);

/* Makes the next process_book_look check every process whose `note` is NULL, as if it were new.
 * Call this function after the rules have changed. */
void process_book_again(struct process_book *b);

#endif
