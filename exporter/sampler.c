/* The sampling loop. */
#include "exporter/sampler.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/thread.h"
#include "collectors/collector.h"
#include "exporter/active.h"
#include "exporter/finder.h"
#include "exporter/fold.h"
#include "exporter/historian.h"
#include "exporter/log.h"
#include "exporter/machine.h"
#include "exporter/outcome.h"
#include "exporter/rights.h"
#include "exporter/outlook.h"
#include "exporter/trim.h"

#define STACK_SIZE (256 * 1024)
/* How many rows there are before memory of the start is given back. */
#define TRIM_ROWS 3

/* What another thread wants done on this one; lives on the caller's stack. */
struct request {
	struct request *next;
	void (*function)(struct sampler *s, void *context);
	void *context;
	bool done;
};

struct sampler {
	struct app *app;
	struct host host;
	struct active_set *active;
	struct snapshot_pool *pool;
	struct latest latest;
	struct fold *fold;
	struct finder *finder; /* NULL: runs are not looked for */
	struct mono next_row;
	uint64_t samples_missed;
	uint64_t rows; /* asked for */
	struct rights rights;

	int wake; /* eventfd: something below changed */
	pthread_t thread;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t ticked;
	bool stop, want_tick;
	struct request *requests;
	uint64_t generation, scraped_generation;
	struct mono tick_at, tick_ended;
};

/* ---- one tick ---- */

static void publish(struct sampler *s, struct snapshot *snapshot)
{
	latest_set(&s->latest, &snapshot->shared);
	pthread_mutex_lock(&s->lock);
	s->generation = snapshot->generation;
	s->tick_at = snapshot->at.mono;
	s->tick_ended = now_read().mono;
	pthread_cond_broadcast(&s->ticked);
	pthread_mutex_unlock(&s->lock);
}

/* Ended runs go when somebody has seen them, or after a while. */
static void drop_ended(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	uint64_t seen = s->scraped_generation;

	pthread_mutex_unlock(&s->lock);
	jobs_drop_ended(s->host.jobs, &s->host, seen, LINGER_SECONDS);
}

/* A snapshot of now, which stays valid until the next tick. */
static const struct snapshot *tick(struct sampler *s)
{
	struct snapshot *snapshot = snapshot_take(s->pool);

	s->host.now = snapshot->at = now_read();
	machine_tell(s->app, &s->host.cloud);
	drop_ended(s);
	if (s->finder)
		finder_look(s->finder, &s->host);
	jobs_read(s->host.jobs, &s->host, snapshot);
	active_collect(s->active, &s->host, snapshot);
	outlooks_add(s->app->outlooks, snapshot);
	rights_note(&s->rights, snapshot);
	if (s->finder)
		finder_settle(s->finder, &s->host, snapshot);
	publish(s, snapshot);
	return snapshot;
}

static void write_rows(struct sampler *s, const struct snapshot *snapshot, const char *run_id)
{
	const struct sample *rows;
	size_t n = fold_rows(s->fold, snapshot, run_id, &rows);

	if (n)
		historian_samples(s->app->historian, rows, n);
}

static void write_correction(struct sampler *s, const struct snapshot *snapshot, const char *run_id)
{
	const struct sample *row;

	if (fold_correction(s->fold, snapshot, run_id, &row))
		historian_samples(s->app->historian, row, 1);
}

/* The snapshot for a history row; the row after that is one interval later, whatever was missed. */
static void row_tick(struct sampler *s)
{
	int64_t interval = (int64_t)(s->app->options->sample_interval * 1e9);
	int64_t now = now_read().mono.ns;

	s->next_row.ns += interval;
	if (s->next_row.ns <= now) {
		s->samples_missed += (uint64_t)((now - s->next_row.ns) / interval) + 1;
		s->next_row.ns = now + interval;
	}
	write_rows(s, tick(s), NULL);
	/* By then whatever is read for the first time has been, and the rest has started. */
	if (++s->rows == TRIM_ROWS)
		trim_start();
}

/* ---- the loop ---- */

static void wake(struct sampler *s)
{
	uint64_t one = 1;

	/* Fails only when the counter is full: it is awake then. */
	while (write(s->wake, &one, sizeof one) < 0 && errno == EINTR)
		;
}

/* Until something is asked for, the root of a run ends, or the time is over. */
static void wait_for_work(struct sampler *s, double seconds)
{
	struct pollfd fds[] = {
		{.fd = s->wake, .events = POLLIN},
		{.fd = jobs_ending_fd(s->host.jobs), .events = POLLIN},
	};
	int64_t ns = (int64_t)(seconds * 1e9);
	struct timespec t = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
	uint64_t ignored;

	pthread_mutex_unlock(&s->lock);
	int n = ppoll(fds, ARRAY_LEN(fds), &t, NULL);

	while (n > 0 && fds[0].revents && read(s->wake, &ignored, sizeof ignored) > 0)
		;
	pthread_mutex_lock(&s->lock);
	s->want_tick = s->want_tick || (n > 0 && fds[1].revents);
}

static void run_requests(struct sampler *s)
{
	while (s->requests) {
		struct request *r = s->requests;

		s->requests = r->next;
		pthread_mutex_unlock(&s->lock);
		r->function(s, r->context);
		pthread_mutex_lock(&s->lock);
		r->done = true;
		pthread_cond_broadcast(&s->ticked);
	}
}

static void *sampler_loop(void *context)
{
	struct sampler *s = context;

	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		double left = mono_seconds_between(now_read().mono, s->next_row);

		if (s->requests) {
			run_requests(s);
			continue;
		}
		if (left > 0 && !s->want_tick) {
			wait_for_work(s, left);
			continue;
		}
		s->want_tick = false;
		pthread_mutex_unlock(&s->lock);
		if (left <= 0)
			row_tick(s);
		else
			tick(s);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	row_tick(s);
	return NULL;
}

/* ---- start and stop ---- */

static void sampler_free(struct sampler *s)
{
	finder_free(s->finder);
	active_stop(s->active);
	latest_done(&s->latest);
	snapshot_pool_free(s->pool);
	fold_free(s->fold);
	jobs_free(s->host.jobs);
	host_close(&s->host);
	closep(&s->wake);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->ticked);
	free(s);
}

int sampler_start(struct sampler **ret, struct app *app, struct err *e)
{
	struct sampler *s = xcalloc(1, sizeof *s);
	pthread_condattr_t monotonic;

	s->app = app;
	s->latest = LATEST_INIT;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->ticked, &monotonic);
	pthread_condattr_destroy(&monotonic);

	const struct options *o = app->options;
	int code = host_open(&s->host, &(struct host_paths){o->procfs, o->sysfs, o->rootfs}, e);

	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (code == 0 && s->wake < 0)
		code = err_system(e, -errno, "eventfd");
	if (code == 0) {
		s->host.jobs = jobs_new();
		s->active = active_start(app->options, &s->host);
		active_watch(s->active, &(struct self_sources){app->historian, &s->samples_missed});
		s->pool = snapshot_pool_new(active_list(s->active));
		s->fold = fold_new(&app->columns);
		s->finder = app->self ? finder_new(app, s->fold) : NULL;
		s->next_row = s->host.now.mono;
		code = thread_start(&s->thread, "sampler", STACK_SIZE, sampler_loop, s, e);
	}
	if (code) {
		sampler_free(s);
		return code;
	}
	*ret = s;
	return 0;
}

void sampler_stop(struct sampler *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	wake(s);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	sampler_free(s);
}

/* ---- what other threads ask ---- */

/* The lock is held. */
static bool is_older(const struct sampler *s, struct mono asked, double max_age_seconds)
{
	double took = mono_seconds_between(s->tick_at, s->tick_ended);

	if (max_age_seconds > 0 && took * SAMPLER_TICKS_APART > max_age_seconds)
		max_age_seconds = took * SAMPLER_TICKS_APART;
	return mono_seconds_between(s->tick_at, asked) > max_age_seconds;
}

struct snapshot *sampler_snapshot(struct sampler *s, double max_age_seconds, double timeout_seconds)
{
	struct timespec deadline = monotonic_after(timeout_seconds);
	struct mono asked = now_read().mono;

	pthread_mutex_lock(&s->lock);
	while (s->generation == 0 || is_older(s, asked, max_age_seconds)) {
		s->want_tick = true;
		wake(s);
		if (pthread_cond_timedwait(&s->ticked, &s->lock, &deadline) == ETIMEDOUT)
			break;
	}
	pthread_mutex_unlock(&s->lock);
	return (struct snapshot *)(void *)latest_get(&s->latest);
}

double sampler_age(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	double age =
		s->generation ? mono_seconds_between(s->tick_ended, now_read().mono) : INFINITY;

	pthread_mutex_unlock(&s->lock);
	return age;
}

void sampler_scraped(struct sampler *s, uint64_t generation)
{
	pthread_mutex_lock(&s->lock);
	if (generation > s->scraped_generation)
		s->scraped_generation = generation;
	pthread_mutex_unlock(&s->lock);
}

bool sampler_was_scraped(struct sampler *s, uint64_t generation)
{
	pthread_mutex_lock(&s->lock);
	bool scraped = s->scraped_generation >= generation;

	pthread_mutex_unlock(&s->lock);
	return scraped;
}

static void do_on_sampler(struct sampler *s, void (*function)(struct sampler *s, void *context),
	void *context)
{
	struct request r = {.function = function, .context = context};

	pthread_mutex_lock(&s->lock);
	struct request **end = &s->requests;

	while (*end)
		end = &(*end)->next;
	*end = &r;
	wake(s);
	while (!r.done)
		pthread_cond_wait(&s->ticked, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

struct follow {
	const struct run_spec *spec;
	const struct run_begin *record;
	struct err *e;
	int code;
};

static void do_follow(struct sampler *s, void *context)
{
	struct follow *f = context;
	struct account_note note;

	s->host.now = now_read();
	f->code = jobs_follow(s->host.jobs, &s->host, f->spec, f->e);
	if (f->code)
		return;
	const struct snapshot *snapshot = tick(s);

	if (!f->record)
		return;
	struct run_begin begin = *f->record;

	if (jobs_note(s->host.jobs, &s->host, f->spec->run_id, &note))
		begin.memory_limit_bytes = note.memory_limit_bytes;
	begin.server = machine_of_run(s->app, &(struct machine){0});
	fold_begin(s->fold, f->spec->run_id, snapshot);
	historian_run_begin(s->app->historian, &begin);
}

int sampler_follow(struct sampler *s, const struct run_spec *spec, const struct run_begin *record,
	struct err *e)
{
	struct follow f = {.spec = spec, .record = record, .e = e};

	do_on_sampler(s, do_follow, &f);
	return f.code;
}

struct conclusion {
	const char *run_id;
	const double *final;
	enum final_kind kind;
	const struct run_finish *finish;
};

static void do_conclude(struct sampler *s, void *context)
{
	const struct conclusion *c = context;
	struct account_note note;

	if (fold_records(s->fold, c->run_id))
		write_rows(s, tick(s), c->run_id);
	jobs_conclude(s->host.jobs, c->run_id, c->final, c->kind);
	const struct snapshot *snapshot = tick(s);

	if (!fold_records(s->fold, c->run_id))
		return;
	write_correction(s, snapshot, c->run_id);
	fold_end(s->fold, c->run_id);
	if (!c->finish)
		return;
	struct run_finish finish = *c->finish;

	if (jobs_note(s->host.jobs, &s->host, c->run_id, &note))
		outcome_note(&finish, &note);
	finish.server = machine_of_run(s->app, &(struct machine){0});
	historian_run_finish(s->app->historian, &finish);
}

void sampler_conclude(struct sampler *s, const char *run_id, const double final[RUN_N_METRICS],
	enum final_kind kind, const struct run_finish *finish)
{
	struct conclusion c = {run_id, final, kind, finish};

	do_on_sampler(s, do_conclude, &c);
}

struct find {
	void (*function)(struct finder *f, const struct host *host, void *context);
	void *context;
};

static void do_find(struct sampler *s, void *context)
{
	const struct find *f = context;

	s->host.now = now_read();
	f->function(s->finder, &s->host, f->context);
	tick(s);
}

bool sampler_find(struct sampler *s,
	void (*function)(struct finder *f, const struct host *host, void *context), void *context)
{
	struct find f = {function, context};

	if (s->finder)
		do_on_sampler(s, do_find, &f);
	return s->finder != NULL;
}

struct call {
	void (*function)(const struct host *host, void *context);
	void *context;
};

static void do_call(struct sampler *s, void *context)
{
	const struct call *c = context;

	c->function(&s->host, c->context);
}

void sampler_call(struct sampler *s, void (*function)(const struct host *host, void *context),
	void *context)
{
	struct call c = {function, context};

	do_on_sampler(s, do_call, &c);
}
