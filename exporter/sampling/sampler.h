/*
 * The sampler thread follows runs, runs the collectors, publishes snapshots and hands rows to the
 * historian. No other thread touches collectors and jobs.
 *
 * A tick for a history row comes every --sample.interval. It reads all runs, and the machine values
 * that the history keeps. Rows come later when they cost more than half a CPU, or more of a
 * wrapper's CPU time limit than lasts (sampler_state.h). A scrape makes an extra tick, which writes
 * no row: it reads all collectors, and reads the runs again only when they are older than
 * SAMPLER_RUNS_AGE. Reading thousands of processes twice within milliseconds would double the cost.
 */
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

/* An ended run stays at /metrics until it was scraped once, at most this long. */
#define LINGER_SECONDS 300

/* take: the job rules of the finder; NULL = none. Also freed when the start fails. */
int sampler_start(struct sampler **ret, struct app *app, struct job_rules *take, struct err *e);

/* Takes a last sample and joins the thread. Blocks while the thread hangs or works. */
void sampler_stop(struct sampler *s);
pthread_t sampler_thread(const struct sampler *s);

/* Seconds: age of run values from which a scrape reads runs again; more when a tick is slow. */
#define SAMPLER_RUNS_AGE 1.0

/*
 * Returns a snapshot of all collectors, at most max_age_seconds old, held for the caller
 * (shared_drop(&s->shared)). The sampler ticks at once when the newest snapshot is older, or a run
 * was begun, concluded or lost its root since. Concurrent callers share that tick. After
 * timeout_seconds: the newest snapshot of any age; NULL before the first. Any thread. With
 * max_age_seconds above 0 a slow tick (thousands of processes) makes snapshots valid for
 * SAMPLER_TICKS_APART times its duration. This limits the cost of all callers to a tenth of a CPU.
 */
#define SAMPLER_TICKS_APART 10

struct snapshot *sampler_scrape(struct sampler *s, double max_age_seconds, double timeout_seconds);

/* The same for runs read at most max_age_seconds ago; other values may be missing. */
struct snapshot *sampler_runs(struct sampler *s, double max_age_seconds, double timeout_seconds);

/* A scraper received the snapshot of this generation: runs that ended in it may go. Any thread. */
void sampler_scraped(struct sampler *s, uint64_t generation);

/* Did a scraper receive a snapshot of this generation or a later one? Any thread. */
bool sampler_was_scraped(struct sampler *s, uint64_t generation);

/* Seconds since the last tick ended; INFINITY before the first. Any thread. */
double sampler_age(struct sampler *s);

/*
 * ---- requests: each waits until the sampler thread has done it. Any thread but the sampler's.
 * ----
 *
 * The thread can hang for ever when a file of the kernel or of a driver does not answer. seconds: a
 * request gives up with -ECANCELED (and for no other reason) when the thread did nothing for so
 * long; INFINITY waits on. All other waiting requests with such a limit then give up within 0.1 s,
 * until the thread works again. The thread may still use arguments that were not copied, so the
 * caller must keep them.
 */
#define SAMPLER_PATIENCE_SECONDS 10
#define SAMPLER_NO_ANSWER                                                                          \
	"the sampler does not answer, perhaps because a file of the kernel or of a driver does "   \
	"not come"

/*
 * Follows a run, and takes its first reading before this returns. With a record this process writes
 * the run's history (begin and samples), and fills ret unless it is NULL. Without one another
 * process does. Copies run_id and job_name; the other texts of spec and record are borrowed.
 */
int sampler_follow(struct sampler *s, const struct run_spec *spec, const struct run_begin *record,
	double seconds, struct account_note *ret, struct err *e);

/*
 * Takes the run's last reading, corrected by final (see jobs_conclude), writes its last row, and
 * then its finish unless that is NULL. Copies all but the texts of finish.
 */
int sampler_conclude(struct sampler *s, const char *run_id, const double final[RUN_N_METRICS],
	enum final_kind kind, const struct run_finish *finish, double seconds, struct err *e);

/*
 * Calls function on the sampler thread with the finder, and then takes a tick that records the runs
 * it began or ended. context begins with a struct shared, which is held while function may use it.
 * False: there is no finder, one of signals (blocked in all threads; NULL = none) is pending, or
 * the thread did nothing for SAMPLER_PATIENCE_SECONDS. function will not be called later, but may
 * be hanging now. True: function has returned; the tick after it may hang.
 */
bool sampler_find(struct sampler *s,
	void (*function)(struct finder *f, const struct host *host, void *context), void *context,
	const sigset_t *signals);

/* Calls function on the sampler thread, between ticks, with host and jobs. Borrows context. */
int sampler_call(struct sampler *s, void (*function)(const struct host *host, void *context),
	void *context, double seconds, struct err *e);

/* Takes a tick: runs that can be found are found and recorded. */
int sampler_look(struct sampler *s, double seconds, struct err *e);

#endif
