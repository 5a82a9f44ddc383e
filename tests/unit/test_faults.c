/* Fault sweep: for every collector, each read of the kernel's file trees fails in turn. Nothing may
 * crash or leak, no partly read value may be reported, and the next healthy tick must be
 * complete. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "collectors/base/mem.h"
#include "tests/support/test_host.h"

static const char *const machines[] = {"vm", "node", "pod"};
static const int codes[] = {-EIO, -ENOENT, -ESRCH, -EACCES, -EFBIG};

/* Number of calls in a sweep. No collector makes as many. */
#define CALLS_MAX 2000

/* Some work of a collector is not done at each tick. This time is longer than every pause of such
 * work. */
#define LONG_PAUSE_SECONDS 120

/* A fixture machine whose trees fail when `countdown` reaches 0. */
struct faulty {
	struct test_host t;
	struct tree *proc, *sys, *root;
	int countdown;
};

static void faulty_init(struct faulty *f, const char *machine, int code)
{
	static const struct tree_space space = {.size = 1000, .free = 500, .available = 400};

	test_host_init(&f->t);
	test_host_fixture(&f->t, machine);
	memory_tree_space(f->t.root, "", space,
		strcmp(machine, "vm") == 0   ? makedev(254, 0) :
		strcmp(machine, "node") == 0 ? makedev(253, 0) :
					       makedev(0, 120));
	memory_tree_space(f->t.root, "boot", space, makedev(8, 2));
	f->countdown = -1;
	f->t.host.proc = f->proc = failing_tree(f->t.proc, &f->countdown, code);
	f->t.host.sys = f->sys = failing_tree(f->t.sys, &f->countdown, code);
	f->t.host.root = f->root = failing_tree(f->t.root, &f->countdown, code);
}

static void faulty_done(struct faulty *f)
{
	tree_free(f->proc);
	tree_free(f->sys);
	tree_free(f->root);
	test_host_done(&f->t);
}

static int collect(struct test_run *r, struct faulty *f)
{
	int code = test_run_collect(r, &f->t.host);
	const char *fault = block_fault(r->block);

	if (fault)
		fail_msg("collector %s: %s", r->list[0]->name, fault);
	return code;
}

/* Returns the number of points that the collector has when nothing fails; 0 = the collector does
 * not apply to this machine. */
static size_t healthy_points(const struct collector *c, const char *machine)
{
	struct faulty f;
	struct test_run r;
	size_t n = 0;

	faulty_init(&f, machine, -EIO);
	if (test_run_start(&r, c, &f.t.host) == 0) {
		collect(&r, &f);
		test_host_advance(&f.t, 1);
		if (collect(&r, &f) == 0)
			n = r.block->n_points;
	}
	test_run_done(&r);
	faulty_done(&f);
	return n;
}

/* Lets call number `nth` fail during the start and two ticks. Then two healthy ticks follow. Before
 * the last one all pauses are over, and it must give all points. Returns true if the call was made,
 * and therefore failed. */
static bool sweep_once(const struct collector *c, const char *machine, int code, int nth,
	size_t points)
{
	struct faulty f;
	struct test_run r;

	faulty_init(&f, machine, code);
	f.countdown = nth;
	if (test_run_start(&r, c, &f.t.host) == 0) {
		collect(&r, &f);
		test_host_advance(&f.t, LONG_PAUSE_SECONDS);
		collect(&r, &f);
	}
	bool met = f.countdown < 0;

	f.countdown = -1;
	for (int i = 0; r.started && i < 2; i++) {
		test_host_advance(&f.t, LONG_PAUSE_SECONDS);
		code = collect(&r, &f);
	}
	if (r.started && points && (code < 0 || r.block->n_points != points))
		fail_msg("collector %s on %s, after call %d failed: code %d, %zu points of %zu: %s",
			c->name, machine, nth, code, r.block->n_points, points, r.err.text);
	test_run_done(&r);
	faulty_done(&f);
	return met;
}

static void every_call_may_fail(void **state)
{
	for (size_t i = 0; all_collectors[i]; i++)
		for (size_t m = 0; m < ARRAY_LEN(machines); m++) {
			const struct collector *c = all_collectors[i];
			size_t points = healthy_points(c, machines[m]);

			for (size_t k = 0; k < ARRAY_LEN(codes); k++) {
				int nth = 0;

				while (sweep_once(c, machines[m], codes[k], nth, points))
					if (++nth == CALLS_MAX)
						fail_msg("collector %s never ends", c->name);
			}
		}
}

/* Returns true for the collectors that need processes or devices that no fixture has. Other tests
 * let their calls fail. */
static bool has_tests_of_its_own(const struct collector *c)
{
	return strcmp(c->name, "jobs") == 0 || strcmp(c->name, "gpu") == 0;
}

static void the_machines_show_something(void **state)
{
	for (size_t i = 0; all_collectors[i]; i++) {
		size_t most = 0;

		for (size_t m = 0; m < ARRAY_LEN(machines); m++) {
			size_t points = healthy_points(all_collectors[i], machines[m]);

			most = points > most ? points : most;
		}
		if (most == 0 && !has_tests_of_its_own(all_collectors[i]))
			fail_msg("no fixture has anything for collector %s",
				all_collectors[i]->name);
	}
}

/* A file that is read whole into the host's scratch buffer may fill it to the last byte, but not
 * exceed it. */
static void files_longer_than_the_scratch_are_refused(void **state)
{
	static const struct {
		const char *collector, *path;
	} table[] = {
		{"cpu", "stat"},
		{"memory", "meminfo"},
		{"disk", "diskstats"},
		{"network", "net/dev"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		for (size_t j = 0; all_collectors[j]; j++) {
			if (strcmp(all_collectors[j]->name, table[i].collector) != 0)
				continue;
			AUTO(test_host_done) struct test_host t;
			AUTO(test_run_done) struct test_run r;
			AUTO(freep) char *text = xmalloc(HOST_SCRATCH_SIZE);

			test_host_init(&t);
			memset(text, 'x', HOST_SCRATCH_SIZE);
			assert_int_equal(test_run_start(&r, all_collectors[j], &t.host), 0);
			memory_tree_file(t.proc, table[i].path, text, HOST_SCRATCH_SIZE);
			assert_int_equal(test_run_collect(&r, &t.host), -EFBIG);
			assert_true(strstr(r.err.text, table[i].path) != NULL);
			memory_tree_file(t.proc, table[i].path, text, HOST_SCRATCH_SIZE - 1);
			assert_int_not_equal(test_run_collect(&r, &t.host), -EFBIG);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machines_show_something),
		cmocka_unit_test(every_call_may_fail),
		cmocka_unit_test(files_longer_than_the_scratch_are_refused),
	};

	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
