/*
 * One process of a run, and what is remembered of it from look to look.
 *
 * Cost: a process whose CPU clock did not move since the last look has not run, so nothing of it is read
 * again, except its memory every STALE_LOOKS looks (others can change that). Most processes of a big tree sleep.
 */
#ifndef COLLECTORS_PROCESS_MEMBER_H
#define COLLECTORS_PROCESS_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/number.h"
#include "collectors/process/process.h"

/* Memory of a sleeping process is read, and one that runs is read in full, once in so many looks. */
#define STALE_LOOKS 64
/* Waiting times are read at the 1st, 2nd, 4th, 8th look of a process that runs, and then once in so many. */
#define WAIT_LOOKS_MAX 8

/* Counters of a tree that only grow. Times in nanoseconds. */
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

/* Files of a process that ran at two looks in a row: it will be read again. */
struct member_files {
	struct kept stat, io, children;
	unsigned *count; /* of all that are kept */
};

struct member {
	pid_t pid, ppid;
	pid_t thread;               /* see struct process_stat */
	struct member_files *files; /* kept open; NULL: none are */
	uint64_t start_ticks;
	uint64_t threads;
	uint64_t clock_ns;                 /* CPU clock at the last reading; 0 = not readable */
	uint64_t counter[TREE_COUNTERS];   /* own and waited for */
	uint64_t waited_faults, waited_ns; /* minor ones, and time, of children it waited for */
	uint64_t credited_faults,
		credited_ns; /* the part of them that is settled with who vanished */
	uint64_t rss_bytes, swap_bytes, peak_bytes;
	uint64_t
		old_mark_bytes; /* from before the run: a peak up to it is of a look, not the kernel's mark */
	uint64_t
		last_rss_bytes; /* at the look before: what it surely held while another one peaked */
	uint64_t stack_start;   /* see struct process_stat */
	uint64_t
		inherited_bytes; /* RSS of the parent that it was forked from; 0 = executed something since */
	uint64_t own_faults; /* minor ones of its own: each gave it a page of its own at most */
	uint64_t pss_bytes, pss_rss_bytes; /* last PSS, and the RSS with it; 0 = never read */
	uint64_t pss_stat_bytes; /* rss_bytes then: the kernel counts that roughly, by the CPU */
	unsigned pss_generation; /* of the tree's members, when it was read */
	uint64_t pss_cost_ns;    /* of the last reading */
	struct mono pss_at;      /* when that was */
	uint64_t huge_bytes;     /* at that time */
	uint64_t pss_shmem_bytes,
		pss_shmem_rss_bytes; /* shared memory in that PSS and in that RSS */
	bool pss_shmem_known;
	uint64_t kind_bytes[MEMORY_KINDS];
	uint64_t open_fds;
	unsigned wait_pause,
		wait_looks; /* waiting times are read once in so many looks; looks until then */
	unsigned looks;     /* since it was last read in full; when it is found, some of them */
	bool reaper; /* only what it waited for counts: it watches the run, but is not part of it */
	bool zombie, ran, peak_rose, status_due;
	/*
	 * It may have children that are not known: it ran, or one below it ended; or it was not asked for long, as the
	 * kernel leaves some out when others end while it lists them (fs/proc/array.c).
	 */
	bool children_due;
	bool io_refused, fds_refused, pss_refused;
	bool vanished;                         /* gone, and not settled yet */
	bool fds_known, io_known, kinds_known; /* io: was read once at least */
};

/* Whose files below /proc show what the process has. */
static inline pid_t member_shown_by(const struct member *m)
{
	return m->thread ? m->thread : m->pid;
}

/* What it waited for until now is settled. */
static inline void member_credit(struct member *m)
{
	m->credited_faults = m->waited_faults;
	m->credited_ns = m->waited_ns;
}

/* The first reading; pid, start_ticks and reaper are set. All three: false when the process is gone. */
bool member_begin(struct member *m, const struct host *h);
/* Lets go of what it keeps open; it stays what it is. */
void member_done(struct member *m);
/* Reads what may have changed since the last look. */
bool member_look(struct member *m, const struct host *h);
/* Reads it now; full asks again for what was refused. */
bool member_read(struct member *m, const struct host *h, bool full);

/* Is it there, by its clock as far as that tells? Reads nothing into m. */
bool member_exists(const struct member *m, const struct host *h);

/* Reads PSS, and says what CPU time that cost; false: it could not be read. */
bool member_read_pss(struct member *m, const struct host *h, uint64_t *cost_ns);

/*
 * rss bytes of it (now, or at its peak) without what it shares with others of the run. By PSS when that was read:
 * the same share of a smaller RSS, and all that a greater one has more; else a forked child is taken to share what it
 * has from its parent, but for one page a fault; else all of it.
 */
uint64_t member_memory(const struct member *m, const struct host *h, uint64_t rss);
/* The shared memory, mapped tmpfs included, in member_memory of what it has now. */
uint64_t member_shmem(const struct member *m, const struct host *h);

#endif
