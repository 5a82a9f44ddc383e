/* Results that stay true while the runs are the same. */
#include "exporter/answers/result_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"

#define PASTS_MAX 16
/* Samples become fewer and coarser with age, without a change of the runs. */
#define VALID_SECONDS 600.0

struct entry {
	uint64_t runs; /* what they are, as one number; 0 = this place is free */
	uint64_t job;  /* whose */
	struct past past;
	struct arena arena; /* of its phases */
	struct mono made, used;
};

struct past_cache {
	pthread_mutex_t lock; /* guards entry */
	struct entry entry[PASTS_MAX];
};

struct past_cache *past_cache_new(void)
{
	struct past_cache *c = xcalloc(1, sizeof *c);

	pthread_mutex_init(&c->lock, NULL);
	return c;
}

static void drop(struct entry *e)
{
	arena_done(&e->arena);
	*e = (struct entry){0};
}

void past_cache_free(struct past_cache *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < PASTS_MAX; i++)
		drop(&c->entry[i]);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void past_cache_tidy(struct past_cache *c, double seconds)
{
	struct mono now = now_read().mono;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < PASTS_MAX; i++)
		if (c->entry[i].runs && mono_seconds_between(c->entry[i].used, now) > seconds)
			drop(&c->entry[i]);
	pthread_mutex_unlock(&c->lock);
}

#define FNV_BASIS 0xcbf29ce484222325

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *byte = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3;
	return hash;
}

/* What a run is and how it ended; what goes on does not change what is past. */
static uint64_t number_of(const struct runs *runs)
{
	uint64_t hash = FNV_BASIS;

	for (size_t i = 0; i < runs->n; i++) {
		const struct run *r = &runs->run[i];

		hash = mix(hash, r->job_name, strlen(r->job_name) + 1);
		hash = mix(hash, r->run_id, strlen(r->run_id) + 1);
		hash = mix(hash, &r->outcome, sizeof r->outcome);
		if (r->outcome == OUTCOME_RUNNING)
			continue;
		hash = mix(hash, &r->ended_at, sizeof r->ended_at);
		hash = mix(hash, &r->duration_seconds, sizeof r->duration_seconds);
		hash = mix(hash, &r->n_stats, sizeof r->n_stats);
	}
	return hash + !hash;
}

static uint64_t job_of(const struct runs *runs)
{
	const char *name = runs->n ? runs->run[0].job_name : "";

	return mix(FNV_BASIS, name, strlen(name));
}

static void copy(const struct past *from, struct arena *arena, struct past *ret)
{
	*ret = *from;
	for (size_t i = 0; i < from->n_phases; i++) {
		const struct phases *p = &from->phases[i];

		ret->phases[i].phase = arena_alloc(arena, (p->n + 1) * sizeof *p->phase);
		if (p->n)
			memcpy(ret->phases[i].phase, p->phase, p->n * sizeof *p->phase);
	}
}

bool past_find(struct past_cache *c, const struct runs *runs, struct arena *arena, struct past *ret)
{
	uint64_t number = c ? number_of(runs) : 0;
	struct mono now = now_read().mono;
	bool found = false;

	if (!c)
		return false;
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < PASTS_MAX && !found; i++) {
		struct entry *e = &c->entry[i];

		if (e->runs != number || mono_seconds_between(e->made, now) > VALID_SECONDS)
			continue;
		copy(&e->past, arena, ret);
		e->used = now;
		found = true;
	}
	pthread_mutex_unlock(&c->lock);
	return found;
}

/* That of the same job, whose runs are others now; or a free one, or the one not used for longest. */
static struct entry *place_for(struct past_cache *c, uint64_t job)
{
	struct entry *place = &c->entry[0];

	for (size_t i = 0; i < PASTS_MAX; i++) {
		if (c->entry[i].runs && c->entry[i].job == job)
			return &c->entry[i];
		if (c->entry[i].used.ns < place->used.ns)
			place = &c->entry[i];
	}
	return place;
}

void past_keep(struct past_cache *c, const struct runs *runs, const struct past *past)
{
	uint64_t number = c ? number_of(runs) : 0;
	struct mono now = now_read().mono;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	struct entry *e = place_for(c, job_of(runs));

	drop(e);
	*e = (struct entry){.runs = number, .job = job_of(runs), .made = now, .used = now};
	copy(past, &e->arena, &e->past);
	pthread_mutex_unlock(&c->lock);
}
