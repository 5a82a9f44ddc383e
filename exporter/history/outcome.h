/* How a run ended, from what is known of its root and of memory kills. Pure. */
#ifndef EXPORTER_HISTORY_OUTCOME_H
#define EXPORTER_HISTORY_OUTCOME_H

#include "collectors/accounting/accounts.h"
#include "exporter/history/history.h"

/*
 * From what whoever waited for the root put into exit_code or exit_signal; when both are unknown, from the
 * status in the note. A run that did not succeed is oom_killed when the kernel killed for memory in the run's own
 * control group; where the group is shared, also something of the run must look killed: the root ended by
 * SIGKILL, or with 137, as shells say it of a child, or one of its processes did (killed). A root that
 * got over the loss of a child succeeded.
 */
struct ending_facts {
	double exit_code, exit_signal; /* NaN = unknown */
	bool killed;                   /* a process of the run ended by SIGKILL */
};

enum outcome outcome_of(const struct ending_facts *f, const struct account_note *note);

/* The outcome that somebody told of a run: who says that it failed may not know that the kernel killed for memory. */
enum outcome outcome_as_reported(enum outcome reported, double exit_code,
	const struct account_note *note);

/* Completes what whoever waited knows: sources, what may be missed, the outcome, and how it ended. */
void outcome_note(struct run_finish *finish, const struct account_note *note);

#endif
