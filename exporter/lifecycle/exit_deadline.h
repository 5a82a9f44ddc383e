/* Limits the time that the program takes to exit. A thread may hang in a disk access or in a
 * kernel file, and joining such a thread would delay the exit without limit. Call these
 * functions on the main thread; only exit_deadline_leave may be called on another thread. */
#ifndef EXPORTER_LIFECYCLE_EXIT_DEADLINE_H
#define EXPORTER_LIFECYCLE_EXIT_DEADLINE_H

#include <pthread.h>

#include "exporter/core/app.h"

/* Seconds after which the program is ended although threads still run. A little more than http_stop
 * may take (HTTP_LEAVE_SECONDS). */
#define EXIT_DEADLINE_SECONDS 6

struct exit_deadline;

struct exit_plan {
	struct app *app;
	int exit_code;
	/* called before the exit, for the last work that needs the disk; NULL = there is no such
	 * work */
	void (*last)(const struct exit_plan *l);
	void *context; /* for use by `last` */
};

/* Starts a thread that limits the time of the exit: after EXIT_DEADLINE_SECONDS, the thread logs an
 * error and calls exit_deadline_leave. Call it when the program begins to exit. When all other
 * threads have ended in time, call exit_deadline_reached, which stops this thread. Copies `*l`.
 * NULL = the exit has no time limit, because there is no historian, or because the thread cannot be
 * started. */
struct exit_deadline *exit_deadline_begin(const struct exit_plan *l);
void exit_deadline_reached(struct exit_deadline *l); /* NULL does nothing */

/* From this call on, the time limit starts again whenever `thread` has used CPU time: a thread that
 * works may finish, and only a thread that hangs is left behind. */
void exit_deadline_works(struct exit_deadline *l, pthread_t thread); /* NULL does nothing */

/* Ends the program by loose_threads_leave, without joining its threads. First lets the historian
 * write its queue. If that takes less than HISTORIAN_STOP_SECONDS, also calls l->last. Call it on
 * any usual thread, not on a loose thread (loose_thread.h), and never on two threads at a time. */
_Noreturn void exit_deadline_leave(const struct exit_plan *l);

#endif
