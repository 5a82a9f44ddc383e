/* collectors/followed/jobs.c: deep trees, circles, odd clocks, and processes that do not exist. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/followed/jobs.h"
#include "tests/support/jobs_world.h"

/* Recursion would overflow at some depth. Re-parenting between two reads may show a circle, which
 * would never end. */
static void deep_trees_and_circles_are_followed_to_their_end(void **state)
{
	enum { DEPTH = 1000 };
	AUTO(world_freep) struct world *w = world_new();
	char list[16];

	for (int pid = 10; pid < 10 + DEPTH; pid++) {
		PUT(w, .pid = pid, .ppid = pid - 1, .start = 5);
		snprintf(list, sizeof list, "%d ", pid + 1 < 10 + DEPTH ? pid + 1 : 10);
		children(w, pid, list);
	}
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_PROCESSES], DEPTH, 0);
}

static void start_that_is_still_to_come_is_now(void **state)
{
	static const unsigned long starts[] = {1001, 2000000, 18446744073709551615UL};

	for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
		AUTO(world_freep) struct world *w = world_new();

		w->host.now.mono.ns = 10 * NS_PER_S;
		PUT(w, .pid = 10, .ppid = 1, .start = starts[i], .children = "");
		follow(w, 10, 0);
		assert_double_equal(look(w)->value[RUN_DURATION_SECONDS], 1, 1e-9);
	}
}

static void following_nobody_is_refused(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	struct run_spec spec = {.run_id = "r1", .job_name = "etl", .pid = 77};
	struct err e = {0};

	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &spec, &e), -ESRCH);
	assert_non_null(strstr(e.text, "77"));
}

/* --path.procfs does not show this program, so no number in it is certain. A wrapper's run is
 * recorded with the values of the wrapper's own accounts. A run that a client announces is
 * refused. */
static void run_that_proc_does_not_show_has_no_numbers_of_others(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	struct run_spec spec = {.run_id = "r1", .job_name = "etl", .pid = 10, .own_numbers = true};
	double final[RUN_N_METRICS];
	struct account_note note;
	struct err e = {0};

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .user = 4000, .rss_pages = 1000, .children = "");
	w->host.other_pid_namespace = true;
	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &spec, &e), -ENXIO);
	assert_non_null(strstr(e.text, "--path.procfs"));
	spec.awaits_conclusion = true;
	spec.started_mono = w->host.now.mono;
	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &spec, &e), 0);

	const struct run_reading *r = look(w);

	assert_true(isnan(r->value[RUN_CPU_SECONDS]) && isnan(r->value[RUN_CPU_SYSTEM_SECONDS]));
	assert_true(isnan(r->value[RUN_MEMORY_BYTES]) && isnan(r->value[RUN_PROCESSES]));
	assert_double_equal(r->value[RUN_DURATION_SECONDS], 1, 1e-9);
	for (size_t i = 0; i < RUN_N_METRICS; i++)
		final[i] = NAN;
	final[RUN_CPU_SECONDS] = 0.5;
	final[RUN_CPU_USER_SECONDS] = 0.4;
	final[RUN_CPU_SYSTEM_SECONDS] = 0.1;
	final[RUN_MEMORY_PEAK_BYTES] = final[RUN_MEMORY_PEAK_PROCESS_BYTES] = 1e6;
	jobs_conclude(w->host.jobs, "r1", final, FINAL_AT_LEAST);
	r = look(w);
	assert_true(r->ended);
	assert_double_equal(r->value[RUN_CPU_SECONDS], 0.5, 1e-9);
	assert_double_equal(r->value[RUN_CPU_USER_SECONDS], 0.4, 1e-9);
	assert_double_equal(r->value[RUN_CPU_SYSTEM_SECONDS], 0.1, 1e-9);
	/* The largest process that was waited for is known. The number of these processes is
	 * unknown. */
	assert_double_equal(r->value[RUN_MEMORY_PEAK_PROCESS_BYTES], 1e6, 0);
	assert_true(isnan(r->value[RUN_MEMORY_PEAK_BYTES]));
	assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
	assert_string_equal(note.cpu_source, "rusage");
	assert_null(note.memory_source);
	assert_true(note.not_shown);
	assert_double_equal(note.cpu_foreign_seconds, 0, 0);
}

/* /proc is not mounted, or hidepid hides a job that sudo(8) started. */
static void a_wrapper_whose_child_is_not_in_proc_counts_by_wait4(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	struct run_spec spec = {.run_id = "r1", .job_name = "etl", .pid = 10, .own_numbers = true};
	double final[RUN_N_METRICS];
	struct account_note note;

	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &spec, NULL), -ESRCH);
	spec.awaits_conclusion = true;
	spec.started_mono = w->host.now.mono;
	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &spec, NULL), 0);
	look(w);
	for (size_t i = 0; i < RUN_N_METRICS; i++)
		final[i] = NAN;
	final[RUN_CPU_SECONDS] = 0.5;
	final[RUN_CPU_USER_SECONDS] = 0.4;
	final[RUN_CPU_SYSTEM_SECONDS] = 0.1;
	jobs_conclude(w->host.jobs, "r1", final, FINAL_AT_LEAST);
	const struct run_reading *r = look(w);

	assert_true(r->ended);
	assert_double_equal(r->value[RUN_CPU_SECONDS], 0.5, 1e-9);
	assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
	assert_true(note.not_shown);
	assert_double_equal(note.cpu_foreign_seconds, 0, 0);
}

/* Writes the files of a process whose first thread called pthread_exit(3). The thread `thread`
 * still has the memory. */
static void first_thread_ended(struct world *w, int pid, int thread)
{
	char path[64], text[200];

	snprintf(path, sizeof path, "%d/stat", pid);
	snprintf(text, sizeof text,
		"%d (job) Z 1 1 1 0 -1 0 70 0 0 0 20 10 0 0 20 0 2 0 5 0 0 0 0 0 0 0\n", pid);
	memory_tree_text(w->proc, path, text);
	snprintf(path, sizeof path, "%d/status", pid);
	memory_tree_text(w->proc, path,
		"State:\tZ (zombie)\nPid:\t10\nvoluntary_ctxt_switches:\t4\n");
	/* The thread `thread - 1` is exiting and has no memory any more. */
	snprintf(path, sizeof path, "%d/task/%d/children", pid, thread - 1);
	memory_tree_text(w->proc, path, "");
	PUT(w, .pid = thread - 1, .ppid = 1, .start = 6);
	snprintf(path, sizeof path, "%d/task/%d/children", pid, thread);
	memory_tree_text(w->proc, path, "");
	PUT(w, .pid = thread, .ppid = 1, .start = 6, .rss_pages = 500, .peak_kib = 4000,
		.stack = 77);
	snprintf(path, sizeof path, "%d/io", thread);
	memory_tree_text(w->proc, path,
		"rchar: 9\nwchar: 8\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\n");
	snprintf(path, sizeof path, "%d/fd/0", thread);
	memory_tree_text(w->proc, path, "");
	snprintf(path, sizeof path, "%d/status", thread);
	memory_tree_text(w->proc, path,
		"Pid:\t12\nVmHWM:\t4000 kB\nRssAnon:\t1900 kB\nRssFile:\t100 kB\n"
		"voluntary_ctxt_switches:\t900\n");
}

static void process_goes_on_without_its_first_thread(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	const struct run_reading *r;

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .user = 1, .rss_pages = 20, .peak_kib = 100,
		.stack = 77, .children = "");
	memory_tree_text(w->proc, "10/io",
		"rchar: 1\nwchar: 2\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\n");
	follow(w, 10, 0);
	look(w);
	first_thread_ended(w, 10, 12);
	/* Only root can still open this file. */
	memory_tree_refuse(w->proc, "10/io", -EACCES);
	r = look(w);
	assert_false(r->ended);
	assert_double_equal(r->value[RUN_PROCESSES], 1, 0);
	assert_double_equal(r->value[RUN_UNREADABLE_PROCESSES], 0, 0);
	assert_double_equal(r->value[RUN_MEMORY_BYTES], 500 * 4096, 0);
	assert_double_equal(r->value[RUN_MEMORY_ANONYMOUS_BYTES], 1900 * 1024, 0);
	assert_double_equal(r->value[RUN_MEMORY_PEAK_BYTES], 4000 * 1024, 0);
	assert_double_equal(r->value[RUN_CPU_SECONDS], 0.3, 1e-9);
	assert_double_equal(r->value[RUN_WRITTEN_CHARS], 8, 0);
	assert_double_equal(r->value[RUN_OPEN_FDS], 1, 0);
	assert_double_equal(r->value[RUN_MINOR_FAULTS], 70, 0);
	assert_double_equal(r->value[RUN_VOLUNTARY_SWITCHES], 0, 0);
	/* The other threads are exiting, so no thread has the memory. */
	PUT(w, .pid = 12, .ppid = 1, .start = 6);
	r = look(w);
	assert_true(r->ended);
	assert_double_equal(r->value[RUN_PROCESSES], 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deep_trees_and_circles_are_followed_to_their_end),
		cmocka_unit_test(start_that_is_still_to_come_is_now),
		cmocka_unit_test(following_nobody_is_refused),
		cmocka_unit_test(process_goes_on_without_its_first_thread),
		cmocka_unit_test(run_that_proc_does_not_show_has_no_numbers_of_others),
		cmocka_unit_test(a_wrapper_whose_child_is_not_in_proc_counts_by_wait4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
