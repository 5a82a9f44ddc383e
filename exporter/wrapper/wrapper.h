/* `run`: starts the command, follows its process tree, and returns its exit code. The exit code is
 * 128+n if signal n ended the command, 127 if the command does not exist, and 126 if it cannot be
 * executed.
 *
 * The job comes first: unless --strict is given, it runs even if the history or the web address is
 * not available. Such a failure is logged. The job inherits standard streams, other descriptors,
 * environment, working directory, process group and ignored signals unchanged. It inherits no state
 * of the wrapper itself.
 *
 * Signals sent to the wrapper are forwarded. Signals of the terminal reach the job directly. A
 * signal that a program sends to a whole process group or control group (timeout(1),
 * KillMode=control-group) reaches the job twice. The kernel reports neither the other receivers nor
 * whether the job has already caught the signal. A signal before the start of the command goes to
 * the command, and may end it before it begins.
 *
 * The run ends with the command, even if background processes remain. */
#ifndef EXPORTER_WRAPPER_WRAPPER_H
#define EXPORTER_WRAPPER_WRAPPER_H

#include "exporter/core/app.h"
#include "exporter/core/identity.h"
#include "exporter/discovery/command_run.h"

/* Runs the command and returns the exit code of the program. app->sampler and app->historian must
 * run. */
int wrapper_run(struct app *app, const struct identity *self, const struct command_run *run,
	char *const command[]);

/* Reads the inherited state, blocks the signals that wrapper_run waits for, and adopts orphans of
 * the job from now on. Call before any thread or child starts. */
void wrapper_prepare(void);

/* Executes the command in this process without watching it. Returns only on failure, with the exit
 * code. */
int wrapper_become(char *const command[]);

#endif
