/*
 * What the routes about one job share: its runs out of the history, or the answer when it has
 * none.
 */
#ifndef EXPORTER_JOB_RUNS_H
#define EXPORTER_JOB_RUNS_H

#include "exporter/core/app.h"
#include "exporter/api/route.h"
#include "exporter/history/history.h"

/*
 * A read-only handle for one answer: 0.4 ms. -ENOENT is no failure: reply_no_history then fills
 * the reply and returns 0.
 */
int app_history(struct app *app, struct history **ret, struct err *e);
int reply_no_history(struct app *app, struct reply *reply);
void history_done(struct history **h); /* for AUTO */

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
int reply_no_successful_run(struct reply *reply, const char *job_name, const struct runs *runs,
	double window_days);

/* The error "no_recent_run": none of all, of which there is one at least, started in the last window_days. Returns 0. */
int reply_no_recent_run(struct reply *reply, const char *job_name, const struct runs *all,
	double window_days);

#endif
