/*
 * Decides when a server ends: at a signal, or with --exit-with-job at the end of the watched job.
 * With --web.linger it then waits for one more scrape.
 */
#ifndef EXPORTER_LIFECYCLE_SHUTDOWN_H
#define EXPORTER_LIFECYCLE_SHUTDOWN_H

#include <signal.h>

#include "exporter/core/app.h"
#include "exporter/core/identity.h"

/* The job has ended after this time without a run: until then its next step may begin. */
#define SHUTDOWN_SETTLE_SECONDS 5.0

/* In a pod the job gets the same signal: the server waits this long for its end. */
#define SHUTDOWN_GRACE_SECONDS 15.0

/* Blocks until the server should end. Returns the reason, such as "TERM". Main thread. */
const char *shutdown_wait(struct app *app, const sigset_t *signals);

/*
 * Returns when the current values were scraped, --web.linger is over, or another signal arrives.
 * Call while HTTP and the sampler still run.
 */
void shutdown_linger(struct app *app, const sigset_t *signals);

/*
 * In a pod (--jobs.pod, --exit-with-job) no later server can continue open runs: closes them as
 * interrupted. Call once, after the sampler has stopped or hangs, and before the historian stops.
 */
void shutdown_close_runs(struct app *app, const struct identity *self);

#endif
