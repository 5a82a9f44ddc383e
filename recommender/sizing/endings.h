/* How the runs of a job ended: counts, and the bounds on the next request that follow from failed
 * runs. */
#ifndef RECOMMENDER_SIZING_ENDINGS_H
#define RECOMMENDER_SIZING_ENDINGS_H

#include "recommender/run.h"
#include "recommender/sizing/sizing.h"

/* Counts the ends of the newest PEAKS_SEEN_MAX runs. `runs`: newest first, all outcomes. */
struct endings endings_of(const struct runs *runs);

/* Adds warnings in these cases. Reads s->endings and s->demand. `used`: the successful runs.
 * - The need of memory or CPU is unknown.
 * - Runs were killed, met a limit, or were ended from outside.
 * - Failed runs used more than the successful runs. */
void endings_warn(struct sizing *s, const struct runs *runs, const struct runs *used,
	struct arena *arena);

#endif
