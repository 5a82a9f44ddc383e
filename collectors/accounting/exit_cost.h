/* CPU time that a run's processes spend on ending. Exit accounting does not include this time (see
 * lineage.h).
 *
 * If the kernel counts the CPU time of the run's control group, the cost of all ends in the group
 * is measured: it is the group's usage minus the recorded CPU time of all its processes. This cost
 * is divided among the runs in the group, in proportion to their estimated costs.
 *
 * A run gets its estimated cost instead if nothing can be measured, or if a process may have
 * entered or left the group unseen. */
#ifndef COLLECTORS_ACCOUNTING_EXIT_COST_H
#define COLLECTORS_ACCOUNTING_EXIT_COST_H

#include "collectors/cgroup/find.h"
#include "collectors/accounting/exit_events.h"

/* A group with more processes than this is not measured, because each tick reads the clock of every
 * process in the group. */
#define EXIT_COST_PROCESSES_MAX 512

struct exit_cost_group; /* one for each control group, shared by all runs in the group */

struct exit_cost_groups {
	size_t n, room;
	struct exit_cost_group **group;
};

struct exit_cost {
	struct exit_cost_group *group; /* NULL = the ends of this run are not measured */
	struct exit_cost *next;        /* next run in the same group */
	unsigned run;                  /* number of the run in the lineage */
	/* CPU time spent on ends, as of the last tick; may fall */
	double seconds;
	double missed_seconds; /* upper bound of the CPU time that `seconds` lacks */
	/* When the current measurement began: `seconds_before` = `seconds`, `missed_before` =
	 * `missed_seconds`, and `before` = the tally of the run. `last`: the tally at the last
	 * tick. */
	double seconds_before, missed_before;
	struct lineage_tally before, last;
};

/* Begins the account of a run that just began. `run` is its number in the lineage. `group` is the
 * control group of the run's root; NULL = unknown. The caller must hold the lock (exit_events_lock)
 * for every function in this file except exit_cost_groups_read. */
void exit_cost_begin(struct exit_cost *r, struct exit_cost_groups *all, struct exit_events *x,
	unsigned run, const struct cgroup *group, const struct host *h);
/* Ends the account. Call after lineage_forget of the run. Does nothing if `r` is zeroed. */
void exit_cost_done(struct exit_cost *r, struct exit_cost_groups *all, struct exit_events *x);

/* These two functions measure the CPU time that the kernel spent on process ends, in all groups.
 * Call each once per tick: exit_cost_groups_read before exit_events_settle, and
 * exit_cost_groups_measure after it. CPU time that is used between these calls makes the measured
 * cost too low, never too high. */
void exit_cost_groups_read(struct exit_cost_groups *all, const struct host *h);
void exit_cost_groups_measure(struct exit_cost_groups *all, struct exit_events *x,
	const struct host *h);

/* Adds the estimated cost of the process ends since the last tick. `now` is the tally of the run at
 * this tick. Call for a run without a measured group. */
void exit_cost_estimate(struct exit_cost *r, const struct lineage_tally *now);

#endif
