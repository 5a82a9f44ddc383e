/* collectors/cgroup_rest: a run in a group with others, on a /proc and a v2 group in memory. */
#include "tests/unit/test_main.h"

#include <stdio.h>

#include "collectors/base/mem.h"
#include "collectors/cgroup_rest.h"
#include "tests/support/test_host.h"

#define GROUP "/sys/fs/cgroup/box/"
#define ROOT  10
#define SHELL 5
#define OURS  7

struct world {
	struct test_host t;
	struct cgroup group;
	struct cgroup_rest *rest;
};

static void put_process(struct world *w, int pid, int ppid, unsigned ticks, unsigned waited_faults)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	snprintf(text, sizeof text,
		"%d (job) S %d 1 1 0 -1 0 1 %u 0 0 %u 0 0 0 20 0 1 0 5 1000 5 0\n", pid, ppid,
		waited_faults, ticks);
	test_host_file(&w->t, path, text);
}

static void group_has(struct world *w, const char *pids, double seconds)
{
	char text[64];

	test_host_file(&w->t, GROUP "cgroup.procs", pids);
	snprintf(text, sizeof text, "usage_usec %.0f\n", seconds * 1e6);
	test_host_file(&w->t, GROUP "cpu.stat", text);
}

static bool is_root(const void *context, pid_t pid)
{
	(void)context;
	return pid == ROOT;
}

static struct cgroup_rest *open_rest(struct world *w)
{
	return cgroup_rest_open(&w->t.host,
		&(struct cgroup_rest_spec){.root = ROOT,
			.group = &w->group,
			.is_member = is_root,
			.start = cgroup_rest_start(&w->group, &w->t.host),
			.known_seconds = 1});
}

/* A shell (0.5 s so far) started this exporter (0.2 s), which started the run (1 s). */
static void world_init(struct world *w)
{
	*w = (struct world){0};
	test_host_init(&w->t);
	test_host_file(&w->t, "/proc/self/mountinfo",
		"20 1 0:18 / /sys rw - sysfs sysfs rw\n25 20 0:22 / /sys/fs/cgroup rw - cgroup2 "
		"cgroup2 rw\n");
	test_host_file(&w->t, "/proc/10/cgroup", "0::/box\n");
	test_host_link(&w->t, "/proc/self", "7");
	put_process(w, SHELL, 2, 50, 9);
	put_process(w, OURS, SHELL, 20, 3);
	put_process(w, ROOT, OURS, 100, 0);
	group_has(w, "5\n7\n10\n", 30);
	assert_int_equal(cgroup_find(&w->group, &w->t.host, "10", NULL), 0);
	w->rest = open_rest(w);
	assert_non_null(w->rest);
}

static void world_done(struct world *w)
{
	cgroup_rest_close(w->rest);
	test_host_done(&w->t);
}

static void rest_of_the_group_is_the_run_s(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	assert_double_equal(cgroup_rest_read(w.rest, &w.t.host).seconds, 1, 1e-9);
	/* 8 s more, of which 0.3 s were ours and 0.01 s the shell's; we waited for an orphan of the run. */
	put_process(&w, SHELL, 2, 51, 9);
	put_process(&w, OURS, SHELL, 50, 300);
	group_has(&w, "5\n7\n10\n77\n", 38);
	put_process(&w, 77, 2, 0, 0); /* another orphan of the run */
	assert_double_equal(cgroup_rest_read(w.rest, &w.t.host).seconds, 1 + 8 - 0.3 - 0.01, 1e-9);
	/* The shell is told that we ended; the group goes. */
	test_host_remove(&w.t, "/sys/fs/cgroup/box");

	struct cgroup_rest_reading last = cgroup_rest_read(w.rest, &w.t.host);

	assert_double_equal(last.seconds, 1 + 8 - 0.3 - 0.01, 1e-9);
	assert_true(last.exact);
	world_done(&w);
}

static void what_we_did_while_the_run_was_looked_at_is_not_the_run_s(void **state)
{
	struct cgroup_rest_spec spec = {.root = ROOT, .is_member = is_root, .known_seconds = 1};
	struct world w;

	(void)state;
	world_init(&w);
	cgroup_rest_close(w.rest);
	spec.group = &w.group;
	spec.start = cgroup_rest_start(&w.group, &w.t.host);
	put_process(&w, OURS, SHELL, 70, 3);
	w.rest = cgroup_rest_open(&w.t.host, &spec);
	group_has(&w, "5\n7\n10\n", 32.5);
	assert_double_equal(cgroup_rest_read(w.rest, &w.t.host).seconds, 1 + 2.5 - 0.5, 1e-9);
	world_done(&w);
}

static void parent_may_wait_for_the_root(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	cgroup_rest_close(w.rest);
	put_process(&w, ROOT, SHELL, 100, 0);
	w.rest = open_rest(&w);
	test_host_remove(&w.t, "/proc/10/stat");
	put_process(&w, SHELL, 2, 50, 444);
	group_has(&w, "5\n7\n", 32);
	assert_double_equal(cgroup_rest_read(w.rest, &w.t.host).seconds, 3, 1e-9);
	world_done(&w);
}

/* As when it does so between two files that are read: the root is a zombie, or already gone. */
static void parent_that_waited_just_now_is_believed_once(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	cgroup_rest_close(w.rest);
	put_process(&w, ROOT, SHELL, 100, 0);
	w.rest = open_rest(&w);
	test_host_file(&w.t, "/proc/10/stat",
		"10 (job) X 7 1 1 0 -1 0 1 0 0 0 100 0 0 0 20 0 1 0 5 0 0 0\n");
	put_process(&w, SHELL, 2, 50, 444);
	group_has(&w, "5\n7\n10\n", 32);
	assert_true(cgroup_rest_read(w.rest, &w.t.host).exact);
	test_host_remove(&w.t, "/proc/10/stat");
	group_has(&w, "5\n7\n", 32);
	assert_true(cgroup_rest_read(w.rest, &w.t.host).exact);
	put_process(&w, SHELL, 2, 50, 500);
	assert_false(cgroup_rest_read(w.rest, &w.t.host).exact);
	world_done(&w);
}

static void others_that_work_end_it_for_good(void **state)
{
	static const struct {
		const char *what;
		unsigned shell_ticks, shell_waited_faults; /* the shell had 50 and 9 */
		int child_of;                              /* a process 99; 0 = none */
		unsigned child_ticks;
		bool apart;
	} cases[] = {
		{"nothing", 50, 9, 0, 0, true},
		{"a hundredth", 54, 9, 0, 0, true},
		{"more", 60, 9, 0, 0, false},
		{"waited for a child", 50, 10, 0, 0, true},
		{"has a child that sleeps", 50, 9, SHELL, 1, true},
		{"has a child that works", 50, 9, SHELL, 200, false},
		{"has a grandchild that works", 50, 9, 98, 200, false},
		{"the run has a child that works", 50, 9, ROOT, 200, true},
		{"we have one", 50, 9, OURS, 200, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		world_init(&w);
		put_process(&w, SHELL, 2, cases[i].shell_ticks, cases[i].shell_waited_faults);
		put_process(&w, 98, SHELL, 0, 0);
		if (cases[i].child_of)
			put_process(&w, 99, cases[i].child_of, cases[i].child_ticks, 0);
		group_has(&w, cases[i].child_of ? "5\n7\n10\n99\n" : "5\n7\n10\n", 34);
		if (cgroup_rest_read(w.rest, &w.t.host).exact != cases[i].apart)
			fail_msg("shell %s", cases[i].what);
		put_process(&w, SHELL, 2, 50, 9);
		test_host_remove(&w.t, "/proc/99");
		group_has(&w, "5\n7\n10\n", 90);
		struct cgroup_rest_reading last = cgroup_rest_read(w.rest, &w.t.host);

		assert_int_equal(last.exact, cases[i].apart);
		/* It is never less than the run's. */
		assert_in_range((uint64_t)last.seconds, 59, 61);
		world_done(&w);
	}
}

/* The shell forks and waits: 99 is seen once at 2 s, and used 2.5 s in all; others were never seen. */
static void children_of_others_may_come_and_go(void **state)
{
	static const char shell[] = "/proc/5/stat",
			  waited_for[] =
				  "5 (sh) S 2 1 1 0 -1 0 1 %d 0 0 50 0 %d 0 20 0 1 0 5 1000 5 0\n";
	struct cgroup_rest_reading now;
	char text[128];
	struct world w;

	(void)state;
	world_init(&w);
	put_process(&w, 99, SHELL, 200, 0);
	group_has(&w, "5\n7\n10\n99\n", 50);
	now = cgroup_rest_read(w.rest, &w.t.host);
	assert_double_equal(now.seconds, 1 + 20 - 2, 1e-9);
	test_host_remove(&w.t, "/proc/99");
	snprintf(text, sizeof text, waited_for, 20, 250);
	test_host_file(&w.t, shell, text);
	group_has(&w, "5\n7\n10\n", 50.5);
	now = cgroup_rest_read(w.rest, &w.t.host);
	assert_double_equal(now.seconds, 1 + 20.5 - 2.5, 1e-9);
	snprintf(text, sizeof text, waited_for, 30, 450);
	test_host_file(&w.t, shell, text);
	group_has(&w, "5\n7\n10\n", 52.5);
	now = cgroup_rest_read(w.rest, &w.t.host);
	assert_double_equal(now.seconds, 1 + 20.5 - 2.5, 1e-9);
	world_done(&w);
}

static void who_lets_the_kernel_reap_its_children_must_be_idle(void **state)
{
	/* The last one is sigignore: bit 16 is SIGCHLD. */
	static const char ignoring[] = "5 (sh) S 2 1 1 0 -1 0 1 9 0 0 %d 0 0 0 20 0 1 0 5 1000 5 0 "
				       "0 0 0 0 0 0 0 65536\n";
	char text[128];
	struct world w;

	(void)state;
	for (int ran = 0; ran < 2; ran++) {
		world_init(&w);
		snprintf(text, sizeof text, ignoring, 50 + ran);
		test_host_file(&w.t, "/proc/5/stat", text);
		group_has(&w, "5\n7\n10\n", 50);
		assert_int_equal(cgroup_rest_read(w.rest, &w.t.host).exact, !ran);
		world_done(&w);
	}
}

static void crowd_is_not_told_apart(void **state)
{
	static const char *const crowds[] = {
		"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n",
		"0\n7\n10\n", /* somebody whom this PID namespace does not show */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(crowds); i++) {
		struct world w;

		world_init(&w);
		for (int pid = 1; pid < 19; pid++)
			put_process(&w, pid, 1, 0, 0);
		group_has(&w, crowds[i], 30);
		assert_null(open_rest(&w));
		world_done(&w);
	}
}

static void groups_below_are_not_told_apart(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	test_host_file(&w.t, GROUP "below/cgroup.procs", "");
	assert_null(open_rest(&w));
	world_done(&w);
}

static void note_pid(void *context, pid_t pid)
{
	*(uint64_t *)context = *(uint64_t *)context * 100 + (uint64_t)pid;
}

static void orphans_of_the_run_are_found_in_the_group(void **state)
{
	struct world w;
	uint64_t found = 0;

	(void)state;
	world_init(&w);
	put_process(&w, 20, 1, 30, 0);
	put_process(&w, 21, SHELL, 0, 0);
	group_has(&w, "5\n7\n10\n20\n21\n", 30);
	cgroup_rest_processes(w.rest, &w.t.host, note_pid, &found);
	assert_int_equal(found, 1020);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rest_of_the_group_is_the_run_s),
		cmocka_unit_test(what_we_did_while_the_run_was_looked_at_is_not_the_run_s),
		cmocka_unit_test(parent_may_wait_for_the_root),
		cmocka_unit_test(parent_that_waited_just_now_is_believed_once),
		cmocka_unit_test(others_that_work_end_it_for_good),
		cmocka_unit_test(children_of_others_may_come_and_go),
		cmocka_unit_test(who_lets_the_kernel_reap_its_children_must_be_idle),
		cmocka_unit_test(crowd_is_not_told_apart),
		cmocka_unit_test(groups_below_are_not_told_apart),
		cmocka_unit_test(orphans_of_the_run_are_found_in_the_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
