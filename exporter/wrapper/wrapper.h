/* The command `run` ("the wrapper"): starts a command ("the job"), follows its process tree, and
 * returns its exit code. The exit code is 128+n if signal n ended the command, 127 if the command
 * does not exist, and 126 if it cannot be executed.
 *
 * The job is more important than its record. If the history or the web address is not available,
 * the failure is logged, and the job runs anyway. Only with --strict it does not run. The job
 * inherits the standard streams, other descriptors, environment, working directory, process group
 * and ignored signals of the wrapper's caller unchanged. It inherits nothing that the wrapper
 * itself opened or set.
 *
 * Signals that are sent to the wrapper are forwarded to the job. Signals of the terminal reach the
 * job directly. A program may signal a whole process group or control group (timeout(1),
 * KillMode=control-group). The job then gets the signal twice: directly, and from the wrapper,
 * which cannot know that the job already got it. A signal that arrives before the job starts is
 * passed to the job, and may end it before it begins.
 *
 * The run ends when the command ends, even if background processes of it remain. */
#ifndef EXPORTER_WRAPPER_WRAPPER_H
#define EXPORTER_WRAPPER_WRAPPER_H

#include "exporter/core/app.h"
#include "exporter/core/identity.h"
#include "exporter/discovery/command_run.h"

/* Runs the command, and returns the exit code with which this program must end. app->sampler and
 * app->historian must run. */
int wrapper_run(struct app *app, const struct identity *self, const struct command_run *run,
	char *const command[]);

/* Call it before any thread or child starts. Reads the inherited state (inherited.h), blocks the
 * signals for which wrapper_run waits, and makes this process adopt orphans of the job from now
 * on. */
void wrapper_prepare(void);

/* Executes the command in place of this process (execve(2)), without watching it. Returns only
 * after a failure, with the exit code. */
int wrapper_become(char *const command[]);

#endif
