/* The processes of one run and the resources that they used, including dead processes.
 *
 * When a parent waits for its child, the kernel adds the child's CPU time, faults and I/O to the
 * parent (wait4(2), wait_task_zombie() in kernel/exit.c). As long as every parent waits, the sum
 * over the live processes is therefore complete.
 *
 * If no parent waits for a child, the kernel drops the counters of the child. The tree then keeps
 * the last values that it read. The tree detects this case from the page faults that parents got
 * from children. Page faults are exact, but times are rounded to ticks. */
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
	/* The first member is the reaper (`reaper_pid` of process_tree_begin), if there is one. A
	 * member is added after the member that is its parent at that time. */
	struct member *member;
	struct pid_map index; /* index of each member by pid */
	/* Counters of vanished members for which no parent waited, minus the counters that the
	 * reaper had when the run began: the tree's total includes all of the reaper's counters,
	 * but the run did not cause the earlier ones. */
	uint64_t retained[TREE_COUNTERS];
	/* Counters of helpers that ended. `helpers_ended`: all their usage. `helpers_waited`: the
	 * usage that members or the reaper got by waiting for helpers; it is subtracted from the
	 * total. */
	uint64_t helpers_waited[TREE_COUNTERS], helpers_ended[TREE_COUNTERS];
	/* Upper bound of the CPU time that helpers used between their last readings and their ends.
	 * A member that waits for ended processes gets their CPU time. If helpers are among them,
	 * the bound grows by this CPU time minus the last readings of these processes. */
	uint64_t helpers_unsure_ns;
	uint64_t helper_peak_bytes; /* highest high-water mark of a helper */
	bool any_helper;            /* the tree has had a helper */
	/* A helper ended before its last counters were read. */
	bool helper_unseen;
	/* The root's environment has the variable that declares helpers. All processes below
	 * inherit it, so it does not tell which of them are helpers, and is not read there. */
	bool root_declares;
	uint64_t total[TREE_COUNTERS]; /* counters of the whole run; they never fall */
	uint64_t peak_bytes;           /* highest known memory of the tree */
	/* true: peak_bytes is the sum over all processes at one tick. false: peak_bytes contains
	 * the kernel's high-water mark of a process, so its time is unknown. */
	bool peak_is_seen;
	uint64_t peak_process_bytes; /* highest high-water mark of one process */
	uint64_t pss_budget_ns;      /* CPU time left for reading PSS */
	bool io_known; /* true if the I/O counters of any process were ever readable */
	unsigned looks;
	unsigned generation;  /* counts changes of the member list */
	uint64_t start_ticks; /* start time of the root; searches skip older processes */
	bool from_now;        /* see process_tree_from_now */
	/* true = only one process is live, so all its memory counts. */
	bool alone;
	/* A member vanished at the last tick. Its usage since its last reading may be unknown. */
	bool any_vanished;
	uint64_t vanished; /* number of vanished members so far */
	uint64_t births; /* processes that the machine had created at the last look; 0 = unknown */
	/* Limit on the members of all runs together. Reapers (struct member) do not count. NULL =
	 * no limit. */
	struct member_limit *all;
	/* At least one process is missing in the tree, because the limit `all` was reached. */
	bool left_out;
	bool children_ignored; /* at least one member ignored SIGCHLD at some time */
	bool no_children_file; /* the kernel lacks CONFIG_PROC_CHILDREN: scan /proc instead */
	/* Maximum number of passes in one tick. A pass reads the ancestors of vanished members
	 * again. If more members vanish during a pass, another pass follows. If members vanish in
	 * the last pass, their counters are dropped. They appear at the next tick, in the parents
	 * that waited for these members. */
	unsigned passes_max;
};

#define PROCESS_TREE_PASSES 4

/* The state of the tree at the last tick. */
struct tree_now {
	size_t processes, unreadable;
	uint64_t threads, open_fds, rss_bytes, swap_bytes, memory_bytes, pss_bytes;
	uint64_t kind_bytes[MEMORY_KINDS], huge_bytes;
	uint64_t shmem_counted; /* part of memory_bytes that is shared memory, if kinds_known */
	/* true if PSS of every process was read at least once. Between two readings, pss_bytes is
	 * estimated from RSS. */
	bool pss_known;
	bool kinds_known;
	/* Number of processes whose PSS is due, but was not read, because reading it would exceed
	 * the budget of CPU time. */
	size_t pss_deferred;
	double pss_age_seconds; /* age of the oldest reading of PSS */
	bool open_fds_known;
};

/* Starts a tree with one process. If `start_ticks` is 0, accepts any process with that pid.
 * `reaper_pid`: see struct run_spec in collectors/followed/jobs.h. Errors: -ESRCH: there is no such
 * process. -EDQUOT: host->members is full. */
int process_tree_begin(struct process_tree *t, const struct host *h, pid_t pid,
	uint64_t start_ticks, pid_t reaper_pid);

/* Makes the totals and the peaks start from zero now. Earlier usage and earlier high-water marks do
 * not count. Call this function right after process_tree_begin. */
void process_tree_from_now(struct process_tree *t);

/* Reads every process of the tree, finds new processes, and updates the totals, the peaks and
 * `now`. Returns the number of live processes of the run. Processes beyond the limit host->members
 * are left out.
 *
 * `births` is the number of processes and threads that were ever created on the machine; 0 =
 * unknown. Read this number before the call. If it is the same as at the last tick, new processes
 * are searched only at every SEARCH_LOOKS-th tick. */
size_t process_tree_look(struct process_tree *t, const struct host *h, uint64_t births,
	struct tree_now *now);

/* Adds a process that belongs to the run but is not a child of a member. Ignores a pid that does
 * not exist. */
void process_tree_adopt(struct process_tree *t, const struct host *h, pid_t pid);

/* Makes a process and its descendants helpers (helpers.h). Their usage until now is subtracted. But
 * a total never falls: it stays constant until the other members have used as much. Peaks stay.
 * Ignores the root, and a process that is not in the tree. */
void process_tree_declare_helper(struct process_tree *t, pid_t pid);

/* Returns true if the process that has this pid now is a helper below the root. */
bool process_tree_helps(const struct process_tree *t, pid_t pid);

/* Returns a counter of all helpers so far. It is not part of `total`. */
uint64_t process_tree_helpers(const struct process_tree *t, enum tree_counter counter);

/* Returns the memory of one kind that living helpers have now, in bytes. */
uint64_t process_tree_helper_bytes(const struct process_tree *t, enum memory_kind kind);

/* Returns true when the process that has this pid now is a member of the run and not a helper. */
bool process_tree_has(const struct process_tree *t, pid_t pid);

/* Returns the pid of the reaper, the wrapper that waits for the run's processes; 0 = no reaper. All
 * children that the reaper gets during the run belong to the run. */
static inline pid_t process_tree_reaper(const struct process_tree *t)
{
	return t->n && t->member[0].reaper ? t->member[0].pid : 0;
}

/* Returns the CPU time of the run from the latest readings, in nanoseconds. `total` has the value
 * of the last tick. */
uint64_t process_tree_cpu_ns(const struct process_tree *t);

/* Frees the members after the last tick. Totals and peaks stay. */
void process_tree_let_go(struct process_tree *t);
void process_tree_done(struct process_tree *t);

/* CPU time for reading PSS per tick, in nanoseconds. The limit exists because reading smaps_rollup
 * stalls a big process. Time that is not spent is saved for expensive processes. */
#define PSS_BUDGET_NS 200000
/* CPU time for reading PSS at the start of a run, in nanoseconds. A second big process may be a
 * fork that shares the memory of the first one. PSS must show this soon, so the budget is
 * higher. */
#define PSS_FIRST_BUDGET_NS 20000000
/* Cost of reading smaps_rollup, in nanoseconds per MiB. Used until the first reading is measured.
 * Measurements gave 7.5 to 11 us. */
#define PSS_NS_PER_MIB 10000
/* While the machine creates no process, children are searched only once in this number of ticks. */
#define SEARCH_LOOKS 60

#endif
