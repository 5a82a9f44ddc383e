/* collectors/process/process.c: parses the text of /proc/PID files. */
#include "tests/unit/test_main.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/process/process.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_survives_any_name),
		cmocka_unit_test(stat_refuses_what_is_cut_or_absurd),
		cmocka_unit_test(status_reads_marks_and_switches),
		cmocka_unit_test(io_needs_all_four),
		cmocka_unit_test(pss_is_in_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
