/* Blocks the signals that are sent to the wrapper, so that the wrapper can take them and forward
 * them to the job (signal_route.h). A signal that arrives before the job starts is not lost. Main
 * thread only. */
#ifndef EXPORTER_WRAPPER_JOB_SIGNALS_H
#define EXPORTER_WRAPPER_JOB_SIGNALS_H

#include <signal.h>

/* Blocks all signals that can be forwarded to the job, and sets how the wrapper itself reacts to
 * signals. Call it before threads start. A blocked signal stays pending until sigwaitinfo(2)
 * returns it. */
void job_signals_block(void);

/* Returns the set of blocked signals, for sigwaitinfo(2). */
void job_signals_fill(sigset_t *ret);

/* Call it right before fork(2). Takes the signals that are pending, and stops the timers
 * (setitimer(2)) that the wrapper inherited. job_signals_restore passes both on to the job. A
 * pending SIGTSTP stops the wrapper at once, as it stops any other program. */
void job_signals_take_early(void);

/* Call it in the child process that becomes the command. Undoes job_signals_block, and then
 * delivers the signals that job_signals_take_early has taken. Such a signal may end the process
 * before the command starts, as it could without the wrapper. Async-signal-safe. */
void job_signals_restore(void);

/* Stops the wrapper by SIGTSTP, as Ctrl+Z does. Has no effect when SIGTSTP is ignored, or when the
 * process group is orphaned (setpgid(2)). */
void job_signals_stop(void);

#endif
