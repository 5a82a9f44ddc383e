/*
 * The CPU time of a run from the best source there is, how much may be missing from it, and what the kernel counts
 * for the run's own control group.
 *
 * Every source is a lower bound of the truth, so the largest is nearest to it, and whichever fails is made up for by
 * the next:
 *
 *	cgroup      the kernel's account of the run's own control group: all of it, less what others used there before
 *	cgroup-rest the kernel's account of a group that it shares with others, less theirs (group_remainder.h)
 *	taskstats   exit accounting on a privileged host, and what the ends of processes cost beyond that (exit_cost.h)
 *	task-clock  an inherited perf counter, for commands started here: all but the end of each process
 *	rusage      getrusage(2) of who waited: all that somebody waited for
 *	proc        what was seen in /proc, and what parents waited for
 *
 * Sampler thread only.
 */
#ifndef COLLECTORS_ACCOUNTING_ACCOUNTS_H
#define COLLECTORS_ACCOUNTING_ACCOUNTS_H

#include "collectors/base/err.h"
#include "collectors/cgroup/find.h"
#include "collectors/accounting/group_remainder.h"
#include "collectors/process/tree.h"
#include "collectors/cgroup/cpu_quota.h"
#include "collectors/runs.h"
#include "collectors/accounting/task_clock.h"

/* What all runs share. */
struct accounts;

struct accounts *accounts_new(void);
void accounts_free(struct accounts *a); /* after every account was closed */
/* Once per tick, before the runs are looked at, and again when one turns out to be empty. */
void accounts_tick(struct accounts *a, const struct host *h);
/* Processes and threads that the machine had ever had at the last tick; 0 = unknown. */
uint64_t accounts_births(const struct accounts *a);

struct account;

struct account_spec {
	pid_t root;
	/* Opened for it, or NULL. Borrowed until account_close where it is used, see account_note; else for this call. */
	const struct task_clock *clock;
	double forked_seconds; /* CPU time of the root before it became the command: none of the run's */
	const struct cpu_quota
		*quota; /* that holds for it, as it was before it began; NULL = not read */
	/* It begins in the middle of its root's life, and ends there: what the kernel counts over that life is not used. */
	bool from_now;
	bool ours; /* a wrapper waits for its processes: exit accounting adds nothing */
	/* Opened before it began, if it has no group of its own: taken, and set to NULL, when it is used. NULL = none. */
	struct group_remainder **rest;
};

/* tree: of the run, just begun; may be looked at. Never fails: what is not there is not used. */
struct account *account_open(struct accounts *a, const struct host *h,
	const struct account_spec *spec, struct process_tree *tree);
void account_close(struct account *a); /* NULL does nothing */
/* The run has ended, and is looked at no more: closes what is kept open for that. account_note goes on telling. */
void account_let_go(struct account *a);

/*
 * Brings processes into the tree that are of the run although no parent link says so: those in its group, and
 * orphans of orphans that process events told of. Before each look at the tree.
 */
void account_find_members(struct account *a, const struct host *h, struct process_tree *tree);

/*
 * One look, after that at the tree. Raises the CPU times in value to what is known, and fills in what comes from
 * the control group. Totals never fall from look to look.
 */
void account_look(struct account *a, const struct host *h, const struct process_tree *tree,
	double value[RUN_N_METRICS]);

/*
 * After the last look: raises the peak to what the run held at least when the kernel killed for memory at the limit of
 * a group that it has for itself, or with few others who are known.
 */
void account_end(struct account *a, const struct host *h, const struct process_tree *tree,
	double value[RUN_N_METRICS]);

/* The final CPU time according to whoever waited, already taken into value. */
void account_waited(struct account *a, double total_seconds);

struct account_note {
	const char *cpu_source;    /* a name from above */
	double cpu_missed_seconds; /* at most; NaN = not known */
	double cpu_seconds;
	/*
	 * What the memory peak is: "vmhwm", the kernel's mark of one process and what the others held at the looks
	 * before and after; "samples", what was held at one look; "taskstats" and "rusage", the kernel's mark of
	 * one that nobody looked at in time; "limit", that of its group, at which it was killed, less what others
	 * held. NULL = there is none.
	 */
	const char *memory_source;
	double peak_told_at_ends;  /* largest mark in exit accounting, bytes; NaN = none */
	double peak_told_by_limit; /* see account_end; NaN = none */
	/*
	 * Processes killed for want of memory since the run began: in its own group, and in the group that it
	 * shares with others or on the whole machine. NaN = not known.
	 */
	double oom_kills, shared_oom_kills;
	double memory_limit_bytes, cpu_limit_cores; /* of its group and those above; NaN = none */
	bool uses_clock; /* there is no other account of those whom nobody waits for */
	/* Of where it ran (collectors/followed/run_place.h): NULL = not known. */
	const char *network_source, *architecture, *cpu_level;
	/* How its root ended, as wait(2) gives it, as far as the kernel tells those who do not wait for it. */
	bool status_known;
	int status;
};

void account_note(const struct account *a, const struct host *h, struct account_note *ret);

#endif
