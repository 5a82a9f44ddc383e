#include "exporter/lifecycle/shutdown.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "collectors/base/tree.h"
#include "collectors/process/process.h"
#include "collectors/runs.h"
#include "collectors/snapshot.h"
#include "exporter/history/historian.h"
#include "exporter/core/log.h"
#include "exporter/sampling/rules_reload.h"
#include "exporter/sampling/sampler.h"

#define LOOK_SECONDS 0.5

/* Seconds between two checks until the first process of the pod is seen. It is less than the time
 * that starting a container takes, so that a short job is not missed. */
#define FIRST_LOOK_SECONDS 0.05

/* Waits for a signal and returns its number. Returns 0 when `seconds` have passed. Also returns 0
 * after SIGHUP, which reloads the rules. */
static int wait_signal(struct app *app, const sigset_t *signals, double seconds)
{
	int64_t ns = (int64_t)(seconds * 1e9);
	struct timespec t = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
	int n;

	do
		n = sigtimedwait(signals, NULL, &t);
	while (n < 0 && errno == EINTR);
	if (n == SIGHUP)
		rules_reload(app);
	return n > 0 && n != SIGHUP ? n : 0;
}

static const char *wait_for_signal(struct app *app, const sigset_t *signals)
{
	int n = 0;

	while (sigwait(signals, &n) != 0 || n == SIGHUP)
		if (n == SIGHUP)
			rules_reload(app);
	return sigabbrev_np(n);
}

struct last_sight {
	bool seen, active;
};

static int is_other(void *context, const char *name)
{
	const struct app *app = context;
	pid_t pid = process_of_name(name);

	return pid > 1 && pid != app->self->pid;
}

/* Returns true when the pod has a process other than the exporter and process 1, even if it belongs
 * to no job. */
static bool pod_is_busy(struct app *app, struct tree *proc)
{
	return proc && tree_list(proc, "", is_other, app) > 0;
}

/* Finds out whether the sampler has seen a run, and whether a run is active. Uses a snapshot that
 * is at most SHUTDOWN_SETTLE_SECONDS / 2 old, even if --sample.interval is longer. */
static struct last_sight look_at_runs(struct app *app)
{
	double most = fmin(2 * app->options->sample_interval, SHUTDOWN_SETTLE_SECONDS / 2);
	struct snapshot *s = sampler_runs(app->sampler, most, 1);
	struct last_sight ret = {0};

	for (size_t i = 0; s && i < s->n_runs; i++) {
		ret.seen = true;
		ret.active = ret.active || !s->runs[i].ended;
	}
	if (s)
		shared_drop(&s->shared);
	return ret;
}

/* Waits until the job has ended, after this server has received a signal: in a pod, the job has
 * received the same signal. The wait ends early at a second signal, or after
 * SHUTDOWN_GRACE_SECONDS. */
static void wait_for_end_of_job(struct app *app, const sigset_t *signals)
{
	struct mono begin = now_read().mono;

	while (look_at_runs(app).active && wait_signal(app, signals, LOOK_SECONDS) == 0 &&
		mono_seconds_between(begin, now_read().mono) < SHUTDOWN_GRACE_SECONDS)
		;
}

static const char *wait_for_job(struct app *app, const sigset_t *signals, struct tree *pod)
{
	struct mono begin = now_read().mono, idle_since = begin;
	bool seen = false;

	for (;;) {
		int n = wait_signal(app, signals, pod && !seen ? FIRST_LOOK_SECONDS : LOOK_SECONDS);
		struct last_sight s = {0};

		if (!pod || seen)
			s = look_at_runs(app);
		struct mono now = now_read().mono;

		if (n) {
			wait_for_end_of_job(app, signals);
			return sigabbrev_np(n);
		}
		/* Also look at the processes, because the sampler may miss a job that is short or
		 * was refused. */
		s.active = s.active || pod_is_busy(app, pod);
		seen = seen || s.seen || s.active;
		if (s.active || !seen)
			idle_since = now;
		/* A run may begin after the snapshot, or begin and end between two checks. Its
		 * start therefore also ends the idle time. */
		int64_t begun_ns = app->run_begun_ns;

		if (begun_ns > idle_since.ns)
			idle_since.ns = begun_ns;
		if (mono_seconds_between(idle_since, now) >= SHUTDOWN_SETTLE_SECONDS)
			return "job ended";
		if (!seen && mono_seconds_between(begin, now) >= app->options->exit_wait)
			return "no job began in the time of --exit-with-job.wait";
	}
}

static const char *wait_for_pod(struct app *app, const sigset_t *signals)
{
	struct tree *proc = NULL;

	/* If the exporter is process 1, it cannot see the job in another container. End
	 * immediately, so that the exporter does not keep the pod running. */
	if (app->self->pid == 1)
		return "no other container can be seen";
	if (tree_open(&proc, app->options->procfs, NULL))
		proc = NULL;
	const char *reason = wait_for_job(app, signals, proc);

	tree_free(proc);
	return reason;
}

static bool ends_with_pod(const struct app *app)
{
	return app->options->exit_with_job || app->options->jobs_pod;
}

const char *shutdown_wait(struct app *app, const sigset_t *signals)
{
	if (app->options->exit_with_job)
		return app->options->jobs_pod ? wait_for_pod(app, signals) :
						wait_for_job(app, signals, NULL);
	const char *reason = wait_for_signal(app, signals);

	if (ends_with_pod(app))
		wait_for_end_of_job(app, signals);
	return reason;
}

void shutdown_linger(struct app *app, const sigset_t *signals)
{
	double most = app->options->linger;
	struct mono begin = now_read().mono;
	struct snapshot *s = most > 0 ? sampler_runs(app->sampler, 0, 1) : NULL;

	if (!s)
		return;
	uint64_t generation = s->generation;

	shared_drop(&s->shared);
	log_line(LOG_LEVEL_INFO, "waiting for a last scrape", NULL);
	while (!sampler_was_scraped(app->sampler, generation) &&
		mono_seconds_between(begin, now_read().mono) < most &&
		wait_signal(app, signals, LOOK_SECONDS / 5) == 0)
		;
}

struct run_closing {
	const struct identity *self;
	bool more; /* true = more runs may need to be closed: call close_runs again */
};

static int close_runs(struct history *h, void *context, struct err *e)
{
	struct run_closing *c = context;
	const struct identity *self = c->self;
	const struct orphan_rule rule = {
		.now = wall_seconds(now_read().wall),
		.stale_seconds = INFINITY,
		.here = &self->here,
		.alive = identity_is_alive,
		.leaving_pid = self->pid,
		.leaving_start_ticks = self->start_ticks,
	};

	int code = history_close_orphans(h, &rule, e);

	c->more = code > 0;
	return code;
}

void shutdown_close_runs(struct app *app, const struct identity *self)
{
	/* `c` is static, because the historian's thread may still use it after a timeout. */
	static struct run_closing c;
	struct err e = {0};
	int code;

	if (!ends_with_pod(app) || !app->historian ||
		!historian_settle(app->historian, HISTORIAN_STOP_SECONDS))
		return;
	c.self = self;
	do
		code = historian_do_within(app->historian, close_runs, &c, HISTORIAN_STOP_SECONDS,
			&e);
	while (code == 0 && c.more);
	if (code)
		log_line(LOG_LEVEL_WARN, "open runs could not be closed", "err", e.text, NULL);
}
