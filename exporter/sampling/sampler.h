/* The sampler thread follows runs, reads the collectors, publishes snapshots and passes rows
 * (struct sample) to the historian. No other thread uses the collectors and the followed runs. The
 * sampler works in ticks: each tick takes one snapshot.
 *
 * Every --sample.interval there is a tick for rows of the history. This tick reads all runs, and
 * the values of the machine that the history stores. The interval is longer if such ticks would
 * take more than half a CPU, or if they would use up the CPU time limit of a wrapper before its job
 * ends (sampler_state.h).
 *
 * A scrape of /metrics causes an extra tick without rows. This tick reads all collectors. It reads
 * the runs again only if their values are older than SAMPLER_RUNS_AGE, because a run may have
 * thousands of processes and reading them is expensive. */
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

/* Starts the thread. `take` contains the rules of --jobs.rules for the finder; NULL = no rules.
 * This function owns `take` from then on, and frees it if the start fails. */
int sampler_start(struct sampler **ret, struct app *app, struct job_rules *take, struct err *e);

/* Makes the thread take a last sample and end, waits for its end without a time limit, and frees
 * `s`. */
void sampler_stop(struct sampler *s);
pthread_t sampler_thread(const struct sampler *s);

/* Maximum age of the values of runs in a scrape, in seconds. If the values are older, the sampler
 * reads the runs again for the scrape. After a slow tick, values may be older
 * (SAMPLER_TICKS_APART). */
#define SAMPLER_RUNS_AGE 1.0

/* Returns a snapshot of all collectors that is at most max_age_seconds old. The caller owns one
 * reference and drops it with shared_drop(&s->shared). Any thread.
 *
 * The sampler ticks immediately if the newest snapshot is too old. It also ticks if a run began,
 * was concluded or lost its root process after that snapshot. If several threads call this function
 * at the same time, they share one tick. If the tick takes longer than timeout_seconds, returns the
 * newest snapshot of any age. NULL = there is no snapshot yet.
 *
 * If max_age_seconds is above 0, all scrapes together cost at most a tenth of a CPU: the snapshot
 * of a tick that took 0.1 s is used for at least 1 s (SAMPLER_TICKS_APART x 0.1 s), even if
 * max_age_seconds is less. */
#define SAMPLER_TICKS_APART 10

struct snapshot *sampler_scrape(struct sampler *s, double max_age_seconds, double timeout_seconds);

/* Like sampler_scrape, but for callers that need only the runs. Only the values of runs are at most
 * max_age_seconds old. All other values may be missing. */
struct snapshot *sampler_runs(struct sampler *s, double max_age_seconds, double timeout_seconds);

/* Call it when a scraper has received the snapshot of this generation, which increases with each
 * snapshot. Runs that had ended in this snapshot are then dropped from later snapshots. Any
 * thread. */
void sampler_scraped(struct sampler *s, uint64_t generation);

/* Returns true when a scraper received a snapshot of this generation or a later one. Any thread. */
bool sampler_was_scraped(struct sampler *s, uint64_t generation);

/* Returns the seconds since the last tick ended; INFINITY before the first tick. Any thread. */
double sampler_age(struct sampler *s);

/* ---- requests: each of these functions waits until the sampler thread has done the work. Any
 * thread except the sampler's. ----
 *
 * `seconds` is a timeout, because the sampler thread hangs if a file of the kernel or of a driver
 * does not answer; INFINITY = no timeout. The result -ECANCELED means only that the thread did
 * nothing for `seconds`. The thread may still use arguments that were not copied, so the caller
 * must keep them. After a timeout, other calls with a timeout return within 0.1 s until the thread
 * works again. */
#define SAMPLER_PATIENCE_SECONDS 10
#define SAMPLER_NO_ANSWER                                                                          \
	"the sampler does not answer, perhaps because a file of the kernel or of a driver does "   \
	"not come"

/* Starts to follow a run, and reads it once before the call returns. If `record` is not NULL, this
 * process records the run: it writes the beginning and the samples to the history, and fills `*ret`
 * (`ret` may be NULL). If `record` is NULL, another process records the run. run_id and job_name
 * are copied. All other texts of `spec` and `record` must stay valid. */
int sampler_follow(struct sampler *s, const struct run_spec *spec, const struct run_begin *record,
	double seconds, struct account_note *ret, struct err *e);

/* Ends a run: reads it once more, and then replaces values by the exact values in `final` (see
 * jobs_conclude). Writes the last row of the run to the history, and then `finish`. `finish` NULL =
 * the end is not written. All arguments are copied, except the texts in `finish`. */
int sampler_conclude(struct sampler *s, const char *run_id, const double final[RUN_N_METRICS],
	enum final_kind kind, const struct run_finish *finish, double seconds, struct err *e);

/* Calls `function` with the finder on the sampler thread. Then takes a tick, which records the runs
 * that `function` began or ended. `context` must begin with a struct shared: the sampler holds a
 * reference to it for as long as `function` may use it.
 *
 * Returns true when `function` has returned, even if the tick after it hangs. Returns false in
 * three cases: there is no finder, a signal of the set `signals` arrived, or the sampler thread did
 * nothing for SAMPLER_PATIENCE_SECONDS. After false, `function` is not called any more, but a call
 * that began before may still hang. All threads must block `signals`; NULL = no signals. */
bool sampler_find(struct sampler *s,
	void (*function)(struct finder *f, const struct host *host, void *context), void *context,
	const sigset_t *signals);

/* Calls `function` on the sampler thread, between two ticks. `context` must stay valid. */
int sampler_call(struct sampler *s, void (*function)(const struct host *host, void *context),
	void *context, double seconds, struct err *e);

/* Takes a tick that finds and records runs. */
int sampler_look(struct sampler *s, double seconds, struct err *e);

#endif
