/*
 * What the next run of a job needs, from its earlier runs. Reading those and sizing them is most of the work of an
 * answer, so a server keeps the newest results: the same question is answered from memory until a run of the job
 * begins, ends, is corrected or is removed, whichever process writes that to the history.
 */
#ifndef EXPORTER_ANSWERS_SIZING_H
#define EXPORTER_ANSWERS_SIZING_H

#include "exporter/core/app.h"
#include "exporter/api/route.h"
#include "exporter/answers/result_cache.h"
#include "recommender/sizing/sizing.h"

/* Immutable; what it points to lives as long as it does. */
struct sizing_result {
	struct result result;
	struct runs
		runs; /* that the question lets in, newest first; open ones without statistics */
	struct sizing sizing;
};

/*
 * Answers a question with the parameters job_name and SIZING_PARAMETERS. 1: ret is held for the caller. 0: there is
 * no such job, no run to go by, or a parameter that the strategy does not know, and reply says so. Negative: the
 * history could not be read. Any thread.
 */
int sizing_of_job(struct app *app, const struct arguments *a, struct sizing_result **ret,
	struct reply *reply, struct err *e);
void sizing_result_done(struct sizing_result **s); /* for AUTO; lets go */

#endif
