/*
 * What the routes about one run share: the run out of the history, or the answer when there is none.
 */
#ifndef EXPORTER_RUN_REPLY_H
#define EXPORTER_RUN_REPLY_H

#include "exporter/core/app.h"
#include "exporter/answers/job_runs.h"
#include "exporter/api/route.h"
#include "exporter/history/history.h"

/* The parameters that name the run. */
/* clang-format off */
#define RUN_PARAMETERS \
	{.name = "run", \
		.kind = PARAMETER_TEXT, \
		.least = 1, \
		.most = RUN_ID_MAX - 1, \
		.help = "Id of the run"}, \
	{.name = "job_name", \
		.kind = PARAMETER_TEXT, \
		.least = 1, \
		.most = JOB_NAME_MAX - 1, \
		.help = "In place of the run: the newest run of this job"}

/* Those that leave out samples of it. */
#define SPAN_PARAMETERS \
	{.name = "from", \
		.kind = PARAMETER_NUMBER, \
		.least = 0, \
		.most = 1e11, \
		.unit = "seconds since 1970 UTC", \
		.help = "Only samples from this time on, in seconds since 1970 UTC"}, \
	{.name = "to", \
		.kind = PARAMETER_NUMBER, \
		.least = 0, \
		.most = 1e11, \
		.unit = "seconds since 1970 UTC", \
		.help = "Only samples up to this time, in seconds since 1970 UTC"}
/* clang-format on */

struct span {
	double from, to; /* seconds since 1970 UTC; NaN: without that end */
};

/*
 * Opens the history and finds the run, with its statistics (so far, while it runs), in arena. 1: both are
 * filled; the caller closes *h. 0: reply says that there is none, or that neither parameter was given.
 */
int run_asked_for(struct app *app, const struct arguments *a, struct history **h,
	struct arena *arena, const struct run **ret, struct reply *reply, struct err *e);

/* False: reply says that it would end before it begins. */
bool span_asked_for(const struct arguments *a, struct span *ret, struct reply *reply);

#endif
