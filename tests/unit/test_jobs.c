/* collectors/followed/jobs.c: which processes belong to a run. No CPU time may be lost or counted
 * twice. /proc is simulated in memory. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/followed/jobs.h"
#include "tests/support/jobs_world.h"

static void waited_child_is_counted_once(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .user = 100, .faults = 50, .start = 5, .children = "11 ");
	PUT(w, .pid = 11, .ppid = 10, .user = 200, .faults = 70, .start = 6, .children = "");
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3, 1e-9);
	/* The child used 30 ticks more and ended. Its parent waited for it. */
	gone(w, 11);
	children(w, 10, "");
	PUT(w, .pid = 10, .ppid = 1, .user = 100, .waited_user = 230, .faults = 50,
		.waited_faults = 75, .start = 5);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3.3, 1e-9);
	assert_double_equal(look(w)->value[RUN_PROCESSES], 1, 0);
}

static void put_zombie(struct world *w, int pid, int ppid, unsigned user, unsigned faults)
{
	char path[64], text[200];

	snprintf(path, sizeof path, "%d/stat", pid);
	snprintf(text, sizeof text,
		"%d (job) Z %d 1 1 0 -1 0 %u 0 0 0 %u 0 0 0 20 0 1 0 6 0 0 0 0 0\n", pid, ppid,
		faults, user);
	memory_tree_text(w->proc, path, text);
}

/* The kernel adds the time of a zombie to its parent a moment before the zombie disappears. */
static void waited_zombie_that_still_shows_is_counted_once(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .user = 100, .faults = 50, .start = 5, .children = "11 ");
	PUT(w, .pid = 11, .ppid = 10, .user = 200, .faults = 70, .start = 6, .children = "");
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3, 1e-9);
	put_zombie(w, 11, 10, 200, 70);
	PUT(w, .pid = 10, .ppid = 1, .user = 100, .waited_user = 200, .faults = 50,
		.waited_faults = 70, .start = 5);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3, 1e-9);
	gone(w, 11);
	children(w, 10, "");
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3, 1e-9);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3, 1e-9);
}

/* The waited time of the parent grows because of a child that began and ended between two ticks. A
 * zombie is there too, so the time may be the zombie's. At the second tick the zombie is still
 * there, so the time is known to be of the other child. */
static void zombie_that_stays_is_counted_at_the_second_look(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .user = 100, .faults = 50, .start = 5, .children = "11 ");
	PUT(w, .pid = 11, .ppid = 10, .user = 200, .faults = 70, .start = 6, .children = "");
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3, 1e-9);
	put_zombie(w, 11, 10, 200, 70);
	PUT(w, .pid = 10, .ppid = 1, .user = 100, .waited_user = 50, .faults = 50,
		.waited_faults = 90, .start = 5);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3, 1e-9);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3.5, 1e-9);
	/* No process of the run reaps the zombie, so the zombie's time stays in the total. */
	gone(w, 11);
	children(w, 10, "");
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3.5, 1e-9);
}

static void births(struct world *w, unsigned n)
{
	char text[96];

	snprintf(text, sizeof text, "cpu  1 0 1 0\ncpu0 1\nprocesses %u\n", n);
	memory_tree_text(w->proc, "stat", text);
}

/* The kernel counts created processes. Children are searched for only after a creation, and only at
 * processes that may be the parent. */
static void nobody_is_searched_for_when_nobody_was_born(void **state)
{
	const char *file = "10/task/10/children";
	AUTO(world_freep) struct world *w = world_new();

	births(w, 100);
	PUT(w, .pid = 10, .ppid = 1, .start = 5, .children = "");
	follow(w, 10, 0);
	look(w);
	size_t reads = memory_tree_reads(w->proc, file);

	look(w);
	look(w);
	assert_int_equal(memory_tree_reads(w->proc, file), reads);
	births(w, 101);
	PUT(w, .pid = 11, .ppid = 10, .start = 6, .children = "");
	children(w, 10, "11 ");
	assert_double_equal(look(w)->value[RUN_PROCESSES], 2, 0);
	/* When the kernel's count of forks is missing, children are searched at every tick. */
	memory_tree_remove(w->proc, "stat");
	children(w, 11, "12 ");
	PUT(w, .pid = 12, .ppid = 11, .start = 7, .children = "");
	assert_double_equal(look(w)->value[RUN_PROCESSES], 3, 0);
}

static void child_nobody_waited_for_is_kept(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .user = 100, .faults = 50, .start = 5, .children = "11 ");
	PUT(w, .pid = 11, .ppid = 10, .user = 200, .faults = 70, .start = 6, .children = "");
	follow(w, 10, 0);
	look(w);
	gone(w, 11);
	children(w, 10, "");
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3, 1e-9);
	/* The parent's later CPU time is added. */
	PUT(w, .pid = 10, .ppid = 1, .user = 150, .faults = 60, .start = 5);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3.5, 1e-9);
}

static void orphan_stays_a_member(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .children = "11 ");
	PUT(w, .pid = 11, .ppid = 10, .start = 6, .faults = 5, .children = "12 ");
	PUT(w, .pid = 12, .ppid = 11, .start = 7, .faults = 5, .children = "");
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_PROCESSES], 3, 0);
	gone(w, 11);
	children(w, 10, "");
	PUT(w, .pid = 12, .ppid = 1, .start = 7, .user = 500, .faults = 5);
	assert_double_equal(look(w)->value[RUN_PROCESSES], 2, 0);
	gone(w, 10);
	assert_double_equal(look(w)->value[RUN_PROCESSES], 1, 0);
	assert_false(w->snapshot.runs->ended);
	gone(w, 12);
	look(w);
	assert_true(w->snapshot.runs->ended);
	assert_double_equal(w->snapshot.runs->value[RUN_CPU_SECONDS], 5, 1e-9);
	assert_true(isnan(w->snapshot.runs->value[RUN_MEMORY_BYTES]));
}

static void orphan_that_the_reaper_got_is_counted_once(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 9, .ppid = 1, .start = 1, .children = "10 ");
	PUT(w, .pid = 10, .ppid = 9, .user = 10, .start = 5, .faults = 1, .children = "11 ");
	PUT(w, .pid = 11, .ppid = 10, .user = 20, .start = 6, .faults = 30, .children = "12 ");
	PUT(w, .pid = 12, .ppid = 11, .user = 40, .start = 7, .faults = 50, .children = "");
	follow(w, 10, 9);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 0.7, 1e-9);
	/* Process 11 ended and the root waited for it. The orphan 12 ended, too, and its reaper
	 * waited for it. */
	gone(w, 11);
	gone(w, 12);
	children(w, 10, "");
	PUT(w, .pid = 9, .ppid = 1, .start = 1, .waited_user = 45, .waited_faults = 50);
	PUT(w, .pid = 10, .ppid = 9, .user = 10, .waited_user = 20, .start = 5, .faults = 1,
		.waited_faults = 30);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 0.75, 1e-9);
}

static void reused_pid_is_a_stranger(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .user = 100, .start = 5, .children = "");
	follow(w, 10, 0);
	look(w);
	PUT(w, .pid = 10, .ppid = 1, .user = 90000, .start = 999);
	look(w);
	assert_true(w->snapshot.runs->ended);
	assert_double_equal(w->snapshot.runs->value[RUN_CPU_SECONDS], 1, 1e-9);
}

static void reaper_adds_what_it_waited_for_but_not_itself(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 9, .ppid = 1, .user = 1000, .waited_user = 50, .waited_faults = 9,
		.start = 4);
	PUT(w, .pid = 10, .ppid = 9, .user = 100, .faults = 50, .start = 5);
	/* Process 8 was the reaper's child before the run. */
	PUT(w, .pid = 8, .ppid = 9, .user = 7000, .faults = 50, .start = 4, .children = "");
	children(w, 9, "8 10 ");
	children(w, 10, "");
	follow(w, 10, 9);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 1, 1e-9);
	assert_double_equal(w->snapshot.runs->value[RUN_PROCESSES], 1, 0);
	/* An orphan is given to the reaper. It is found although no process of the run used CPU
	 * time. */
	PUT(w, .pid = 12, .ppid = 9, .user = 10, .faults = 3, .start = 8, .children = "");
	children(w, 9, "8 10 12 ");
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 1.1, 1e-9);
	/* Both end, and the reaper waits for them. */
	gone(w, 10);
	gone(w, 12);
	PUT(w, .pid = 9, .ppid = 1, .user = 1000, .waited_user = 170, .waited_faults = 70,
		.start = 4, .children = "");
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 1.2, 1e-9);
	/* The reaper ends as well. No counter falls. */
	gone(w, 9);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 1.2, 1e-9);
}

static void mark_from_before_it_was_followed_counts(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	const double mib = 1048576;

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 256, .peak_kib = 512000,
		.children = "");
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_MEMORY_PEAK_BYTES], 500 * mib, 1);
	assert_double_equal(w->snapshot.runs->value[RUN_MEMORY_PEAK_PROCESS_BYTES], 500 * mib, 1);
}

static void children_are_found_without_children_files(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 30, .ppid = 1, .start = 5);
	PUT(w, .pid = 20, .ppid = 30, .start = 6);
	PUT(w, .pid = 10, .ppid = 20, .start = 7);
	PUT(w, .pid = 40, .ppid = 1, .start = 7);
	follow(w, 30, 0);
	assert_double_equal(look(w)->value[RUN_PROCESSES], 3, 0);
}

static void refused_files_are_a_gap_not_a_failure(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .user = 7, .start = 5, .rss_pages = 10, .children = "");
	memory_tree_refuse(w->proc, "10/io", -EACCES);
	memory_tree_refuse(w->proc, "10/fd", -EACCES);
	follow(w, 10, 0);
	look(w);
	assert_double_equal(w->snapshot.runs->value[RUN_UNREADABLE_PROCESSES], 1, 0);
	assert_double_equal(w->snapshot.runs->value[RUN_CPU_SECONDS], 0.07, 1e-9);
	assert_true(isnan(w->snapshot.runs->value[RUN_OPEN_FDS]));
}

static void ending_process_that_refuses_is_not_counted(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 0, .children = "");
	memory_tree_refuse(w->proc, "10/io", -EACCES);
	memory_tree_refuse(w->proc, "10/fd", -EACCES);
	follow(w, 10, 0);
	look(w);
	assert_double_equal(w->snapshot.runs->value[RUN_PROCESSES], 1, 0);
	assert_double_equal(w->snapshot.runs->value[RUN_UNREADABLE_PROCESSES], 0, 0);
}

/* Makes a run that was sampled with 1 s of user time and 10 MiB, and that ends with these final
 * values. */
static struct world *concluded(double cpu, double system, double peak, enum final_kind kind)
{
	struct world *w = world_new();
	double final[RUN_N_METRICS];

	PUT(w, .pid = 10, .ppid = 1, .user = 100, .start = 5, .rss_pages = 2560, .peak_kib = 10240,
		.children = "");
	follow(w, 10, 0);
	look(w);
	for (size_t i = 0; i < RUN_N_METRICS; i++)
		final[i] = NAN;
	final[RUN_CPU_SECONDS] = cpu;
	final[RUN_CPU_SYSTEM_SECONDS] = system;
	final[RUN_MEMORY_PEAK_BYTES] = peak;
	jobs_conclude(w->host.jobs, "r1", final, kind);
	return w;
}

static void conclusion_corrects_upwards_only(void **state)
{
	AUTO(world_freep) struct world *w = concluded(1.25, 0.5, 1, FINAL_AT_LEAST);

	gone(w, 10);
	look(w);
	assert_true(w->snapshot.runs->ended);
	assert_double_equal(w->snapshot.runs->value[RUN_CPU_SECONDS], 1.25, 1e-9);
	/* 1 s of user time was reported before. It must not fall, and the parts must add up. */
	assert_double_equal(w->snapshot.runs->value[RUN_CPU_USER_SECONDS], 1, 1e-9);
	assert_double_equal(w->snapshot.runs->value[RUN_CPU_SYSTEM_SECONDS], 0.25, 1e-9);
	assert_double_equal(w->snapshot.runs->value[RUN_MEMORY_PEAK_BYTES], 10485760, 1);
	jobs_drop_ended(w->host.jobs, &w->host, UINT64_MAX, 0);
	look(w);
	assert_int_equal(w->snapshot.n_runs, 0);
}

static void record_wins_over_what_was_seen(void **state)
{
	AUTO(world_freep) struct world *w = concluded(0.5, 0, 4096, FINAL_EXACT);

	look(w);
	assert_double_equal(w->snapshot.runs->value[RUN_CPU_SECONDS], 1,
		1e-9); /* a counter never falls */
	assert_double_equal(w->snapshot.runs->value[RUN_MEMORY_PEAK_BYTES], 4096, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waited_child_is_counted_once),
		cmocka_unit_test(waited_zombie_that_still_shows_is_counted_once),
		cmocka_unit_test(zombie_that_stays_is_counted_at_the_second_look),
		cmocka_unit_test(nobody_is_searched_for_when_nobody_was_born),
		cmocka_unit_test(child_nobody_waited_for_is_kept),
		cmocka_unit_test(orphan_stays_a_member),
		cmocka_unit_test(orphan_that_the_reaper_got_is_counted_once),
		cmocka_unit_test(reused_pid_is_a_stranger),
		cmocka_unit_test(reaper_adds_what_it_waited_for_but_not_itself),
		cmocka_unit_test(mark_from_before_it_was_followed_counts),
		cmocka_unit_test(children_are_found_without_children_files),
		cmocka_unit_test(refused_files_are_a_gap_not_a_failure),
		cmocka_unit_test(ending_process_that_refuses_is_not_counted),
		cmocka_unit_test(conclusion_corrects_upwards_only),
		cmocka_unit_test(record_wins_over_what_was_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
