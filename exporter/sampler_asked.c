/* What other threads ask of the sampler. */
#include "exporter/sampler_private.h"

#include <errno.h>
#include <math.h>

#include "exporter/historian.h"
#include "exporter/machine.h"
#include "exporter/outcome.h"

/* ---- snapshots ---- */

/* Until taken is that young, or the time is over; makes the sampler tick. */
static void wait_for_tick(struct sampler *s, const struct taken *taken, enum purpose purpose,
	double max_age_seconds, double timeout_seconds)
{
	struct timespec deadline = monotonic_after(timeout_seconds);
	struct mono asked = now_read().mono;

	pthread_mutex_lock(&s->lock);
	while (taken_is_older(taken, asked, max_age_seconds)) {
		if (s->doing != purpose && s->want < purpose) {
			s->want = purpose;
			/* Not with the lock, which it takes first. */
			pthread_mutex_unlock(&s->lock);
			sampler_wake(s);
			pthread_mutex_lock(&s->lock);
			continue;
		}
		if (pthread_cond_timedwait(&s->ticked, &s->lock, &deadline) == ETIMEDOUT)
			break;
	}
	pthread_mutex_unlock(&s->lock);
}

struct snapshot *sampler_scrape(struct sampler *s, double max_age_seconds, double timeout_seconds)
{
	wait_for_tick(s, &s->all, FOR_SCRAPE, max_age_seconds, timeout_seconds);
	return (struct snapshot *)(void *)latest_get(&s->all_now);
}

struct snapshot *sampler_runs(struct sampler *s, double max_age_seconds, double timeout_seconds)
{
	wait_for_tick(s, &s->runs, FOR_EVENT, max_age_seconds, timeout_seconds);
	return (struct snapshot *)(void *)latest_get(&s->runs_now);
}

double sampler_age(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	double age =
		s->tick_ended.ns ? mono_seconds_between(s->tick_ended, now_read().mono) : INFINITY;

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

/* ---- runs ---- */

static void do_on_sampler(struct sampler *s, void (*function)(struct sampler *s, void *context),
	void *context)
{
	struct request r = {.function = function, .context = context};

	pthread_mutex_lock(&s->lock);
	struct request **end = &s->requests;

	while (*end)
		end = &(*end)->next;
	*end = &r;
	sampler_wake(s);
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
	const struct snapshot *snapshot = sampler_tick(s, FOR_EVENT);

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

static void write_correction(struct sampler *s, const struct snapshot *snapshot, const char *run_id)
{
	const struct sample *row;

	if (fold_correction(s->fold, snapshot, run_id, &row))
		historian_samples(s->app->historian, row, 1);
}

static void do_conclude(struct sampler *s, void *context)
{
	const struct conclusion *c = context;
	struct account_note note;

	if (fold_records(s->fold, c->run_id))
		sampler_write_rows(s, sampler_tick(s, FOR_EVENT), c->run_id);
	jobs_conclude(s->host.jobs, c->run_id, c->final, c->kind);
	const struct snapshot *snapshot = sampler_tick(s, FOR_EVENT);

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
	sampler_tick(s, FOR_EVENT);
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
