/*
 * The processes of one run: who belongs to it, and what they used, the dead included.
 *
 * CPU time, faults and I/O of a child are added to its parent by the kernel when the parent waits for it
 * (wait4(2), kernel/exit.c wait_task_zombie), and are lost when nobody does. So the sum over the living, with
 * what they got by waiting, is the truth as long as everybody waits; what an unwaited process had used when it
 * was last seen is kept here. Whether a vanished process was waited for is told by its parent's waited page
 * faults, which are exact, unlike times in ticks.
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
	struct member
		*member; /* the reaper first; parents before the children they had when found */
	struct pid_map index; /* of each, by pid */
	/* Of vanished processes that nobody waited for, less what the reaper had before (modulo 2^64). */
	uint64_t retained[TREE_COUNTERS];
	uint64_t total[TREE_COUNTERS]; /* the answer; never falls */
	uint64_t peak_bytes;           /* highest memory of the tree, as far as the kernel tells */
	bool peak_is_seen; /* at one look, of several processes; else the kernel's mark, with what others held */
	uint64_t peak_process_bytes; /* highest mark of one process */
	uint64_t pss_budget_ns;      /* saved up for reading PSS */
	bool io_known;               /* of any process, ever */
	unsigned looks;
	unsigned
		generation; /* counts changes of who is a member: what was shared may be shared no more */
	uint64_t start_ticks; /* of the root: nothing older belongs to the run */
	bool from_now;        /* see process_tree_from_now */
	bool alone;           /* one live process: nobody to share memory with */
	bool any_vanished; /* at the last look: what these used after the look before may be unknown */
	uint64_t vanished; /* members that ever did */
	uint64_t births;   /* of the machine, before the last look; 0 = unknown */
	struct member_limit
		*all;  /* that its members are counted in, but for the reaper; NULL = none are */
	bool left_out; /* some, ever: they are in too many runs, or all runs have too many */
	bool no_children_file; /* a kernel without CONFIG_PROC_CHILDREN: scan /proc instead */
	/*
	 * Readings, in a look, of those who may have got what vanished ones used, until nobody vanishes meanwhile. Where
	 * processes end so fast that it goes on, what the last ones used is not kept: whoever waits for them has it at the
	 * next look.
	 */
	unsigned passes_max;
};

#define PROCESS_TREE_PASSES 4

/* What the tree holds right now. */
struct tree_now {
	size_t processes, unreadable;
	uint64_t threads, open_fds, rss_bytes, swap_bytes, memory_bytes, pss_bytes;
	uint64_t kind_bytes[MEMORY_KINDS], huge_bytes;
	uint64_t shmem_counted; /* shared memory in memory_bytes, while kinds_known */
	bool pss_known; /* every process's PSS was read at some time; pss_bytes follows its RSS since */
	bool kinds_known;
	size_t pss_deferred;    /* PSS was due, and not affordable */
	double pss_age_seconds; /* of the oldest reading */
	bool open_fds_known;
};

/*
 * A tree of one process, which must exist (-ESRCH), and be let in by host->members (-EDQUOT). start_ticks 0 takes whoever
 * has the pid. reaper_pid: see struct run_spec in collectors/followed/jobs.h.
 */
int process_tree_begin(struct process_tree *t, const struct host *h, pid_t pid,
	uint64_t start_ticks, pid_t reaper_pid);

/* Right after it began: what its processes did until now, and the marks that they left, are not of the run. */
void process_tree_from_now(struct process_tree *t);

/*
 * Looks at every process of the tree, finds new ones, and brings total, peaks and now up to date. births: how many
 * processes and threads the machine has ever had, read before, 0 = unknown; when there were none since the last look
 * nobody is searched for. Beyond what host->members allows nobody is taken in. Returns the number of live processes: 0 =
 * the run is over.
 */
size_t process_tree_look(struct process_tree *t, const struct host *h, uint64_t births,
	struct tree_now *now);

/* Takes in a process that somebody else knows to be of the run, unless it is in, or gone. */
void process_tree_adopt(struct process_tree *t, const struct host *h, pid_t pid);

/* Is this process, by the number it has now, part of the run? */
bool process_tree_has(const struct process_tree *t, pid_t pid);

/* The one whose other children belong to the run; 0 = none. */
static inline pid_t process_tree_reaper(const struct process_tree *t)
{
	return t->n && t->member[0].reaper ? t->member[0].pid : 0;
}

/* CPU time that is known at this moment; total has it as of the last look. */
uint64_t process_tree_cpu_ns(const struct process_tree *t);

/* It will not be looked at again: forgets its members, and keeps what they made together. */
void process_tree_let_go(struct process_tree *t);
void process_tree_done(struct process_tree *t);

/*
 * CPU time that may be spent on PSS per look, in nanoseconds: smaps_rollup stalls big processes. What is not spent is
 * saved up for what costs more.
 */
#define PSS_BUDGET_NS 200000
/* Saved up at the start, so that a fork of a big process is soon told from a second big one; and at most. */
#define PSS_FIRST_BUDGET_NS 20000000
/* What reading a mebibyte of smaps_rollup costs before it was measured (7.5 to 11 us were seen). */
#define PSS_NS_PER_MIB 10000
/* Children are searched for once in so many looks, even if nobody was born. */
#define SEARCH_LOOKS 60

#endif
