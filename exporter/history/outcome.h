/* Finds the outcome of a run from the end of its root process and from kills for memory. Pure
 * functions. */
#ifndef EXPORTER_HISTORY_OUTCOME_H
#define EXPORTER_HISTORY_OUTCOME_H

#include "collectors/accounting/accounts.h"
#include "exporter/history/history.h"

/* A run succeeded when its root process exited with 0, even when one of its children was killed.
 * Any other run is oom_killed when the kernel killed for memory in the run's own control group.
 *
 * In a shared control group, one of these signs of a kill is needed too:
 * - The root ended by SIGKILL.
 * - The root exited with 137 (128 + SIGKILL, as a shell reports a killed child).
 * - A process of the run ended by SIGKILL. */
struct ending_facts {
	double exit_code, exit_signal; /* NaN = unknown */
	bool killed;                   /* SIGKILL ended a process of the run */
};

enum outcome outcome_of(const struct ending_facts *f, const struct account_note *note);

/* Returns OUTCOME_OOM_KILLED for a reported OUTCOME_FAILED when the kernel killed the run for
 * memory. Returns any other reported outcome unchanged. */
enum outcome outcome_as_reported(enum outcome reported, double exit_code,
	const struct account_note *note);

/* Fills `finish` from `note`: sources, missing CPU time and outcome. Fills the exit status only
 * when `finish` has none. */
void outcome_note(struct run_finish *finish, const struct account_note *note);

#endif
