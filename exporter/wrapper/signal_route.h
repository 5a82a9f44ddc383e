/*
 * To whom a signal goes that came to us: where it would have gone, were we not between the job and who started us. Main
 * thread.
 */
#ifndef EXPORTER_WRAPPER_SIGNAL_ROUTE_H
#define EXPORTER_WRAPPER_SIGNAL_ROUTE_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "exporter/wrapper/inherited.h"

struct signal_route {
	pid_t job;
	pid_t caller; /* our parent from the start on */
	const struct inherited *inherited;
	bool is_to_stop; /* we were asked to, and do when the job has */
};

void signal_route_send(struct signal_route *r, const siginfo_t *info);

/* After a change of the job: stops us where it was stopped as we were asked to. */
void signal_route_stop(struct signal_route *r);

/*
 * Once the job was waited for: what it sent to us before is still handed on. The rest waits on, as an interrupt is to hurry
 * us then (exporter/lifecycle/exit_deadline.h).
 */
void signal_route_end(const struct signal_route *r);

#endif
