/* collectors/accounts: which source a run's CPU time comes from, on a /proc and control groups in memory. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/accounts.h"
#include "collectors/base/mem.h"
#include "tests/support/test_host.h"

#define GROUP "/sys/fs/cgroup/box/"

struct world {
	struct test_host t;
	struct accounts *accounts;
	struct process_tree tree;
	struct account *account;
	double value[RUN_N_METRICS];
};

static void usage(struct world *w, unsigned usec, const char *parts)
{
	char text[256];

	snprintf(text, sizeof text, "usage_usec %u\n%s", usec, parts);
	test_host_file(&w->t, GROUP "cpu.stat", text);
}

static void put_process(struct world *w, int pid, int ppid, unsigned ticks, const char *group)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	snprintf(text, sizeof text,
		"%d (job) S %d 1 1 0 -1 0 1 0 0 0 %u %u 0 0 20 0 1 0 5 1000 5 0\n", pid, ppid,
		ticks / 2, ticks - ticks / 2);
	test_host_file(&w->t, path, text);
	snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
	snprintf(text, sizeof text, "0::%s\n", group);
	test_host_file(&w->t, path, text);
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
	test_host_file(&w->t, path, "");
}

/* Idle seconds of two CPUs, and births, since boot. */
static void machine(struct world *w, double idle, unsigned births)
{
	char text[256];

	snprintf(text, sizeof text, "cpu  1 0 1 %.0f 0 0 0 0 0 0\ncpu0 1\ncpu1 1\nprocesses %u\n",
		idle * 100, births);
	test_host_file(&w->t, "/proc/stat", text);
}

/* A root with 1 s of CPU time in a group that begins with it, or in everybody's. */
static void world_init(struct world *w, const char *group)
{
	*w = (struct world){0};
	test_host_init(&w->t);
	test_host_file(&w->t, "/proc/self/mountinfo",
		"20 1 0:18 / /sys rw - sysfs sysfs rw\n25 20 0:22 / /sys/fs/cgroup rw - cgroup2 "
		"cgroup2 rw\n");
	test_host_file(&w->t, "/proc/self/cgroup", "0::/\n");
	put_process(w, 1, 0, 0, "/");
	put_process(w, 10, 1, 100, group);
	test_host_file(&w->t, GROUP "cgroup.procs", "10\n");
	usage(w, 1000000, "user_usec 600000\nsystem_usec 400000\n");
	test_host_file(&w->t, GROUP "memory.max", "134217728\n");
	test_host_file(&w->t, GROUP "memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n");
	machine(w, 100, 50);
	w->accounts = accounts_new();
	assert_int_equal(process_tree_begin(&w->tree, &w->t.host, 10, 0, 0), 0);
	w->account = account_open(w->accounts, &w->t.host,
		&(struct account_spec){.root = 10, .ours = true}, &w->tree);
}

static void world_done(struct world *w)
{
	account_close(w->account);
	process_tree_done(&w->tree);
	accounts_free(w->accounts);
	test_host_done(&w->t);
}

/* One second later, with what /proc alone says put into value. */
static void look(struct world *w)
{
	struct tree_now now;

	test_host_advance(&w->t, 1);
	accounts_tick(w->accounts, &w->t.host);
	process_tree_look(&w->tree, &w->t.host, 0, &now);
	for (size_t i = 0; i < RUN_N_METRICS; i++)
		w->value[i] = NAN;
	w->value[RUN_CPU_SECONDS] = (double)w->tree.total[TREE_CPU_NS] / 1e9;
	w->value[RUN_CPU_SYSTEM_SECONDS] = (double)w->tree.total[TREE_SYSTEM_NS] / 1e9;
	account_look(w->account, &w->t.host, &w->tree, w->value);
}

static struct account_note note_of(struct world *w)
{
	struct account_note note;

	account_note(w->account, &w->t.host, &note);
	return note;
}

static void group_of_its_own_knows_all(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, "/box");
	usage(&w, 6500000, "user_usec 2000000\nsystem_usec 4500000\n");
	machine(&w, 100, 9999);
	look(&w);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 6.5, 1e-9);
	assert_double_equal(w.value[RUN_CPU_SYSTEM_SECONDS], 4.5, 1e-9);
	assert_double_equal(w.value[RUN_CPU_USER_SECONDS], 2, 1e-9);
	assert_double_equal(w.value[RUN_MEMORY_LIMIT_BYTES], 134217728, 0);
	assert_double_equal(w.value[RUN_OOM_KILLS], 0, 0);
	assert_string_equal(note_of(&w).cpu_source, "cgroup");
	assert_double_equal(note_of(&w).cpu_missed_seconds, 0, 0);
	/* The group goes with its last process: what it had said stays. */
	test_host_remove(&w.t, "/sys/fs/cgroup/box");
	test_host_remove(&w.t, "/proc/10");
	look(&w);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 6.5, 1e-9);
	assert_double_equal(w.value[RUN_CPU_SYSTEM_SECONDS], 4.5, 1e-9);
	assert_double_equal(note_of(&w).oom_kills, 0, 0);
	world_done(&w);
}

static void newborn_that_the_tree_does_not_know_is_no_stranger(void **state)
{
	static const struct {
		int parent;
		const char *source;
	} cases[] = {{10, "cgroup"}, {1, "cgroup-rest"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		world_init(&w, "/box");
		account_close(w.account);
		put_process(&w, 12, cases[i].parent, 0, "/box");
		test_host_file(&w.t, GROUP "cgroup.procs", "10\n12\n13\n"); /* 13 is gone by now */
		w.account = account_open(w.accounts, &w.t.host,
			&(struct account_spec){.root = 10, .ours = true}, &w.tree);
		usage(&w, 6500000, "");
		look(&w);
		assert_double_equal(w.value[RUN_CPU_SECONDS], 6.5, 1e-9);
		assert_string_equal(note_of(&w).cpu_source, cases[i].source);
		world_done(&w);
	}
}

static void processes_of_the_group_join_the_tree(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, "/box");
	put_process(&w, 13, 1, 30, "/box"); /* an orphan, whose parents nobody saw */
	test_host_file(&w.t, GROUP "cgroup.procs", "10\n13\n");
	account_find_members(w.account, &w.t.host, &w.tree);
	assert_true(process_tree_has(&w.tree, 13));
	world_done(&w);
}

static void what_the_root_did_before_it_was_the_command_is_not_counted(void **state)
{
	static const struct {
		const char *group, *source;
		double seconds; /* 1.5 s by /proc, 3 s by the group; 0.25 s of it before */
	} cases[] = {{"/", "proc", 1.25}, {"/box", "cgroup", 3}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		world_init(&w, cases[i].group);
		account_close(w.account);
		w.account = account_open(w.accounts, &w.t.host,
			&(struct account_spec){.root = 10, .ours = true, .forked_seconds = 0.25},
			&w.tree);
		put_process(&w, 10, 1, 150, cases[i].group);
		usage(&w, 3000000, "");
		look(&w);
		assert_double_equal(w.value[RUN_CPU_SECONDS], cases[i].seconds, 1e-9);
		assert_double_equal(w.value[RUN_CPU_USER_SECONDS] + w.value[RUN_CPU_SYSTEM_SECONDS],
			cases[i].seconds, 1e-9);
		assert_string_equal(note_of(&w).cpu_source, cases[i].source);
		world_done(&w);
	}
}

static void group_that_lacks_some_of_it_is_not_called_all_of_it(void **state)
{
	static const struct {
		unsigned usage_usec;
		const char *source;
	} cases[] = {{1495000, "cgroup"}, {1480000, "proc"}, {0, "proc"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		world_init(&w, "/box");
		put_process(&w, 10, 1, 150, "/box");
		usage(&w, cases[i].usage_usec, "");
		look(&w);
		assert_double_equal(w.value[RUN_CPU_SECONDS], 1.5, 1e-9);
		assert_string_equal(note_of(&w).cpu_source, cases[i].source);
		world_done(&w);
	}
}

static void kill_in_the_own_group_is_noted(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, "/box");
	test_host_file(&w.t, GROUP "memory.events", "low 0\nhigh 2\nmax 7\noom 1\noom_kill 1\n");
	look(&w);
	assert_double_equal(w.value[RUN_OOM_KILLS], 1, 0);
	assert_double_equal(w.value[RUN_MEMORY_MAX_EVENTS], 7, 0);
	assert_double_equal(note_of(&w).oom_kills, 1, 0);
	assert_double_equal(note_of(&w).shared_oom_kills, 1, 0);
	assert_double_equal(note_of(&w).memory_limit_bytes, 134217728, 0);
	world_done(&w);
}

static void kill_in_a_shared_group_counts_from_the_begin(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, "/");
	assert_true(isnan(note_of(&w).oom_kills));
	assert_true(isnan(note_of(&w).shared_oom_kills));
	world_done(&w);

	world_init(&w, "/");
	account_close(w.account);
	test_host_file(&w.t, "/proc/vmstat", "nr_free_pages 1\noom_kill 3\n");
	w.account = account_open(w.accounts, &w.t.host,
		&(struct account_spec){.root = 10, .ours = true}, &w.tree);
	test_host_file(&w.t, "/proc/vmstat", "nr_free_pages 1\noom_kill 5\n");
	assert_true(isnan(note_of(&w).oom_kills));
	assert_double_equal(note_of(&w).shared_oom_kills, 2, 0);
	world_done(&w);
}

static void quota_of_a_group_above_is_followed_from_the_begin(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, "/box");
	look(&w);
	assert_true(isnan(
		w.value[RUN_CPU_THROTTLED_SECONDS])); /* no quota, so nothing is held back by one */
	account_close(w.account);
	put_process(&w, 10, 1, 100, "/box/in");
	test_host_file(&w.t, GROUP "in/cpu.max", "max 100000\n");
	test_host_file(&w.t, GROUP "cpu.max", "50000 100000\n");
	usage(&w, 0, "nr_periods 10\nnr_throttled 5\nthrottled_usec 1000000\n");
	w.account = account_open(w.accounts, &w.t.host,
		&(struct account_spec){.root = 10, .ours = true}, &w.tree);
	usage(&w, 0, "nr_periods 30\nnr_throttled 12\nthrottled_usec 3500000\n");
	look(&w);
	assert_double_equal(w.value[RUN_CPU_PERIODS], 20, 0);
	assert_double_equal(w.value[RUN_CPU_THROTTLED_PERIODS], 7, 0);
	assert_double_equal(w.value[RUN_CPU_THROTTLED_SECONDS], 2.5, 1e-9);
	assert_double_equal(w.value[RUN_CPU_LIMIT_CORES], 0.5, 1e-9);
	world_done(&w);
}

/* 5 periods held back when it is followed; before the command was started, 2. */
static void quota_counts_from_before_the_command(void **state)
{
	static const struct {
		const char *group, *before; /* whose quota was read before */
		double expected;
	} cases[] = {
		{"/box/in", NULL, 2},   /* since it was followed */
		{"/box/in", "/box", 5}, /* since before the command */
		{"/box/in", "/elsewhere", 2},
		{"/box", NULL, 7}, /* its own: all of it */
		{"/box", "/box", 7},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;
		struct quota before = {
			.periods = 3, .throttled_periods = 2, .throttled_seconds = 0.5};

		world_init(&w, "/");
		account_close(w.account);
		put_process(&w, 10, 1, 100, cases[i].group);
		test_host_file(&w.t, GROUP "in/cpu.max", "max 100000\n");
		test_host_file(&w.t, GROUP "cpu.max", "50000 100000\n");
		usage(&w, 0, "nr_periods 10\nnr_throttled 5\nthrottled_usec 1000000\n");
		before.place = (struct cgroup_place){.tree = w.t.host.sys, .version = 2};
		snprintf(before.place.path, sizeof before.place.path, "fs/cgroup%s",
			cases[i].before ? cases[i].before : "");
		w.account = account_open(w.accounts, &w.t.host,
			&(struct account_spec){.root = 10,
				.ours = true,
				.quota = cases[i].before ? &before : NULL},
			&w.tree);
		usage(&w, 0, "nr_periods 30\nnr_throttled 7\nthrottled_usec 3500000\n");
		look(&w);
		assert_double_equal(w.value[RUN_CPU_THROTTLED_PERIODS], cases[i].expected, 0);
		world_done(&w);
	}
}

static void group_that_is_hidden_at_the_begin_is_found_later(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, "/../box");
	look(&w);
	assert_true(isnan(w.value[RUN_MEMORY_LIMIT_BYTES]));
	test_host_file(&w.t, "/proc/10/root/sys/fs/cgroup/cgroup.procs", "10\n");
	test_host_file(&w.t, "/proc/10/root/sys/fs/cgroup/memory.max", "67108864\n");
	test_host_file(&w.t, "/proc/10/root/sys/fs/cgroup/memory.events", "oom_kill 1\n");
	test_host_file(&w.t, "/proc/10/root/sys/fs/cgroup/cpu.max", "50000 100000\n");
	test_host_file(&w.t, "/proc/10/root/sys/fs/cgroup/cpu.stat", "nr_throttled 5\n");
	account_find_members(w.account, &w.t.host, &w.tree);
	test_host_file(&w.t, "/proc/10/root/sys/fs/cgroup/cpu.stat",
		"nr_periods 9\nnr_throttled 7\n");
	look(&w);
	assert_double_equal(w.value[RUN_MEMORY_LIMIT_BYTES], 67108864, 0);
	assert_double_equal(w.value[RUN_CPU_LIMIT_CORES], 0.5, 1e-9);
	assert_double_equal(w.value[RUN_CPU_THROTTLED_PERIODS], 7, 0);
	assert_double_equal(w.value[RUN_OOM_KILLS], 1, 0);
	world_done(&w);
}

static void without_a_group_the_machine_bounds_what_is_missed(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, "/");
	put_process(&w, 10, 1, 150, "/");
	machine(&w, 101.2, 50); /* busy for 0.8 s, nobody was born */
	look(&w);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 1.5, 1e-9);
	assert_string_equal(note_of(&w).cpu_source, "proc");
	assert_double_equal(note_of(&w).cpu_missed_seconds, 0, 1e-6);
	put_process(&w, 10, 1, 160, "/");
	machine(&w, 102.2, 90);
	look(&w); /* busy for 1 s, of which 0.1 s are known; this test's own time is a little */
	assert_in_range((uint64_t)(note_of(&w).cpu_missed_seconds * 1000), 500, 900);
	test_host_remove(&w.t, "/proc/10");
	machine(&w, 103.7, 90); /* nobody was born, but its own last 0.5 s are not known */
	look(&w);
	assert_in_range((uint64_t)(note_of(&w).cpu_missed_seconds * 1000), 900, 1400);
	/* Somebody waited for what was missed. */
	account_waited(w.account, 9);
	assert_string_equal(note_of(&w).cpu_source, "rusage");
	assert_double_equal(note_of(&w).cpu_missed_seconds, 0, 0);
	world_done(&w);
}

static void unknown_machine_is_an_unknown_bound(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, "/");
	test_host_remove(&w.t, "/proc/stat");
	look(&w);
	assert_true(isnan(note_of(&w).cpu_missed_seconds));
	world_done(&w);
}

static void total_never_falls_and_its_parts_add_up(void **state)
{
	static const struct {
		unsigned usec; /* 0: not to be read */
		double expected;
	} steps[] = {{2000000, 2}, {5000000, 5}, {4000000, 5}, {0, 5}, {7000000, 7}};
	struct world w;
	double user = 0, system = 0;

	(void)state;
	world_init(&w, "/box");
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		if (steps[i].usec)
			usage(&w, steps[i].usec, i % 2 ? "" : "system_usec 900000\n");
		else
			test_host_remove(&w.t, GROUP "cpu.stat");
		look(&w);
		assert_double_equal(w.value[RUN_CPU_SECONDS], steps[i].expected, 1e-9);
		assert_double_equal(w.value[RUN_CPU_USER_SECONDS] + w.value[RUN_CPU_SYSTEM_SECONDS],
			steps[i].expected, 1e-9);
		assert_true(w.value[RUN_CPU_USER_SECONDS] >= user - 1e-9);
		assert_true(w.value[RUN_CPU_SYSTEM_SECONDS] >= system - 1e-9);
		user = w.value[RUN_CPU_USER_SECONDS];
		system = w.value[RUN_CPU_SYSTEM_SECONDS];
	}
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_of_its_own_knows_all),
		cmocka_unit_test(newborn_that_the_tree_does_not_know_is_no_stranger),
		cmocka_unit_test(processes_of_the_group_join_the_tree),
		cmocka_unit_test(what_the_root_did_before_it_was_the_command_is_not_counted),
		cmocka_unit_test(group_that_lacks_some_of_it_is_not_called_all_of_it),
		cmocka_unit_test(kill_in_the_own_group_is_noted),
		cmocka_unit_test(kill_in_a_shared_group_counts_from_the_begin),
		cmocka_unit_test(quota_of_a_group_above_is_followed_from_the_begin),
		cmocka_unit_test(quota_counts_from_before_the_command),
		cmocka_unit_test(group_that_is_hidden_at_the_begin_is_found_later),
		cmocka_unit_test(without_a_group_the_machine_bounds_what_is_missed),
		cmocka_unit_test(unknown_machine_is_an_unknown_bound),
		cmocka_unit_test(total_never_falls_and_its_parts_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
