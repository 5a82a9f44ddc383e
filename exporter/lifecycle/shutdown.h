/*
 * When a server ends, and what it stays for: a signal, or with --exit-with-job the end of the job that it watches;
 * then, with --web.linger, one more scrape.
 */
#ifndef EXPORTER_LIFECYCLE_SHUTDOWN_H
#define EXPORTER_LIFECYCLE_SHUTDOWN_H

#include <signal.h>

#include "exporter/core/app.h"
#include "exporter/core/identity.h"

/* A job that ends may be followed by its next step: so long without any run is the end of all. */
#define SHUTDOWN_SETTLE_SECONDS 5.0

/* After a signal in a pod (--jobs.pod, --exit-with-job), so long is waited for the job to end: both get it then. */
#define SHUTDOWN_GRACE_SECONDS 15.0

/* Blocks until it is time to end; why, for the log: the name of the signal, or "job ended". Main thread. */
const char *shutdown_wait(struct app *app, const sigset_t *signals);

/*
 * Returns when the values of now were scraped, --web.linger is over, or another signal comes. While HTTP and the
 * sampler still work.
 */
void shutdown_linger(struct app *app, const sigset_t *signals);

/*
 * In a pod (--jobs.pod, --exit-with-job) nobody comes after us who could go on with the runs that are still open: they
 * end as interrupted. After the sampler stopped, or will not, before the historian does. Once.
 */
void shutdown_close_runs(struct app *app, const struct identity *self);

#endif
