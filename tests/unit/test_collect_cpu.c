/* The cpu collector. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>

#include "collectors/base/mem.h"
#include "tests/support/test_host.h"

extern const struct collector collector_cpu;

static void collect(struct test_run *r, struct test_host *t, const char *stat)
{
	test_host_file(t, "/proc/stat", stat);
	assert_int_equal(test_run_collect(r, &t->host), 0);
}

static void reads_a_captured_machine(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r;

	test_host_fixture(&t, "vm");
	assert_int_equal(test_run_start(&r, &collector_cpu, &t.host), 0);
	assert_int_equal(test_run_collect(&r, &t.host), 0);

	static const struct {
		const char *name, *labels;
		double value;
	} table[] = {
		{"rightsize_cpu_seconds", "user", 239.61},
		{"rightsize_cpu_seconds", "nice", 780.31},
		{"rightsize_cpu_seconds", "system", 114.52},
		{"rightsize_cpu_seconds", "idle", 5923.29},
		{"rightsize_cpu_seconds", "iowait", 31.02},
		{"rightsize_cpu_seconds", "irq", 0},
		{"rightsize_cpu_seconds", "softirq", 2.22},
		{"rightsize_cpu_seconds", "steal", 1.07},
		{"rightsize_cpu_user_seconds", "", 1019.92},
		{"rightsize_cpu_system_seconds", "", 116.74},
		{"rightsize_context_switches", "", 1141418},
		{"rightsize_forks", "", 27729},
		{"rightsize_threads_running", "", 2},
		{"rightsize_threads_blocked", "", 0},
		{"rightsize_boot_time_seconds", "", 1795250563},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_value(test_run_value(&r, table[i].name, table[i].labels), table[i].value);
	assert_int_equal(test_run_points(&r, "rightsize_cpu_seconds"), 8);
	assert_int_equal(test_run_points(&r, "rightsize_cpu_usage_cores"), 0);
	assert_null(block_fault(r.block));
}

static void usage_is_busy_time_over_at_least_250_ms(void **state)
{
	/* Each row: seconds since the last tick, the text read at this tick, and the cores in
	 * use. */
	static const struct {
		double after;
		const char *stat;
		double cores;
	} table[] = {
		{0, "cpu 1000 0 500 9000 100 10 20 30 400 0\n", NAN},
		/* The interval is shorter than 250 ms, so the use is unknown. */
		{0.1, "cpu 1020 0 500 9000 100 10 20 30 400 0\n", NAN},
		{0.9, "cpu 1100 10 540 9040 200 15 25 40 480 0\n",
			1.7}, /* idle and iowait do not count */
		{0.2, "cpu 1900 10 540 9040 200 15 25 40 480 0\n",
			1.7}, /* less than 250 ms: the last value stays */
		{0.05, "cpu 1900 10 540 9040 200 15 25 40 480 0\n", 32}, /* 8 s of CPU in 250 ms */
		{1, "cpu 1900 10 540 9240 200 15 25 40 480 0\n", 0},
	};
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r = test_run_started(&collector_cpu, &t.host);

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		test_host_advance(&t, table[i].after);
		collect(&r, &t, table[i].stat);
		assert_value(test_run_value(&r, "rightsize_cpu_usage_cores", ""), table[i].cores);
	}
}

static void counters_do_not_fall_with_the_kernels(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r = test_run_started(&collector_cpu, &t.host);

	collect(&r, &t, "cpu 1000 0 500 9000 400 0 0 70 0 0\n");
	test_host_advance(&t, 1);
	collect(&r, &t, "cpu 1010 0 505 8990 399 0 0 69 0 0\n");
	assert_value(test_run_value(&r, "rightsize_cpu_seconds", "idle"), 90);
	assert_value(test_run_value(&r, "rightsize_cpu_seconds", "iowait"), 4);
	assert_value(test_run_value(&r, "rightsize_cpu_seconds", "steal"), 0.7);
	assert_value(test_run_value(&r, "rightsize_cpu_usage_cores", ""), 0.15);
	test_host_advance(&t, 1);
	collect(&r, &t, "cpu 1020 0 505 9004 401 0 0 71 0 0\n");
	assert_value(test_run_value(&r, "rightsize_cpu_seconds", "idle"), 90.04);
	assert_value(test_run_value(&r, "rightsize_cpu_seconds", "iowait"), 4.01);
}

static void old_kernels_have_fewer_modes(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r = test_run_started(&collector_cpu, &t.host);

	collect(&r, &t, "cpu 100 0 50 900\nbtime 5\n");
	assert_int_equal(test_run_points(&r, "rightsize_cpu_seconds"), 4);
	assert_value(test_run_value(&r, "rightsize_cpu_seconds", "steal"), NAN);
	assert_value(test_run_value(&r, "rightsize_cpu_system_seconds", ""), 0.5);
	assert_value(test_run_value(&r, "rightsize_context_switches", ""), NAN);
	assert_value(test_run_value(&r, "rightsize_boot_time_seconds", ""), 5);
}

static void a_mode_that_is_left_out_does_not_make_sums_fall(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r = test_run_started(&collector_cpu, &t.host);

	collect(&r, &t, "cpu 100 20 50 900 0 30 0 0\n");
	test_host_advance(&t, 1);
	collect(&r, &t, "cpu 110\n");
	assert_value(test_run_value(&r, "rightsize_cpu_user_seconds", ""), 1.3);
	assert_value(test_run_value(&r, "rightsize_cpu_system_seconds", ""), NAN);
	assert_value(test_run_value(&r, "rightsize_cpu_usage_cores", ""), 0.1);
}

static void hostile_files_are_errors_or_gaps(void **state)
{
	static const struct {
		const char *stat;
		int code;
		size_t modes;
	} table[] = {
		{"", -EBADMSG, 0},
		{"cpu", -EBADMSG, 0},
		{"cpu \n", -EBADMSG, 0},
		{"cpu -1 2 3\n", -EBADMSG, 0},
		{"cpu0 1 2 3 4\n", -EBADMSG, 0},
		{"cpu 18446744073709551616 2 3 4\n", -EBADMSG, 0},
		{"cpu 18446744073709551615 2 3 x\n", 0, 3},
		{"cpu 1 2 3 4 5 6 7 8 9 10 11 12 13\nctxt\nbtime x\nprocesses 1e9\n", 0, 8},
		{"cpu 1 2 3 4 5 6 7 8\ncpu 9 9 9 9 9 9 9 9\n", 0, 8},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(test_host_done) struct test_host t = test_host_made();
		AUTO(test_run_done) struct test_run r;

		test_host_file(&t, "/proc/stat", table[i].stat);
		assert_int_equal(test_run_start(&r, &collector_cpu, &t.host), 0);
		assert_int_equal(test_run_collect(&r, &t.host), table[i].code);
		assert_int_equal(r.err.text[0] != '\0', table[i].code != 0);
		assert_int_equal(test_run_points(&r, "rightsize_cpu_seconds"), table[i].modes);
		assert_null(block_fault(r.block));
	}
}

static void counters_may_be_as_large_as_64_bits_are(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r = test_run_started(&collector_cpu, &t.host);

	collect(&r, &t,
		"cpu 18446744073709551615 0 0 0\nctxt 18446744073709551615\nprocs_running max\n");
	assert_value(test_run_value(&r, "rightsize_cpu_user_seconds", ""), 184467440737095516.15);
	assert_value(test_run_value(&r, "rightsize_context_switches", ""), 18446744073709551615.0);
	assert_value(test_run_value(&r, "rightsize_threads_running", ""), NAN);
}

static void a_missing_file_is_named(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r = test_run_started(&collector_cpu, &t.host);

	assert_int_equal(test_run_collect(&r, &t.host), -ENOENT);
	assert_string_equal(r.err.text, "read proc/stat: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_captured_machine),
		cmocka_unit_test(usage_is_busy_time_over_at_least_250_ms),
		cmocka_unit_test(counters_do_not_fall_with_the_kernels),
		cmocka_unit_test(old_kernels_have_fewer_modes),
		cmocka_unit_test(a_mode_that_is_left_out_does_not_make_sums_fall),
		cmocka_unit_test(hostile_files_are_errors_or_gaps),
		cmocka_unit_test(counters_may_be_as_large_as_64_bits_are),
		cmocka_unit_test(a_missing_file_is_named),
	};

	return cmocka_run_group_tests_name("collect_cpu", tests, NULL, NULL);
}
