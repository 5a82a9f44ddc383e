/* collectors/accounting/accounts.c: out-of-memory kills and the CPU quota of a run's control
 * group. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "tests/support/accounts_world.h"

static void kill_in_the_own_group_is_noted(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	test_host_file(&w.t, GROUP "memory.events", "low 0\nhigh 2\nmax 7\noom 1\noom_kill 1\n");
	look_again(&w);
	assert_double_equal(w.value[RUN_OOM_KILLS], 1, 0);
	assert_double_equal(w.value[RUN_MEMORY_MAX_EVENTS], 7, 0);
	assert_double_equal(note_of(&w).oom_kills, 1, 0);
	assert_double_equal(note_of(&w).shared_oom_kills, 1, 0);
	assert_double_equal(note_of(&w).memory_limit_bytes, 134217728, 0);
}

#define MIB       1048576.0
#define LIMIT_MIB 128

/* The largest peak that was sampled for the run is 10 MiB. The process that is not part of the run
 * has 100 pages. */
static void killed_at_the_limit_of_its_group_it_held_that(void **state)
{
	static const struct {
		const char *group, *self;    /* control groups of the run and of process 1 */
		const char *before, *at_end; /* processes in the group */
		const char *mark;            /* memory.peak in bytes; NULL = no such file */
		unsigned kills, met;
		double expected; /* MiB */
	} cases[] = {
		/* The group was made for the run. A stranger may enter it later. */
		{"/box", "/", "10\n", "10\n55\n", "133169152", 1, 1, LIMIT_MIB},
		{"/box", "/", "10\n", "", NULL, 1, 1, LIMIT_MIB},
		/* The run is in the exporter's group, or in a group below it. */
		{"/box", "/box", "1\n10\n", "1\n", "134217728", 1, 1, LIMIT_MIB - 100 * 4096 / MIB},
		{"/box/in", "/box", "1\n", "1\n", NULL, 1, 1, LIMIT_MIB - 100 * 4096 / MIB},
		/* The peak stays as sampled: there was no kill; or the group never reached its
		 * limit; or other processes came to the group or left it. */
		{"/box", "/", "10\n", "10\n", "134217728", 0, 5, 10},
		{"/box", "/", "10\n", "10\n", "62914560", 1, 0, 10},
		{"/box", "/", "10\n", "10\n", NULL, 1, 0, 10},
		{"/box", "/box", "1\n10\n", "1\n55\n", "134217728", 1, 1, 10},
		{"/box", "/box", "1\n10\n", "", "134217728", 1, 1, 10},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;
		char events[64], path[64];

		world_init(&w, "/");
		put_process(&w, 10, 1, 100, cases[i].group);
		put_process(&w, 55, 1, 0, "/box");
		test_host_file(&w.t, "/proc/1/stat",
			"1 (other) S 0 1 1 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 5 1000 100 0\n");
		snprintf(path, sizeof path, "0::%s\n", cases[i].self);
		test_host_file(&w.t, "/proc/1/cgroup", path);
		test_host_file(&w.t, "/proc/self/cgroup", path);
		test_host_file(&w.t, GROUP "cgroup.procs", cases[i].before);
		if (strcmp(cases[i].group, "/box") != 0)
			test_host_file(&w.t, GROUP "in/cgroup.procs", "10\n");
		OPEN(&w, .root = 10, .ours = true);
		test_host_file(&w.t, GROUP "cgroup.procs", cases[i].at_end);
		if (cases[i].mark)
			test_host_file(&w.t, GROUP "memory.peak", cases[i].mark);
		snprintf(events, sizeof events, "max 7\noom %u\noom_kill %u\n", cases[i].met,
			cases[i].kills);
		test_host_file(&w.t, GROUP "memory.events", events);
		look_again(&w);
		w.value[RUN_MEMORY_PEAK_BYTES] = 10 * MIB;
		account_end(w.account, &w.t.host, &w.tree, w.value);
		assert_double_equal(w.value[RUN_MEMORY_PEAK_BYTES] / MIB, cases[i].expected, 1e-9);
		assert_true(note_of(&w).peak_told_by_limit == w.value[RUN_MEMORY_PEAK_BYTES] ||
			    cases[i].expected == 10);
	}
}

static void limit_that_it_met_outlives_its_group(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	test_host_file(&w.t, GROUP "memory.events", "max 7\noom 1\noom_kill 1\n");
	test_host_file(&w.t, GROUP "memory.peak", "134217728");
	look_again(&w);
	test_host_remove(&w.t, "/sys/fs/cgroup/box");
	for (int i = 0; i < 20; i++)
		look_again(&w);
	account_end(w.account, &w.t.host, &w.tree, w.value);
	assert_double_equal(note_of(&w).memory_limit_bytes, 134217728, 0);
}

static void kill_in_a_shared_group_counts_from_the_begin(void **state)
{
	struct world w;

	world_init(&w, "/");
	assert_true(isnan(note_of(&w).oom_kills));
	assert_true(isnan(note_of(&w).shared_oom_kills));
	world_done(&w);

	world_init(&w, "/");
	test_host_file(&w.t, "/proc/vmstat", "nr_free_pages 1\noom_kill 3\n");
	OPEN(&w, .root = 10, .ours = true);
	test_host_file(&w.t, "/proc/vmstat", "nr_free_pages 1\noom_kill 5\n");
	assert_true(isnan(note_of(&w).oom_kills));
	assert_double_equal(note_of(&w).shared_oom_kills, 2, 0);
	world_done(&w);
}

/* Files of the run's group /box/in and of its parent group /box; NULL = no such file. The two texts
 * of a counter are its value at the start of the run and later. */
static const struct {
	const char *what;
	bool shared; /* the exporter is in the run's group too */
	const char *limit, *above_limit;
	const char *events[2], *above_events[2];
	double known_limit, refused;
} task_cases[] = {
	{"own limit", false, "20\n", NULL, {"max 3\n", "max 5\n"}, {NULL}, 20, 5},
	{"shared limit", true, "20\n", NULL, {"max 3\n", "max 5\n"}, {NULL}, 20, 2},
	{"counted in the group above", false, "max\n", "50\n", {"max 0\n", "max 0\n"},
		{"max 4\n", "max 6\n"}, 50, 2},
	{"counted in the group of who forks", false, "max\n", "50\n", {"max 0\n", "max 4\n"},
		{"max 4\n", "max 4\n"}, 50, 4},
	{"no controller in the group", false, NULL, "50\n", {NULL}, {"max 4\n", "max 6\n"}, 50, 2},
	{"a smaller one above", false, "20\n", "10\n", {"max 0\n", "max 3\n"},
		{"max 1\n", "max 1\n"}, 10, 3},
	{"none refused", false, "20\n", NULL, {"max 0\n", "max 0\n"}, {NULL}, 20, 0},
	{"no limit", false, "max\n", "max\n", {"max 0\n", "max 0\n"}, {"max 0\n", "max 0\n"}, NAN,
		NAN},
	{"no counter", false, "20\n", NULL, {NULL}, {NULL}, 20, NAN},
	{"group removed", false, "20\n", NULL, {"max 0\n", NULL}, {NULL}, 20, NAN},
};

static void put_if(struct world *w, const char *path, const char *text)
{
	if (text)
		test_host_file(&w->t, path, text);
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void forks_refused_by_a_limit_of_tasks_are_counted(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(task_cases); i++) {
		AUTO(world_done) struct world w;

		world_init(&w, "/");
		put_process(&w, 10, 1, 100, "/box/in");
		if (task_cases[i].shared)
			test_host_file(&w.t, "/proc/self/cgroup", "0::/box/in\n");
		test_host_file(&w.t, GROUP "in/cgroup.procs", "10\n");
		put_if(&w, GROUP "in/pids.max", task_cases[i].limit);
		put_if(&w, GROUP "pids.max", task_cases[i].above_limit);
		put_if(&w, GROUP "in/pids.events", task_cases[i].events[0]);
		put_if(&w, GROUP "pids.events", task_cases[i].above_events[0]);
		OPEN(&w, .root = 10, .ours = true);
		if (!task_cases[i].events[1])
			test_host_remove(&w.t, GROUP "in/pids.events");
		put_if(&w, GROUP "in/pids.events", task_cases[i].events[1]);
		put_if(&w, GROUP "pids.events", task_cases[i].above_events[1]);
		look_again(&w);
		if (!same(w.value[RUN_PIDS_LIMIT], task_cases[i].known_limit) ||
			!same(w.value[RUN_PIDS_REFUSED], task_cases[i].refused))
			fail_msg("%s: limit %g, refused %g", task_cases[i].what,
				w.value[RUN_PIDS_LIMIT], w.value[RUN_PIDS_REFUSED]);
	}
}

static void most_tasks_are_those_of_the_own_group(void **state)
{
	for (int own = 0; own < 2; own++) {
		AUTO(world_done) struct world w;

		world_init(&w, own ? "/box" : "/");
		test_host_file(&w.t, GROUP "pids.peak", "17\n");
		test_host_file(&w.t, "/sys/fs/cgroup/pids.peak", "400\n");
		look_again(&w);
		assert_true(same(w.value[RUN_PIDS_PEAK], own ? 17 : (double)NAN));
	}
}

static void quota_of_a_group_above_is_followed_from_the_begin(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	look_again(&w);
	assert_true(isnan(w.value[RUN_CPU_THROTTLED_SECONDS])); /* no quota, so no throttling */
	put_process(&w, 10, 1, 100, "/box/in");
	test_host_file(&w.t, GROUP "in/cpu.max", "max 100000\n");
	test_host_file(&w.t, GROUP "cpu.max", "50000 100000\n");
	usage(&w, 0, "nr_periods 10\nnr_throttled 5\nthrottled_usec 1000000\n");
	OPEN(&w, .root = 10, .ours = true);
	usage(&w, 0, "nr_periods 30\nnr_throttled 12\nthrottled_usec 3500000\n");
	look_again(&w);
	assert_double_equal(w.value[RUN_CPU_PERIODS], 20, 0);
	assert_double_equal(w.value[RUN_CPU_THROTTLED_PERIODS], 7, 0);
	assert_double_equal(w.value[RUN_CPU_THROTTLED_SECONDS], 2.5, 1e-9);
	assert_double_equal(w.value[RUN_CPU_LIMIT_CORES], 0.5, 1e-9);
	/* The group was replaced by a new group of the same name. The counters of the new group say
	 * nothing about the run, so the values become unknown. */
	usage(&w, 0, "nr_periods 1\nnr_throttled 0\nthrottled_usec 0\n");
	look_again(&w);
	assert_true(isnan(w.value[RUN_CPU_PERIODS]) && isnan(w.value[RUN_CPU_THROTTLED_PERIODS]) &&
		    isnan(w.value[RUN_CPU_THROTTLED_SECONDS]));
}

/* Three quota counts: 2 periods were throttled before the command started, 5 when the account
 * opened, and 7 at the end. */
static void quota_counts_from_before_the_command(void **state)
{
	static const struct {
		const char *group, *before; /* `before`: quota read before the command */
		double expected;            /* throttled periods of the run */
	} cases[] = {
		{"/box/in", NULL, 2},   /* counted since the account opened */
		{"/box/in", "/box", 5}, /* counted since before the command started */
		{"/box/in", "/elsewhere", 2},
		{"/box", NULL, 7}, /* the group was made for the run: all periods count */
		{"/box", "/box", 7},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;
		struct cpu_quota before = {
			.periods = 3, .throttled_periods = 2, .throttled_seconds = 0.5};

		world_init(&w, "/");
		put_process(&w, 10, 1, 100, cases[i].group);
		test_host_file(&w.t, GROUP "in/cpu.max", "max 100000\n");
		test_host_file(&w.t, GROUP "cpu.max", "50000 100000\n");
		usage(&w, 0, "nr_periods 10\nnr_throttled 5\nthrottled_usec 1000000\n");
		before.place = (struct cgroup_place){.tree = w.t.host.sys, .version = 2};
		snprintf(before.place.path, sizeof before.place.path, "fs/cgroup%s",
			cases[i].before ? cases[i].before : "");
		OPEN(&w, .root = 10, .ours = true, .quota = cases[i].before ? &before : NULL);
		usage(&w, 0, "nr_periods 30\nnr_throttled 7\nthrottled_usec 3500000\n");
		look_again(&w);
		assert_double_equal(w.value[RUN_CPU_THROTTLED_PERIODS], cases[i].expected, 0);
	}
}

static void group_that_is_hidden_at_the_begin_is_found_later(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/../box");
	look_again(&w);
	assert_true(isnan(w.value[RUN_MEMORY_LIMIT_BYTES]));
	test_host_file(&w.t, "/proc/10/root/sys/fs/cgroup/cgroup.procs", "10\n");
	test_host_file(&w.t, "/proc/10/root/sys/fs/cgroup/memory.max", "67108864\n");
	test_host_file(&w.t, "/proc/10/root/sys/fs/cgroup/memory.events", "oom_kill 1\n");
	test_host_file(&w.t, "/proc/10/root/sys/fs/cgroup/cpu.max", "50000 100000\n");
	test_host_file(&w.t, "/proc/10/root/sys/fs/cgroup/cpu.stat", "nr_throttled 5\n");
	account_find_members(w.account, &w.t.host, &w.tree);
	test_host_file(&w.t, "/proc/10/root/sys/fs/cgroup/cpu.stat",
		"nr_periods 9\nnr_throttled 7\n");
	look_again(&w);
	assert_double_equal(w.value[RUN_MEMORY_LIMIT_BYTES], 67108864, 0);
	assert_double_equal(w.value[RUN_CPU_LIMIT_CORES], 0.5, 1e-9);
	assert_double_equal(w.value[RUN_CPU_THROTTLED_PERIODS], 7, 0);
	assert_double_equal(w.value[RUN_OOM_KILLS], 1, 0);
}

/* A helper is a process in the run's group that is not part of the run. The usage of the helper in
 * /proc is subtracted from the group's CPU time and memory. After the helper has ended, any CPU
 * time of the group that /proc did not show may be the helper's. */
static void helper_in_the_group_is_subtracted(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	test_host_file(&w.t, GROUP "memory.current", "83886080\n");
	test_host_file(&w.t, GROUP "memory.peak", "104857600\n");
	test_host_file(&w.t, GROUP "memory.stat", "anon 1\nfile 5000\nshmem 41943040\n");
	put_process(&w, 12, 10, 250, "/box");
	test_host_file(&w.t, "/proc/12/status",
		"Pid:\t12\nVmHWM:\t4000 kB\nRssAnon:\t2048 kB\nRssFile:\t900 kB\nRssShmem:\t1024 kB\n");
	test_host_file(&w.t, GROUP "cgroup.procs", "10\n12\n");
	test_host_file(&w.t, "/proc/10/task/10/children", "12 ");
	usage(&w, 6000000, "user_usec 4000000\nsystem_usec 2000000\n");
	look_again(&w);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 6, 1e-9);
	assert_double_equal(w.value[RUN_MEMORY_CGROUP_PEAK_BYTES], 100 * MIB, 0);
	process_tree_declare_helper(&w.tree, 12);
	/* The total had counted 2.5 s of the helper, and must not fall. Therefore only 2 s
	 * of the next 4.5 s of the group are added. */
	put_process(&w, 10, 1, 550, "/box");
	put_process(&w, 12, 10, 250, "/box");
	test_host_file(&w.t, "/proc/10/task/10/children", "12 ");
	usage(&w, 10500000, "user_usec 7000000\nsystem_usec 3500000\n");
	look_again(&w);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 8, 1e-9);
	assert_string_equal(note_of(&w).cpu_source, "cgroup");
	assert_double_equal(note_of(&w).cpu_foreign_seconds, 0, 0);
	assert_double_equal(w.value[RUN_MEMORY_CGROUP_BYTES], 77 * MIB, 0);
	assert_double_equal(w.value[RUN_MEMORY_CGROUP_SHMEM_BYTES], 39 * MIB, 0);
	assert_true(isnan(w.value[RUN_MEMORY_CGROUP_PEAK_BYTES]));
	test_host_remove(&w.t, "/proc/12");
	test_host_file(&w.t, "/proc/10/task/10/children", "");
	usage(&w, 10700000, "user_usec 7200000\nsystem_usec 3500000\n");
	look_again(&w);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 8.2, 1e-9);
	/* /proc showed 5.5 s of the root. The other 2.7 s may be the helper's. */
	assert_double_equal(note_of(&w).cpu_foreign_seconds, 2.7, 1e-9);
	/* After a kill at the group's limit the run's peak is unknown, because the helper used a
	 * part of the group's memory. */
	test_host_file(&w.t, GROUP "memory.events", "max 11\noom 4\noom_kill 2\n");
	look_again(&w);
	w.value[RUN_MEMORY_PEAK_BYTES] = 10 * MIB;
	account_end(w.account, &w.t.host, &w.tree, w.value);
	assert_double_equal(w.value[RUN_MEMORY_PEAK_BYTES], 10 * MIB, 0);
}

/* If a helper is in the group when the run starts, the group does not count as the run's own. */
static void group_with_a_helper_at_the_begin_is_not_the_run_s(void **state)
{
	for (int helper = 0; helper < 2; helper++) {
		AUTO(world_done) struct world w;

		world_init(&w, "/box");
		put_process(&w, 12, 10, 250, "/box");
		test_host_file(&w.t, "/proc/10/task/10/children", "12 ");
		test_host_file(&w.t, GROUP "cgroup.procs", "10\n12\n");
		w.t.host.self = helper ? 12 : 0;
		account_close(TAKE(w.account));
		process_tree_done(&w.tree);
		assert_int_equal(process_tree_begin(&w.tree, &w.t.host, 10, 0, 0), 0);
		OPEN(&w, .root = 10, .ours = true);
		usage(&w, 6000000, "user_usec 4000000\nsystem_usec 2000000\n");
		look_again(&w);
		assert_string_equal(note_of(&w).cpu_source, helper ? "proc" : "cgroup");
		assert_double_equal(w.value[RUN_CPU_SECONDS], helper ? 1 : 6, 1e-9);
	}
}

/* A worker process executes one run after the other. Its group counts over the worker's whole life,
 * so the group's counts are not used for one run. */
static void run_in_the_middle_of_a_life_has_nothing_of_the_group(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	test_host_file(&w.t, GROUP "memory.peak", "104857600\n");
	process_tree_from_now(&w.tree);
	OPEN(&w, .root = 10, .from_now = true);
	put_process(&w, 10, 1, 150, "/box");
	usage(&w, 1500000, "user_usec 900000\nsystem_usec 600000\n");
	look_again(&w);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 0.5, 1e-9);
	assert_true(isnan(w.value[RUN_MEMORY_CGROUP_PEAK_BYTES]));
	assert_double_equal(w.value[RUN_MEMORY_LIMIT_BYTES], 134217728, 0);
	assert_string_equal(note_of(&w).cpu_source, "proc");
}

/* The root was created one second ago. The machine has 2 CPUs. */
static void open_young(struct world *w, unsigned used_usec, const char *parts)
{
	account_close(TAKE(w->account));
	process_tree_done(&w->tree);
	test_host_file(&w->t, "/proc/10/stat",
		"10 (job) S 1 1 1 0 -1 0 1 0 0 0 15 5 0 0 20 0 1 0 99900 1000 5 0\n");
	usage(w, used_usec, parts);
	assert_int_equal(process_tree_begin(&w->tree, &w->t.host, 10, 0, 0), 0);
	OPEN(w, .root = 10, .ours = true);
}

static void what_a_group_counted_before_the_run_is_not_the_run_s(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	test_host_file(&w.t, GROUP "memory.peak", "134217728");
	test_host_file(&w.t, GROUP "memory.events", "low 0\nhigh 3\nmax 9\noom 4\noom_kill 1\n");
	test_host_file(&w.t, GROUP "cpu.max", "100000 100000\n");
	open_young(&w, 4000000, "user_usec 3000000\nsystem_usec 1000000\n");
	usage(&w, 4500000, "user_usec 3400000\nsystem_usec 1100000\n");
	test_host_file(&w.t, GROUP "memory.events", "low 0\nhigh 3\nmax 11\noom 4\noom_kill 1\n");
	look_again(&w);
	/* The run had used 0.2 s when the account opened, and used 0.5 s since. */
	assert_double_equal(w.value[RUN_CPU_SECONDS], 0.7, 1e-9);
	assert_double_equal(w.value[RUN_CPU_SYSTEM_SECONDS], 1.1 - 3.8 / 4, 1e-9);
	assert_string_equal(note_of(&w).cpu_source, "cgroup");
	/* The run existed for one second before the account opened. In that second unseen processes
	 * could use both CPUs. */
	assert_double_equal(note_of(&w).cpu_missed_seconds, 2, 1e-9);
	assert_double_equal(w.value[RUN_OOM_KILLS], 0, 0);
	assert_double_equal(w.value[RUN_MEMORY_MAX_EVENTS], 2, 0);
	assert_double_equal(w.value[RUN_MEMORY_HIGH_EVENTS], 0, 0);
	assert_true(isnan(w.value[RUN_MEMORY_CGROUP_PEAK_BYTES]));
	/* At first the limit was reached only before the run, so a kill does not raise the run's
	 * peak. Then the limit is reached during the run. */
	test_host_file(&w.t, GROUP "memory.events", "max 11\noom 4\noom_kill 2\n");
	look_again(&w);
	w.value[RUN_MEMORY_PEAK_BYTES] = 10 * MIB;
	account_end(w.account, &w.t.host, &w.tree, w.value);
	assert_double_equal(note_of(&w).oom_kills, 1, 0);
	assert_double_equal(w.value[RUN_MEMORY_PEAK_BYTES], 10 * MIB, 0);
	test_host_file(&w.t, GROUP "memory.events", "max 12\noom 5\noom_kill 2\n");
	account_end(w.account, &w.t.host, &w.tree, w.value);
	assert_double_equal(w.value[RUN_MEMORY_PEAK_BYTES], LIMIT_MIB * MIB, 0);
}

static void throttling_before_the_run_is_not_the_run_s(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	test_host_file(&w.t, GROUP "cpu.max", "100000 100000\n");
	open_young(&w, 4000000, "nr_periods 30\nnr_throttled 7\nthrottled_usec 3500000\n");
	usage(&w, 4100000, "nr_periods 32\nnr_throttled 8\nthrottled_usec 3600000\n");
	look_again(&w);
	assert_double_equal(w.value[RUN_CPU_THROTTLED_PERIODS], 1, 0);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 0.3, 1e-9);
}

/* The group used 2.2 s. The root used only 0.2 s, but children that no process waited for may have
 * used the difference. */
static void what_the_run_may_have_used_in_its_group_is_its_own(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	test_host_file(&w.t, GROUP "memory.peak", "134217728");
	open_young(&w, 2200000, "");
	look_again(&w);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 2.2, 1e-9);
	assert_double_equal(note_of(&w).cpu_missed_seconds, 0, 0);
	assert_double_equal(w.value[RUN_MEMORY_CGROUP_PEAK_BYTES], 134217728, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kill_in_the_own_group_is_noted),
		cmocka_unit_test(killed_at_the_limit_of_its_group_it_held_that),
		cmocka_unit_test(limit_that_it_met_outlives_its_group),
		cmocka_unit_test(kill_in_a_shared_group_counts_from_the_begin),
		cmocka_unit_test(forks_refused_by_a_limit_of_tasks_are_counted),
		cmocka_unit_test(most_tasks_are_those_of_the_own_group),
		cmocka_unit_test(quota_of_a_group_above_is_followed_from_the_begin),
		cmocka_unit_test(quota_counts_from_before_the_command),
		cmocka_unit_test(group_that_is_hidden_at_the_begin_is_found_later),
		cmocka_unit_test(what_a_group_counted_before_the_run_is_not_the_run_s),
		cmocka_unit_test(throttling_before_the_run_is_not_the_run_s),
		cmocka_unit_test(what_the_run_may_have_used_in_its_group_is_its_own),
		cmocka_unit_test(helper_in_the_group_is_subtracted),
		cmocka_unit_test(group_with_a_helper_at_the_begin_is_not_the_run_s),
		cmocka_unit_test(run_in_the_middle_of_a_life_has_nothing_of_the_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
