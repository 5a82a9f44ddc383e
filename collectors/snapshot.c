/* Snapshots and their pool. The pool recycles snapshots, so that after the first few ticks a tick
 * allocates no memory. */
#include "collectors/snapshot.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/utf8.h"
#include "collectors/collector.h"

struct snapshot_pool {
	pthread_mutex_t lock; /* guards the list `free` */
	struct snapshot *free;
	const struct collector *const *collectors;
	uint64_t generation;
};

/* A snapshot with a pointer to its pool. snapshot_release needs this pointer, because a release
 * function gets only the snapshot. */
struct pooled {
	struct snapshot snapshot;
	struct snapshot_pool *pool;
};

void block_add(struct block *b, unsigned id, double value, const char *const *labels)
{
	const struct metric *m = &b->collector->metrics[id];
	size_t n = 0;

	if (isnan(value) || (b->kept_only && m->fold == FOLD_NONE))
		return;
	if (b->n_points >= BLOCK_POINTS_MAX) {
		b->dropped++;
		return;
	}
	while (n < METRIC_LABELS_MAX && m->labels[n])
		n++;
	struct point *p = arena_alloc(b->arena, sizeof *p);
	const char **values = n ? arena_alloc(b->arena, n * sizeof *values) : NULL;

	for (size_t i = 0; i < n; i++) {
		char clean[LABEL_VALUE_MAX + 1];
		const char *raw = labels[i] ? labels[i] : "";

		values[i] = arena_text(b->arena, clean,
			utf8_clean(raw, strlen(raw), clean, sizeof clean));
	}
	p->value = value;
	p->labels = values;

	struct points *list = &b->points[id];

	if (list->last)
		list->last->next = p;
	else
		list->first = p;
	list->last = p;
	b->n_points++;
}

double block_sum(const struct block *b, unsigned id)
{
	double sum = NAN;

	for (const struct point *p = b->points[id].first; p; p = p->next)
		sum = isnan(sum) ? p->value : sum + p->value;
	return sum;
}

const struct block *snapshot_block(const struct snapshot *s, const struct collector *c)
{
	for (size_t i = 0; i < s->n_blocks; i++)
		if (s->blocks[i].collector == c)
			return &s->blocks[i];
	return NULL;
}

struct snapshot_pool *snapshot_pool_new(const struct collector *const *collectors)
{
	struct snapshot_pool *p = xcalloc(1, sizeof *p);

	pthread_mutex_init(&p->lock, NULL);
	p->collectors = collectors;
	return p;
}

static void snapshot_release(struct shared *shared)
{
	struct pooled *s = (struct pooled *)(void *)shared;

	pthread_mutex_lock(&s->pool->lock);
	s->snapshot.next_free = s->pool->free;
	s->pool->free = &s->snapshot;
	pthread_mutex_unlock(&s->pool->lock);
}

static void add_blocks(struct snapshot *s, const struct collector *const *collectors)
{
	size_t n = 0;

	while (collectors[n])
		n++;
	s->n_blocks = n;
	s->blocks = arena_alloc(&s->arena, n * sizeof *s->blocks);
	for (size_t i = 0; i < n; i++)
		s->blocks[i] = (struct block){
			.collector = collectors[i],
			.arena = &s->arena,
			.points = arena_alloc(&s->arena,
				(collectors[i]->n_metrics + 1) * sizeof(struct points)),
		};
}

struct snapshot *snapshot_take(struct snapshot_pool *p)
{
	pthread_mutex_lock(&p->lock);
	struct snapshot *s = p->free;

	if (s)
		p->free = s->next_free;
	uint64_t generation = ++p->generation;

	pthread_mutex_unlock(&p->lock);
	if (!s) {
		struct pooled *fresh = xcalloc(1, sizeof *fresh);

		fresh->pool = p;
		s = &fresh->snapshot;
	}
	struct arena arena = s->arena;

	arena_reset(&arena);
	*s = (struct snapshot){.arena = arena, .generation = generation};
	shared_init(&s->shared, snapshot_release);
	add_blocks(s, p->collectors);
	return s;
}

void snapshot_pool_free(struct snapshot_pool *p)
{
	if (!p)
		return;
	for (struct snapshot *s = p->free, *next; s; s = next) {
		next = s->next_free;
		arena_done(&s->arena);
		free(s);
	}
	pthread_mutex_destroy(&p->lock);
	free(p);
}
