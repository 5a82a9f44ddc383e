/* Warnings that follow from the runs of a job: how many were measured and how well, how the newest
 * runs differ from the older ones, and what the runs left unused. endings.h has the warnings about
 * how runs ended. */
#ifndef RECOMMENDER_SIZING_RUN_WARNINGS_H
#define RECOMMENDER_SIZING_RUN_WARNINGS_H

#include "recommender/sizing/sizing.h"

/* Adds the warnings to `s`. `used` has the successful runs that the sizing used, newest first; it
 * may be empty. Reads s->runs, the number of measured runs. */
void run_warnings_add(struct sizing *s, const struct runs *used,
	const struct sizing_options *options, struct arena *arena);

#endif
