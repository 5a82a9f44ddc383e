/* A member: one process of a run, with its state from tick to tick.
 *
 * Cost: most processes of a big tree sleep. If the CPU clock of a process has not moved since the
 * last tick, the process has not run, and its files are not read. There are two exceptions:
 * - The memory and the parent are read every STALE_LOOKS ticks, because other processes can change
 *   them.
 * - The waiting times are read once more if the process ran after their last reading. */
#ifndef COLLECTORS_PROCESS_MEMBER_H
#define COLLECTORS_PROCESS_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/number.h"
#include "collectors/process/helpers.h"
#include "collectors/process/process.h"

/* A running member is read in full once in this number of ticks. A sleeping member is read as
 * often, but only its memory and its parent. */
#define STALE_LOOKS 64
/* The waiting times of a running process are read at ticks 1, 2, 4, 8 and then at every 8th
 * tick. */
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
	TREE_CANCELLED_BYTES,
	TREE_VOLUNTARY_SWITCHES,
	TREE_INVOLUNTARY_SWITCHES,
	TREE_CPU_WAIT_NS,
	TREE_IO_WAIT_NS,
	TREE_MEMORY_WAIT_NS,
	TREE_COUNTERS,
};

/* Files that stay open from tick to tick. They are opened when a process has run at two ticks in
 * a row, because it will probably run at the next tick too. */
struct member_files {
	struct kept stat, io, children;
	unsigned *count; /* number of processes with open files, in all runs; borrowed */
};

struct member {
	pid_t pid, ppid;
	pid_t thread;               /* see struct process_stat */
	struct member_files *files; /* NULL = no file stays open */
	uint64_t start_ticks;
	uint64_t threads;
	uint64_t clock_ns;                 /* CPU clock at the last reading; 0 = unreadable */
	uint64_t counter[TREE_COUNTERS];   /* includes children that this process waited for */
	uint64_t waited_faults, waited_ns; /* part of `counter` that came from those children */
	/* The part of waited_faults and waited_ns for which process_tree_settle has found the ended
	 * children that it came from (tree_dead.h). */
	uint64_t credited_faults, credited_ns;
	uint64_t rss_bytes, swap_bytes, peak_bytes;
	/* VmHWM at the start of the run. VmHWM may still be the peak from before the run, which
	 * must not count. Until VmHWM exceeds this value, the peak is the highest sampled RSS. */
	uint64_t old_mark_bytes;
	/* RSS at the previous tick. Between the two ticks, RSS is assumed never to be below the
	 * smaller of last_rss_bytes and rss_bytes. */
	uint64_t last_rss_bytes;
	uint64_t stack_start; /* see struct process_stat */
	/* RSS of the parent when it forked this process. 0 = this process has executed a program
	 * after the fork. */
	uint64_t inherited_bytes;
	uint64_t own_faults; /* minor faults of the process itself; each adds at most one page */
	uint64_t pss_bytes, pss_rss_bytes; /* PSS and RSS of one reading; 0 = never read */
	/* rss_bytes at the reading of PSS. It is not exact, because the stat file lacks the newest
	 * counts of each CPU. */
	uint64_t pss_stat_bytes;
	unsigned pss_generation; /* generation of the tree when PSS was read */
	uint64_t pss_cost_ns;    /* CPU time that the last reading of PSS took */
	struct mono pss_at;      /* time of the last reading of PSS */
	uint64_t huge_bytes;     /* transparent huge pages at the last reading of PSS */
	/* `pss_shmem_bytes`: part of pss_bytes that is shared memory. `pss_shmem_rss_bytes`:
	 * kind_bytes[MEMORY_SHMEM] when pss_bytes was read. */
	uint64_t pss_shmem_bytes, pss_shmem_rss_bytes;
	bool pss_shmem_known;
	uint64_t kind_bytes[MEMORY_KINDS];
	uint64_t open_fds;
	/* `living_switches`: context switches of the threads that lived at the last reading.
	 * `ended_switches`: context switches of the threads that have ended. */
	uint64_t living_switches[2], ended_switches[2];
	/* The waiting times are not read at every tick. `wait_pause`: number of ticks between two
	 * readings. `wait_looks`: number of ticks until the next reading. */
	unsigned wait_pause, wait_looks;
	bool waits_due; /* the process ran after the last reading of its waiting times */
	/* Ticks since the last full reading; starts at pid % STALE_LOOKS. */
	unsigned looks;
	/* true: this process is the reaper, a wrapper that waits for the run's processes. The
	 * reaper is not part of the run, so its own usage does not count. The usage of its children
	 * counts: the kernel adds it to the reaper when the reaper waits for them. */
	bool reaper;
	bool root; /* the first process of the run */
	/* A helper is not part of the run, but is read nevertheless: the kernel adds its usage to
	 * the parent that waits for it, and this usage must be subtracted from the parent's. */
	enum helper_kind helper;
	bool program_due; /* the process executed a program after `helper` was decided */
	bool zombie, ran, peak_rose, status_due;
	bool was_zombie;                  /* `zombie` at the previous tick */
	bool credit_held, perhaps_waited; /* see hold_credits() in tree_dead.c */
	/* This process was once seen to ignore SIGCHLD. The kernel then adds the times of its ended
	 * children to no process. */
	bool ignored_children;
	/* The children must be read again: the process ran, a process below it ended, or the
	 * children were not read for STALE_LOOKS ticks. (A listing may lack children if others end
	 * at the same time, see fs/proc/array.c.) */
	bool children_due;
	bool io_refused, fds_refused, pss_refused;
	bool vanished; /* has ended; tree_dead.h decides who gets its counters */
	bool fds_known, io_known, kinds_known; /* io_known: I/O was read at least once */
};

/* Returns true if the process itself is part of the run. */
static inline bool member_counts(const struct member *m)
{
	return !m->reaper && !m->helper;
}

static inline bool member_lives(const struct member *m)
{
	return member_counts(m) && !m->zombie;
}

/* Returns the thread whose files in /proc show the process: usually the first thread. If the first
 * thread has ended, returns another thread. */
static inline pid_t member_shown_by(const struct member *m)
{
	return m->thread ? m->thread : m->pid;
}

/* Notes that process_tree_settle has found the ended children from which all of waited_faults and
 * waited_ns came. */
static inline void member_credit(struct member *m)
{
	m->credited_faults = m->waited_faults;
	m->credited_ns = m->waited_ns;
}

/* Reads the process for the first time. Set `pid`, `start_ticks` and `reaper` before the call.
 * member_begin, member_look and member_read return false when the process is gone. */
bool member_begin(struct member *m, const struct host *h);
/* Closes the files that stay open. The values of the member stay. */
void member_done(struct member *m);
/* Reads the values that may have changed since the last tick. */
bool member_look(struct member *m, const struct host *h);
/* Reads the process now. If `full`, also retries files whose reading was refused. */
bool member_read(struct member *m, const struct host *h, bool full);

/* Returns true while the process exists. Checks its CPU clock or, if the clock is unreadable, its
 * stat file. */
bool member_exists(const struct member *m, const struct host *h);

/* Reads PSS and sets `*cost_ns` to the CPU time spent. Returns false when PSS is unreadable. */
bool member_read_pss(struct member *m, const struct host *h, uint64_t *cost_ns);

/* Returns how much of `rss` counts for this process. Memory that processes of the run share must
 * count once. `rss` is the RSS now, or the RSS at the peak.
 * - If PSS was read at an RSS of at least `rss`: `rss` times PSS / RSS of that reading.
 * - If PSS was read at a smaller RSS: PSS plus the growth of RSS since that reading.
 * - If PSS was not read, and the process is a forked child, which shares its parent's memory: its
 *   growth and one page for each fault, at most `rss`.
 * - In all other cases, all of `rss` counts. */
uint64_t member_memory(const struct member *m, const struct host *h, uint64_t rss);
/* Returns the part of member_memory(current RSS) that is shared memory, including mapped tmpfs. */
uint64_t member_shmem(const struct member *m, const struct host *h);

#endif
