/* The input is any kernel files, for every collector. The machine is described in fuzz_machine.h.
 * All collectors read at each tick. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_machine.h"

#define COLLECTORS_MAX 32

struct machine {
	struct fuzz_machine m;
	struct snapshot_pool *pool;
	struct snapshot *previous;
	void *state[COLLECTORS_MAX];
	bool started[COLLECTORS_MAX], running;
};

static void fault(const struct collector *c, const char *what)
{
	fprintf(stderr, "collector %s: %s\n", c->name, what);
	abort();
}

static bool same_labels(const struct metric *m, const struct point *a, const struct point *b)
{
	for (size_t i = 0; i < METRIC_LABELS_MAX && m->labels[i]; i++)
		if (strcmp(a->labels[i], b->labels[i]) != 0)
			return false;
	return true;
}

static void check_counters(const struct block *before, const struct block *after)
{
	for (size_t i = 0; i < after->collector->n_metrics; i++) {
		const struct metric *m = &after->collector->metrics[i];

		if (m->type != METRIC_COUNTER)
			continue;
		for (const struct point *a = after->points[i].first; a; a = a->next)
			for (const struct point *b = before->points[i].first; b; b = b->next)
				if (same_labels(m, a, b) && a->value < b->value)
					fault(after->collector, m->name);
	}
}

static void start(struct machine *m)
{
	for (size_t i = 0; all_collectors[i] && i < COLLECTORS_MAX; i++) {
		struct err e = {0};

		m->started[i] = !all_collectors[i]->start ||
				all_collectors[i]->start(&m->state[i], &m->m.t.host, &e) == 0;
	}
	m->running = true;
}

static void tick(struct fuzz_machine *machine)
{
	struct machine *m = (struct machine *)machine;

	if (!m->running)
		start(m);
	struct snapshot *s = snapshot_take(m->pool);

	for (size_t i = 0; i < s->n_blocks; i++) {
		struct block *b = &s->blocks[i];
		struct err e = {0};

		if (!m->started[i])
			continue;
		b->success = b->collector->collect(m->state[i], &m->m.t.host, b, &e) == 0;

		const char *why = block_fault(b);

		if (why)
			fault(b->collector, why);
		if (b->success && m->previous && m->previous->blocks[i].success)
			check_counters(&m->previous->blocks[i], b);
	}
	if (m->previous)
		shared_drop(&m->previous->shared);
	m->previous = s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine m = {.m = {.tick = tick}, .pool = snapshot_pool_new(all_collectors)};

	test_host_init(&m.m.t);
	fuzz_play(&m.m, data, size);
	shared_drop(&m.previous->shared);
	for (size_t i = 0; all_collectors[i] && i < COLLECTORS_MAX; i++)
		if (m.started[i] && all_collectors[i]->stop)
			all_collectors[i]->stop(m.state[i]);
	snapshot_pool_free(m.pool);
	test_host_done(&m.m.t);
	return 0;
}
