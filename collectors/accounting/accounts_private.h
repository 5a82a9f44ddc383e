/* What the files of the accounts share: accounts.c chooses between sources, accounts_look.c reads them. */
#ifndef COLLECTORS_ACCOUNTS_PRIVATE_H
#define COLLECTORS_ACCOUNTS_PRIVATE_H

#include "collectors/accounting/accounts.h"
#include "collectors/accounting/group_remainder.h"
#include "collectors/accounting/exit_events.h"
#include "collectors/machine/machine_cpu.h"
#include "collectors/accounting/memory_kills.h"
#include "collectors/accounting/missed_cpu.h"
#include "collectors/cgroup/cpu_quota.h"
#include "collectors/accounting/exit_cost.h"
#include "collectors/accounting/run_group.h"
#include "collectors/kernel_file.h"

/* Limits are read again once in so many looks: a container may be resized. */
#define LIMIT_LOOKS 10

enum cpu_source {
	SOURCE_CGROUP,
	SOURCE_CGROUP_REST,
	SOURCE_TASKSTATS,
	SOURCE_CLOCK,
	SOURCE_RUSAGE,
	SOURCE_PROC,
	SOURCES
};

struct accounts {
	struct exit_events *events;
	struct ends_groups ends_groups;
	bool events_tried;
	struct err refusal;
	struct source stat;         /* of the machine, opened at the first tick */
	struct machine_cpu machine; /* at the last tick */
	struct machine_steal steal;
	bool machine_known;
	double own_seconds; /* of this exporter */
};

struct account {
	struct accounts *shared;
	pid_t root;
	struct cgroup group; /* where the root is */
	bool has_group;
	struct cgroup own;
	bool has_own, from_now;
	struct run_group own_group;
	/* Of the own group, when that is older than the run: CPU time of others, and the run's at most of that; or 0. */
	double older_seconds, older_missed;
	uint64_t vanished;        /* members of the tree, as of the last look */
	struct cgroup_rest *rest; /* NULL: it has its own, or is not to be told from others */
	double most_seconds;      /* by that, or by exit accounting; NaN = unknown */
	struct cgroup_limits limits;
	struct quota quota;
	unsigned looks, events_run;
	bool has_events;
	const struct task_clock *clock;
	struct task_clock_total counted;
	double stolen; /* part of what ran of late that was stolen by the host of a virtual machine */
	double forked_seconds; /* of the root before it was the command, or before it entered its own group */
	double known[SOURCES]; /* seconds; NaN = not there */
	double total, system, user;
	struct lineage_tally tally; /* of exit accounting */
	struct run_ends ends;
	struct missed_cpu missed;
	struct machine_cpu machine; /* at the last look */
	bool machine_known;
	double exporter_seconds;
	double births;             /* of the machine, when it began */
	double peak_process_bytes; /* mark of its largest process */
	double oom_kills;          /* in the own group */
	struct memory_kills kills; /* around it */
	double held_bytes; /* at least, when it was killed at its group's limit; NaN = it was not */
};

/* Tells exit accounting who is in the tree. */
void account_add_members(struct account *a, const struct process_tree *tree);

#endif
