/* Blocks the signals that are sent to the wrapper, so that they can be forwarded to the job. A
 * signal that comes before the job starts is not lost. Main thread only. */
#ifndef EXPORTER_WRAPPER_JOB_SIGNALS_H
#define EXPORTER_WRAPPER_JOB_SIGNALS_H

#include <signal.h>

/* Blocks all signals that can be forwarded to the job, and sets the wrapper's own dispositions.
 * Call before threads start. Blocked signals stay pending until they are taken. */
void job_signals_block(void);

/* Returns the set of blocked signals, for sigwaitinfo(2). */
void job_signals_fill(sigset_t *ret);

/* Takes the pending signals and stops the running timers. job_signals_restore passes these signals
 * and timers on to the job. Call right before fork(2). A pending SIGTSTP stops the wrapper at once,
 * as it stops any other program. */
void job_signals_take_early(void);

/* Undoes job_signals_block, then delivers the taken signals. Call in the process that becomes the
 * command. A signal may end the process before the command starts, as would happen without the
 * wrapper. Async-signal-safe. */
void job_signals_restore(void);

/* Stops the wrapper by SIGTSTP. Has no effect when SIGTSTP is ignored or the process group is
 * orphaned. */
void job_signals_stop(void);

#endif
