/*
 * The signals of a run: those of the wrapper are the job's, and nothing is lost between the wrapper's start and the job's.
 * Main thread.
 */
#ifndef EXPORTER_WRAPPER_JOB_SIGNALS_H
#define EXPORTER_WRAPPER_JOB_SIGNALS_H

#include <signal.h>

/* Before threads start. What comes from then on waits, until it is taken or job_signals_restore. */
void job_signals_block(void);

/* What is blocked, and to be waited for. */
void job_signals_fill(sigset_t *ret);

/*
 * Right before the job's process is made. What came until now would have been the job's, had it not waited for us: it is
 * taken from here, and is the job's with job_signals_restore, as are timers that run. A stop is no such thing: it stops us at once, as it would
 * stop any other program.
 */
void job_signals_take_early(void);

/*
 * In the process that becomes the command: signals are as they were before job_signals_block, and those that came early
 * come now. Where one ends it, the command never starts, as if nobody had stood before it. Calls only what
 * signal-safety(7) allows.
 */
void job_signals_restore(void);

/* Stops us as SIGTSTP would stop any other program: not where it is ignored, nor in a group that nobody would wake. */
void job_signals_stop(void);

#endif
