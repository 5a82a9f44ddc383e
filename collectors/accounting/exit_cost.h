/*
 * CPU time that a run's processes spend on ending. Exit accounting leaves it out (see lineage.h).
 * In a control group whose CPU time the kernel counts, it is measured: the group's usage minus the
 * recorded CPU time of all its processes is the cost of all ends in the group. Each run gets a
 * share in proportion to its estimate.
 * Everywhere else it is estimated, and also while a process may have entered or left the group
 * unseen.
 */
#ifndef COLLECTORS_ACCOUNTING_EXIT_COST_H
#define COLLECTORS_ACCOUNTING_EXIT_COST_H

#include "collectors/cgroup/find.h"
#include "collectors/accounting/exit_events.h"

/* More processes in a group are not measured: each tick reads all their clocks. */
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
	/* of CPU time spent on ends, as of the last tick; may fall */
	double seconds;
	double missed_seconds; /* upper bound of what seconds lacks */
	/* State when measuring last began, and the tally of the last tick. */
	double seconds_before, missed_before;
	struct lineage_tally before, last;
};

/*
 * Begins the account of a run that just began. group: of the run's root; NULL = unknown.
 * This and the functions below need exit_events_lock; exit_cost_groups_read does not.
 */
void exit_cost_begin(struct exit_cost *r, struct exit_cost_groups *all, struct exit_events *x,
	unsigned run, const struct cgroup *group, const struct host *h);
/* Call after lineage_forget of the run. Zeroed memory: does nothing. */
void exit_cost_done(struct exit_cost *r, struct exit_cost_groups *all, struct exit_events *x);

/*
 * Call once per tick: read before exit_events_settle, measure after it. Activity between the two
 * makes the measured cost too low rather than too high.
 */
void exit_cost_groups_read(struct exit_cost_groups *all, const struct host *h);
void exit_cost_groups_measure(struct exit_cost_groups *all, struct exit_events *x,
	const struct host *h);

/* Updates a run without a measured group from its estimate. */
void exit_cost_estimate(struct exit_cost *r, const struct lineage_tally *now);

#endif
