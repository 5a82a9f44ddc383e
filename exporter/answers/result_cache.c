#include "exporter/answers/result_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/core/memory_budget.h"

TAILQ_HEAD(results, result);

struct result_cache {
	pthread_mutex_t lock;   /* guards the members below */
	struct results results; /* most recently used first */
	size_t n, bytes;
};

static void release(struct shared *s)
{
	struct result *r = (struct result *)(void *)s;
	struct arena arena = r->arena;

	free(r);
	arena_done(&arena);
}

struct result *result_new(size_t size)
{
	struct result *r = xcalloc(1, size);

	r->bytes = size;
	shared_init(&r->shared, release);
	return r;
}

struct result_cache *result_cache_new(void)
{
	struct result_cache *c = xcalloc(1, sizeof *c);

	pthread_mutex_init(&c->lock, NULL);
	TAILQ_INIT(&c->results);
	return c;
}

/* Removes `r` from the cache. The caller holds the lock. */
static void drop_entry(struct result_cache *c, struct result *r)
{
	TAILQ_REMOVE(&c->results, r, link);
	c->n--;
	c->bytes -= r->bytes;
	shared_drop(&r->shared);
}

void result_cache_free(struct result_cache *c)
{
	if (!c)
		return;
	while (!TAILQ_EMPTY(&c->results))
		drop_entry(c, TAILQ_FIRST(&c->results));
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void result_cache_tidy(struct result_cache *c, double seconds)
{
	struct mono now = now_read().mono;
	struct result *last;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	while ((last = TAILQ_LAST(&c->results, results)) != NULL &&
		mono_seconds_between(last->used, now) > seconds)
		drop_entry(c, last);
	pthread_mutex_unlock(&c->lock);
}

/* Returns the cached result with this key, or NULL. The caller holds the lock. */
static struct result *kept_by(struct result_cache *c, const char *key)
{
	for (struct result *r = TAILQ_FIRST(&c->results); r; r = TAILQ_NEXT(r, link))
		if (strcmp(r->key, key) == 0)
			return r;
	return NULL;
}

struct result *result_find(struct result_cache *c, const char *key, const char *state,
	double max_age_seconds)
{
	struct mono now = now_read().mono;

	if (!c)
		return NULL;
	pthread_mutex_lock(&c->lock);
	struct result *r = kept_by(c, key);

	if (r && (strcmp(r->state, state) != 0 ||
			 mono_seconds_between(r->made, now) > max_age_seconds))
		r = NULL;
	if (r) {
		r->used = now;
		shared_hold(&r->shared);
		TAILQ_REMOVE(&c->results, r, link);
		TAILQ_INSERT_HEAD(&c->results, r, link);
	}
	pthread_mutex_unlock(&c->lock);
	return r;
}

static size_t most_bytes(void)
{
	size_t part = memory_budget()->heap / RESULTS_PARTS;

	return part < RESULTS_BYTES_MAX ? part : RESULTS_BYTES_MAX;
}

void result_keep(struct result_cache *c, struct result *r, const char *key, const char *state)
{
	if (!c)
		return;
	r->key = arena_text(&r->arena, key, strlen(key));
	r->state = arena_text(&r->arena, state, strlen(state));
	r->bytes += arena_bytes(&r->arena);
	if (r->bytes > most_bytes())
		return;
	shared_hold(&r->shared);
	r->made = r->used = now_read().mono;
	pthread_mutex_lock(&c->lock);
	struct result *before = kept_by(c, key);

	if (before)
		drop_entry(c, before);
	TAILQ_INSERT_HEAD(&c->results, r, link);
	c->n++;
	c->bytes += r->bytes;
	while (c->n > RESULTS_MAX || c->bytes > most_bytes())
		drop_entry(c, TAILQ_LAST(&c->results, results));
	pthread_mutex_unlock(&c->lock);
}
