/*
 * One process of a run and its state from look to look.
 *
 * Cost: a process whose CPU clock stands still since the last look has not run. Nothing of it is
 * read again, except its memory every STALE_LOOKS looks, because other processes can change that.
 * Most processes of a big tree sleep.
 */
#ifndef COLLECTORS_PROCESS_MEMBER_H
#define COLLECTORS_PROCESS_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/number.h"
#include "collectors/process/process.h"

/* Looks between two readings of a sleeper's memory, or two full readings of a runner. */
#define STALE_LOOKS 64
/* Waiting times of a running process are read at looks 1, 2, 4, 8 and then every 8th. */
#define WAIT_LOOKS_MAX 8

/* Counters of a tree. They never fall. Times are in nanoseconds. */
enum tree_counter {
	TREE_CPU_NS,
	TREE_SYSTEM_NS,
	TREE_MINOR_FAULTS,
	TREE_MAJOR_FAULTS,
	TREE_READ_CHARS,
	TREE_WRITTEN_CHARS,
	TREE_READ_BYTES,
	TREE_WRITTEN_BYTES,
	TREE_VOLUNTARY_SWITCHES,
	TREE_INVOLUNTARY_SWITCHES,
	TREE_CPU_WAIT_NS,
	TREE_IO_WAIT_NS,
	TREE_MEMORY_WAIT_NS,
	TREE_COUNTERS,
};

/* Open files of a process that ran at two looks in a row, because it is likely to be read again. */
struct member_files {
	struct kept stat, io, children;
	unsigned *count; /* number of processes with kept files, of all runs */
};

struct member {
	pid_t pid, ppid;
	pid_t thread;               /* see struct process_stat */
	struct member_files *files; /* NULL: no file is kept open */
	uint64_t start_ticks;
	uint64_t threads;
	uint64_t clock_ns;               /* CPU clock at the last reading; 0 = not readable */
	uint64_t counter[TREE_COUNTERS]; /* of the process and of the children that it waited for */
	uint64_t waited_faults, waited_ns; /* of children that it waited for */
	uint64_t credited_faults,
		/* The part of them that is already settled against dead members. */
		credited_ns;
	uint64_t rss_bytes, swap_bytes, peak_bytes;
	/* The kernel's high-water mark from before the run. A peak up to it comes from a sample. */
	uint64_t old_mark_bytes;
	/* RSS at the previous look; the smaller RSS was held throughout. */
	uint64_t last_rss_bytes;
	uint64_t stack_start; /* see struct process_stat */
	/* RSS of the parent at the fork; 0 = has executed a program since. */
	uint64_t inherited_bytes;
	uint64_t own_faults; /* its own minor faults: each gave it at most one page of its own */
	uint64_t pss_bytes, pss_rss_bytes; /* last PSS and the RSS read with it; 0 = never read */
	uint64_t pss_stat_bytes; /* rss_bytes at that reading; approximate (per-CPU counts) */
	unsigned pss_generation; /* generation of the tree when PSS was read */
	uint64_t pss_cost_ns;    /* CPU time that the last reading of PSS took */
	struct mono pss_at;      /* time of the last reading of PSS */
	uint64_t huge_bytes;     /* at the last reading of PSS */
	uint64_t pss_shmem_bytes,
		/* Shared memory in that PSS and in that RSS. */
		pss_shmem_rss_bytes;
	bool pss_shmem_known;
	uint64_t kind_bytes[MEMORY_KINDS];
	uint64_t open_fds;
	unsigned wait_pause,
		/*
		 * wait_pause: looks between two readings of waiting times; wait_looks: looks until
		 * the next.
		 */
		wait_looks;
	unsigned looks; /* looks since the last full reading; starts at pid % STALE_LOOKS */
	/* Only what it waited for counts: this process watches the run but is not part of it. */
	bool reaper;
	bool zombie, ran, peak_rose, status_due;
	/*
	 * It may have unknown children: it ran, or a process below it ended, or its children were
	 * not read for STALE_LOOKS looks. The kernel may skip children when others end while it
	 * lists them (fs/proc/array.c).
	 */
	bool children_due;
	bool io_refused, fds_refused, pss_refused;
	bool vanished;                         /* gone; its counters are not settled yet */
	bool fds_known, io_known, kinds_known; /* io_known: read at least once */
};

/* The thread whose files below /proc show the state of the process. */
static inline pid_t member_shown_by(const struct member *m)
{
	return m->thread ? m->thread : m->pid;
}

/* Marks all that it waited for until now as settled. */
static inline void member_credit(struct member *m)
{
	m->credited_faults = m->waited_faults;
	m->credited_ns = m->waited_ns;
}

/* First reading; set pid, start_ticks and reaper. This and the next two: false = gone. */
bool member_begin(struct member *m, const struct host *h);
/* Closes the kept files; the rest of the member stays. */
void member_done(struct member *m);
/* Reads what may have changed since the last look. */
bool member_look(struct member *m, const struct host *h);
/* Reads the process now. full: also retry files that were refused. */
bool member_read(struct member *m, const struct host *h, bool full);

/* Does the process still exist, by its CPU clock or else its stat file? */
bool member_exists(const struct member *m, const struct host *h);

/* Reads PSS and reports the CPU time it took. False: PSS could not be read. */
bool member_read_pss(struct member *m, const struct host *h, uint64_t *cost_ns);

/*
 * The part of rss (RSS now or at the peak) that counts for this process, without memory shared
 * within the run.
 * - If PSS was read: the same share of a smaller RSS; of a larger RSS, the PSS plus all that came
 *   since.
 * - Else, a forked child is assumed to share its parent's memory, except one page per fault and its
 *   growth.
 * - Else all of rss.
 */
uint64_t member_memory(const struct member *m, const struct host *h, uint64_t rss);
/* The shared memory, mapped tmpfs included, in member_memory of the current RSS. */
uint64_t member_shmem(const struct member *m, const struct host *h);

#endif
