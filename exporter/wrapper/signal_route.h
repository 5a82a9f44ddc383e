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
	bool is_to_stop; /* SIGTSTP came: the wrapper stops as soon as the job has stopped */
};

void signal_route_send(struct signal_route *r, const siginfo_t *info);

/* Stops the wrapper if a SIGTSTP came and the job has stopped. Call after a SIGCHLD. */
void signal_route_stop(struct signal_route *r);

/* Takes the pending signals after the job has ended. Forwards a signal if a process of the job sent
 * it and meant the wrapper's caller. All other signals become pending again, so that an interrupt
 * shortens the waits at the exit (thread_hurry). Call after the job was waited for. */
void signal_route_end(const struct signal_route *r);

#endif
