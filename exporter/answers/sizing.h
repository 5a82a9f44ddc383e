/* Sizes the next run of a job from its earlier runs. Reading and sizing runs is most of the work of
 * an answer, so a server caches results. A cached result is valid until any process records that a
 * run of the job began, ended, was corrected or was removed. */
#ifndef EXPORTER_ANSWERS_SIZING_H
#define EXPORTER_ANSWERS_SIZING_H

#include "exporter/core/app.h"
#include "exporter/api/route.h"
#include "exporter/answers/result_cache.h"
#include "recommender/sizing/sizing.h"

/* The result of a sizing, immutable. Its arena owns everything that it points to. */
struct sizing_result {
	struct result result;
	struct runs runs; /* in the time window, newest first; active runs without statistics */
	struct sizing sizing;
};

/* Reads the parameters job_name and SIZING_PARAMETERS. Returns 1 and a reference in *ret. Returns 0
 * with an error in `reply` when the job or a usable run is missing, or when the strategy does not
 * use a given parameter. Returns a negative errno when the history cannot be read. Any thread. */
int sizing_of_job(struct app *app, const struct arguments *a, struct sizing_result **ret,
	struct reply *reply, struct err *e);
void sizing_result_done(struct sizing_result **s); /* for AUTO; drops the reference */

#endif
