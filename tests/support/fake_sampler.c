#include "tests/support/fake_sampler.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "tests/support/sample_snapshot.h"

struct sampler {
	pthread_mutex_t lock; /* guards all members */
	struct snapshot_pool *pool;
	struct snapshot *newest;
	bool hangs;
	double age, wait;
	uint64_t scraped;
};

struct sampler *fake_sampler_new(void)
{
	struct sampler *s = xcalloc(1, sizeof *s);

	pthread_mutex_init(&s->lock, NULL);
	s->pool = sample_pool();
	return s;
}

void fake_sampler_free(struct sampler *s)
{
	if (s->newest)
		shared_drop(&s->newest->shared);
	snapshot_pool_free(s->pool);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void tick(struct sampler *s)
{
	if (s->newest)
		shared_drop(&s->newest->shared);
	s->newest = sample_snapshot(s->pool);
}

void fake_sampler_tick(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	tick(s);
	pthread_mutex_unlock(&s->lock);
}

void fake_sampler_hang(struct sampler *s, double age_seconds)
{
	pthread_mutex_lock(&s->lock);
	s->hangs = true;
	s->age = age_seconds;
	if (s->newest)
		s->newest->at.mono.ns -= (int64_t)(age_seconds * 1e9);
	pthread_mutex_unlock(&s->lock);
}

uint64_t fake_sampler_scraped(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	uint64_t generation = s->scraped;

	pthread_mutex_unlock(&s->lock);
	return generation;
}

double fake_sampler_wait(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	double wait = s->wait;

	s->wait = 0;
	pthread_mutex_unlock(&s->lock);
	return wait;
}

uint64_t fake_sampler_generation(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	uint64_t generation = s->newest ? s->newest->generation : 0;

	pthread_mutex_unlock(&s->lock);
	return generation;
}

/* ---- exporter/sampling/sampler.h ---- */

int sampler_start(struct sampler **ret, struct app *app, struct job_rules *take, struct err *e)
{
	(void)take;
	(void)ret;
	(void)app;
	return err_set(e, -ENOSYS, "this is a sampler for tests");
}

void sampler_stop(struct sampler *s)
{
	(void)s;
}

struct snapshot *sampler_scrape(struct sampler *s, double max_age_seconds, double timeout_seconds)
{
	pthread_mutex_lock(&s->lock);
	if (timeout_seconds > s->wait)
		s->wait = timeout_seconds;
	if (s->newest && !s->hangs &&
		mono_seconds_between(s->newest->at.mono, now_read().mono) > max_age_seconds)
		tick(s);
	if (s->newest)
		shared_hold(&s->newest->shared);
	struct snapshot *newest = s->newest;

	pthread_mutex_unlock(&s->lock);
	return newest;
}

struct snapshot *sampler_runs(struct sampler *s, double max_age_seconds, double timeout_seconds)
{
	return sampler_scrape(s, max_age_seconds, timeout_seconds);
}

void sampler_scraped(struct sampler *s, uint64_t generation)
{
	pthread_mutex_lock(&s->lock);
	s->scraped = generation;
	pthread_mutex_unlock(&s->lock);
}

double sampler_age(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	double age = s->hangs ? s->age : s->newest ? 0 : INFINITY;

	pthread_mutex_unlock(&s->lock);
	return age;
}

bool sampler_find(struct sampler *s,
	void (*function)(struct finder *f, const struct host *host, void *context), void *context,
	const sigset_t *signals)
{
	(void)s;
	(void)function;
	(void)context;
	(void)signals;
	return false;
}
