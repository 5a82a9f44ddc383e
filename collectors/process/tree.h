/*
 * The processes of one run and the resources that they used, dead ones included.
 *
 * The kernel adds CPU time, faults and I/O of a child to its parent when the parent waits for it
 * (wait4(2), wait_task_zombie() in kernel/exit.c). Without a wait they are lost. Hence the sum over
 * the live processes with their waited counters is right while every parent waits. For a process
 * that vanished without a wait, the last values read are kept here. The parent's waited page
 * faults, which are exact, unlike times in ticks, show whether it waited.
 */
#ifndef COLLECTORS_PROCESS_TREE_H
#define COLLECTORS_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/pid_map.h"
#include "collectors/process/member.h"
#include "collectors/process/member_limit.h"

struct process_tree {
	size_t n, room;
	/* The reaper is first. Parents come before the children that they had when found. */
	struct member *member;
	struct pid_map index; /* index of each member by pid */
	/*
	 * Counters of vanished members that no parent waited for, minus those of the reaper at the
	 * start.
	 */
	uint64_t retained[TREE_COUNTERS];
	uint64_t total[TREE_COUNTERS]; /* the result; never falls */
	uint64_t peak_bytes;           /* highest memory of the tree, as far as known */
	/* peak_bytes is a sum at one look; else a kernel mark plus other memory. */
	bool peak_is_seen;
	uint64_t peak_process_bytes; /* highest high-water mark of one process */
	uint64_t pss_budget_ns;      /* CPU time left for reading PSS */
	bool io_known;               /* I/O counters of some process were readable once */
	unsigned looks;
	unsigned generation;  /* counts changes of membership */
	uint64_t start_ticks; /* of the root; no older process belongs to the run */
	bool from_now;        /* see process_tree_from_now */
	bool alone; /* there is only one live process, which shares memory with no other member */
	/* A member vanished in the last look; its use after the look before may be unknown. */
	bool any_vanished;
	uint64_t vanished; /* number of members that have vanished */
	uint64_t births;   /* of the machine before the last look; 0 = unknown */
	/* Limit in which all members except the reaper count; NULL = no limit. */
	struct member_limit *all;
	/* Some process was left out: member_limit was reached. */
	bool left_out;
	bool no_children_file; /* the kernel lacks CONFIG_PROC_CHILDREN: scan /proc instead */
	/*
	 * Most times in one look that possible heirs of vanished processes are read again, which
	 * repeats while more vanish. When processes end so fast that this is not enough, the last
	 * ones are dropped: their waiting parents have their counters at the next look.
	 */
	unsigned passes_max;
};

#define PROCESS_TREE_PASSES 4

/* The state of the tree at the last look. */
struct tree_now {
	size_t processes, unreadable;
	uint64_t threads, open_fds, rss_bytes, swap_bytes, memory_bytes, pss_bytes;
	uint64_t kind_bytes[MEMORY_KINDS], huge_bytes;
	uint64_t shmem_counted; /* shared memory in memory_bytes, while kinds_known */
	bool pss_known; /* PSS of every process was read once; pss_bytes follows its RSS since */
	bool kinds_known;
	size_t pss_deferred;    /* processes whose PSS was due but too expensive to read now */
	double pss_age_seconds; /* age of the oldest reading of PSS */
	bool open_fds_known;
};

/*
 * Starts a tree of one process. -ESRCH: no such process; -EDQUOT: host->members is full.
 * start_ticks 0 accepts any process with that pid. reaper_pid: see struct run_spec in
 * collectors/followed/jobs.h.
 */
int process_tree_begin(struct process_tree *t, const struct host *h, pid_t pid,
	uint64_t start_ticks, pid_t reaper_pid);

/* Right after process_tree_begin: excludes use and high-water marks until now. */
void process_tree_from_now(struct process_tree *t);

/*
 * Reads every process of the tree, finds new ones, and updates total, peaks and now. births: number
 * of processes and threads ever created on the machine, read before this call; 0 = unknown. If it
 * is unchanged since the last look, no new process is searched for. Processes beyond host->members
 * are left out. Returns the number of live processes; 0 = the run is over.
 */
size_t process_tree_look(struct process_tree *t, const struct host *h, uint64_t births,
	struct tree_now *now);

/* Adds a process that the caller knows to belong to the run, if it exists. */
void process_tree_adopt(struct process_tree *t, const struct host *h, pid_t pid);

/* Is the process that has this pid now a member of the run? */
bool process_tree_has(const struct process_tree *t, pid_t pid);

/* The reaper, whose other children belong to the run; 0 = none. */
static inline pid_t process_tree_reaper(const struct process_tree *t)
{
	return t->n && t->member[0].reaper ? t->member[0].pid : 0;
}

/* CPU time known at this moment, in nanoseconds; total holds that of the last look. */
uint64_t process_tree_cpu_ns(const struct process_tree *t);

/* Frees the members after the last look; totals and peaks stay. */
void process_tree_let_go(struct process_tree *t);
void process_tree_done(struct process_tree *t);

/*
 * CPU time for reading PSS per look, in nanoseconds, because smaps_rollup stalls big processes.
 * Unspent time is saved for expensive processes.
 */
#define PSS_BUDGET_NS 200000
/* Budget at the start: soon tells a fork of a big process from a second big process. */
#define PSS_FIRST_BUDGET_NS 20000000
/* Estimated cost of smaps_rollup per MiB until measured (7.5 to 11 us were measured). */
#define PSS_NS_PER_MIB 10000
/* Children are searched every so many looks even when no process was created. */
#define SEARCH_LOOKS 60

#endif
