/*
 * A machine for tests: trees, a clock that the test moves, and one collector run on them tick by
 * tick.
 */
#ifndef TESTS_SUPPORT_TEST_HOST_H
#define TESTS_SUPPORT_TEST_HOST_H

#include "collectors/collector.h"
#include "tests/support/test_tree.h"

/*
 * A host over three memory trees, with 100 ticks a second, 4 KiB pages and 4 CPUs. The clocks start
 * at 1000 s (mono) and 2026-11-21 (wall). Change t->host as the test needs it.
 */
struct test_host {
	struct host host;
	struct tree *proc, *sys, *root; /* owned; memory trees unless a fixture was opened */
};

void test_host_init(struct test_host *t);
struct test_host test_host_made(void); /* the same, for a declaration */
/*
 * Reads proc and sys from tests/fixtures/NAME instead; root stays in memory, and nothing can be
 * changed in the others.
 */
void test_host_fixture(struct test_host *t, const char *name);
void test_host_done(struct test_host *t);
void test_host_advance(struct test_host *t, double seconds); /* both clocks */

/* Adds a file to proc, sys or root by its first folder: "/proc/stat", "/sys/...", else root. */
void test_host_file(struct test_host *t, const char *path, const char *text);
void test_host_bytes(struct test_host *t, const char *path, const char *data, size_t len);
void test_host_link(struct test_host *t, const char *path, const char *target);
void test_host_remove(struct test_host *t, const char *path);

/* A collector at work: its state, and the snapshot of its last tick. */
struct test_run {
	const struct collector **list; /* owned: the pool looks into it */
	void *state;
	bool started;
	struct snapshot_pool *pool;
	struct snapshot *snapshot;
	const struct block *
		block; /* of the last collect; points of a failed one are there, but do not count */
	struct err err; /* of the last start or collect */
};

/* Starts it; the code of start. test_run_done is needed whatever it was. */
int test_run_start(struct test_run *r, const struct collector *c, struct host *host);
/* The same, for a declaration; a collector that does not start fails the test. */
struct test_run test_run_started(const struct collector *c, struct host *host);
int test_run_collect(struct test_run *r, const struct host *host);
void test_run_done(struct test_run *r);

/*
 * Value of the point of a family ("rightsize_cpu_seconds") with these label values, separated by
 * "|" in the order of the table ("" when there are no labels); NaN when there is no such point.
 * Fails the test when the collector has no such family.
 */
double test_run_value(const struct test_run *r, const char *name, const char *labels);

/*
 * Fails the test unless both are NaN (no such point), or equal but for the rounding of a sum or
 * quotient.
 */
#define assert_value(actual, expected) check_value((actual), (expected), __FILE__, __LINE__)
void check_value(double actual, double expected, const char *file, int line);

struct test_expected {
	const char *name, *labels;
	double value;
};

/* Compares the points of a collector's first tick, on a machine of tests/fixtures. */
void test_captured(const struct collector *c, const char *fixture,
	const struct test_expected *table, size_t n);

/* How many points a family has. */
size_t test_run_points(const struct test_run *r, const char *name);

/*
 * The first fault of a block in words, NULL when there is none. No input may cause one: NaN, a
 * negative counter, label values that are not UTF-8, too long, or the same for two points.
 */
const char *block_fault(const struct block *b);

#endif
