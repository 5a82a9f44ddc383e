/* The outcome of a run, from the end of its root process and from memory kills. Pure. */
#ifndef EXPORTER_HISTORY_OUTCOME_H
#define EXPORTER_HISTORY_OUTCOME_H

#include "collectors/accounting/accounts.h"
#include "exporter/history/history.h"

/*
 * A run whose root exits with 0 succeeded, even when one of its children was killed. Another run is
 * oom_killed when the kernel killed for memory in the run's own control group. In a shared control
 * group a sign of a kill is needed too: the root ended by SIGKILL, the root exited with 137 (128 +
 * SIGKILL, as a shell reports a killed child), or one of the run's processes ended by SIGKILL.
 */
struct ending_facts {
	double exit_code, exit_signal; /* NaN = unknown */
	bool killed;                   /* SIGKILL ended a process of the run */
};

enum outcome outcome_of(const struct ending_facts *f, const struct account_note *note);

/* Turns a reported outcome failed into oom_killed when the kernel killed the run for memory. */
enum outcome outcome_as_reported(enum outcome reported, double exit_code,
	const struct account_note *note);

/*
 * Completes finish from the note: sources, missing CPU time, outcome, and the exit status when it is
 * unknown in finish.
 */
void outcome_note(struct run_finish *finish, const struct account_note *note);

#endif
