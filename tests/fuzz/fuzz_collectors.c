/*
 * Any bytes as any kernel file to every collector.
 *
 * The input is a machine over time, in lines:
 *
 *	@@ /proc/stat			a file: its content follows, up to the next "@@ "
 *	@@ -> /sys/class/net/e ../x	a symbolic link
 *	@@ space /boot			a file system is mounted there
 *	@@ gone /proc/self		removed, with all below
 *	@@ tick				a second passes, and all collectors look
 *
 * At the end they look twice more, after longer times.
 */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "tests/support/test_host.h"

#define COLLECTORS_MAX 32
#define ENTRIES_MAX    200
#define TICKS_MAX      20

struct machine {
	struct test_host t;
	struct snapshot_pool *pool;
	struct snapshot *previous;
	void *state[COLLECTORS_MAX];
	bool started[COLLECTORS_MAX], running;
	size_t entries, ticks;
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

static void tick(struct machine *m)
{
	struct snapshot *s = snapshot_take(m->pool);

	for (size_t i = 0; i < s->n_blocks; i++) {
		struct block *b = &s->blocks[i];
		struct err e = {0};

		if (!m->started[i])
			continue;
		b->success = b->collector->collect(m->state[i], &m->t.host, b, &e) == 0;

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

static void start(struct machine *m)
{
	for (size_t i = 0; all_collectors[i] && i < COLLECTORS_MAX; i++) {
		struct err e = {0};

		m->started[i] = !all_collectors[i]->start ||
				all_collectors[i]->start(&m->state[i], &m->t.host, &e) == 0;
	}
	m->running = true;
}

static void pass(struct machine *m, double seconds)
{
	if (!m->running)
		start(m);
	test_host_advance(&m->t, seconds);
	tick(m);
}

/* Does one "@@ " line, of which line is the rest; body is what follows up to the next. */
static void obey(struct machine *m, struct scan line, struct scan body)
{
	static const struct tree_space space = {
		.size = 1000000, .free = 500000, .available = 400000, .files = 10, .files_free = 5};
	char path[512], target[512];
	struct slice word, second;

	if (m->entries++ > ENTRIES_MAX || !scan_word(&line, &word))
		return;
	if (slice_is(word, "tick") && m->ticks++ < TICKS_MAX) {
		pass(m, 1);
	} else if (slice_is(word, "->") && scan_word(&line, &word) && scan_word(&line, &second)) {
		slice_copy(word, path, sizeof path);
		slice_copy(second, target, sizeof target);
		test_host_link(&m->t, path, target);
	} else if (slice_is(word, "space")) {
		slice_copy((struct slice){line.at, (size_t)(line.end - line.at)}, path,
			sizeof path);
		memory_tree_space(m->t.root, path + strspn(path, " /"), space, 0x801 + m->entries);
	} else if (slice_is(word, "gone") && scan_word(&line, &word)) {
		slice_copy(word, path, sizeof path);
		test_host_remove(&m->t, path);
	} else if (word.data[0] == '/') {
		slice_copy(word, path, sizeof path);
		test_host_bytes(&m->t, path, body.at, (size_t)(body.end - body.at));
	}
}

/* The end of the piece that begins at text: where the next line with "@@ " begins. */
static const char *piece_end(struct scan text)
{
	struct scan line;

	while (scan_line(&text, &line)) {
		if (scan_literal(&line, "@@ "))
			return line.at - 3;
	}
	return text.end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scan text = SCAN((const char *)data, size), line;
	struct machine m = {.pool = snapshot_pool_new(all_collectors)};

	test_host_init(&m.t);
	while (scan_line(&text, &line)) {
		if (!scan_literal(&line, "@@ "))
			continue;
		struct scan body = {text.at, piece_end(text)};

		obey(&m, line, body);
		text.at = body.end;
	}
	pass(&m, 61);
	pass(&m, 0.25);
	shared_drop(&m.previous->shared);
	for (size_t i = 0; all_collectors[i] && i < COLLECTORS_MAX; i++)
		if (m.started[i] && all_collectors[i]->stop)
			all_collectors[i]->stop(m.state[i]);
	snapshot_pool_free(m.pool);
	test_host_done(&m.t);
	return 0;
}
