/* Decides when a server ends: at a signal, or, with --exit-with-job, at the end of the job that it
 * watches. With --web.linger, the server then first waits for one more scrape. */
#ifndef EXPORTER_LIFECYCLE_SHUTDOWN_H
#define EXPORTER_LIFECYCLE_SHUTDOWN_H

#include <signal.h>

#include "exporter/core/app.h"
#include "exporter/core/identity.h"

/* The job counts as ended when it has had no run for this many seconds. A shorter pause may be the
 * time between two steps of the job. */
#define SHUTDOWN_SETTLE_SECONDS 5.0

/* When a pod is stopped, the job and the server get the same signal. The server then waits at most
 * this many seconds for the end of the job. */
#define SHUTDOWN_GRACE_SECONDS 15.0

/* Blocks until the server should end. Returns the reason, such as "TERM". Main thread. */
const char *shutdown_wait(struct app *app, const sigset_t *signals);

/* Waits until a scraper has received the current values, or until --web.linger or another signal of
 * `signals` ends the wait. Call it while the HTTP server and the sampler still run. */
void shutdown_linger(struct app *app, const sigset_t *signals);

/* If this server ends together with its pod (--jobs.pod, --exit-with-job), marks its open runs as
 * interrupted: no later server can continue them. Call it once, after the sampler has stopped or
 * hangs, and before the historian stops. */
void shutdown_close_runs(struct app *app, const struct identity *self);

#endif
