/*
 * Bounds the time that the program takes to exit. A thread may hang in a disk or in a kernel file;
 * joining it would delay the exit without limit. Main thread.
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
	/* Last work before the exit; it needs the disk. NULL: none. */
	void (*last)(const struct exit_plan *l);
	void *context; /* for last */
};

/*
 * Starts a thread that logs an error and calls exit_deadline_leave after EXIT_DEADLINE_SECONDS,
 * unless exit_deadline_reached stops it first. l is copied. NULL: no historian or no thread, and
 * the exit has no time limit.
 */
struct exit_deadline *exit_deadline_begin(const struct exit_plan *l);
void exit_deadline_reached(struct exit_deadline *l); /* NULL does nothing */

/* From now on the deadline restarts whenever this thread uses CPU time. */
void exit_deadline_works(struct exit_deadline *l, pthread_t thread); /* NULL does nothing */

/*
 * Ends the program by _exit(2) without joining its threads. The historian first writes its queue;
 * if that takes less than HISTORIAN_STOP_SECONDS, l->last runs too. Call from one thread only.
 */
_Noreturn void exit_deadline_leave(const struct exit_plan *l);

#endif
