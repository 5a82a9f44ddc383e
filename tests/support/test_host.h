/* A simulated machine for tests: file trees, a clock that the test moves, and one collector that
 * reads them at each tick. */
#ifndef TESTS_SUPPORT_TEST_HOST_H
#define TESTS_SUPPORT_TEST_HOST_H

#include "collectors/collector.h"
#include "tests/support/test_tree.h"

/* A host on three memory trees, with 100 ticks a second, 4 KiB pages and 4 CPUs. The clocks start
 * at 1000 s (mono) and 2026-11-21 (wall). A test may change t->host. */
struct test_host {
	struct host host;
	struct tree *proc, *sys, *root; /* owned; memory trees if no fixture was opened */
};

void test_host_init(struct test_host *t);
struct test_host test_host_made(void); /* initialises the struct test_host of a declaration */
/* Reads `proc` and `sys` from tests/fixtures/NAME. These trees cannot be changed. `root` stays in
 * memory. */
void test_host_fixture(struct test_host *t, const char *name);
void test_host_done(struct test_host *t);
void test_host_advance(struct test_host *t, double seconds); /* advances both clocks */

/* Adds a file. The first folder of its path chooses the tree: "/proc/..." is in `proc`, "/sys/..." is in
 * `sys`, and all other paths are in `root`. */
void test_host_file(struct test_host *t, const char *path, const char *text);
void test_host_bytes(struct test_host *t, const char *path, const char *data, size_t len);
void test_host_link(struct test_host *t, const char *path, const char *target);
void test_host_remove(struct test_host *t, const char *path);

/* A running collector: its state, and the snapshot of its last tick. */
struct test_run {
	const struct collector **list; /* owned; the pool points to it */
	void *state;
	bool started;
	struct snapshot_pool *pool;
	struct snapshot *snapshot;
	const struct block
		*block; /* of the last collect(); after a failure its points do not count */
	struct err err; /* error of the last start() or collect() */
};

/* Starts the collector and returns its code. Call test_run_done() also after a failure. */
int test_run_start(struct test_run *r, const struct collector *c, struct host *host);
/* Like test_run_start(), as an initialiser. Fails the test if the collector does not start. */
struct test_run test_run_started(const struct collector *c, struct host *host);
int test_run_collect(struct test_run *r, const struct host *host);
void test_run_done(struct test_run *r);

/* Returns the value of the metric `name`, such as "rightsize_cpu_seconds", with these label values.
 * The values are separated by "|", in the order of the metric's labels; "" = no labels. Returns NaN
 * if no such value was reported. Fails the test if the collector has no metric with this name. */
double test_run_value(const struct test_run *r, const char *name, const char *labels);

/* Fails the test unless both are NaN, or equal except for the rounding of a sum or quotient. */
#define assert_value(actual, expected) check_value((actual), (expected), __FILE__, __LINE__)
void check_value(double actual, double expected, const char *file, int line);

struct test_expected {
	const char *name, *labels;
	double value;
};

/* Compares the points of a collector's first tick on a fixture machine (tests/fixtures). */
void test_captured(const struct collector *c, const char *fixture,
	const struct test_expected *table, size_t n);

/* Returns how many values (one for each set of labels) the metric `name` has. */
size_t test_run_points(const struct test_run *r, const char *name);

/* Returns the first fault of a block as text, or NULL. These are faults: a NaN, a negative counter,
 * a label value that is too long or not UTF-8, and two points with the same labels. A collector
 * must not produce a fault for any input. */
const char *block_fault(const struct block *b);

#endif
