#include "tests/support/test_host.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"

void test_host_init(struct test_host *t)
{
	t->proc = memory_tree();
	t->sys = memory_tree();
	t->root = memory_tree();
	t->host = (struct host){
		.proc = t->proc,
		.sys = t->sys,
		.root = t->root,
		.now.mono.ns = 1000 * NS_PER_S,
		.now.wall.ns = 1795219200 * NS_PER_S,
		.ticks_per_second = 100,
		.page_size = 4096,
		.affinity_cpus = 4,
		.scratch = xmalloc(HOST_SCRATCH_SIZE),
		.scratch_size = HOST_SCRATCH_SIZE,
	};
}

struct test_host test_host_made(void)
{
	struct test_host t;

	test_host_init(&t);
	return t;
}

static struct tree *open_fixture(const char *name, const char *which)
{
	struct tree *tree = NULL;
	struct err e = {0};
	char path[512];

	snprintf(path, sizeof path, "%s/%s/%s", TEST_FIXTURES, name, which);
	if (tree_open(&tree, path, &e) < 0)
		fail_msg("%s", e.text);
	return tree;
}

void test_host_fixture(struct test_host *t, const char *name)
{
	tree_free(t->proc);
	tree_free(t->sys);
	t->host.proc = t->proc = open_fixture(name, "proc");
	t->host.sys = t->sys = open_fixture(name, "sys");
}

void test_host_done(struct test_host *t)
{
	tree_free(t->proc);
	tree_free(t->sys);
	tree_free(t->root);
	free(t->host.scratch);
}

void test_host_advance(struct test_host *t, double seconds)
{
	t->host.now.mono.ns += (int64_t)(seconds * 1e9);
	t->host.now.wall.ns += (int64_t)(seconds * 1e9);
}

static struct tree *tree_of(struct test_host *t, const char **path)
{
	if (strncmp(*path, "/proc/", 6) == 0) {
		*path += 6;
		return t->proc;
	}
	if (strncmp(*path, "/sys/", 5) == 0) {
		*path += 5;
		return t->sys;
	}
	*path += **path == '/';
	return t->root;
}

void test_host_file(struct test_host *t, const char *path, const char *text)
{
	test_host_bytes(t, path, text, strlen(text));
}

void test_host_bytes(struct test_host *t, const char *path, const char *data, size_t len)
{
	struct tree *tree = tree_of(t, &path);

	memory_tree_file(tree, path, data, len);
}

void test_host_link(struct test_host *t, const char *path, const char *target)
{
	struct tree *tree = tree_of(t, &path);

	memory_tree_link(tree, path, target);
}

void test_host_remove(struct test_host *t, const char *path)
{
	struct tree *tree = tree_of(t, &path);

	memory_tree_remove(tree, path);
}

int test_run_start(struct test_run *r, const struct collector *c, struct host *host)
{
	*r = (struct test_run){.list = xcalloc(2, sizeof *r->list)};
	r->list[0] = c;
	r->pool = snapshot_pool_new(r->list);
	int code = c->start ? c->start(&r->state, host, &r->err) : 0;

	r->started = code == 0;
	return code;
}

struct test_run test_run_started(const struct collector *c, struct host *host)
{
	struct test_run r;

	assert_int_equal(test_run_start(&r, c, host), 0);
	return r;
}

int test_run_collect(struct test_run *r, const struct host *host)
{
	if (r->snapshot)
		shared_drop(&r->snapshot->shared);
	r->snapshot = snapshot_take(r->pool);
	r->block = &r->snapshot->blocks[0];
	r->err = (struct err){0};
	return r->list[0]->collect(r->state, host, &r->snapshot->blocks[0], &r->err);
}

void test_run_done(struct test_run *r)
{
	if (r->snapshot)
		shared_drop(&r->snapshot->shared);
	snapshot_pool_free(r->pool);
	if (r->started && r->list[0]->stop)
		r->list[0]->stop(r->state);
	free(r->list);
	*r = (struct test_run){0};
}

static const struct points *points_of(const struct test_run *r, const char *name, size_t *n_labels)
{
	const struct collector *c = r->list[0];

	for (size_t i = 0; i < c->n_metrics; i++) {
		if (strcmp(c->metrics[i].name, name) != 0)
			continue;
		*n_labels = 0;
		while (*n_labels < METRIC_LABELS_MAX && c->metrics[i].labels[*n_labels])
			++*n_labels;
		return &r->block->points[i];
	}
	fail_msg("collector %s has no family %s", c->name, name);
	return NULL;
}

static bool labels_are(const struct point *p, size_t n, const char *labels)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(p->labels[i]);

		if (strncmp(labels, p->labels[i], len) != 0)
			return false;
		labels += len;
		if (i + 1 < n && *labels++ != '|')
			return false;
	}
	return *labels == '\0';
}

double test_run_value(const struct test_run *r, const char *name, const char *labels)
{
	size_t n;

	for (const struct point *p = points_of(r, name, &n)->first; p; p = p->next)
		if (labels_are(p, n, labels))
			return p->value;
	return NAN;
}

void check_value(double actual, double expected, const char *file, int line)
{
	double slack = 1e-12 * fmax(1, fabs(expected));

	if (isnan(expected) ? isnan(actual) : fabs(actual - expected) <= slack)
		return;
	print_error("%.17g is not %.17g\n", actual, expected);
	_fail(file, line);
}

size_t test_run_points(const struct test_run *r, const char *name)
{
	size_t n, points = 0;

	for (const struct point *p = points_of(r, name, &n)->first; p; p = p->next)
		points++;
	return points;
}

static bool same_labels(const struct point *a, const struct point *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(a->labels[i], b->labels[i]) != 0)
			return false;
	return true;
}

static const char *point_fault(const struct metric *m, const struct point *p, size_t n)
{
	if (isnan(p->value))
		return "a value is NaN";
	if (m->type == METRIC_COUNTER && p->value < 0)
		return "a counter is negative";
	if (m->type == METRIC_INFO && p->value != 1)
		return "an info metric is not 1";
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(p->labels[i]);

		if (len > LABEL_VALUE_MAX)
			return "a label value is too long";
		if (!utf8_valid(p->labels[i], len))
			return "a label value is not UTF-8";
	}
	for (const struct point *q = p->next; q; q = q->next)
		if (same_labels(p, q, n))
			return "two points of a family have the same labels";
	return NULL;
}

const char *block_fault(const struct block *b)
{
	for (size_t i = 0; i < b->collector->n_metrics; i++) {
		const struct metric *m = &b->collector->metrics[i];
		size_t n = 0;

		while (n < METRIC_LABELS_MAX && m->labels[n])
			n++;
		for (const struct point *p = b->points[i].first; p; p = p->next) {
			const char *fault = point_fault(m, p, n);

			if (fault)
				return fault;
		}
	}
	return NULL;
}

void test_captured(const struct collector *c, const char *fixture,
	const struct test_expected *table, size_t n)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r;

	test_host_fixture(&t, fixture);
	assert_int_equal(test_run_start(&r, c, &t.host), 0);
	assert_int_equal(test_run_collect(&r, &t.host), 0);
	for (size_t i = 0; i < n; i++)
		assert_value(test_run_value(&r, table[i].name, table[i].labels), table[i].value);
	assert_null(block_fault(r.block));
}
