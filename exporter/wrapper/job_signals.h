/* Signals sent to the wrapper belong to the job; none is lost before it starts. Main thread. */
#ifndef EXPORTER_WRAPPER_JOB_SIGNALS_H
#define EXPORTER_WRAPPER_JOB_SIGNALS_H

#include <signal.h>

/* Call before threads start. Signals then stay pending until they are taken. */
void job_signals_block(void);

/* The set of blocked signals, for sigwaitinfo(2). */
void job_signals_fill(sigset_t *ret);

/*
 * Call right before fork(2). Takes the pending signals and the running timers, which
 * job_signals_restore gives to the job. A pending SIGTSTP stops the wrapper at once, as it would
 * stop any other program.
 */
void job_signals_take_early(void);

/*
 * In the process that becomes the command: undoes job_signals_block, then delivers the taken
 * signals. A signal may end the process before the command starts, as it would have without the
 * wrapper. Async-signal-safe.
 */
void job_signals_restore(void);

/* Stops the wrapper by SIGTSTP: no effect if it is ignored or the group is orphaned. */
void job_signals_stop(void);

#endif
