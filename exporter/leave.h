/*
 * Leaving in time: threads that read the history may be in a disk that does not answer, and the sampler in a file of the
 * kernel; waiting for one of them would hold up whoever waits for the program's end. Main thread.
 */
#ifndef EXPORTER_LEAVE_H
#define EXPORTER_LEAVE_H

#include <signal.h>

#include "exporter/app.h"

/* A little more than http_stop takes for itself. */
#define LEAVE_SECONDS 6

struct leave;

/*
 * From now on so long at most until leave_reached: else what was handed to the historian is written, if the disk takes that
 * within HISTORIAN_STOP_SECONDS, and the program ends with exit_code, which is logged. NULL where there is no thread to
 * be had for that: the end then takes as long as a disk, or the kernel, does not answer.
 */
struct leave *leave_begin(struct app *app, int exit_code);
void leave_reached(struct leave *l); /* NULL does nothing */

/* The signals by which whoever waits for our end says, once more, that it is to come now. */
void leave_hurry(sigset_t *ret);

#endif
