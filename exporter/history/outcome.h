/* Finds the outcome of a run. The outcome depends on two facts: how the root process ended, and
 * whether the kernel killed processes because memory was short. Pure functions. */
#ifndef EXPORTER_HISTORY_OUTCOME_H
#define EXPORTER_HISTORY_OUTCOME_H

#include "collectors/accounting/accounts.h"
#include "exporter/history/history.h"

/* A run succeeded when its root process exited with 0, even if one of its other processes was
 * killed. Any other run is oom_killed in two cases:
 * - The kernel killed a process for lack of memory in a control group that has only this run.
 * - The kernel killed a process for lack of memory in a larger group or on the machine. One of the
 *   signs below shows that it was a process of this run.
 *
 * The signs:
 * - The root process ended by SIGKILL.
 * - The root process exited with 137 (128 + SIGKILL, as a shell reports a killed child).
 * - A process of the run ended by SIGKILL. */
struct ending_facts {
	/* exit code of the root process, and signal that ended it; NaN = unknown */
	double exit_code, exit_signal;
	bool killed; /* SIGKILL ended a process of the run */
};

enum outcome outcome_of(const struct ending_facts *f, const struct account_note *note);

/* Corrects the outcome that a client reported for a run. Returns OUTCOME_OOM_KILLED if `reported`
 * is OUTCOME_FAILED and the kernel killed the run because memory was short. Otherwise returns
 * `reported`. */
enum outcome outcome_as_reported(enum outcome reported, double exit_code,
	const struct account_note *note);

/* Copies the sources of the measurements, the missing CPU time and the outcome from `note` to
 * `finish`. Copies the exit status only if `finish` has none. */
void outcome_note(struct run_finish *finish, const struct account_note *note);

#endif
