/* collectors/process/process.c: parses the text of /proc/PID files. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/process/process.h"
#include "tests/support/test_host.h"

#define REST                                                                                       \
	" S 10 12 12 0 -1 4194304 100 200 3 4 55 66 7 8 20 0 9 0 4242 1000000 321 "                \
	"18446744073709551615 1 2 140000\n"

static bool parse(const char *text, struct process_stat *ret)
{
	return process_stat_parse(SCAN(text, strlen(text)), ret);
}

static void stat_survives_any_name(void **state)
{
	static const char *const names[] = {
		"sh", "a b c d e", ") S 1 2 3", "(()", "new\nline", "\xff\xfe", ""};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char text[400];
		struct process_stat s;

		snprintf(text, sizeof text, "12 (%s)%s", names[i], REST);
		assert_true(parse(text, &s));
		assert_int_equal(s.pid, 12);
		assert_int_equal(s.ppid, 10);
		assert_int_equal(s.state, 'S');
		assert_int_equal(s.minor_faults, 100);
		assert_int_equal(s.waited_minor_faults, 200);
		assert_int_equal(s.user_ticks, 55);
		assert_int_equal(s.system_ticks, 66);
		assert_int_equal(s.waited_user_ticks, 7);
		assert_int_equal(s.waited_system_ticks, 8);
		assert_int_equal(s.threads, 9);
		assert_int_equal(s.start_ticks, 4242);
		assert_int_equal(s.rss_pages, 321);
		assert_int_equal(s.stack_start, 140000);
	}
}

static void stat_refuses_what_is_cut_or_absurd(void **state)
{
	static const char *const texts[] = {"", "12", "12 (sh", "12 (sh)", "12 (sh) S",
		"12 (sh) S 1 2 3", "x (sh)" REST, "99999999999999999999 (sh)" REST,
		"12 (sh) S 10 12 12 0 -1 4194304 100 200 3 x"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct process_stat s = {.pid = 77};

		assert_false(parse(texts[i], &s));
		assert_int_equal(s.pid, 77);
	}
}

static void status_reads_marks_and_switches(void **state)
{
	static const char text[] =
		"Name:\tVmHWM: 9 kB\nPid:\t12\nVmHWM:\t    2048 kB\nVmSwap:\t 4 kB\n"
		"voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n";
	static const char kinds[] = "Pid:\t12\nVmHWM:\t 7 kB\nRssAnon:\t 1 kB\nRssFile:\t 2 kB\n"
				    "RssShmem:\t 4 kB\nHugetlbPages:\t 2048 kB\n";
	static const char ending[] = "Name:\tjob\nState:\tR (running)\nPid:\t12\nThreads:\t1\n";
	struct process_status s;

	assert_true(process_status_parse(SCAN(text, sizeof text - 1), &s));
	assert_int_equal(s.peak_bytes, 2048 * 1024);
	assert_int_equal(s.swap_bytes, 4096);
	assert_int_equal(s.voluntary_switches, 5);
	assert_int_equal(s.involuntary_switches, 6);
	assert_false(s.kinds_known);
	assert_true(process_status_parse(SCAN(kinds, sizeof kinds - 1), &s));
	assert_true(s.kinds_known);
	assert_int_equal(s.kind_bytes[MEMORY_ANONYMOUS], 1024);
	assert_int_equal(s.kind_bytes[MEMORY_FILE], 2048);
	assert_int_equal(s.kind_bytes[MEMORY_SHMEM], 4096);
	assert_int_equal(s.kind_bytes[MEMORY_HUGETLB], 2048 * 1024);
	/* The exiting process's memory is already freed, so each kind is 0. */
	assert_true(process_status_parse(SCAN(ending, sizeof ending - 1), &s));
	assert_true(s.kinds_known);
	assert_int_equal(s.kind_bytes[MEMORY_ANONYMOUS], 0);
	assert_false(process_status_parse(SCAN("nonsense", 8), &s));
}

static void io_needs_all_four(void **state)
{
	static const char text[] =
		"rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n"
		"cancelled_write_bytes: 7\n";
	struct process_io io;

	assert_true(process_io_parse(SCAN(text, sizeof text - 1), &io));
	assert_int_equal(io.read_chars, 1);
	assert_int_equal(io.written_chars, 2);
	assert_int_equal(io.read_bytes, 5);
	assert_int_equal(io.written_bytes, 6);
	assert_int_equal(io.cancelled_bytes, 7);
	assert_false(process_io_parse(SCAN("rchar: 1\n", 9), &io));
}

static void pss_is_in_bytes(void **state)
{
	static const char rollup[] = "00-ff ---p 00:00 0 [rollup]\nRss: 9 kB\nPss: 3 kB\n";
	static const char huge[] = "Rss: 9000 kB\nPss: 8000 kB\nAnonHugePages: 2048 kB\n"
				   "ShmemPmdMapped: 4096 kB\nFilePmdMapped: 0 kB\n";
	static const char other[] = "Rss: 9 kB\nPss_Dirty: 3 kB\n",
			  absurd[] = "Rss: 9 kB\nPss: 10 kB\n";
	struct process_pss pss;

	assert_true(process_pss_parse(SCAN(rollup, sizeof rollup - 1), &pss));
	assert_int_equal(pss.pss_bytes, 3072);
	assert_int_equal(pss.rss_bytes, 9216);
	assert_int_equal(pss.huge_bytes, 0);
	assert_true(process_pss_parse(SCAN(huge, sizeof huge - 1), &pss));
	assert_int_equal(pss.huge_bytes, 6144 * 1024);
	assert_false(process_pss_parse(SCAN(absurd, sizeof absurd - 1), &pss));
	assert_false(process_pss_parse(SCAN(other, sizeof other - 1), &pss));
}

/* ---- pids of another PID namespace ---- */

static void put_numbers(struct test_host *t, int pid, int ppid, const char *numbers,
	const char *namespace)
{
	char path[64], text[200];

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	snprintf(text, sizeof text, "Name:\tx\nPid:\t%d\nNSpid:\t%s\n", pid, numbers);
	test_host_file(t, path, text);
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	snprintf(text, sizeof text, "%d (x) S %d 1 1 0 -1 0 1 0 0 0 1 1 0 0 20 0 1 0 5 1000 5 0\n",
		pid, ppid);
	test_host_file(t, path, text);
	snprintf(path, sizeof path, "/proc/%d/ns/pid", pid);
	if (namespace)
		test_host_link(t, path, namespace);
}

/* /proc shows all processes of the machine. This program is process 700 there, and process 5 in its
 * container A. */
static void pids_of_another_namespace_are_translated(void **state)
{
	static const struct {
		const char *what;
		pid_t ours, theirs; /* pid in container A, and in /proc; 0 = not certain */
	} cases[] = {
		{"the same container", 9, 710},
		{"unreadable, but a child of ours", 12, 713},
		{"unreadable and of another parent", 14, 0},
		{"another container has the same number", 20, 0},
		{"a container below ours", 1, 0},
		{"a process of the machine", 800, 0},
		{"nobody", 99, 0},
	};
	AUTO(test_host_done) struct test_host t = test_host_made();

	put_numbers(&t, 700, 1, "700 5", "pid:[1]");
	test_host_link(&t, "/proc/self", "700");
	test_host_link(&t, "/proc/self/ns/pid", "pid:[1]");
	put_numbers(&t, 710, 1, "710 9", "pid:[1]");
	put_numbers(&t, 711, 1, "711 9", "pid:[2]");
	put_numbers(&t, 713, 700, "713 12", NULL);
	put_numbers(&t, 714, 710, "714 14", NULL);
	put_numbers(&t, 720, 1, "720 20", "pid:[2]");
	put_numbers(&t, 721, 700, "721 30 1", "pid:[3]");
	put_numbers(&t, 800, 1, "800", "pid:[0]");
	t.host.other_pid_namespace = true;
	t.host.self = 700;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (process_number(&t.host, cases[i].ours) != cases[i].theirs)
			fail_msg("%s: not %d", cases[i].what, (int)cases[i].theirs);
		if (cases[i].theirs == 710)
			assert_int_equal(process_number_here(&t.host, 710), cases[i].ours);
	}
	assert_int_equal(process_number(&t.host, getpid()), 700);
	assert_int_equal(process_number_here(&t.host, 720), 0);
	assert_int_equal(process_number_here(&t.host, 721), 0);
	/* The pid of this program in /proc is unknown, so no pid of its namespace can be translated. */
	t.host.self = 0;
	assert_int_equal(process_number(&t.host, 9), 0);
	assert_int_equal(process_number(&t.host, getpid()), 0);
	t.host.other_pid_namespace = false;
	assert_int_equal(process_number(&t.host, 9), 9);
	assert_int_equal(process_number_here(&t.host, 720), 720);
}

static void host_knows_whose_processes_proc_shows(void **state)
{
	struct host h;

	assert_int_equal(host_open(&h, &(struct host_paths){"/proc", "/sys", "/"}, NULL), 0);
	assert_true(h.own_pid_namespace != h.other_pid_namespace);
	assert_true(!h.own_pid_namespace || h.self == getpid());
	assert_true(process_exists(&h, getpid()) == h.own_pid_namespace);
	assert_false(process_exists(&h, 4194304));
	host_close(&h);
	/* A folder that is not a procfs counts as a test fixture. All pids in it belong to one
	 * namespace. */
	assert_int_equal(host_open(&h, &(struct host_paths){"/sys", "/sys", "/"}, NULL), 0);
	assert_false(h.own_pid_namespace || h.other_pid_namespace || h.initial_pid_namespace);
	host_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_survives_any_name),
		cmocka_unit_test(stat_refuses_what_is_cut_or_absurd),
		cmocka_unit_test(status_reads_marks_and_switches),
		cmocka_unit_test(io_needs_all_four),
		cmocka_unit_test(pss_is_in_bytes),
		cmocka_unit_test(pids_of_another_namespace_are_translated),
		cmocka_unit_test(host_knows_whose_processes_proc_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
