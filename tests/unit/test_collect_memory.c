/* The memory, load and pressure collectors. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "tests/support/test_host.h"

extern const struct collector collector_memory, collector_load, collector_pressure;

static void check(const struct test_run *r, const struct test_expected *table, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_value(test_run_value(r, table[i].name, table[i].labels), table[i].value);
	assert_null(block_fault(r->block));
}

static void memory_of_a_captured_machine(void **state)
{
	static const struct test_expected table[] = {
		{"rightsize_memory_total_bytes", "", 24684092.0 * 1024},
		{"rightsize_memory_available_bytes", "", 24255360.0 * 1024},
		{"rightsize_memory_used_bytes", "", (24684092.0 - 24255360) * 1024},
		{"rightsize_memory_free_bytes", "", 23873380.0 * 1024},
		{"rightsize_memory_buffers_bytes", "", 2632.0 * 1024},
		{"rightsize_memory_cached_bytes", "", (374184.0 + 307972) * 1024},
		{"rightsize_memory_active_bytes", "", 213456.0 * 1024},
		{"rightsize_memory_inactive_bytes", "", 179512.0 * 1024},
		{"rightsize_memory_shared_bytes", "", 8856.0 * 1024},
		{"rightsize_memory_dirty_bytes", "", 17548.0 * 1024},
		{"rightsize_memory_writeback_bytes", "", 0},
		{"rightsize_swap_total_bytes", "", 0},
		{"rightsize_swap_free_bytes", "", 0},
	};

	test_captured(&collector_memory, "vm", table, ARRAY_LEN(table));
}

/* The text of one file, and the code and the values that the collector must return for it. */
struct file_case {
	const char *text;
	int code;
	struct test_expected expected[3];
};

static void check_files(const struct collector *c, const char *path, const struct file_case *table,
	size_t n)
{
	for (size_t i = 0; i < n; i++) {
		AUTO(test_host_done) struct test_host t = test_host_made();
		AUTO(test_run_done) struct test_run r;

		test_host_file(&t, path, table[i].text);
		assert_int_equal(test_run_start(&r, c, &t.host), 0);
		assert_int_equal(test_run_collect(&r, &t.host), table[i].code);
		assert_int_equal(r.err.text[0] != '\0', table[i].code != 0);
		for (size_t j = 0; j < 3 && table[i].expected[j].name; j++)
			check(&r, &table[i].expected[j], 1);
	}
}

static void memory_fields_may_be_missing_or_hostile(void **state)
{
	static const struct file_case table[] = {
		/* Linux before 3.14 has no MemAvailable */
		{"MemTotal: 100 kB\nMemFree: 40 kB\nBuffers: 1 kB\nCached: 30 kB\n", 0,
			{{"rightsize_memory_available_bytes", "", NAN},
				{"rightsize_memory_used_bytes", "", NAN},
				{"rightsize_memory_cached_bytes", "", 30 * 1024}}},
		{"MemTotal: 100 kB\nMemAvailable: 101 kB\n", 0,
			{{"rightsize_memory_used_bytes", "", NAN}}},
		{"MemTotal: 100 kB\nCached: x\nSReclaimable: 7 kB\n", 0,
			{{"rightsize_memory_cached_bytes", "", 7 * 1024}}},
		/* lines in any order, a repeated line, and a last line without an end */
		{"SReclaimable: 7 kB\nCached: 1 kB\nCached: 9 kB\nMemFree:5kB\nMemTotal: 100", 0,
			{{"rightsize_memory_cached_bytes", "", 8 * 1024},
				{"rightsize_memory_total_bytes", "", 100 * 1024},
				{"rightsize_memory_free_bytes", "", 5 * 1024}}},
		/* the number of bytes does not fit into 64 bits */
		{"MemTotal: 100 kB\nMemFree: 18446744073709551615 kB\nActive: 18014398509481984 "
		 "kB\n",
			0,
			{{"rightsize_memory_free_bytes", "", NAN},
				{"rightsize_memory_active_bytes", "", NAN}}},
		{"MemTotal: -5 kB\n", -EBADMSG, {{0}}},
		{"MemFree: 5 kB\n", -EBADMSG, {{0}}},
		{"", -EBADMSG, {{0}}},
		{":::\n\n:\nMemTotal", -EBADMSG, {{0}}},
	};

	check_files(&collector_memory, "/proc/meminfo", table, ARRAY_LEN(table));
}

static void load_of_a_captured_machine(void **state)
{
	static const struct test_expected table[] = {
		{"rightsize_load1", "", 1.14},
		{"rightsize_load5", "", 1.28},
		{"rightsize_load15", "", 0.86},
		{"rightsize_threads", "", 104},
		{"rightsize_processes", "", 3},
	};

	test_captured(&collector_load, "vm", table, ARRAY_LEN(table));
}

static void load_may_be_cut_or_hostile(void **state)
{
	static const struct file_case table[] = {
		{"0.10 0.20 0.30", 0,
			{{"rightsize_load15", "", 0.3}, {"rightsize_threads", "", NAN}}},
		{"0.10 0.20 0.30 1/", 0, {{"rightsize_threads", "", NAN}}},
		{"0.10 0.20 0.30 1/7", 0, {{"rightsize_threads", "", 7}}},
		{"0.10 0.20", -EBADMSG, {{0}}},
		{"-0.10 0.20 0.30 1/7 8", -EBADMSG, {{0}}},
		{"nan inf 1e999 1/7 8", -EBADMSG, {{0}}},
		{"", -EBADMSG, {{0}}},
	};

	check_files(&collector_load, "/proc/loadavg", table, ARRAY_LEN(table));
}

static double processes_after(struct test_run *r, struct test_host *t, double seconds)
{
	test_host_advance(t, seconds);
	assert_int_equal(test_run_collect(r, &t->host), 0);
	return test_run_value(r, "rightsize_processes", "");
}

static void processes_are_counted_less_often_the_more_there_are(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r;

	test_host_file(&t, "/proc/loadavg", "0 0 0 1/1 1\n");
	test_host_file(&t, "/proc/1/stat", "");
	test_host_file(&t, "/proc/1/status", "");
	test_host_file(&t, "/proc/self/stat", "");
	assert_int_equal(test_run_start(&r, &collector_load, &t.host), 0);
	assert_value(processes_after(&r, &t, 0), 1);
	for (int i = 1000; i < 1999; i++) {
		char path[64];

		snprintf(path, sizeof path, "/proc/%d/stat", i);
		test_host_file(&t, path, "");
	}
	assert_value(processes_after(&r, &t, 14.9), 1);
	assert_value(processes_after(&r, &t, 0.1), 1000);
	test_host_remove(&t, "/proc/1000");
	/* 1000 processes are counted again after 25 s: 15 s, plus 10 s for each 1000 processes. */
	assert_value(processes_after(&r, &t, 24.9), 1000);
	assert_value(processes_after(&r, &t, 0.1), 999);
	memory_tree_refuse(t.proc, "", -EACCES);
	assert_value(processes_after(&r, &t, 60), NAN);
}

static void pressure_of_a_captured_machine(void **state)
{
	static const struct test_expected table[] = {
		{"rightsize_pressure_cpu_waiting_seconds", "", 58.922377},
		{"rightsize_pressure_memory_waiting_seconds", "", 0},
		{"rightsize_pressure_memory_stalled_seconds", "", 0},
		{"rightsize_pressure_io_waiting_seconds", "", 28.282567},
		{"rightsize_pressure_io_stalled_seconds", "", 27.065326},
	};

	test_captured(&collector_pressure, "vm", table, ARRAY_LEN(table));
}

static void pressure_files_may_be_cut_or_hostile(void **state)
{
	static const struct file_case table[] = {
		{"some avg10=0.00 total=5000000\n", 0,
			{{"rightsize_pressure_io_waiting_seconds", "", 5},
				{"rightsize_pressure_io_stalled_seconds", "", NAN}}},
		{"full total=1000000\n", 0,
			{{"rightsize_pressure_io_waiting_seconds", "", NAN},
				{"rightsize_pressure_io_stalled_seconds", "", 1}}},
		{"some total=18446744073709551615\n", 0,
			{{"rightsize_pressure_io_waiting_seconds", "", 18446744073709.551615}}},
		{"some avg10=0.00 total=\n", -EBADMSG, {{0}}},
		{"some avg10=0.00 total=-1\n", -EBADMSG, {{0}}},
		{"", -EBADMSG, {{0}}},
		{"sometotal=5\n", -EBADMSG, {{0}}},
	};

	check_files(&collector_pressure, "/proc/pressure/io", table, ARRAY_LEN(table));
}

static void a_kernel_without_pressure_is_no_error(void **state)
{
	static const int codes[] = {-ENOENT, -EOPNOTSUPP};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		AUTO(test_host_done) struct test_host t = test_host_made();
		AUTO(test_run_done) struct test_run r;

		memory_tree_refuse(t.proc, "pressure/cpu", codes[i]);
		memory_tree_refuse(t.proc, "pressure/memory", codes[i]);
		memory_tree_refuse(t.proc, "pressure/io", codes[i]);
		assert_int_equal(test_run_start(&r, &collector_pressure, &t.host), 0);
		assert_int_equal(test_run_collect(&r, &t.host), -ENOENT);
		assert_string_equal(r.err.text, "");
		memory_tree_refuse(t.proc, "pressure/io", -EACCES);
		assert_int_equal(test_run_collect(&r, &t.host), -EACCES);
		assert_string_equal(r.err.text, "read proc/pressure/io: Permission denied");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_of_a_captured_machine),
		cmocka_unit_test(memory_fields_may_be_missing_or_hostile),
		cmocka_unit_test(load_of_a_captured_machine),
		cmocka_unit_test(load_may_be_cut_or_hostile),
		cmocka_unit_test(processes_are_counted_less_often_the_more_there_are),
		cmocka_unit_test(pressure_of_a_captured_machine),
		cmocka_unit_test(pressure_files_may_be_cut_or_hostile),
		cmocka_unit_test(a_kernel_without_pressure_is_no_error),
	};

	return cmocka_run_group_tests_name("collect_memory", tests, NULL, NULL);
}
