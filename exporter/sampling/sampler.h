/* The sampler thread follows runs, runs the collectors, publishes snapshots and passes rows to the
 * historian. No other thread uses collectors and jobs.
 *
 * A tick for a history row comes every --sample.interval. It reads all runs, and the machine values
 * that the history keeps. Rows come later if they cost more than half a CPU. They also come later
 * if the wrapper's CPU time limit would otherwise be used up before the job ends (sampler_state.h).
 *
 * A scrape makes an extra tick without a row. That tick reads all collectors, and reads the runs
 * again only if their values are older than SAMPLER_RUNS_AGE. Reading thousands of processes twice
 * within milliseconds would double the cost. */
#ifndef EXPORTER_SAMPLING_SAMPLER_H
#define EXPORTER_SAMPLING_SAMPLER_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "collectors/followed/jobs.h"
#include "collectors/snapshot.h"
#include "exporter/core/app.h"
#include "exporter/history/history.h"

struct sampler;
struct finder;    /* exporter/discovery/finder.h */
struct job_rules; /* exporter/discovery/job_rules.h */

/* Seconds. /metrics shows an ended run until a scraper has received it once, but not longer than
 * this. */
#define LINGER_SECONDS 300

/* Starts the thread. `take` is the job rules for the finder; NULL = no rules. This function takes
 * over the rules, and frees them even if the start fails. */
int sampler_start(struct sampler **ret, struct app *app, struct job_rules *take, struct err *e);

/* Takes a last sample and joins the thread. Blocks while the thread works or hangs. */
void sampler_stop(struct sampler *s);
pthread_t sampler_thread(const struct sampler *s);

/* Maximum age of the runs in a scrape, in seconds. If their values are older, the scrape reads the
 * runs again. After a slow tick, the maximum is higher (SAMPLER_TICKS_APART). */
#define SAMPLER_RUNS_AGE 1.0

/* Returns a snapshot of all collectors that is at most max_age_seconds old. The caller owns one
 * reference and drops it with shared_drop(&s->shared). Any thread. The sampler ticks at once if the
 * newest snapshot is older than max_age_seconds. It also ticks at once if a run was begun, was
 * concluded or lost its root process after the newest snapshot. Concurrent callers share that tick.
 * After timeout_seconds the result is the newest snapshot of any age, or NULL before the first
 * tick.
 * If max_age_seconds is above 0, a snapshot stays valid for at least SAMPLER_TICKS_APART times the
 * duration of its tick. This limits the cost of all callers to a tenth of a CPU. */
#define SAMPLER_TICKS_APART 10

struct snapshot *sampler_scrape(struct sampler *s, double max_age_seconds, double timeout_seconds);

/* Like sampler_scrape, but max_age_seconds applies only to the runs, and all other values may be
 * missing. */
struct snapshot *sampler_runs(struct sampler *s, double max_age_seconds, double timeout_seconds);

/* Records that a scraper received the snapshot of this generation. The runs that the snapshot shows
 * as ended may then be dropped. Any thread. */
void sampler_scraped(struct sampler *s, uint64_t generation);

/* Returns true when a scraper received a snapshot of this generation or a later one. Any thread. */
bool sampler_was_scraped(struct sampler *s, uint64_t generation);

/* Returns the seconds since the last tick ended; INFINITY before the first tick. Any thread. */
double sampler_age(struct sampler *s);

/* ---- requests: each call waits until the sampler thread has done the work. Any thread except the
 * sampler's. ----
 *
 * The sampler thread can hang forever if a file of the kernel or of a driver does not answer.
 * `seconds` is a timeout: if the thread did nothing for `seconds`, the call returns -ECANCELED.
 * This code has no other cause. INFINITY means no timeout.
 * After one timeout, all other waiting calls with a timeout return within 0.1 s, until the thread
 * works again. The thread may still use arguments that were not copied, so the caller must keep
 * them. */
#define SAMPLER_PATIENCE_SECONDS 10
#define SAMPLER_NO_ANSWER                                                                          \
	"the sampler does not answer, perhaps because a file of the kernel or of a driver does "   \
	"not come"

/* Follows a run, and takes its first reading before the call returns. If `record` is not NULL, this
 * process writes the run's history (begin and samples) and fills `ret`, which may be NULL. If
 * `record` is NULL, another process writes the history.
 * run_id and job_name are copied. All other texts of `spec` and `record` must stay valid. */
int sampler_follow(struct sampler *s, const struct run_spec *spec, const struct run_begin *record,
	double seconds, struct account_note *ret, struct err *e);

/* Takes the last reading of a run and corrects it by `final` (see jobs_conclude). Writes the run's
 * last row to the history, and then writes `finish`, which may be NULL. Copies all arguments except
 * the texts in `finish`. */
int sampler_conclude(struct sampler *s, const char *run_id, const double final[RUN_N_METRICS],
	enum final_kind kind, const struct run_finish *finish, double seconds, struct err *e);

/* Calls `function` on the sampler thread with the finder. Then takes a tick that records the runs
 * that `function` began or ended. `context` begins with a struct shared, to which the sampler holds
 * a reference while `function` may use it.
 * Returns true when `function` has returned; the tick after it may hang. Returns false when there
 * is no finder, when a signal in `signals` is pending, or when the thread did nothing for
 * SAMPLER_PATIENCE_SECONDS. After false, `function` will not be called later, but it may be hanging
 * now. `signals` must be blocked in all threads; NULL = no signals. */
bool sampler_find(struct sampler *s,
	void (*function)(struct finder *f, const struct host *host, void *context), void *context,
	const sigset_t *signals);

/* Calls `function` on the sampler thread, between two ticks. `context` must stay valid. */
int sampler_call(struct sampler *s, void (*function)(const struct host *host, void *context),
	void *context, double seconds, struct err *e);

/* Takes a tick that finds and records runs. */
int sampler_look(struct sampler *s, double seconds, struct err *e);

#endif
