/* collectors/followed/jobs.c: exporters and declared helpers below a run are no part of it. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/followed/jobs.h"
#include "collectors/process/helpers.h"
#include "tests/support/jobs_world.h"

#define OWN_PID 99

static void file(struct world *w, int pid, const char *name, const char *text, size_t len)
{
	char path[64];

	snprintf(path, sizeof path, "%d/%s", pid, name);
	memory_tree_file(w->proc, path, text, len);
}

#define FILE_OF(w, pid, name, text) file((w), (pid), (name), (text), sizeof(text))

/* A world with this program as process 99, whose code has 5000 bytes. */
static struct world *world_with_us(void)
{
	struct world *w = world_new();

	PUT(w, .pid = OWN_PID, .ppid = 1, .code = 5000, .name = "rightsize-expor");
	memory_tree_link(w->proc, "99/exe", "/usr/bin/rightsize-exporter");
	w->host.self = OWN_PID;
	jobs_free(w->host.jobs);
	w->host.jobs = jobs_new(&w->host);
	return w;
}

/* A root, and a child with 20 ticks of CPU time. */
static void put_family(struct world *w, const struct fake *second)
{
	struct fake f = *second;

	PUT(w, .pid = 10, .ppid = 1, .user = 100, .rss_pages = 50, .peak_kib = 400, .stack = 1000,
		.children = "11 12 ");
	PUT(w, .pid = 11, .ppid = 10, .user = 20, .rss_pages = 30, .peak_kib = 300, .stack = 1001,
		.children = "");
	f.pid = 12;
	f.ppid = 10;
	f.user = 700;
	f.rss_pages = 9000;
	f.peak_kib = 36000;
	put(w, &f);
}

/* Expects the usage of the root and its first child. The usage of the second child is included if
 * `counts` is true. */
static void expect(struct world *w, bool counts)
{
	const struct run_reading *r = look(w);

	assert_double_equal(r->value[RUN_PROCESSES], counts ? 3 : 2, 0);
	assert_double_equal(r->value[RUN_CPU_SECONDS], counts ? 8.2 : 1.2, 1e-9);
	assert_double_equal(r->value[RUN_MEMORY_BYTES], 4096 * (counts ? 9080 : 80), 0);
	assert_double_equal(r->value[RUN_MEMORY_PEAK_PROCESS_BYTES],
		counts ? 36000 * 1024 : 400 * 1024, 0);
	assert_double_equal(r->value[RUN_THREADS], counts ? 3 : 2, 0);
}

static void exporter_is_known_by_its_name_or_its_file(void **state)
{
	static const struct {
		const char *name;
		unsigned long code;
		const char *command_line, *exe;
		bool counts;
	} cases[] = {
		{"rightsize-expor", 1, "/opt/rightsize-exporter\0serve", "/opt/rightsize-exporter",
			false},
		{"rightsize-expor", 1, "rightsize-exporter\0report", "/opt/rightsize-exporter",
			false},
		{"rightsize-expor", 1, "rightsize-exporter\0run", "/opt/rightsize-exporter", true},
		{"rightsize-expor", 1, "rightsize-export\0serve", "/opt/rightsize-export", true},
		{"watcher", 5000, "watcher\0serve", "/usr/bin/rightsize-exporter", false},
		{"watcher", 5000, "watcher\0run", "/usr/bin/rightsize-exporter", true},
		{"watcher", 5000, "watcher\0serve", "/usr/bin/watcher", true},
		{"watcher", 5001, "watcher\0serve", "/usr/bin/rightsize-exporter", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_freep) struct world *w = world_with_us();
		size_t len = strlen(cases[i].command_line) + 1;

		put_family(w, &(struct fake){
				      .name = cases[i].name, .code = cases[i].code, .stack = 1002});
		file(w, 12, "cmdline", cases[i].command_line,
			len + strlen(cases[i].command_line + len) + 1);
		memory_tree_link(w->proc, "12/exe", cases[i].exe);
		follow(w, 10, 0);
		expect(w, cases[i].counts);
	}
}

static void this_program_is_never_counted(void **state)
{
	AUTO(world_freep) struct world *w = world_with_us();

	w->host.self = 12;
	put_family(w, &(struct fake){.name = "anything"});
	follow(w, 10, 0);
	expect(w, false);
}

static void environment_declares_a_helper(void **state)
{
	static const struct {
		const char *root, *process;
		unsigned long stack;
		bool counts;
	} cases[] = {
		{"A=1", "B=2\0RIGHTSIZE_HELPER=1\0C=3", 1002, false},
		{"A=1", "B=2\0RIGHTSIZE_HELPER=0\0C=3", 1002, true},
		{"A=1", "B=2\0RIGHTSIZE_HELPER=11\0C=", 1002, true},
		{"A=1", "B=2\0XRIGHTSIZE_HELPER=1\0C=", 1002, true},
		/* The root has the variable itself, so the variable does not mark a child as a
		 * helper. */
		{"RIGHTSIZE_HELPER=1", "B=2\0RIGHTSIZE_HELPER=1\0C=3", 1002, true},
		/* The process is a fork of the root (stack 1000) with the root's environment, or
		 * the process of another user (stack 0) with an unreadable environment. */
		{"A=1", "B=2\0RIGHTSIZE_HELPER=1\0C=3", 1000, true},
		{"A=1", "B=2\0RIGHTSIZE_HELPER=1\0C=3", 0, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_freep) struct world *w = world_with_us();

		put_family(w, &(struct fake){.stack = cases[i].stack});
		file(w, 10, "environ", cases[i].root, strlen(cases[i].root) + 1);
		file(w, 12, "environ", cases[i].process, sizeof "B=2\0RIGHTSIZE_HELPER=1\0C=3");
		follow(w, 10, 0);
		/* A fork shares the pages that it did not touch. */
		if (cases[i].stack == 1000)
			assert_double_equal(look(w)->value[RUN_PROCESSES], 3, 0);
		else
			expect(w, cases[i].counts);
		assert_int_equal(memory_tree_reads(w->proc, "12/environ"),
			cases[i].stack == 1002 && strcmp(cases[i].root, "A=1") == 0);
		look(w);
		assert_true(memory_tree_reads(w->proc, "12/environ") <= 1);
	}
}

/* A shell forks, and its child executes the helper later. */
static void process_becomes_a_helper_by_executing_it(void **state)
{
	AUTO(world_freep) struct world *w = world_with_us();

	put_family(w, &(struct fake){.stack = 1000});
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_PROCESSES], 3, 0);
	FILE_OF(w, 12, "environ", "RIGHTSIZE_HELPER=1");
	PUT(w, .pid = 12, .ppid = 10, .user = 900, .rss_pages = 9000, .stack = 1009);
	assert_double_equal(look(w)->value[RUN_PROCESSES], 2, 0);
	/* The total does not fall: 8.2 s were counted before. */
	PUT(w, .pid = 11, .ppid = 10, .user = 20 + 690, .rss_pages = 30, .stack = 1001);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 8.2, 1e-9);
	PUT(w, .pid = 11, .ppid = 10, .user = 20 + 705, .rss_pages = 30, .stack = 1001);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 8.25, 1e-9);
}

static void descendants_of_a_declared_helper_are_helpers(void **state)
{
	for (int exporter = 0; exporter < 2; exporter++) {
		AUTO(world_freep) struct world *w = world_with_us();

		put_family(w, &(struct fake){.stack = 1002,
				      .name = exporter ? "rightsize-expor" : "x",
				      .children = "13 "});
		FILE_OF(w, 12, "cmdline", "rightsize-exporter\0serve");
		if (!exporter)
			FILE_OF(w, 12, "environ", "RIGHTSIZE_HELPER=1");
		PUT(w, .pid = 13, .ppid = 12, .user = 1, .stack = 1003, .children = "14 ");
		PUT(w, .pid = 14, .ppid = 13, .user = 2, .stack = 1004, .children = "");
		follow(w, 10, 0);
		/* If process 12 is an exporter, a shell started 13 and 14 before it executed the
		 * exporter. So these two processes belong to the job. */
		assert_double_equal(look(w)->value[RUN_PROCESSES], exporter ? 4 : 2, 0);
		assert_double_equal(look(w)->value[RUN_CPU_SECONDS], exporter ? 1.23 : 1.2, 1e-9);
	}
}

static void client_declares_a_helper_before_and_during_a_run(void **state)
{
	AUTO(world_freep) struct world *w = world_with_us();
	struct err e = {0};

	put_family(w, &(struct fake){.children = "13 "});
	PUT(w, .pid = 13, .ppid = 12, .user = 1, .children = "");
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_PROCESSES], 4, 0);
	assert_int_equal(jobs_declare_helper(w->host.jobs, &w->host, 77, &e), -ESRCH);
	assert_int_equal(jobs_declare_helper(w->host.jobs, &w->host, 12, &e), 0);
	/* The root of a run is always a part of it. */
	assert_int_equal(jobs_declare_helper(w->host.jobs, &w->host, 10, &e), 0);
	assert_double_equal(look(w)->value[RUN_PROCESSES], 2, 0);

	struct run_spec later = {.run_id = "r2", .job_name = "later", .pid = 10};

	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &later, NULL), 0);
	look(w);
	assert_double_equal(w->snapshot.runs[1].value[RUN_PROCESSES], 2, 0);
	assert_double_equal(w->snapshot.runs[1].value[RUN_CPU_SECONDS], 1.2, 1e-9);
	/* Another process with the same pid is not declared. */
	gone(w, 12);
	gone(w, 13);
	look(w);
	PUT(w, .pid = 12, .ppid = 10, .user = 5, .start = 9, .children = "");
	assert_double_equal(look(w)->value[RUN_PROCESSES], 3, 0);
}

static void declarations_are_limited_to_living_processes(void **state)
{
	AUTO(world_freep) struct world *w = world_with_us();
	struct helpers *all = w->host.helpers;

	for (int pid = 1000; pid < 1000 + HELPERS_MAX; pid++) {
		PUT(w, .pid = pid, .ppid = 1, .start = 7);
		assert_int_equal(helpers_declare(all, &w->host, pid), 0);
		assert_int_equal(helpers_declare(all, &w->host, pid), 0);
	}
	assert_int_equal(all->n, HELPERS_MAX);
	PUT(w, .pid = 10, .ppid = 1);
	assert_int_equal(helpers_declare(all, &w->host, 10), -ENOSPC);
	gone(w, 1003);
	PUT(w, .pid = 1004, .ppid = 1, .start = 8);
	assert_int_equal(helpers_declare(all, &w->host, 10), 0);
	assert_int_equal(all->n, HELPERS_MAX - 1);
	assert_true(helpers_declared(all, 10, 0));
	assert_false(helpers_declared(all, 1004, 8));
}

/* When the parent waits for the helper, it gets the helper's CPU time (7 s) and its 40 faults. */
static void waited_time_of_a_helper_is_subtracted(void **state)
{
	static const struct {
		unsigned long waited, waited_faults;
		double cpu, faults, unsure;
	} cases[] = {
		/* The parent did not wait for the child, and got none of its time. */
		{0, 0, 1.2, 5, 0},
		/* The parent got exactly the last reading of the helper. Two ticks are
		 * uncertain. */
		{700, 40, 1.2, 5, 0.02},
		/* The helper, or a child that was never seen, used more time after the last
		 * reading. */
		{730, 44, 1.5, 9, 0.32},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_freep) struct world *w = world_with_us();
		struct account_note note;
		const struct run_reading *r;

		put_family(w, &(struct fake){.stack = 1002, .faults = 40});
		FILE_OF(w, 12, "environ", "RIGHTSIZE_HELPER=1");
		follow(w, 10, 0);
		expect(w, false);
		gone(w, 12);
		PUT(w, .pid = 10, .ppid = 1, .user = 100, .faults = 5,
			.waited_user = cases[i].waited, .waited_faults = cases[i].waited_faults,
			.rss_pages = 50, .peak_kib = 400, .stack = 1000, .children = "11 ");
		r = look(w);
		assert_double_equal(r->value[RUN_CPU_SECONDS], cases[i].cpu, 1e-9);
		assert_double_equal(r->value[RUN_MINOR_FAULTS], cases[i].faults, 0);
		assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
		assert_double_equal(note.cpu_foreign_seconds, cases[i].unsure, 1e-9);
		assert_double_equal(look(w)->value[RUN_CPU_SECONDS], cases[i].cpu, 1e-9);
	}
}

/* A child of the job ends at the same time as the helper. The child's time stays in the total. */
static void child_and_helper_end_together(void **state)
{
	AUTO(world_freep) struct world *w = world_with_us();

	put_family(w, &(struct fake){.stack = 1002, .faults = 40});
	PUT(w, .pid = 11, .ppid = 10, .user = 20, .faults = 30, .stack = 1001, .children = "");
	FILE_OF(w, 12, "environ", "RIGHTSIZE_HELPER=1");
	follow(w, 10, 0);
	look(w);
	gone(w, 11);
	gone(w, 12);
	PUT(w, .pid = 10, .ppid = 1, .user = 100, .waited_user = 720, .waited_faults = 70,
		.stack = 1000, .children = "");
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 1.2, 1e-9);
}

static void run_ends_when_only_helpers_are_left(void **state)
{
	AUTO(world_freep) struct world *w = world_with_us();
	const struct run_reading *r;

	put_family(w, &(struct fake){.stack = 1002});
	FILE_OF(w, 12, "environ", "RIGHTSIZE_HELPER=1");
	follow(w, 10, 0);
	assert_false(look(w)->ended);
	gone(w, 10);
	PUT(w, .pid = 12, .ppid = 1, .user = 700, .stack = 1002);
	PUT(w, .pid = 11, .ppid = 1, .user = 20, .stack = 1001);
	r = look(w);
	assert_false(r->ended);
	assert_double_equal(r->value[RUN_PROCESSES], 1, 0);
	gone(w, 11);
	r = look(w);
	assert_true(r->ended);
	assert_double_equal(r->value[RUN_CPU_SECONDS], 1.2, 1e-9);
}

/* The wrapper's rusage contains all processes that the wrapper and the job waited for, helpers
 * included. */
static void final_figures_are_without_helpers(void **state)
{
	static const struct {
		enum final_kind kind;
		double peak_kib, cpu, peak;
	} cases[] = {
		{FINAL_AT_LEAST, 36000, 1.5, 400},
		{FINAL_AT_LEAST, 36001, 1.5, 36001},
		/* FINAL_EXACT comes from the run's record, which contains no helpers. */
		{FINAL_EXACT, 36000, 8.5, 36000},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_freep) struct world *w = world_with_us();
		double final[RUN_N_METRICS];
		const struct run_reading *r;

		for (size_t k = 0; k < RUN_N_METRICS; k++)
			final[k] = NAN;
		final[RUN_CPU_SECONDS] = 8.5;
		final[RUN_CPU_USER_SECONDS] = 8.5;
		final[RUN_CPU_SYSTEM_SECONDS] = 0;
		final[RUN_MEMORY_PEAK_PROCESS_BYTES] = final[RUN_MEMORY_PEAK_BYTES] =
			cases[i].peak_kib * 1024;
		put_family(w, &(struct fake){.stack = 1002, .faults = 40});
		FILE_OF(w, 12, "environ", "RIGHTSIZE_HELPER=1");
		follow(w, 10, 0);
		look(w);
		gone(w, 12);
		PUT(w, .pid = 10, .ppid = 1, .user = 100, .waited_user = 700, .waited_faults = 40,
			.stack = 1000, .peak_kib = 400, .children = "11 ");
		look(w);
		jobs_conclude(w->host.jobs, "r1", final, cases[i].kind);
		r = look(w);
		assert_double_equal(r->value[RUN_CPU_SECONDS], cases[i].cpu, 1e-9);
		assert_double_equal(r->value[RUN_MEMORY_PEAK_PROCESS_BYTES], cases[i].peak * 1024,
			0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exporter_is_known_by_its_name_or_its_file),
		cmocka_unit_test(this_program_is_never_counted),
		cmocka_unit_test(environment_declares_a_helper),
		cmocka_unit_test(process_becomes_a_helper_by_executing_it),
		cmocka_unit_test(descendants_of_a_declared_helper_are_helpers),
		cmocka_unit_test(client_declares_a_helper_before_and_during_a_run),
		cmocka_unit_test(declarations_are_limited_to_living_processes),
		cmocka_unit_test(waited_time_of_a_helper_is_subtracted),
		cmocka_unit_test(child_and_helper_end_together),
		cmocka_unit_test(run_ends_when_only_helpers_are_left),
		cmocka_unit_test(final_figures_are_without_helpers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
