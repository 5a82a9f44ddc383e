/*
 * The thread that looks: runs every collector once per tick, publishes the snapshot, follows runs, and
 * hands rows to the historian. The only thread that touches collectors and jobs.
 */
#ifndef EXPORTER_SAMPLER_H
#define EXPORTER_SAMPLER_H

#include "collectors/jobs.h"
#include "collectors/snapshot.h"
#include "exporter/app.h"

struct sampler;

int sampler_start(struct sampler **ret, struct app *app, struct err *e);

/* Takes a last sample, ends, joins. */
void sampler_stop(struct sampler *s);

/*
 * A snapshot at most max_age_seconds old, held for the caller (shared_drop(&s->shared)). An older one makes
 * the sampler tick at once; callers that ask meanwhile share that tick. After timeout_seconds the newest
 * there is, however old; NULL before the first. Any thread.
 */
struct snapshot *sampler_snapshot(struct sampler *s, double max_age_seconds, double timeout_seconds);

/*
 * The snapshot of that generation reached a scraper: runs that had ended in it need not linger any longer. Any
 * thread.
 */
void sampler_scraped(struct sampler *s, uint64_t generation);

/* Seconds since the last tick ended; INFINITY before the first. Any thread. */
double sampler_age(struct sampler *s);

#endif
