/* Forwards signals, so that the job and the caller get the same signals as without the wrapper.
 * Main thread only. */
#ifndef EXPORTER_WRAPPER_SIGNAL_ROUTE_H
#define EXPORTER_WRAPPER_SIGNAL_ROUTE_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "exporter/wrapper/inherited.h"

struct signal_route {
	pid_t job;
	pid_t caller; /* parent of the wrapper at its start */
	const struct inherited *inherited;
	/* true = SIGTSTP arrived, so the wrapper stops itself as soon as the job has stopped */
	bool is_to_stop;
};

void signal_route_send(struct signal_route *r, const siginfo_t *info);

/* Call it after a SIGCHLD. Stops the wrapper if a SIGTSTP arrived and the job has stopped. */
void signal_route_stop(struct signal_route *r);

/* Call it after the job has ended and was waited for. Handles the signals that are still pending:
 * - A process of the job has signalled its parent. It meant the caller of the wrapper, so the
 *   signal is forwarded to the caller.
 * - Other signals become pending again, so that an interrupt shortens the waits at the exit
 *   (thread_hurry). */
void signal_route_end(const struct signal_route *r);

#endif
