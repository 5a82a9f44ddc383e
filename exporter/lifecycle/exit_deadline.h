/* Limits the time that the program takes to exit. A thread may hang in a disk access or in a
 * kernel file, and joining such a thread would delay the exit without limit. Call these
 * functions on the main thread; only exit_deadline_leave may be called on another thread. */
#ifndef EXPORTER_LIFECYCLE_EXIT_DEADLINE_H
#define EXPORTER_LIFECYCLE_EXIT_DEADLINE_H

#include <pthread.h>

#include "exporter/core/app.h"

/* Seconds until the program ends by force. This is a little more than http_stop may take
 * (HTTP_LEAVE_SECONDS). */
#define EXIT_DEADLINE_SECONDS 6

struct exit_deadline;

struct exit_plan {
	struct app *app;
	int exit_code;
	/* Does the last work before the exit. This work needs the disk. NULL = no such work. */
	void (*last)(const struct exit_plan *l);
	void *context; /* for use by `last` */
};

/* Starts a thread that waits for EXIT_DEADLINE_SECONDS, then logs an error and calls
 * exit_deadline_leave. Call exit_deadline_reached when the threads of the program have ended in
 * time: it stops the thread of the deadline. Copies `*l`. Returns NULL when there is no historian,
 * or when the thread cannot be started. The exit then has no time limit. */
struct exit_deadline *exit_deadline_begin(const struct exit_plan *l);
void exit_deadline_reached(struct exit_deadline *l); /* NULL does nothing */

/* From this call on, the deadline restarts whenever `thread` uses CPU time. */
void exit_deadline_works(struct exit_deadline *l, pthread_t thread); /* NULL does nothing */

/* Ends the program by loose_threads_leave without joining its threads. Before that, the historian
 * writes its queue. If this takes less than HISTORIAN_STOP_SECONDS, l->last runs, too. Call it on
 * any thread that is not loose, but never on two threads at a time. */
_Noreturn void exit_deadline_leave(const struct exit_plan *l);

#endif
