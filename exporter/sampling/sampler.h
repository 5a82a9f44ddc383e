/*
 * The thread that looks: follows runs, runs the collectors, publishes snapshots, and hands rows to the historian. The
 * only thread that touches collectors and jobs.
 *
 * History rows keep their cadence (--sample.interval), as far as that costs no more than half a CPU, and a wrapper no more
 * of its limit of CPU time than lasts (exporter/sampling/sampler_state.h): then it looks at all runs, and reads of the machine what the
 * history keeps. A scrape makes an extra tick, which writes no row: it reads the machine with all collectors, and tells
 * of the runs what the latest look at them found, unless that is older than SAMPLER_RUNS_AGE. To look at thousands of
 * processes again, some milliseconds after it was done, would cost as much as watching them does.
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

/* A run that has ended stays at /metrics until it was scraped once, at most this long. */
#define LINGER_SECONDS 300

/* take: the rules that runs are found by; NULL = none. Freed when the start fails, too. */
int sampler_start(struct sampler **ret, struct app *app, struct job_rules *take, struct err *e);

/* Takes a last sample, ends, joins: that takes as long as the thread hangs, or is at work. */
void sampler_stop(struct sampler *s);
pthread_t sampler_thread(const struct sampler *s);

/* Of seconds: what a scrape tells of runs is no older, nor than SAMPLER_TICKS_APART times as long as a look takes. */
#define SAMPLER_RUNS_AGE 1.0

/*
 * A snapshot of all collectors that is at most max_age_seconds old, held for the caller (shared_drop(&s->shared)). An
 * older one, or one from before a run was begun, was concluded or lost its root, makes the sampler tick at once; callers
 * that ask meanwhile share that tick. After timeout_seconds the newest there is, however old; NULL before the first. Any
 * thread. Where a tick takes long, because of thousands of processes, whoever accepts any age gets one that is up to
 * SAMPLER_TICKS_APART ticks old: so askers cost a tenth of a CPU at most, however many.
 */
#define SAMPLER_TICKS_APART 10

struct snapshot *sampler_scrape(struct sampler *s, double max_age_seconds, double timeout_seconds);

/* The same of which only the runs are of use: the sampler looked at them at most max_age_seconds ago. */
struct snapshot *sampler_runs(struct sampler *s, double max_age_seconds, double timeout_seconds);

/*
 * The snapshot of that generation reached a scraper: runs that had ended in it need not linger any longer. Any
 * thread.
 */
void sampler_scraped(struct sampler *s, uint64_t generation);

/* A snapshot of that generation or a later one reached a scraper. Any thread. */
bool sampler_was_scraped(struct sampler *s, uint64_t generation);

/* Seconds since the last tick ended; INFINITY before the first. Any thread. */
double sampler_age(struct sampler *s);

/*
 * ---- runs; each waits until the sampler thread has done it. Any thread but the sampler's. ----
 *
 * That may be for ever: where the kernel, or a driver, does not give a file. When it has done nothing for so many seconds
 * (INFINITY: they wait) they give up with -ECANCELED, which means nothing else, and so do at once all who wait for it, or
 * begin to, until it has done something. What they were given that is not copied, as is said of each, may still be used then,
 * and has to stay.
 */
#define SAMPLER_PATIENCE_SECONDS 10
#define SAMPLER_NO_ANSWER                                                                          \
	"the sampler does not answer, perhaps because a file of the kernel or of a driver does "   \
	"not come"

/*
 * Follows a run from its first reading on, which is taken before this returns. With a record, this process keeps the run's
 * history (its begin, its samples), and ret, when it is not NULL, is what is known of it; without, somebody else does. Names
 * are copied; not what spec borrows, nor the record's other texts.
 */
int sampler_follow(struct sampler *s, const struct run_spec *spec, const struct run_begin *record,
	double seconds, struct account_note *ret, struct err *e);

/*
 * Takes the run's last reading, corrected by final (see jobs_conclude), writes its last row, and then its
 * finish when one is given. All is copied but the texts of finish.
 */
int sampler_conclude(struct sampler *s, const char *run_id, const double final[RUN_N_METRICS],
	enum final_kind kind, const struct run_finish *finish, double seconds, struct err *e);

/*
 * Calls function on the sampler thread with what finds runs, and then takes a tick, so that what it began or ended is
 * seen and recorded. context begins with a struct shared, which is held for as long as function may use it. False when
 * runs are not found here, or when function has not returned after SAMPLER_PATIENCE_SECONDS of nothing being done: it is
 * not called any more then, unless it hangs itself. Else it was, although that tick may hang.
 */
bool sampler_find(struct sampler *s,
	void (*function)(struct finder *f, const struct host *host, void *context), void *context);

/* The same, which gives up also when one of these signals, which all threads block, waits to be taken. NULL: none does. */
bool sampler_find_unless(struct sampler *s,
	void (*function)(struct finder *f, const struct host *host, void *context), void *context,
	const sigset_t *signals);

/*
 * Calls function on the sampler thread, between ticks, with the machine and the jobs that it follows. context is not
 * copied.
 */
int sampler_call(struct sampler *s, void (*function)(const struct host *host, void *context),
	void *context, double seconds, struct err *e);

/* Takes a tick: what is to be found of runs has been, and is recorded. */
int sampler_look(struct sampler *s, double seconds, struct err *e);

#endif
