/*
 * The CPU time of a run from the best source available, an upper bound of what it lacks, and the
 * kernel's numbers for the run's own control group.
 * Every source is a lower bound of the truth. The largest is reported; if a source fails, the next
 * one replaces it:
 *
 *	cgroup      the kernel's account of the run's own group, minus earlier use by others
 *	taskstats   exit accounting on a privileged host, plus the cost of ends (exit_cost.h)
 *	task-clock  an inherited perf counter, for commands started here: all but process ends
 *	rusage      getrusage(2) of the waiting process: all children that were waited for
 *	proc        readings of /proc, and the times that parents waited for
 *
 * Sampler thread only.
 */
#ifndef COLLECTORS_ACCOUNTING_ACCOUNTS_H
#define COLLECTORS_ACCOUNTING_ACCOUNTS_H

#include "collectors/base/err.h"
#include "collectors/cgroup/find.h"
#include "collectors/process/tree.h"
#include "collectors/cgroup/cpu_quota.h"
#include "collectors/runs.h"
#include "collectors/accounting/task_clock.h"

/* State that all runs share. */
struct accounts;

struct accounts *accounts_new(void);
void accounts_free(struct accounts *a); /* close every account first */
/* Call once per tick before the runs are sampled, and again when a run turns out to be empty. */
void accounts_tick(struct accounts *a, const struct host *h);
/* Processes and threads created since boot, as of the last tick; 0 = unknown. */
uint64_t accounts_births(const struct accounts *a);

struct account;

struct account_spec {
	pid_t root;
	/* NULL = none. Borrowed until account_close if uses_clock, else only for this call. */
	const struct task_clock *clock;
	double forked_seconds;         /* CPU time of the root before exec: not part of the run */
	const struct cpu_quota *quota; /* read before the run began; NULL = not read */
	/*
	 * The run begins and ends within its root's life: kernel counts of the root are not used.
	 */
	bool from_now;
	bool ours; /* a wrapper waits for its processes */
	bool own_group; /* the wrapper made a group, and the root is the first process in it */
};

/* tree: of the run that just began; may be sampled. Never fails: a missing source is not used. */
struct account *account_open(struct accounts *a, const struct host *h,
	const struct account_spec *spec, struct process_tree *tree);
void account_close(struct account *a); /* NULL does nothing */
/* Closes the files of an ended run. account_note still works. */
void account_let_go(struct account *a);

/*
 * Adds processes of the run to the tree that no parent link shows: members of its group, and
 * orphans that process events found. Call before each sample of the tree.
 */
void account_find_members(struct account *a, const struct host *h, struct process_tree *tree);

/*
 * One sample, after the sample of the tree. Raises the CPU times in value to the best source, and
 * fills in the numbers of the control group. Totals never fall.
 */
void account_look(struct account *a, const struct host *h, const struct process_tree *tree,
	double value[RUN_N_METRICS]);

/*
 * Call after the last sample. If the kernel killed a process at the group's memory limit, raises
 * the peak to the least that the run held then (memory_kills.h).
 */
void account_end(struct account *a, const struct host *h, const struct process_tree *tree,
	double value[RUN_N_METRICS]);

/* The final CPU time from wait4(2) of the parent; value already contains it. */
void account_waited(struct account *a, double total_seconds);

struct account_note {
	const char *cpu_source;    /* see the list at the top */
	double cpu_missed_seconds; /* upper bound; NaN = unknown */
	double cpu_seconds;
	/*
	 * Source of the memory peak: "vmhwm", the kernel's peak of one process plus what the others
	 * held at the samples before and after; "samples", the sum at one sample; "taskstats" and
	 * "rusage", the kernel's peak of a process that no sample saw in time; "limit", the group's
	 * limit at which it was killed minus what others held. NULL = no peak.
	 */
	const char *memory_source;
	double peak_told_at_ends;  /* largest peak in exit accounting, bytes; NaN = none */
	double peak_told_by_limit; /* see account_end, bytes; NaN = none */
	/*
	 * Processes killed by the OOM killer since the run began: in its own group, and in the
	 * shared group or on the whole machine. NaN = unknown.
	 */
	double oom_kills, shared_oom_kills;
	/* of its group and the groups above; NaN = none */
	double memory_limit_bytes, cpu_limit_cores;
	bool uses_clock; /* no other source counts children that nobody waits for */
	/* See collectors/followed/run_place.h; NULL = unknown. */
	const char *network_source, *architecture, *cpu_level;
	/* Exit status of the root as wait(2) returns it, if exit events delivered it. */
	bool status_known;
	int status;
};

void account_note(const struct account *a, const struct host *h, struct account_note *ret);

#endif
