/* Tests collectors/accounting/accounts.c: from which source a run's CPU time is taken. /proc and
 * the control groups are simulated. */
#include "tests/unit/test_main.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "tests/support/accounts_world.h"

static void group_of_its_own_knows_all(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	usage(&w, 6500000, "user_usec 2000000\nsystem_usec 4500000\n");
	machine(&w, 100, 9999);
	look_again(&w);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 6.5, 1e-9);
	assert_double_equal(w.value[RUN_CPU_SYSTEM_SECONDS], 4.5, 1e-9);
	assert_double_equal(w.value[RUN_CPU_USER_SECONDS], 2, 1e-9);
	assert_double_equal(w.value[RUN_MEMORY_LIMIT_BYTES], 134217728, 0);
	assert_double_equal(w.value[RUN_OOM_KILLS], 0, 0);
	assert_string_equal(note_of(&w).cpu_source, "cgroup");
	assert_double_equal(note_of(&w).cpu_missed_seconds, 0, 0);
	/* The control group disappears with its last process. The values keep their last
	 * reading. */
	test_host_remove(&w.t, "/sys/fs/cgroup/box");
	test_host_remove(&w.t, "/proc/10");
	look_again(&w);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 6.5, 1e-9);
	assert_double_equal(w.value[RUN_CPU_SYSTEM_SECONDS], 4.5, 1e-9);
	assert_double_equal(note_of(&w).oom_kills, 0, 0);
}

static void the_machine_is_what_it_had_during_the_run(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	test_host_file(&w.t, "/proc/meminfo", "MemTotal:       4096 kB\n");
	OPEN(&w, .root = 10, .ours = true);
	machine(&w, 100, 9999);
	look_again(&w);
	assert_double_equal(note_of(&w).machine_cpus, 2, 0);
	assert_double_equal(note_of(&w).machine_memory_bytes, 4096 * 1024, 0);
	/* The machine first loses memory and then gets more. The note keeps the largest amount. */
	test_host_file(&w.t, "/proc/meminfo", "MemTotal:       1024 kB\n");
	assert_double_equal(note_of(&w).machine_memory_bytes, 4096 * 1024, 0);
	test_host_file(&w.t, "/proc/meminfo", "MemTotal:       8192 kB\n");
	assert_double_equal(note_of(&w).machine_memory_bytes, 8192 * 1024, 0);
	test_host_remove(&w.t, "/proc/meminfo");
	assert_double_equal(note_of(&w).machine_memory_bytes, 4096 * 1024, 0);
	OPEN(&w, .root = 10, .ours = true);
	assert_true(isnan(note_of(&w).machine_memory_bytes));
}

static void newborn_that_the_tree_does_not_know_is_no_stranger(void **state)
{
	static const struct {
		int parent;
		const char *source;
		double seconds;
	} cases[] = {{10, "cgroup", 6.5}, {1, "proc", 1}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;

		world_init(&w, "/box");
		put_process(&w, 12, cases[i].parent, 0, "/box");
		test_host_file(&w.t, GROUP "cgroup.procs",
			"10\n12\n13\n"); /* process 13 has already ended */
		OPEN(&w, .root = 10, .ours = true);
		usage(&w, 6500000, "");
		look_again(&w);
		assert_double_equal(w.value[RUN_CPU_SECONDS], cases[i].seconds, 1e-9);
		assert_string_equal(note_of(&w).cpu_source, cases[i].source);
	}
}

/* The task clock slows the run. It is used only if no other source counts the children that no
 * process waits for. */
static void clock_is_used_where_nothing_else_tells_all(void **state)
{
	static const struct {
		const char *group, *procs;
		bool expected;
	} cases[] = {{"/", "10\n", true}, {"/box", "10\n", false}, {"/box", "10\n12\n", true}};
	const struct task_clock clock = TASK_CLOCK_NONE;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;

		world_init(&w, cases[i].group);
		assert_false(note_of(&w).uses_clock);
		put_process(&w, 12, 1, 0, "/box");
		test_host_file(&w.t, GROUP "cgroup.procs", cases[i].procs);
		OPEN(&w, .root = 10, .ours = true, .clock = &clock);
		assert_int_equal(note_of(&w).uses_clock, cases[i].expected);
	}
}

static void processes_of_the_group_join_the_tree(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	put_process(&w, 13, 1, 30, "/box"); /* an orphan; its parents were never seen */
	test_host_file(&w.t, GROUP "cgroup.procs", "10\n13\n");
	account_find_members(w.account, &w.t.host, &w.tree);
	assert_true(process_tree_has(&w.tree, 13));
}

static void what_the_root_did_before_it_was_the_command_is_not_counted(void **state)
{
	static const struct {
		const char *group, *source;
		/* /proc shows 1.5 s, of which 0.25 s are from before exec; the group shows 3 s */
		double seconds;
	} cases[] = {{"/", "proc", 1.25}, {"/box", "cgroup", 3}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;

		world_init(&w, cases[i].group);
		OPEN(&w, .root = 10, .ours = true, .forked_seconds = 0.25);
		put_process(&w, 10, 1, 150, cases[i].group);
		usage(&w, 3000000, "");
		look_again(&w);
		assert_double_equal(w.value[RUN_CPU_SECONDS], cases[i].seconds, 1e-9);
		assert_double_equal(w.value[RUN_CPU_USER_SECONDS] + w.value[RUN_CPU_SYSTEM_SECONDS],
			cases[i].seconds, 1e-9);
		assert_string_equal(note_of(&w).cpu_source, cases[i].source);
	}
}

static void what_the_root_did_before_it_entered_its_group_is_not_counted(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	usage(&w, 800000, "");
	OPEN(&w, .root = 10, .forked_seconds = 0.1);
	put_process(&w, 10, 1, 150, "/box");
	usage(&w, 1300000, "");
	look_again(&w);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 1.3, 1e-9);
	assert_string_equal(note_of(&w).cpu_source, "cgroup");
}

static void group_that_lacks_some_of_it_is_not_called_all_of_it(void **state)
{
	static const struct {
		unsigned usage_usec;
		const char *source;
	} cases[] = {{1495000, "cgroup"}, {1480000, "proc"}, {0, "proc"}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;

		world_init(&w, "/box");
		put_process(&w, 10, 1, 150, "/box");
		usage(&w, cases[i].usage_usec, "");
		look_again(&w);
		assert_double_equal(w.value[RUN_CPU_SECONDS], 1.5, 1e-9);
		assert_string_equal(note_of(&w).cpu_source, cases[i].source);
	}
}

static void without_a_group_the_machine_bounds_what_is_missed(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/");
	put_process(&w, 10, 1, 150, "/");
	machine(&w, 101.2, 50); /* the machine was busy for 0.8 s, and created no process */
	look_again(&w);
	assert_double_equal(w.value[RUN_CPU_SECONDS], 1.5, 1e-9);
	assert_string_equal(note_of(&w).cpu_source, "proc");
	assert_double_equal(note_of(&w).cpu_missed_seconds, 0, 1e-6);
	put_process(&w, 10, 1, 160, "/");
	machine(&w, 102.2, 90);
	look_again(&w); /* busy for 1 s, of which the run used 0.1 s and this test a little */
	assert_in_range((uint64_t)(note_of(&w).cpu_missed_seconds * 1000), 500, 900);
	test_host_remove(&w.t, "/proc/10");
	machine(&w, 103.7, 90); /* no process was created, but 0.5 s of the run were not read */
	look_again(&w);
	assert_in_range((uint64_t)(note_of(&w).cpu_missed_seconds * 1000), 900, 1400);
	/* wait() reported the CPU time of all children, so nothing is missed. */
	account_waited(w.account, 9, NAN);
	assert_string_equal(note_of(&w).cpu_source, "rusage");
	assert_double_equal(note_of(&w).cpu_missed_seconds, 0, 0);
}

/* The clock misses the ends of processes. The number of these ends bounds what it misses. If the ends
 * were not counted on all CPUs, the run may have created all processes of the machine. */
static void counted_ends_bound_what_the_clock_misses(void **state)
{
	static const struct {
		size_t cpus; /* CPUs on which the ends were counted */
		double least, most;
	} cases[] = {{2, 0.005, 0.005}, {1, 0.3, 1}}; /* two CPUs were busy for 1 s */
	/* Four processes began and five ended. */
	struct perf_event_mmap_page page = {.data_head = 9 * 32};
	const uint64_t ns[] = {1000000000, 1200000000}; /* at two samples */

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;
		int ends[2];

		assert_int_equal(pipe(ends), 0);
		assert_int_equal(write(ends[1], ns, sizeof ns), sizeof ns);
		const struct task_clock clock = {.n = 1,
			.fd = &ends[0],
			.n_buffers = 1,
			.n_cpus = cases[i].cpus,
			.buffer = {&page}};

		world_init(&w, "/");
		OPEN(&w, .root = 10, .clock = &clock);
		machine(&w, 102, 50); /* the machine was idle */
		look_again(&w);
		machine(&w, 103, 1050); /* 1,000 processes were created */
		look_again(&w);
		assert_string_equal(note_of(&w).cpu_source, "task-clock");
		double missed = note_of(&w).cpu_missed_seconds;

		if (!(missed >= cases[i].least - 1e-9 && missed <= cases[i].most + 1e-9))
			fail_msg("%zu CPUs: %g", cases[i].cpus, missed);
		close(ends[0]);
		close(ends[1]);
	}
}

/* ---- a clock of threads that run already ---- */

#define BURN_NS 200000000

/* Sets the stolen ticks of each of the machine's two CPUs since boot. The CPUs are never idle. The
 * machine created one process for each 50 ticks. */
static void machine_stolen(struct world *w, unsigned ticks)
{
	char text[256];

	snprintf(text, sizeof text,
		"cpu 1 0 1 0 0 0 0 %u 0 0\ncpu0 1 0 1 0 0 0 0 %u 0 0\ncpu1 1 0 1 0 0 0 0 %u 0 0\n"
		"processes %u\n",
		2 * ticks, ticks, ticks, 50 + ticks / 50);
	test_host_file(&w->t, "/proc/stat", text);
}

/* Gives the simulated process `pid` the pid of this test in our PID namespace, so that a clock can
 * be attached to it. */
static void is_this_test(struct world *w, int pid)
{
	char path[64], text[64];

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	snprintf(text, sizeof text, "NSpid:\t%d\t%d\n", pid, (int)getpid());
	test_host_file(&w->t, path, text);
	snprintf(path, sizeof path, "/proc/%d/ns/pid", pid);
	test_host_link(&w->t, path, "pid:[1]");
}

/* Makes a run with a clock, which has counted more CPU time than /proc shows. A third of this time
 * was stolen. Then adds process 11, which has no clock. */
static void newcomer_lacks_a_clock(struct world *w)
{
	uint64_t begin, now = 0;

	world_init(w, "/");
	w->t.host.other_pid_namespace = true;
	w->t.host.self = 700;
	test_host_link(&w->t, "/proc/self/ns/pid", "pid:[1]");
	test_host_file(&w->t, "/proc/700/status", "NSpid:\t700\t5\n");
	is_this_test(w, 10);
	machine_stolen(w, 0);
	OPEN(w, .root = 10);
	assert_true(note_of(w).uses_clock);
	look_again(w);
	machine_stolen(w, 50);
	for (clock_read(CLOCK_THREAD_CPUTIME_ID, &begin); now < begin + BURN_NS;)
		clock_read(CLOCK_THREAD_CPUTIME_ID, &now);
	look_again(w);
	assert_string_equal(note_of(w).cpu_source, "task-clock");
	assert_true(note_of(w).cpu_missed_seconds < 0.3);
	put_process(w, 11, 10, 0, "/");
	test_host_file(&w->t, "/proc/10/task/10/children", "11 ");
}

/* A wrapper whose /proc does not show the run: the clock and wait4(2) know its CPU time. The stolen
 * time that was subtracted from the clock explains their difference, so the clock missed no
 * program. The end of a larger process takes longer. */
static void what_was_stolen_explains_what_the_clock_lacks(void **state)
{
	static const struct {
		double peak_bytes, least, most;
	} cases[] = {{NAN, 0.1, 0.5}, {1024.0 * 1024 * 1024, 0.15, 1}};
	const uint64_t ns = 600000000;
	double last = 0;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;
		struct perf_event_mmap_page page = {.data_head = 3 * 32};
		int ends[2];

		assert_int_equal(pipe(ends), 0);
		assert_int_equal(write(ends[1], &ns, sizeof ns), sizeof ns);
		const struct task_clock clock = {
			.n = 1, .fd = &ends[0], .n_buffers = 1, .n_cpus = 2, .buffer = {&page}};

		world_init(&w, "/");
		process_tree_done(&w.tree);
		machine_stolen(&w, 0);
		OPEN(&w, .ours = true, .clock = &clock);
		look_again(&w);
		machine_stolen(&w, 50);
		look_again(&w);
		account_waited(w.account, 0.6, cases[i].peak_bytes);
		double missed = note_of(&w).cpu_missed_seconds;

		if (!(missed >= cases[i].least && missed <= cases[i].most && missed > last))
			fail_msg("%zu: %g of %g by %s", i, missed, note_of(&w).cpu_seconds,
				note_of(&w).cpu_source);
		last = missed;
		close(ends[0]);
		close(ends[1]);
	}
}

/* The clock also counts what the host stole. gVisor's /proc/stat does not tell how much that was, so
 * any part that no other source proves may have been stolen. */
static void what_no_source_proves_may_be_stolen(void **state)
{
	const uint64_t ns[] = {1600000000, 1700000000}; /* at two samples */
	struct perf_event_mmap_page page = {.data_head = 3 * 32};
	AUTO(world_done) struct world w;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], ns, sizeof ns), sizeof ns);
	const struct task_clock clock = {
		.n = 1, .fd = &ends[0], .n_buffers = 1, .n_cpus = 2, .buffer = {&page}};

	world_init(&w, "/");
	test_host_file(&w.t, "/proc/stat",
		"cpu 0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nprocesses 0\n");
	OPEN(&w, .root = 10, .clock = &clock);
	look_again(&w);
	put_process(&w, 10, 1, 130, "/"); /* /proc proves 1.3 s */
	look_again(&w);
	struct account_note note = note_of(&w);

	assert_string_equal(note.cpu_source, "task-clock");
	assert_double_equal(note.cpu_seconds, 1.7, 0.01);
	assert_double_equal(note.cpu_foreign_seconds, note.cpu_seconds - 1.3, 1e-9);
	close(ends[0]);
	close(ends[1]);
}

static void skip_without_clock(void)
{
	struct task_clock clock = TASK_CLOCK_NONE;
	pid_t self = getpid();

	if (task_clock_attach(&clock, &self, 1))
		skip();
	task_clock_close(&clock);
}

/* The stolen time that the old clock counted is only an estimate. It stays in the bound after a new
 * clock is attached. */
static void a_clock_that_is_attached_again_keeps_what_was_stolen(void **state)
{
	skip_without_clock();

	AUTO(world_done) struct world w;

	newcomer_lacks_a_clock(&w);
	double before = w.value[RUN_CPU_SECONDS], stolen = BURN_NS / 1e9 / 3;

	is_this_test(&w, 11);
	look_again(&w);
	account_find_members(w.account, &w.t.host, &w.tree);
	assert_true(note_of(&w).uses_clock);
	look_again(&w);
	assert_string_equal(note_of(&w).cpu_source, "task-clock");
	assert_true(w.value[RUN_CPU_SECONDS] >= before);
	/* /proc rounds the times of both processes to ticks. */
	double missed = note_of(&w).cpu_missed_seconds;

	if (!(missed >= stolen + 0.04 && missed < stolen + 0.2))
		fail_msg("%g of %g", missed, stolen);
}

static void end_process(struct world *w, int pid, unsigned ticks)
{
	char path[64], text[128];

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	snprintf(text, sizeof text,
		"%d (job) Z 1 1 1 0 -1 0 1 0 0 0 %u 0 0 0 20 0 1 0 5 1000 5 0\n", pid, ticks);
	test_host_file(&w->t, path, text);
}

/* No clock counts the later children of a run that lost its clock. If the run has ended, its clock
 * counted all of them. */
static void a_clock_that_is_lost_bounds_nothing(void **state)
{
	static const struct {
		bool ended;
		double least, most;
	} cases[] = {{false, 3, 6}, {true, 0, 0.3}}; /* two CPUs were busy for 3 s */

	skip_without_clock();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;

		newcomer_lacks_a_clock(&w);
		look_again(&w);
		if (cases[i].ended) {
			end_process(&w, 10, 100);
			end_process(&w, 11, 0);
		}
		account_find_members(w.account, &w.t.host, &w.tree);
		assert_false(note_of(&w).uses_clock);
		look_again(&w);
		double missed = note_of(&w).cpu_missed_seconds;

		if (!(missed >= cases[i].least && missed <= cases[i].most))
			fail_msg("ended %d: %g", cases[i].ended, missed);
	}
}

static void unknown_machine_is_an_unknown_bound(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/");
	test_host_remove(&w.t, "/proc/stat");
	look_again(&w);
	assert_true(isnan(note_of(&w).cpu_missed_seconds));
}

static void wrapper_lacks_nothing_unless_children_are_ignored(void **state)
{
	static const struct {
		const char *ignored; /* signals that the root ignores; bit 16 is SIGCHLD */
		double least, most;
	} cases[] = {
		{"0", 0, 0}, {"65536", 0.5, 1.2}, /* the machine was busy for 1 s */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;
		char text[256];

		world_init(&w, "/");
		OPEN(&w, .root = 10, .ours = true);
		look_again(&w);
		snprintf(text, sizeof text,
			"10 (job) S 1 1 1 0 -1 0 9 0 0 0 100 0 0 0 20 0 1 0 5 1000 5 0 0 0 0 0 0 0 0 %s\n",
			cases[i].ignored);
		test_host_file(&w.t, "/proc/10/stat", text);
		machine(&w, 101, 90); /* a process was created */
		look_again(&w);
		account_waited(w.account, 1, NAN);
		if (!(note_of(&w).cpu_missed_seconds >= cases[i].least &&
			    note_of(&w).cpu_missed_seconds <= cases[i].most))
			fail_msg("%s: %g", cases[i].ignored, note_of(&w).cpu_missed_seconds);
		assert_double_equal(note_of(&w).cpu_foreign_seconds, 0, 0);
	}
}

/* Before the run was known, its group had used 0.8 s and its root 0.1 s. The difference of 0.7 s
 * may be the CPU time of other processes. */
static void earlier_use_of_a_group_may_be_others(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w, "/box");
	put_process(&w, 10, 1, 10, "/box");
	process_tree_done(&w.tree);
	assert_int_equal(process_tree_begin(&w.tree, &w.t.host, 10, 0, 0), 0);
	usage(&w, 800000, "");
	OPEN(&w, .root = 10, .ours = true);
	look_again(&w);
	assert_string_equal(note_of(&w).cpu_source, "cgroup");
	assert_double_equal(note_of(&w).cpu_foreign_seconds, 0.7, 1e-9);
	/* A group that the wrapper made for the run has no earlier use. */
	OPEN(&w, .root = 10, .ours = true, .own_group = true);
	look_again(&w);
	assert_double_equal(note_of(&w).cpu_foreign_seconds, 0, 0);
}

static void total_never_falls_and_its_parts_add_up(void **state)
{
	static const struct {
		unsigned usec; /* 0 = the file cannot be read */
		double expected;
	} steps[] = {{2000000, 2}, {5000000, 5}, {4000000, 5}, {0, 5}, {7000000, 7}};
	AUTO(world_done) struct world w;
	double user = 0, system = 0;

	world_init(&w, "/box");
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		if (steps[i].usec)
			usage(&w, steps[i].usec, i % 2 ? "" : "system_usec 900000\n");
		else
			test_host_remove(&w.t, GROUP "cpu.stat");
		look_again(&w);
		assert_double_equal(w.value[RUN_CPU_SECONDS], steps[i].expected, 1e-9);
		assert_double_equal(w.value[RUN_CPU_USER_SECONDS] + w.value[RUN_CPU_SYSTEM_SECONDS],
			steps[i].expected, 1e-9);
		assert_true(w.value[RUN_CPU_USER_SECONDS] >= user - 1e-9);
		assert_true(w.value[RUN_CPU_SYSTEM_SECONDS] >= system - 1e-9);
		user = w.value[RUN_CPU_USER_SECONDS];
		system = w.value[RUN_CPU_SYSTEM_SECONDS];
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_of_its_own_knows_all),
		cmocka_unit_test(the_machine_is_what_it_had_during_the_run),
		cmocka_unit_test(newborn_that_the_tree_does_not_know_is_no_stranger),
		cmocka_unit_test(clock_is_used_where_nothing_else_tells_all),
		cmocka_unit_test(processes_of_the_group_join_the_tree),
		cmocka_unit_test(what_the_root_did_before_it_was_the_command_is_not_counted),
		cmocka_unit_test(what_the_root_did_before_it_entered_its_group_is_not_counted),
		cmocka_unit_test(group_that_lacks_some_of_it_is_not_called_all_of_it),
		cmocka_unit_test(without_a_group_the_machine_bounds_what_is_missed),
		cmocka_unit_test(counted_ends_bound_what_the_clock_misses),
		cmocka_unit_test(what_was_stolen_explains_what_the_clock_lacks),
		cmocka_unit_test(what_no_source_proves_may_be_stolen),
		cmocka_unit_test(a_clock_that_is_attached_again_keeps_what_was_stolen),
		cmocka_unit_test(a_clock_that_is_lost_bounds_nothing),
		cmocka_unit_test(unknown_machine_is_an_unknown_bound),
		cmocka_unit_test(total_never_falls_and_its_parts_add_up),
		cmocka_unit_test(wrapper_lacks_nothing_unless_children_are_ignored),
		cmocka_unit_test(earlier_use_of_a_group_may_be_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
