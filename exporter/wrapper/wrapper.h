/*
 * `run`: starts the command, follows its process tree, and gives back what it gave: its exit code, or 128+n
 * when signal n ended it; 127 when there is no such command, 126 when it cannot be executed.
 *
 * The job comes first: when the history or the web address cannot be had, the log says so and the job runs
 * all the same. Standard streams, other descriptors, environment, working directory, process group and ignored signals
 * are passed on untouched, and nothing of ours is. Signals sent to the wrapper are sent on; those of the terminal reach
 * the job by themselves. One that a program sends to a whole process group or control group (timeout(1),
 * KillMode=control-group) reaches the job twice: it looks the same as one that was sent to us alone, the kernel tells
 * nobody what else it was sent to, and whether the job has caught it already cannot be seen, only whether it is still
 * pending. What comes before the command has been started is the command's, too: where it ends it, it ended before it began.
 * The run ends when the command does, whatever it left in the background.
 */
#ifndef EXPORTER_WRAPPER_WRAPPER_H
#define EXPORTER_WRAPPER_WRAPPER_H

#include "exporter/core/app.h"
#include "exporter/core/identity.h"

/* app->sampler and app->historian run. Returns the exit code of the program. */
int wrapper_run(struct app *app, const struct identity *self, char *const command[]);

/* Blocks the signals that wrapper_run waits for, and notes what is to be given on; before any thread starts. */
void wrapper_block_signals(void);

/* Becomes the command, unwatched; returns only when that failed, with the exit code to give back. */
int wrapper_become(char *const command[]);

/* Makes this process adopt orphans of the job; before any child starts. */
void wrapper_adopt_orphans(void);

#endif
