/* collectors/followed/jobs.c: the memory of a process tree, and its peak. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "collectors/process/tree.h"
#include "tests/support/jobs_world.h"

static const char *source(const struct world *w)
{
	struct account_note note;

	assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
	return note.memory_source;
}

static void peak_is_the_mark_and_what_others_held(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	const double mib = 1048576;

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 25600, .peak_kib = 102400,
		.faults = 1, .children = "11 12 ");
	PUT(w, .pid = 11, .ppid = 10, .start = 6, .rss_pages = 256, .peak_kib = 1024, .faults = 1,
		.children = "");
	PUT(w, .pid = 12, .ppid = 10, .start = 6, .rss_pages = 256, .peak_kib = 1024, .faults = 1,
		.children = "");
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_MEMORY_PEAK_BYTES], 102 * mib, 1);
	assert_string_equal(source(w), "samples");
	/* Both children had a peak of 500 MiB since the last tick, at unknown times. The tree's
	 * peak is not 1,100 MiB. */
	PUT(w, .pid = 11, .ppid = 10, .start = 6, .rss_pages = 256, .peak_kib = 512000,
		.faults = 9);
	PUT(w, .pid = 12, .ppid = 10, .start = 6, .rss_pages = 256, .peak_kib = 512000,
		.faults = 9);
	assert_double_equal(look(w)->value[RUN_MEMORY_PEAK_BYTES], 601 * mib, 1);
	assert_string_equal(source(w), "vmhwm");
	assert_double_equal(w->snapshot.runs->value[RUN_MEMORY_PEAK_PROCESS_BYTES], 500 * mib, 1);
	assert_double_equal(w->snapshot.runs->value[RUN_MEMORY_RSS_BYTES], 102 * mib, 1);
}

static void forked_child_shares_what_it_has_not_touched(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	const double mib = 1048576;

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 76800, .peak_kib = 307200,
		.faults = 1, .stack = 7);
	/* Process 11 was forked from 10 and shares its 300 MiB, except for 100 pages that it wrote
	 * to. */
	PUT(w, .pid = 11, .ppid = 10, .start = 6, .rss_pages = 76800, .peak_kib = 307200,
		.faults = 100, .stack = 7);
	/* Process 12 was forked and executed another program. */
	PUT(w, .pid = 12, .ppid = 10, .start = 6, .rss_pages = 512, .peak_kib = 2048, .faults = 1,
		.stack = 8, .children = "");
	children(w, 10, "11 12 ");
	children(w, 11, "");
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_MEMORY_BYTES], 302 * mib + 100 * 4096, 1);
	assert_double_equal(w->snapshot.runs->value[RUN_MEMORY_PEAK_BYTES], 302 * mib + 100 * 4096,
		1);
	assert_double_equal(w->snapshot.runs->value[RUN_MEMORY_RSS_BYTES], 602 * mib, 1);
	/* Process 11 allocated 50 MiB more. */
	PUT(w, .pid = 11, .ppid = 10, .start = 6, .rss_pages = 89600, .peak_kib = 358400,
		.faults = 100, .stack = 7);
	assert_double_equal(look(w)->value[RUN_MEMORY_PEAK_BYTES], 352 * mib + 100 * 4096, 1);
}

static void peak_is_without_the_reaper(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	const double mib = 1048576;

	PUT(w, .pid = 9, .ppid = 1, .start = 4, .rss_pages = 2560, .peak_kib = 10240,
		.children = "10 ");
	PUT(w, .pid = 10, .ppid = 9, .start = 5, .rss_pages = 256, .peak_kib = 1024, .faults = 1,
		.children = "");
	follow(w, 10, 9);
	assert_double_equal(look(w)->value[RUN_MEMORY_PEAK_BYTES], mib, 0);
	PUT(w, .pid = 10, .ppid = 9, .start = 5, .rss_pages = 256, .peak_kib = 2048, .faults = 9);
	assert_double_equal(look(w)->value[RUN_MEMORY_PEAK_BYTES], 2 * mib, 0);
}

/* ---- PSS ---- */

enum { FIRST = 10, PROCESSES = 8, LOOKS = 100 };

static void rollup_path(char out[64], int pid)
{
	snprintf(out, 64, "%d/smaps_rollup", pid);
}

/* Makes a root and its children. Each has `pages` pages, and half of them are not shared. */
static void put_family(struct world *w, unsigned long pages)
{
	char path[64], text[200];

	for (int pid = FIRST; pid < FIRST + PROCESSES; pid++) {
		PUT(w, .pid = pid, .ppid = pid == FIRST ? 1 : FIRST, .start = 5, .rss_pages = pages,
			.faults = pages);
		children(w, pid, pid == FIRST ? "11 12 13 14 15 16 17 " : "");
		rollup_path(path, pid);
		snprintf(text, sizeof text, "Rss: %lu kB\nPss: %lu kB\nAnonHugePages: 8 kB\n",
			pages * 4, pages * 2);
		memory_tree_text(w->proc, path, text);
	}
}

static size_t rollups_read(struct world *w)
{
	char path[64];
	size_t n = 0;

	for (int pid = FIRST; pid < FIRST + PROCESSES; pid++) {
		rollup_path(path, pid);
		n += memory_tree_reads(w->proc, path);
	}
	return n;
}

/* Every process grows and shrinks from tick to tick. The last tick is the largest, so PSS must be
 * read. */
static struct world *look_at_family(uint64_t cost_ns, size_t looks)
{
	struct world *w = world_new();
	char path[64];

	put_family(w, 100);
	for (int pid = FIRST; pid < FIRST + PROCESSES; pid++) {
		rollup_path(path, pid);
		memory_tree_cost(w->proc, path, cost_ns);
	}
	follow(w, FIRST, 0);
	for (size_t i = 0; i < looks; i++) {
		put_family(w, i + 1 == looks ? 1000 : i % 2 ? 200 : 100);
		look(w);
	}
	return w;
}

static void pss_is_read_at_each_look_where_it_costs_little(void **state)
{
	AUTO(world_freep) struct world *w = look_at_family(0, LOOKS / 4);
	const double *v = w->snapshot.runs->value;

	assert_int_equal(rollups_read(w), PROCESSES * LOOKS / 4);
	assert_double_equal(v[RUN_MEMORY_PSS_DEFERRED], 0, 0);
	assert_double_equal(v[RUN_MEMORY_PSS_AGE_SECONDS], 0, 0);
	assert_double_equal(v[RUN_MEMORY_PSS_BYTES], PROCESSES * 2000 * 1024, 0);
	assert_double_equal(v[RUN_MEMORY_HUGE_BYTES], PROCESSES * 8 * 1024, 0);
}

/* RSS in `stat` differs from RSS in `smaps_rollup`, because the kernel adds its per-CPU counts to
 * `stat` late. The difference is the same at each tick. */
static void pss_is_not_read_again_because_two_files_differ(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	put_family(w, 100);
	for (int pid = FIRST; pid < FIRST + PROCESSES; pid++) {
		char path[64];

		rollup_path(path, pid);
		memory_tree_text(w->proc, path, "Rss: 600 kB\nPss: 200 kB\n");
	}
	follow(w, FIRST, 0);
	for (int i = 0; i < LOOKS; i++)
		look(w);
	assert_int_equal(rollups_read(w), PROCESSES);
}

static void pss_is_read_less_often_where_it_costs_much_and_that_is_told(void **state)
{
	const uint64_t cost_ns = 5000000;
	AUTO(world_freep) struct world *w = look_at_family(cost_ns, LOOKS);
	const double *v = w->snapshot.runs->value;
	size_t most = PROCESSES + (PSS_FIRST_BUDGET_NS + LOOKS * PSS_BUDGET_NS) / cost_ns;

	/* The cost of a reading is unknown before the first one. */
	assert_in_range(rollups_read(w), PROCESSES + 1, most);
	assert_true(v[RUN_MEMORY_PSS_DEFERRED] >= PROCESSES - 1);
	assert_true(v[RUN_MEMORY_PSS_AGE_SECONDS] >= LOOKS / 2);
	/* The PSS of a process whose reading is deferred follows its RSS. */
	assert_true(v[RUN_MEMORY_PSS_BYTES] >= PROCESSES * 2000 * 1024);
}

/* The CPU time budget for reading PSS grows while nothing is read. It must not grow beyond the
 * limit of one tick, because one long tick would stall the job. */
static void a_quiet_day_saves_up_no_stall(void **state)
{
	const uint64_t cost_ns = 5000000;
	AUTO(world_freep) struct world *w = look_at_family(cost_ns, 1);
	size_t before;

	for (int i = 0; i < 86400 / 100; i++) {
		put_family(w, 100);
		look(w);
	}
	before = rollups_read(w);
	put_family(w, 300);
	look(w);
	assert_in_range(rollups_read(w) - before, 1, PSS_FIRST_BUDGET_NS / cost_ns);
	assert_true(w->snapshot.runs->value[RUN_MEMORY_PSS_DEFERRED] >= PROCESSES / 2);
}

static void kinds_of_memory_are_told_apart(void **state)
{
	static const char kinds[] =
		"Pid:\t10\nVmHWM:\t 400 kB\nVmSwap:\t 5 kB\nRssAnon:\t 100 kB\n"
		"RssFile:\t 200 kB\nRssShmem:\t 60 kB\nHugetlbPages:\t 2048 kB\n";
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 90, .children = "11 ");
	PUT(w, .pid = 11, .ppid = 10, .start = 5, .rss_pages = 90, .children = "");
	memory_tree_text(w->proc, "10/status", kinds);
	memory_tree_text(w->proc, "11/status", kinds);
	follow(w, 10, 0);
	const double *v = look(w)->value;

	assert_double_equal(v[RUN_MEMORY_ANONYMOUS_BYTES], 2 * 100 * 1024, 0);
	assert_double_equal(v[RUN_MEMORY_FILE_BYTES], 2 * 200 * 1024, 0);
	assert_double_equal(v[RUN_MEMORY_SHMEM_BYTES], 2 * 60 * 1024, 0);
	assert_double_equal(v[RUN_MEMORY_HUGETLB_BYTES], 2 * 2048 * 1024, 0);
	assert_double_equal(v[RUN_MEMORY_SWAP_BYTES], 2 * 5 * 1024, 0);
	/* Huge pages are unknown in this test. An older kernel does not report the kinds of
	 * memory. */
	assert_true(isnan(v[RUN_MEMORY_HUGE_BYTES]));
	PUT(w, .pid = 11, .ppid = 10, .start = 5, .rss_pages = 91);
	v = look(w)->value;
	assert_true(isnan(v[RUN_MEMORY_ANONYMOUS_BYTES]));
	assert_true(isnan(v[RUN_MEMORY_HUGETLB_BYTES]));
}

static void one_that_is_ending_leaves_what_is_known_of_the_others(void **state)
{
	static const char kinds[] = "Pid:\t10\nVmHWM:\t 400 kB\nRssAnon:\t 100 kB\n";
	AUTO(world_freep) struct world *w = world_new();

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 90, .children = "11 ");
	PUT(w, .pid = 11, .ppid = 10, .start = 5, .rss_pages = 90, .children = "");
	memory_tree_text(w->proc, "10/status", kinds);
	memory_tree_text(w->proc, "11/status", kinds);
	memory_tree_text(w->proc, "11/fd/0", "");
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_OPEN_FDS], 1, 0);
	/* Process 11 is exiting: its memory is freed, and its files belong to root. */
	PUT(w, .pid = 11, .ppid = 10, .start = 5, .user = 1);
	memory_tree_text(w->proc, "11/status", "State:\tR (running)\nPid:\t11\n");
	memory_tree_refuse(w->proc, "11/fd", -EACCES);
	const double *v = look(w)->value;

	assert_double_equal(v[RUN_PROCESSES], 2, 0);
	assert_double_equal(v[RUN_MEMORY_ANONYMOUS_BYTES], 100 * 1024, 0);
	assert_double_equal(v[RUN_OPEN_FDS], 1, 0);
}

/* ---- tmpfs ---- */

/* Makes a process that maps `shmem_kib` of shared memory. `pss_kib` is its share in PSS; 0 =
 * smaps_rollup lacks the line. */
static void put_mapping(struct world *w, int pid, unsigned long shmem_kib, unsigned long pss_kib)
{
	const unsigned long own_kib = 1024;
	char path[64], text[200];

	PUT(w, .pid = pid, .ppid = pid == FIRST ? 1 : FIRST, .start = 5,
		.rss_pages = (own_kib + shmem_kib) / 4, .faults = shmem_kib + 1);
	snprintf(path, sizeof path, "%d/status", pid);
	snprintf(text, sizeof text,
		"Pid:\t%d\nVmHWM:\t%lu kB\nRssAnon:\t%lu kB\nRssShmem:\t%lu kB\n", pid,
		own_kib + shmem_kib, own_kib, shmem_kib);
	memory_tree_text(w->proc, path, text);
	rollup_path(path, pid);
	snprintf(text, sizeof text, "Rss: %lu kB\nPss: %lu kB\nPss_Shmem: %lu kB\n",
		own_kib + shmem_kib, own_kib + pss_kib, pss_kib);
	memory_tree_text(w->proc, path, text);
}

static struct world *world_of_a_group(const char *processes)
{
	struct world *w = world_new();

	memory_tree_text(w->proc, "self/mountinfo",
		"20 1 0:18 / /sys rw - sysfs sysfs rw\n"
		"25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	memory_tree_text(w->proc, "self/cgroup", "0::/exporter\n");
	memory_tree_text(w->proc, "1/cgroup", "0::/init\n");
	memory_tree_text(w->proc, "10/cgroup", "0::/run\n");
	memory_tree_text(w->sys, "fs/cgroup/run/cgroup.controllers", "memory\n");
	memory_tree_text(w->sys, "fs/cgroup/run/cgroup.procs", processes);
	memory_tree_text(w->sys, "fs/cgroup/run/memory.current", "1\n");
	memory_tree_text(w->sys, "fs/cgroup/run/memory.stat", "anon 1\nshmem 52428800\n");
	return w;
}

/* In each case the group has 50 MiB of shared memory. */
static void files_in_tmpfs_are_what_no_process_has_mapped(void **state)
{
	static const struct {
		const char *what;
		unsigned long mapped_mib[2],
			pss_mib[2]; /* of the only process, or of each of the two */
		double tmpfs_mib;
	} table[] = {
		{"alone, nothing mapped", {0}, {0}, 50},
		{"alone, a part mapped", {20}, {20}, 30},
		{"alone, all mapped", {50}, {50}, 0},
		{"alone, what it shares with strangers is all its own", {50}, {5}, 0},
		{"both map the same", {30, 30}, {15, 15}, 20},
		{"each maps its own", {30, 20}, {30, 20}, 0},
		{"more mapped than the group was charged", {60}, {60}, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		bool two = table[i].mapped_mib[1] > 0;
		AUTO(world_freep) struct world *w = world_of_a_group(two ? "10\n11\n" : "10\n");

		for (int k = 0; k <= two; k++)
			put_mapping(w, FIRST + k, table[i].mapped_mib[k] * 1024,
				table[i].pss_mib[k] * 1024);
		children(w, 10, two ? "11 " : "");
		children(w, 11, "");
		follow(w, FIRST, 0);
		double told = look(w)->value[RUN_MEMORY_TMPFS_BYTES];

		if (!(fabs(told - table[i].tmpfs_mib * 1048576) < 1))
			fail_msg("%s: %g", table[i].what, told);
	}
}

static void files_in_tmpfs_are_unknown_without_kinds_or_a_group(void **state)
{
	struct world *w = world_of_a_group("10\n");

	put_mapping(w, 10, 4096, 4096);
	children(w, 10, "");
	follow(w, 10, 0);
	assert_true(look(w)->value[RUN_MEMORY_TMPFS_BYTES] > 0);
	/* An older kernel does not report the kinds of memory. */
	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 90, .faults = 1);
	assert_true(isnan(look(w)->value[RUN_MEMORY_TMPFS_BYTES]));
	world_freep(&w);
	w = world_new();
	put_mapping(w, 10, 4096, 4096);
	children(w, 10, "");
	follow(w, 10, 0);
	assert_true(isnan(look(w)->value[RUN_MEMORY_TMPFS_BYTES]));
	world_freep(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peak_is_the_mark_and_what_others_held),
		cmocka_unit_test(forked_child_shares_what_it_has_not_touched),
		cmocka_unit_test(peak_is_without_the_reaper),
		cmocka_unit_test(pss_is_read_at_each_look_where_it_costs_little),
		cmocka_unit_test(pss_is_not_read_again_because_two_files_differ),
		cmocka_unit_test(pss_is_read_less_often_where_it_costs_much_and_that_is_told),
		cmocka_unit_test(a_quiet_day_saves_up_no_stall),
		cmocka_unit_test(kinds_of_memory_are_told_apart),
		cmocka_unit_test(files_in_tmpfs_are_what_no_process_has_mapped),
		cmocka_unit_test(files_in_tmpfs_are_unknown_without_kinds_or_a_group),
		cmocka_unit_test(one_that_is_ending_leaves_what_is_known_of_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
