/* Requests from other threads to the sampler thread. */
#include "exporter/sampling/sampler_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/history/historian.h"
#include "exporter/this_server/this_server.h"
#include "exporter/history/outcome.h"

/* A wait is divided into this many slices. After each slice, the waiting thread checks whether the
 * sampler still works. */
#define PATIENCE_SLICES 10
/* Timeout in seconds of further requests while the sampler does not answer. It is short, so that
 * they do not block all threads that make requests. */
#define PATIENCE_AGAIN_SECONDS 0.1

/* ---- snapshots ---- */

/* Makes the sampler tick if the snapshot (`snapshot_age`) is older than `max_age_seconds`. Waits
 * until a newer snapshot is there, or until the timeout. */
static void wait_for_tick(struct sampler *s, const struct snapshot_age *snapshot_age,
	enum tick_purpose purpose, double max_age_seconds, double timeout_seconds)
{
	struct timespec deadline = monotonic_after(timeout_seconds);
	struct mono requested_at = now_read().mono;

	pthread_mutex_lock(&s->lock);
	while (sampler_is_stale(snapshot_age, requested_at, max_age_seconds)) {
		if (s->doing != purpose && s->want < purpose) {
			s->want = purpose;
			/* Unlock before waking the sampler, which needs the lock at once. */
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

/* ---- the list of requests ---- */

/* The caller holds the lock. */
static struct sampler_request **last_request(struct sampler *s)
{
	struct sampler_request **end = &s->requests;

	while (*end)
		end = &(*end)->next;
	return end;
}

/* The caller holds the lock. */
static void withdraw(struct sampler *s, const struct sampler_request *r)
{
	struct sampler_request **at = &s->requests;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
}

/* Returns the CPU time of the sampler thread in nanoseconds. If this time does not grow, the thread
 * probably hangs in a file. */
static int64_t used_ns(const struct sampler *s)
{
	clockid_t clock;

	return pthread_getcpuclockid(s->thread, &clock) == 0 ? clock_read_ns(clock) : 0;
}

/* The timeout of a request. */
struct patience {
	/* the wait ends when the sampler has used no CPU time for this many seconds; INFINITY = no
	 * timeout */
	double seconds;
	const sigset_t *signals; /* the wait ends when one of these is pending; NULL = none */
};

static bool is_pending(const sigset_t *signals)
{
	sigset_t waiting, both;

	return signals && sigpending(&waiting) == 0 && sigandset(&both, &waiting, signals) == 0 &&
	       !sigisemptyset(&both);
}

/* Returns true when the sampler thread does not answer: `r` is not done, and the thread used no CPU
 * time for p.seconds. Returns false when `r` is done, or when a signal of p.signals is pending.
 * Waits for one of these three. The caller holds the lock.
 *
 * The timeout is divided into slices, because this process may be stopped (SIGSTOP) for longer than
 * the timeout. Such a stop counts as one slice. In the other slices, the sampler can show that it
 * works. */
static bool is_silent(struct sampler *s, const struct sampler_request *r, struct patience p)
{
	int64_t used = -1;

	for (int silent = 0; !r->done && (isinf(p.seconds) || silent < PATIENCE_SLICES); silent++) {
		bool again = s->silent && isfinite(p.seconds);
		double seconds = again ? fmin(p.seconds, PATIENCE_AGAIN_SECONDS) : p.seconds;
		struct timespec until = monotonic_after(seconds / PATIENCE_SLICES);

		while (!r->done && again == (s->silent && isfinite(p.seconds)) &&
			pthread_cond_timedwait(&s->ticked, &s->lock, &until) != ETIMEDOUT)
			;
		if (is_pending(p.signals))
			return false;
		if (used_ns(s) != used || r->is_certain)
			silent = 0;
		used = used_ns(s);
	}
	return !r->done;
}

/* Runs a request on the sampler thread. Returns 0 when the request is done; the caller then frees
 * `r`. After an error, the sampler thread owns `r`, and the caller must not use it. The errors are:
 * - -ECANCELED: the request will never begin.
 * - -EALREADY: the callback of the request has returned.
 * - -EINPROGRESS: the callback still runs. */
static int do_on_sampler(struct sampler *s, struct sampler_request *r, struct patience p)
{
	pthread_mutex_lock(&s->lock);
	*last_request(s) = r;
	sampler_wake(s);
	if (is_silent(s, r, p)) {
		s->silent = true;
		pthread_cond_broadcast(&s->ticked);
	}
	int code = r->done              ? 0 :
		   r->function_returned ? -EALREADY :
		   r->begun             ? -EINPROGRESS :
					  -ECANCELED;

	if (code == -ECANCELED) {
		withdraw(s, r);
		free(r);
	} else if (code) {
		r->abandoned = true;
	}
	pthread_mutex_unlock(&s->lock);
	return code;
}

static int do_patiently(struct sampler *s, struct sampler_request *r, double seconds, struct err *e)
{
	int code = do_on_sampler(s, r, (struct patience){.seconds = seconds});

	if (code)
		err_set(e, -ECANCELED, SAMPLER_NO_ANSWER);
	return code ? -ECANCELED : 0;
}

/* ---- runs ---- */

/* A request to follow a run. It has copies of run_id and job_name, because the caller may give up
 * and free them before the request runs. */
struct follow_request {
	struct sampler_request request;
	struct run_spec spec;
	struct run_begin record;
	bool records;
	char run_id[RUN_ID_MAX], job_name[JOB_KEY_MAX];
	struct account_note note;
	struct err e;
	int code;
};

/* Call it at the point of a request after which nothing can hang. The thread that made the request
 * then waits without a timeout until the request is done. Returns false when that thread has
 * already given up. */
static bool is_awaited(struct sampler *s, struct sampler_request *r)
{
	pthread_mutex_lock(&s->lock);
	bool ret = !r->abandoned;

	r->is_certain = ret;
	pthread_mutex_unlock(&s->lock);
	return ret;
}

/* Starts to follow a run. If the caller has given up meanwhile, concludes the run immediately,
 * because the caller would not report its end. */
static void do_follow(struct sampler *s, struct sampler_request *r)
{
	struct follow_request *f = (struct follow_request *)(void *)r;
	double nothing[RUN_N_METRICS];

	for (size_t i = 0; i < RUN_N_METRICS; i++)
		nothing[i] = NAN;

	s->host.now = now_read();
	f->code = jobs_follow(s->host.jobs, &s->host, &f->spec, &f->e);
	if (f->code)
		return;
	const struct snapshot *snapshot = sampler_tick(s, FOR_EVENT);

	if (f->records && jobs_note(s->host.jobs, &s->host, f->run_id, &f->note))
		f->record.memory_limit_bytes = f->note.memory_limit_bytes;
	if (!is_awaited(s, r)) {
		jobs_conclude(s->host.jobs, f->run_id, nothing, FINAL_AT_LEAST);
		return;
	}
	if (!f->records)
		return;
	f->record.server = this_server_of_run(s->app, &(struct machine){0});
	sample_rows_begin(s->sample_rows, f->run_id, snapshot);
	historian_run_begin(s->app->historian, &f->record);
}

int sampler_follow(struct sampler *s, const struct run_spec *spec, const struct run_begin *record,
	double seconds, struct account_note *ret, struct err *e)
{
	struct follow_request *f = xcalloc(1, sizeof *f);

	f->request.function = do_follow;
	f->spec = *spec;
	f->records = record != NULL;
	if (record)
		f->record = *record;
	text_copy(spec->run_id, f->run_id, sizeof f->run_id);
	text_copy(spec->job_name, f->job_name, sizeof f->job_name);
	f->spec.run_id = f->record.run_id = f->run_id;
	f->spec.job_name = f->record.job_name = f->job_name;
	int code = do_patiently(s, &f->request, seconds, e);

	if (code)
		return code;
	code = f->code;
	if (code && e)
		*e = f->e;
	if (code == 0 && ret)
		*ret = f->note;
	free(f);
	return code;
}

struct conclude_request {
	struct sampler_request request;
	char run_id[RUN_ID_MAX];
	double final[RUN_N_METRICS];
	enum final_kind kind;
	struct run_finish finish;
	bool finishes;
};

static void write_correction(struct sampler *s, const struct snapshot *snapshot, const char *run_id)
{
	const struct sample *row;

	if (sample_rows_correction(s->sample_rows, snapshot, run_id, &row))
		historian_samples(s->app->historian, row, 1);
}

static void do_conclude(struct sampler *s, struct sampler_request *r)
{
	struct conclude_request *c = (struct conclude_request *)(void *)r;
	struct account_note note;

	if (sample_rows_records(s->sample_rows, c->run_id) && isfinite(sampler_slowdown(s)))
		sampler_write_rows(s, sampler_tick(s, FOR_EVENT), c->run_id);
	jobs_conclude(s->host.jobs, c->run_id, c->final, c->kind);
	const struct snapshot *snapshot = sampler_tick(s, FOR_END);

	if (!sample_rows_records(s->sample_rows, c->run_id))
		return;
	write_correction(s, snapshot, c->run_id);
	sample_rows_end(s->sample_rows, c->run_id);
	if (!c->finishes)
		return;
	if (jobs_note(s->host.jobs, &s->host, c->run_id, &note))
		outcome_note(&c->finish, &note);
	c->finish.server = this_server_of_run(s->app, &(struct machine){0});
	historian_run_finish(s->app->historian, &c->finish);
}

int sampler_conclude(struct sampler *s, const char *run_id, const double final[RUN_N_METRICS],
	enum final_kind kind, const struct run_finish *finish, double seconds, struct err *e)
{
	struct conclude_request *c = xcalloc(1, sizeof *c);

	c->request.function = do_conclude;
	text_copy(run_id, c->run_id, sizeof c->run_id);
	memcpy(c->final, final, sizeof c->final);
	c->kind = kind;
	c->finishes = finish != NULL;
	if (finish)
		c->finish = *finish;
	c->finish.run_id = c->run_id;
	int code = do_patiently(s, &c->request, seconds, e);

	if (code == 0)
		free(c);
	return code;
}

struct find_request {
	struct sampler_request request;
	void (*function)(struct finder *f, const struct host *host, void *context);
	struct shared *context; /* referenced until `function` has returned */
};

static void do_find(struct sampler *s, struct sampler_request *r)
{
	const struct find_request *f = (const struct find_request *)(void *)r;

	s->host.now = now_read();
	f->function(s->finder, &s->host, f->context);
	shared_drop(f->context);
	pthread_mutex_lock(&s->lock);
	r->function_returned = true;
	pthread_mutex_unlock(&s->lock);
	sampler_tick(s, FOR_EVENT);
}

bool sampler_find(struct sampler *s,
	void (*function)(struct finder *f, const struct host *host, void *context), void *context,
	const sigset_t *signals)
{
	const struct patience p = {SAMPLER_PATIENCE_SECONDS, signals};

	if (!s->finder)
		return false;
	struct find_request *f = xcalloc(1, sizeof *f);

	*f = (struct find_request){{.function = do_find}, function, context};
	shared_hold(context);
	int code = do_on_sampler(s, &f->request, p);

	if (code == 0)
		free(f);
	else if (code == -ECANCELED)
		shared_drop(context);
	return code == 0 || code == -EALREADY;
}

struct sampler_call_request {
	struct sampler_request request;
	void (*function)(const struct host *host, void *context);
	void *context;
};

static void do_call(struct sampler *s, struct sampler_request *r)
{
	const struct sampler_call_request *c = (const struct sampler_call_request *)(void *)r;

	c->function(&s->host, c->context);
}

int sampler_call(struct sampler *s, void (*function)(const struct host *host, void *context),
	void *context, double seconds, struct err *e)
{
	struct sampler_call_request *c = xcalloc(1, sizeof *c);

	*c = (struct sampler_call_request){{.function = do_call}, function, context};
	int code = do_patiently(s, &c->request, seconds, e);

	if (code == 0)
		free(c);
	return code;
}

static void do_look(struct sampler *s, struct sampler_request *r)
{
	(void)r;
	sampler_tick(s, FOR_EVENT);
}

int sampler_look(struct sampler *s, double seconds, struct err *e)
{
	struct sampler_request *r = xcalloc(1, sizeof *r);

	r->function = do_look;
	int code = do_patiently(s, r, seconds, e);

	if (code == 0)
		free(r);
	return code;
}
