/*
 * Leaving in time: threads that read the history may be in a disk that does not answer, and the sampler in a file of the
 * kernel; waiting for one of them would hold up whoever waits for the program's end. Main thread.
 */
#ifndef EXPORTER_LIFECYCLE_EXIT_DEADLINE_H
#define EXPORTER_LIFECYCLE_EXIT_DEADLINE_H

#include <pthread.h>

#include "exporter/core/app.h"

/* A little more than http_stop takes for itself. */
#define EXIT_DEADLINE_SECONDS 6

struct exit_deadline;

struct exit_plan {
	struct app *app;
	int exit_code;
	/* What nobody does after us, and the disk is needed for. NULL: nothing. */
	void (*last)(const struct exit_plan *l);
	void *context; /* for it */
};

/*
 * From now on so long at most until exit_deadline_reached: else, which is logged, exit_deadline_leave is called on a thread of its own. l is
 * copied. NULL where there is no thread to be had for that: the end then takes as long as a disk, or the kernel, does not
 * answer.
 */
struct exit_deadline *exit_deadline_begin(const struct exit_plan *l);
void exit_deadline_reached(struct exit_deadline *l); /* NULL does nothing */

/* From now on it is that thread that is waited for: while it uses CPU time it is at work, and the time begins anew. */
void exit_deadline_works(struct exit_deadline *l, pthread_t thread); /* NULL does nothing */

/*
 * Ends the program, whatever its other threads are in. Before that what was handed to the historian is written, and then
 * what comes last is done, if the disk takes the one within HISTORIAN_STOP_SECONDS. One thread only.
 */
_Noreturn void exit_deadline_leave(const struct exit_plan *l);

#endif
