/* Reads from the history the run or the runs that a request selects. Replies with an error when no
 * run matches. */
#ifndef EXPORTER_ANSWERS_JOB_RUNS_H
#define EXPORTER_ANSWERS_JOB_RUNS_H

#include "exporter/core/app.h"
#include "exporter/api/route.h"
#include "exporter/history/history.h"

/* Opens the history read-only for one answer; this takes 0.4 ms. Close it with history_close. If
 * the result is -ENOENT, call answer_no_history, which fills the reply and returns 0. */
int answer_open_history(struct app *app, struct history **ret, struct err *e);
int answer_no_history(struct app *app, struct reply *reply);

/* Completes the job name in the arguments of a request, before a route answers it: a request may
 * leave out the cluster, or the namespace and the cluster (history_find_key). Does nothing if the
 * request names no job, or if the history cannot be read. */
void answer_complete_job(struct app *app, struct arguments *a);

/* The errors of answers about a job, and of answers about a run. */
#define JOB_ERRORS                                                                                 \
	{404, "no_history"},                                                                       \
	{                                                                                          \
		404, "unknown_job"                                                                 \
	}
#define RUN_ERRORS                                                                                 \
	JOB_ERRORS,                                                                                \
	{                                                                                          \
		404, "unknown_run"                                                                 \
	}

/* The parameter for the number of successful runs. The default is 5, as in the card (report) of
 * resource-tracker, a similar program. */
#define RUNS_PARAMETER                                                                             \
	{                                                                                          \
		.name = "runs", .kind = PARAMETER_COUNT, .fallback = "5", .least = 1,              \
		.most = 1000, .help = "How many of the newest successful runs to look at"          \
	}

/* Reads the newest `limit` runs (0 = all) of a job, newest first, into `arena`. If `open_stats` is
 * true, also computes the statistics of runs that have not ended from their samples, which takes 1
 * s for 100,000 samples. Returns:
 * - 1: `ret` has at least one run.
 * - 0: the job or the history does not exist; the error is in `reply`.
 * - a negative errno: the history cannot be read. */
int job_runs(struct app *app, const char *job_name, size_t limit, bool open_stats,
	struct arena *arena, struct runs *ret, struct reply *reply, struct err *e);

/* Does the same as job_runs, but uses a history that is already open. */
int job_runs_of(struct history *h, const char *job_name, size_t limit, bool open_stats,
	struct arena *arena, struct runs *ret, struct reply *reply, struct err *e);

/* Reads the runs that are needed to size a job or to forecast a run, newest first, into `arena`.
 * All answers that do this call this function, so that they use the same runs.
 *
 * `measured` is the number of measured successful runs to read; 0 = PEAKS_SEEN_MAX, the most that a
 * strategy uses. Reading ends when these runs are found, or after RUNS_PER_SUCCESS times as many
 * runs of any outcome. The second condition limits the memory: a history can keep 100,000 runs of a
 * job (--history.runs-per-job), and a run takes 5 KB.
 *
 * If all successful runs that were read have about the same memory limit, one older run is added at
 * the end: the newest successful run with another limit (see recommender/sizing/follower.h). */
#define RUNS_PER_SUCCESS 5
int job_runs_to_size(struct history *h, const char *job_name, size_t measured, struct arena *arena,
	struct runs *ret, struct err *e);

/* Replies "unknown_job". The reply proposes the jobs with this name in another namespace or
 * cluster. If there are none, it proposes the jobs with the most similar names. If the request
 * names a namespace, only jobs of this namespace are proposed. Returns 0, or a negative errno. */
int answer_unknown_job(struct reply *reply, struct history *h, const char *job_name,
	struct arena *arena, struct err *e);

/* Replies "no_successful_run" with the number of `runs` by outcome. `window_days`: length of the
 * requested time window; NaN = all time. Returns 0. */
int answer_no_successful_run(struct reply *reply, const char *job_name, const struct runs *runs,
	double window_days);

/* Replies "no_recent_run": the job has runs, but none of them started in the last `window_days`.
 * `all` has the runs of the job, at least one. Returns 0. */
int answer_no_recent_run(struct reply *reply, const char *job_name, const struct runs *all,
	double window_days);

/* The parameters that select a run. */
/* clang-format off */
#define RUN_PARAMETERS \
	{.name = "run", \
		.kind = PARAMETER_TEXT, \
		.least = 1, \
		.most = RUN_ID_MAX - 1, \
		.help = "Id of the run"}, \
	OF_JOB_PARAMETERS("In place of the run: the newest run of this job")

/* The parameters that select samples by time. */
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
	double from, to; /* seconds since 1970 UTC; NaN = no bound */
};

/* Opens the history and finds the run that the parameters select. Reads the run and its statistics
 * into `arena`. For an active run, the statistics include all samples until now. The caller always
 * closes `*h`. Returns:
 * - 1: `h` and `ret` are filled.
 * - 0, with an error in `reply`: the run does not exist, the client may not see it, or the
 *   parameters name neither a run nor a job.
 * - a negative errno: the history cannot be read. */
int answer_find_run(struct app *app, const struct arguments *a, struct history **h,
	struct arena *arena, const struct run **ret, struct reply *reply, struct err *e);
/* Like answer_find_run, but the query `q` selects the run. */
int run_found(struct app *app, const struct run_query *q, struct history **h, struct arena *arena,
	const struct run **ret, struct reply *reply, struct err *e);

/* Reads the arguments of SPAN_PARAMETERS. Returns false with an error in `reply` when `from` is
 * later than `to`. */
bool answer_read_span(const struct arguments *a, struct span *ret, struct reply *reply);

#endif
