/* Sizes the next run of a job from its earlier runs. This is most of the work of an answer, so a
 * server caches results. A cached result is valid until any process that writes the history adds,
 * changes or removes a run of the job. */
#ifndef EXPORTER_ANSWERS_SIZING_H
#define EXPORTER_ANSWERS_SIZING_H

#include "exporter/core/app.h"
#include "exporter/api/route.h"
#include "exporter/answers/neighbourhood.h"
#include "exporter/answers/result_cache.h"
#include "recommender/sizing/sizing.h"

/* The errors of sizing_of_job. */
#define SIZING_ERRORS                                                                              \
	{404, "no_history"}, {404, "unknown_job"}, {404, "no_successful_run"},                     \
		{404, "no_recent_run"},                                                            \
	{                                                                                          \
		404, "no_data"                                                                     \
	}

/* The result of a sizing. It is immutable, and its arena owns everything that it points to. */
struct sizing_result {
	struct result result;
	struct runs runs; /* runs in the time window, newest first; active ones lack statistics */
	struct sizing sizing;
};

/* Sizes the next run of the job that the argument `job_name` names, with the SIZING_PARAMETERS in
 * `a`. Returns 1 and a new reference in *ret. Returns 0 with an error in `reply` in three cases:
 * the job does not exist, it has no usable run, or the strategy does not use one of the given
 * parameters. Returns a negative errno when the history cannot be read. Any thread. */
int sizing_of_job(struct app *app, const struct arguments *a, struct sizing_result **ret,
	struct reply *reply, struct err *e);
/* Like sizing_of_job, but with the default of each parameter. Zero `neighbours` before the call. It
 * receives the jobs from which the sizing learns, for forecasts that must learn from the same jobs.
 * Release it with job_neighbours_done, even after an error. */
int sizing_by_default(struct app *app, const char *job_name, struct job_neighbours *neighbours,
	struct sizing_result **ret, struct reply *reply, struct err *e);
/* Cleanup function for AUTO; drops the reference. */
void sizing_result_done(struct sizing_result **s);

#endif
