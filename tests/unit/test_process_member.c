/* collectors/process/member.c: how much of a process's memory counts as its own. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/process/delays.h"
#include "collectors/process/member.h"
#include "tests/support/test_host.h"

#define MIB ((uint64_t)1 << 20)

static const struct {
	const char *what;
	struct member m;
	uint64_t rss, counted;
} cases[] = {
	{"nothing is known of what it shares", {0}, 500 * MIB, 500 * MIB},
	{"as it was when PSS was read", {.pss_bytes = 30 * MIB, .pss_rss_bytes = 100 * MIB},
		100 * MIB, 30 * MIB},
	{"it gave back some", {.pss_bytes = 30 * MIB, .pss_rss_bytes = 100 * MIB}, 50 * MIB,
		15 * MIB},
	{"a peak long after PSS was read is its own",
		{.pss_bytes = 1 * MIB, .pss_rss_bytes = 4 * MIB}, 504 * MIB, 501 * MIB},
	{"forked, and touched nothing", {.inherited_bytes = 100 * MIB}, 100 * MIB, 0},
	{"forked, and wrote to 100 pages", {.inherited_bytes = 100 * MIB, .own_faults = 100},
		100 * MIB, 100 * 4096},
	{"forked, then grew", {.inherited_bytes = 100 * MIB, .own_faults = 256}, 120 * MIB,
		21 * MIB},
	{"forked, and wrote to more than all of it",
		{.inherited_bytes = 100 * MIB, .own_faults = 1000000}, 100 * MIB, 100 * MIB},
};

static void test_memory_is_what_it_does_not_share(void **state)
{
	struct host h = {.page_size = 4096};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t counted = member_memory(&cases[i].m, &h, cases[i].rss);

		if (counted != cases[i].counted)
			fail_msg("%s: %ju instead of %ju", cases[i].what, (uintmax_t)counted,
				(uintmax_t)cases[i].counted);
	}
}

/* ---- files that are kept open ---- */

static void run_for_a_moment(void)
{
	uint64_t begin = process_thread_clock();

	while (process_thread_clock() < begin + 1000000)
		;
}

static struct member look_at_ourselves(struct host *h, int looks)
{
	struct process_stat s;

	assert_int_equal(process_read_stat(h, getpid(), &s), 0);
	struct member m = {.pid = getpid(), .start_ticks = s.start_ticks};

	assert_true(member_begin(&m, h));
	for (int i = 0; i < looks; i++) {
		run_for_a_moment();
		assert_true(member_look(&m, h));
	}
	return m;
}

static void files_of_who_runs_are_kept_open(void **state)
{
	AUTO(host_close) struct host h;

	assert_int_equal(host_open(&h, &(struct host_paths){"/proc", "/sys", "/"}, NULL), 0);
	h.processes_kept_max = 1;

	struct member kept = look_at_ourselves(&h, 2), other = look_at_ourselves(&h, 2);
	uint64_t before = kept.counter[TREE_READ_CHARS];

	assert_non_null(kept.files);
	assert_true(kept.files->stat.fd >= 0 && kept.files->children.fd >= 0);
	assert_int_equal(*h.processes_kept, 1);
	assert_null(other.files); /* the limit is reached */
	/* A read of an open file returns the present values, not the values from when it was
	 * opened. */
	assert_true(member_look(&kept, &h));
	assert_true(kept.counter[TREE_READ_CHARS] > before);
	member_done(&kept);
	member_done(&other);
	assert_int_equal(*h.processes_kept, 0);
}

static void kept_files_of_one_that_ended_say_so(void **state)
{
	AUTO(host_close) struct host h;
	struct process_stat s;
	int status;

	assert_int_equal(host_open(&h, &(struct host_paths){"/proc", "/sys", "/"}, NULL), 0);
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	assert_true(pid > 0);
	AUTO(kept_done) struct kept k = process_keep(&h, pid, "stat");

	assert_int_equal(process_read_stat_kept(&h, pid, &k, &s), 0);
	assert_int_equal(s.pid, pid);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(process_gone(process_read_stat_kept(&h, pid, &k, &s)));
}

/* ---- context switches ---- */

/* Voluntary context switches of the threads 10, 11 and 12 at one look; -1 = no such thread. */
static const struct {
	int threads, switches[3], refused; /* `refused`: the thread that does not answer */
	uint64_t counted; /* context switches of the process that are counted so far */
} switch_looks[] = {
	{1, {4, -1, -1}, 0, 4},
	{3, {4, 1000, 2000}, 0, 3004},
	{2, {4, 1500, -1}, 0, 3004}, /* thread 12 has ended, and its last count is unknown */
	{2, {4, 2500, -1}, 0, 4004},
	{3, {4, 2600, 7}, 12, 4004},
	{3, {4, 2600, 7}, 0, 4111},
	{1, {5, -1, -1}, 0, 4111},
	{1, {9, -1, -1}, 0, 4115},
	{2, {9, 100, -1}, 0, 4215},
};

static void put_threads(struct tree *proc, size_t look)
{
	char path[64], text[200];

	snprintf(text, sizeof text,
		"10 (job) S 1 1 1 0 -1 0 %zu 0 0 0 1 1 0 0 20 0 %d 0 5 1000000 9 0 0 0 0\n", look,
		switch_looks[look].threads);
	memory_tree_text(proc, "10/stat", text);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "10/task/%d", 10 + i);
		memory_tree_remove(proc, path);
		snprintf(path, sizeof path, "%d/status", 10 + i);
		memory_tree_refuse(proc, path,
			switch_looks[look].refused == 10 + i ? -ETIMEDOUT : 0);
		if (switch_looks[look].switches[i] < 0)
			continue;
		snprintf(text, sizeof text, "Pid:\t%d\nvoluntary_ctxt_switches:\t%d\n", 10 + i,
			switch_looks[look].switches[i]);
		memory_tree_text(proc, path, text);
		snprintf(path, sizeof path, "10/task/%d/schedstat", 10 + i);
		memory_tree_text(proc, path, "1 2 3\n");
	}
	memory_tree_text(proc, "10/schedstat", "1 2 3\n");
}

static void switches_of_all_threads_count_and_never_fall(void **state)
{
	AUTO(test_host_done) struct test_host w = test_host_made();
	struct member m = {.pid = 10, .start_ticks = 5};

	w.host.delays = delay_reader_new(&w.host);
	for (size_t i = 0; i < ARRAY_LEN(switch_looks); i++) {
		put_threads(w.proc, i);
		m.wait_looks = 0;
		assert_true(member_read(&m, &w.host, true));
		if (m.counter[TREE_VOLUNTARY_SWITCHES] != switch_looks[i].counted)
			fail_msg("look %zu: %ju", i, (uintmax_t)m.counter[TREE_VOLUNTARY_SWITCHES]);
	}
	member_done(&m);
	delay_reader_free(w.host.delays);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_who_runs_are_kept_open),
		cmocka_unit_test(kept_files_of_one_that_ended_say_so),
		cmocka_unit_test(switches_of_all_threads_count_and_never_fall),
		cmocka_unit_test(test_memory_is_what_it_does_not_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
