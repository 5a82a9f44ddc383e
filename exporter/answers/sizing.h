/*
 * Sizes the next run of a job from its earlier runs. Reading and sizing them is most of the work of
 * an answer, so a server caches results. A cached result is valid until any process records that a
 * run of the job began, ended, was corrected or was removed.
 */
#ifndef EXPORTER_ANSWERS_SIZING_H
#define EXPORTER_ANSWERS_SIZING_H

#include "exporter/core/app.h"
#include "exporter/api/route.h"
#include "exporter/answers/result_cache.h"
#include "recommender/sizing/sizing.h"

/* Immutable. Its arena owns all that it points to. */
struct sizing_result {
	struct result result;
	struct runs runs; /* in the time window, newest first; active ones without statistics */
	struct sizing sizing;
};

/*
 * Reads the parameters job_name and SIZING_PARAMETERS. 1: ret is held for the caller. 0: there is
 * no such job, no usable run, or a parameter that the strategy does not use, and reply says so.
 * Negative: the history cannot be read. Any thread.
 */
int sizing_of_job(struct app *app, const struct arguments *a, struct sizing_result **ret,
	struct reply *reply, struct err *e);
void sizing_result_done(struct sizing_result **s); /* for AUTO; releases it */

#endif
