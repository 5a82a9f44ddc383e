#include "exporter/sampling/follower.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "exporter/core/log.h"
#include "exporter/core/worker.h"
#include "exporter/sampling/sampler.h"
#include "exporter/history/historian.h"
#include "exporter/history/history.h"
#include "exporter/history/read_failed.h"
#include "recommender/run.h"

#define POLL_SECONDS 0.5

struct followed {
	char run_id[RUN_ID_MAX];
	bool still_open;
};

struct follower {
	struct app *app;
	const struct identity *self;
	struct history *history;
	/* results of history_version and history_activity when the history was last read, to see
	 * whether it has changed since; -1 = never read */
	int64_t version, activity;
	size_t n, room;
	struct followed *followed;
	struct complaint complaint;
	struct worker worker;
};

static struct followed *find_followed(struct follower *f, const char *run_id)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->followed[i].run_id, run_id) == 0)
			return &f->followed[i];
	return NULL;
}

/* Returns true for a run that this thread must follow: another exporter on this machine records the
 * run and is alive. Any other run is continued by the finder or closed by upkeep. */
static bool is_here(const struct follower *f, const struct open_run *r)
{
	const struct run_root *here = &f->self->here;

	return r->owner_pid != f->self->pid && r->root.pid_namespace &&
	       r->root.pid_namespace == here->pid_namespace &&
	       strcmp(r->root.boot_id, here->boot_id) == 0 &&
	       identity_is_alive(NULL, r->owner_pid, r->owner_start_ticks);
}

static void follow_run(struct follower *f, const struct open_run *r)
{
	struct err e = {0};
	struct run_spec spec = {
		.run_id = r->run_id,
		.job_name = r->job_name,
		.pid = r->root.pid,
		.start_ticks = r->root.start_ticks,
		.reaper_pid = r->root.reaper_pid,
		.own_numbers = true,
		.started_at = wall_from_seconds(r->started_at),
		.awaits_conclusion = true,
	};
	int code = sampler_follow(f->app->sampler, &spec, NULL, INFINITY, NULL, &e);

	if (code && code != -ESRCH)
		log_line(LOG_LEVEL_WARN, "run not followed", "run_id", r->run_id, "err", e.text,
			NULL);
	if (code)
		return;
	GROW(f->followed, f->n, f->room);
	f->followed[f->n] = (struct followed){.still_open = true};
	text_copy(r->run_id, f->followed[f->n++].run_id, RUN_ID_MAX);
	log_line(LOG_LEVEL_DEBUG, "follows run", "job_name", r->job_name, "run_id", r->run_id,
		NULL);
}

/* Reads the exact values of an ended run from its record. */
static void final_of(const struct run *r, double final[RUN_N_METRICS])
{
	for (size_t i = 0; i < RUN_N_METRICS; i++) {
		const struct metric *m = &run_metrics[i];

		final[i] = NAN;
		if (m->fold == FOLD_DELTA)
			final[i] = run_total(r, m->column);
		else if (m->fold == FOLD_PEAK)
			final[i] = run_peak(r, m->column);
	}
	final[RUN_DURATION_SECONDS] = r->duration_seconds;
}

/* Ends a run in the sampler that has ended in the history, with the exact values from its record.
 * If the record cannot be read, the sampler continues to follow the run, and the next call ends
 * it. */
static int conclude(struct follower *f, const char *run_id, struct arena *arena, struct err *e)
{
	struct run_query q = {.run_id = run_id, .limit = 1};
	double final[RUN_N_METRICS];
	struct runs runs = {0};
	int code = history_runs(f->history, &q, arena, &runs, e);

	if (code)
		return code;
	for (size_t i = 0; i < RUN_N_METRICS; i++)
		final[i] = NAN;
	if (runs.n == 1)
		final_of(&runs.run[0], final);
	sampler_conclude(f->app->sampler, run_id, final, FINAL_EXACT, NULL, INFINITY, NULL);
	return 0;
}

struct known_jobs {
	size_t n;
	const struct job_row *job;
};

static void set_outcome(struct jobs *jobs, const struct job_row *job, enum outcome o)
{
	const char *name = run_outcome_name(o);

	if (!job->outcomes[o])
		return;
	jobs_set_outcome(jobs, job->job_name, name, job->outcomes[o]);
	jobs_set_exit(jobs, job->job_name, name, job->exit[o].code, job->exit[o].signal);
}

static void set_ended(const struct host *host, void *context)
{
	const struct known_jobs *k = context;

	/* Set the oldest job first and the newest last: when there are too many jobs, jobs.c drops
	 * the one that was set first. */
	for (size_t i = k->n; i-- > 0;) {
		const struct job_row *job = &k->job[i];

		jobs_set_last_end(host->jobs, job->job_name, job->last_ended_at);
		for (unsigned o = OUTCOME_RUNNING + 1; o < OUTCOME_COUNT; o++)
			set_outcome(host->jobs, job, (enum outcome)o);
	}
}

/* Passes the numbers of ended runs of each job to the sampler. They include runs that were too
 * short to be followed. */
static int look_at_jobs(struct follower *f, struct arena *arena, struct err *e)
{
	int64_t activity = history_activity(f->history);
	struct job_row *jobs;
	size_t n;

	if (activity >= 0 && activity == f->activity)
		return 0;
	int code = history_jobs(f->history, JOBS_MAX, arena, &jobs, &n, e);

	if (code)
		return code;
	sampler_call(f->app->sampler, set_ended, &(struct known_jobs){n, jobs}, INFINITY, NULL);
	f->activity = activity;
	return 0;
}

static int look_at_history(struct follower *f, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct open_run *open;
	size_t n, kept_n = 0;
	int code = history_open_runs(f->history, &arena, &open, &n, e);

	if (code)
		return code;
	for (size_t i = 0; i < f->n; i++)
		f->followed[i].still_open = false;
	for (size_t i = 0; i < n; i++) {
		struct followed *known = find_followed(f, open[i].run_id);

		if (known)
			known->still_open = true;
		else if (is_here(f, &open[i]))
			follow_run(f, &open[i]);
	}
	for (size_t i = 0; i < f->n; i++) {
		bool over = !f->followed[i].still_open && code == 0;

		if (over)
			code = conclude(f, f->followed[i].run_id, &arena, e);
		if (!over || code)
			f->followed[kept_n++] = f->followed[i];
	}
	f->n = kept_n;
	return code ? code : look_at_jobs(f, &arena, e);
}

/* The function of the worker: opens the history if it is not open, and reads it when it has changed
 * (history_version). */
static double poll_history(void *context)
{
	struct follower *f = context;
	struct err e = {0};
	int code = 0;

	if (!f->history) {
		code = history_open(&f->history, f->app->history_path, HISTORY_READ,
			&f->app->columns, NULL, &e);
		f->version = f->activity = -1;
	}
	int64_t version = f->history ? history_version(f->history) : -1;

	if (f->history && (version < 0 || version != f->version)) {
		code = look_at_history(f, &e);
		f->version = version;
	}
	if (code == 0) {
		log_complaint_over(&f->complaint);
		return POLL_SECONDS;
	}
	history_read_failed(f->app, code);
	if (code != -ENOENT && log_complaint_due(&f->complaint))
		log_line(LOG_LEVEL_WARN, "history cannot be read; retrying", "err", e.text, NULL);
	history_close(f->history);
	f->history = NULL;
	return POLL_SECONDS;
}

void follower_stop(struct follower *f)
{
	if (!f)
		return;
	worker_done(&f->worker);
	history_close(f->history);
	free(f->followed);
	free(f);
}

int follower_start(struct follower **ret, struct app *app, const struct identity *self,
	struct err *e)
{
	struct follower *f = xcalloc(1, sizeof *f);

	f->app = app;
	f->self = self;
	worker_init(&f->worker);
	f->worker.loose = historian_is_loose(f->app->historian);
	int code = worker_start(&f->worker, "follower", poll_history, f, e);

	if (code)
		follower_stop(f);
	else
		*ret = f;
	return code;
}
