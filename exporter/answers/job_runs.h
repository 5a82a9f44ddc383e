/*
 * The run or the runs that a question is about, out of the history, or the answer when there are none.
 */
#ifndef EXPORTER_ANSWERS_JOB_RUNS_H
#define EXPORTER_ANSWERS_JOB_RUNS_H

#include "exporter/core/app.h"
#include "exporter/api/route.h"
#include "exporter/history/history.h"

/*
 * A read-only handle for one answer: 0.4 ms. -ENOENT is no failure: answer_no_history then fills
 * the reply and returns 0.
 */
int answer_open_history(struct app *app, struct history **ret, struct err *e);
int answer_no_history(struct app *app, struct reply *reply);
void answer_close_history(struct history **h); /* for AUTO */

/* The parameter that names the job; most of a route's tables begin with it. */
#define JOB_NAME_PARAMETER                                                                         \
	{                                                                                          \
		.name = "job_name", .kind = PARAMETER_TEXT, .required = true, .least = 1,          \
		.most = JOB_NAME_MAX - 1, .help = "Name of the job"                                \
	}

/* How many successful runs to look at, as resource-tracker's card does. */
#define RUNS_PARAMETER                                                                             \
	{                                                                                          \
		.name = "runs", .kind = PARAMETER_COUNT, .fallback = "5", .least = 1,              \
		.most = 1000, .help = "How many of the newest successful runs to look at"          \
	}

/*
 * Reads the newest limit runs (0 = all) of a job, newest first, into arena. 1: ret is filled and
 * has at least one. 0: there is no such job, or no history at all, and reply says so. Negative:
 * could not be read. open_stats: also statistics of runs that go on, from all their samples: a second for
 * 100,000.
 */
int job_runs(struct app *app, const char *job_name, size_t limit, bool open_stats,
	struct arena *arena, struct runs *ret, struct reply *reply, struct err *e);

/* The same by a history that is open. */
int job_runs_of(struct history *h, const char *job_name, size_t limit, bool open_stats,
	struct arena *arena, struct runs *ret, struct reply *reply, struct err *e);

/*
 * The error "no_successful_run", with the counts of what there is instead in the last window_days; NaN = in all time.
 * Returns 0.
 */
int answer_no_successful_run(struct reply *reply, const char *job_name, const struct runs *runs,
	double window_days);

/* The error "no_recent_run": none of all, of which there is one at least, started in the last window_days. Returns 0. */
int answer_no_recent_run(struct reply *reply, const char *job_name, const struct runs *all,
	double window_days);

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
int answer_find_run(struct app *app, const struct arguments *a, struct history **h,
	struct arena *arena, const struct run **ret, struct reply *reply, struct err *e);
/* The same of a query of one run. */
int run_found(struct app *app, const struct run_query *q, struct history **h, struct arena *arena,
	const struct run **ret, struct reply *reply, struct err *e);

/* False: reply says that it would end before it begins. */
bool answer_read_span(const struct arguments *a, struct span *ret, struct reply *reply);

#endif
