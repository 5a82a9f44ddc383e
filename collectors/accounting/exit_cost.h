/*
 * What the ends of a run's processes cost, which exit accounting leaves out (lineage.h). Where the kernel counts CPU time
 * for the control group that the run is in, it is measured: what the group used, less what was told of everybody in it,
 * is what all ends in it cost, and of these each run has the part that its own have by estimate. Everywhere else, and
 * for as long as somebody may have come into the group or left it unseen, it is the estimate.
 */
#ifndef COLLECTORS_ACCOUNTING_EXIT_COST_H
#define COLLECTORS_ACCOUNTING_EXIT_COST_H

#include "collectors/cgroup/find.h"
#include "collectors/accounting/exit_events.h"

/* Most processes in a group that is measured: their clocks are read at each tick. */
#define EXIT_COST_PROCESSES_MAX 512

struct exit_cost_group; /* one for each control group, however many runs are in it */

struct exit_cost_groups {
	size_t n, room;
	struct exit_cost_group **group;
};

struct exit_cost {
	struct exit_cost_group *group; /* NULL = not measured */
	struct exit_cost *next;        /* in the same group */
	unsigned run;                  /* by exit_events */
	double seconds;                /* what they cost, as of the last tick; may fall */
	double missed_seconds;         /* they may have cost so much more */
	/* When measuring began, or began anew; and the estimates of then, and of the last tick. */
	double seconds_before, missed_before;
	struct lineage_tally before, last;
};

/* Here and below the book of x is the caller's (exit_events_lock). A run of it that was just begun. group: that its root is in; NULL = none. */
void exit_cost_begin(struct exit_cost *r, struct exit_cost_groups *all, struct exit_events *x,
	unsigned run, const struct cgroup *group, const struct host *h);
/* After the run was forgotten. Zeroed memory: nothing. */
void exit_cost_done(struct exit_cost *r, struct exit_cost_groups *all, struct exit_events *x);

/*
 * Once per tick before exit_events_settle, and after it: so what is measured is too little by what the group did between
 * the two, rather than too much.
 */
void exit_cost_groups_read(struct exit_cost_groups *all, const struct host *h);
void exit_cost_groups_measure(struct exit_cost_groups *all, struct exit_events *x,
	const struct host *h);

/* For a run without a group, instead of that. */
void exit_cost_estimate(struct exit_cost *r, const struct lineage_tally *now);

#endif
