/* collectors/gpu/nvml.c: library functions that exist or are missing, and records of every known
 * length. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "collectors/gpu/nvml.h"
#include "tests/support/fake_nvml.h"

static uint64_t wall_us(void)
{
	return (uint64_t)now_read().wall.ns / 1000;
}

static void *first_gpu(struct nvml *n, const char *scenario)
{
	void *device = NULL;

	fake_nvml_play(scenario);
	assert_int_equal(nvml_open(n, NVML_LIBRARY), 0);
	assert_int_equal(n->init(), NVML_OK);
	assert_int_equal(n->by_index(0, &device), NVML_OK);
	return device;
}

static void records_of_every_length_are_read(void **state)
{
	static const struct {
		const char *scenario;
		size_t n;
		double last_bytes;
	} cases[] = {
		{"", 0, 0},
		{"processes=0:100:1:0:c", 1, 1},
		{"records=32 processes=0:100:1:0:c", 1, 1},
		{"processes=0:100:1:0:c,0:101:2:0:c", 2, 2},
		{"records=32 processes=0:100:1:0:c,0:101:2:0:c", 2, 2},
		{"processes=0:100:1:0:c,0:101:2:0:c,0:102:3:0:c", 3, 3},
		{"records=32 processes=0:100:1:0:c,0:101:2:0:c,0:102:3:0:c", 3, 3},
		{"records=cleared processes=0:100:1:0:c,0:101:2:0:c,0:102:3:0:c", 3, 3},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		AUTO(nvml_close) struct nvml n;
		AUTO(nvml_processes_done) struct nvml_processes p = {0};
		void *device = first_gpu(&n, cases[i].scenario);

		assert_int_equal(nvml_list_processes(&n, device, NVML_COMPUTE, &p), NVML_OK);
		assert_int_equal(p.n, cases[i].n);
		for (size_t k = 0; k < p.n; k++) {
			assert_int_equal(p.process[k].pid, 100 + k);
			assert_double_equal(p.process[k].vram_bytes, (double)(k + 1) * 1048576, 0);
		}
	}
}

static void v2_is_asked_only_when_v3_leaves_doubt(void **state)
{
	AUTO(nvml_close) struct nvml n;
	AUTO(nvml_processes_done) struct nvml_processes p = {0};
	void *device = first_gpu(&n, "processes=0:100:1:0:c,0:101:2:0:c");

	nvml_list_processes(&n, device, NVML_COMPUTE, &p);
	assert_int_equal(fake_nvml_calls("nvmlDeviceGetComputeRunningProcesses_v2"), 0);
	fake_nvml_play("records=32 processes=0:100:1:0:c,0:101:2:0:c");
	nvml_list_processes(&n, device, NVML_COMPUTE, &p);
	assert_int_equal(fake_nvml_calls("nvmlDeviceGetComputeRunningProcesses_v2"), 0);
	fake_nvml_play("records=cleared processes=0:100:1:0:c,0:101:2:0:c");
	p.n = 0;
	nvml_list_processes(&n, device, NVML_COMPUTE, &p);
	assert_int_equal(fake_nvml_calls("nvmlDeviceGetComputeRunningProcesses_v2"), 1);
	assert_int_equal(p.n, 2);
	/* The v3 function exists but does not work. */
	fake_nvml_play("fail=nvmlDeviceGetComputeRunningProcesses_v3:13 processes=0:100:1:0:c");
	p.n = 0;
	assert_int_equal(nvml_list_processes(&n, device, NVML_COMPUTE, &p), NVML_OK);
	assert_int_equal(p.n, 1);
}

static void many_processes_are_all_listed(void **state)
{
	AUTO(nvml_close) struct nvml n;
	AUTO(nvml_processes_done) struct nvml_processes p = {0};
	char scenario[2000] = "records=32 processes=0:1000:1:0:c";
	void *device;

	for (unsigned i = 1; i < 100; i++) {
		size_t len = strlen(scenario);

		snprintf(scenario + len, sizeof scenario - len, ",0:%u:1:0:c", 1000 + i);
	}
	device = first_gpu(&n, scenario);
	assert_int_equal(nvml_list_processes(&n, device, NVML_COMPUTE, &p), NVML_OK);
	assert_int_equal(p.n, 100);
	assert_int_equal(p.process[99].pid, 1099);
}

static void a_process_of_two_kinds_is_one_process(void **state)
{
	AUTO(nvml_close) struct nvml n;
	AUTO(nvml_processes_done) struct nvml_processes p = {0};
	void *device = first_gpu(&n, "processes=0:100:0:0:c,0:100:300:0:g,0:100:200:0:m");

	for (unsigned kind = 0; kind < NVML_KINDS; kind++)
		nvml_list_processes(&n, device, (enum nvml_kind)kind, &p);
	assert_int_equal(p.n, 1);
	assert_double_equal(p.process[0].vram_bytes, 300 * 1048576.0, 0);
}

static void memory_that_is_not_told_is_unknown(void **state)
{
	AUTO(nvml_close) struct nvml n;
	AUTO(nvml_processes_done) struct nvml_processes p = {0};
	void *device = first_gpu(&n, "processes=0:100:0:0:c");

	nvml_list_processes(&n, device, NVML_COMPUTE, &p);
	assert_int_equal(p.n, 1);
	assert_true(isnan(p.process[0].vram_bytes));
	assert_true(isnan(p.process[0].utilization));
}

static void utilization_is_the_newest_sample_that_makes_sense(void **state)
{
	AUTO(nvml_close) struct nvml n;
	AUTO(nvml_processes_done) struct nvml_processes p = {0};
	uint64_t newest = 0;
	void *device = first_gpu(&n, "processes=0:100:1:40:c,0:101:1:0:c");

	nvml_list_processes(&n, device, NVML_COMPUTE, &p);
	assert_int_equal(nvml_read_utilization(&n, device, wall_us(), &newest, &p), NVML_OK);
	assert_double_equal(p.process[0].utilization, 0.4, 1e-9);
	assert_double_equal(p.process[1].utilization, 0, 0);
	/* The library returns "not found" when no process used the GPU. */
	fake_nvml_play("processes=0:100:1:0:c");
	assert_int_equal(nvml_read_utilization(&n, device, wall_us(), &newest, &p), NVML_OK);
	assert_double_equal(p.process[0].utilization, 0, 0);
	fake_nvml_play("fail=nvmlDeviceGetProcessUtilization:3");
	assert_int_equal(nvml_read_utilization(&n, device, wall_us(), &newest, &p),
		NVML_NOT_SUPPORTED);
}

/* Samples of an H100. For each process, the driver returns the mean of the samples after the time
 * that the caller passes. */
static void each_sample_of_a_process_counts_once(void **state)
{
	static const struct {
		unsigned percent[5]; /* 999 = no more samples */
		double expected;
	} second[] = {
		{{66, 99, 99, 99, 99}, 0.92}, /* process 100 begins to work */
		{{54, 0, 0, 0, 0}, 0.1},      /* process 100 has ended its work */
		{{0, 0, 0, 0, 0}, 0},         /* process 100 has a context, but no work */
		{{45, 99, 999}, 0.72},        /* process 100 works again, with fewer samples */
	};
	AUTO(nvml_close) struct nvml n;
	AUTO(nvml_processes_done) struct nvml_processes p = {0};
	uint64_t newest = 0;
	void *device = first_gpu(&n, "processes=0:100:1:0:c,0:101:1:0:c");

	nvml_list_processes(&n, device, NVML_COMPUTE, &p);
	for (size_t i = 0; i < sizeof second / sizeof second[0]; i++) {
		for (size_t k = 0; k < 5 && second[i].percent[k] != 999; k++)
			fake_nvml_sample(100, second[i].percent[k]);
		assert_int_equal(nvml_read_utilization(&n, device, wall_us(), &newest, &p),
			NVML_OK);
		assert_double_equal(p.process[0].utilization, second[i].expected, 1e-9);
		assert_double_equal(p.process[1].utilization, 0, 0);
	}
}

static void two_processes_share_the_samples(void **state)
{
	AUTO(nvml_close) struct nvml n;
	AUTO(nvml_processes_done) struct nvml_processes p = {0};
	uint64_t newest = 0;
	void *device = first_gpu(&n, "processes=0:100:1:0:c,0:101:1:0:c");

	nvml_list_processes(&n, device, NVML_COMPUTE, &p);
	for (size_t i = 0; i < 5; i++)
		fake_nvml_sample(i % 2 ? 100 : 101, 80);
	assert_int_equal(nvml_read_utilization(&n, device, wall_us(), &newest, &p), NVML_OK);
	assert_double_equal(p.process[0].utilization, 0.32, 1e-9);
	assert_double_equal(p.process[1].utilization, 0.48, 1e-9);
}

/* The driver has taken no sample since the last reading, or the clock was set back. The last
 * seconds then count once more. */
static void without_a_new_sample_the_last_seconds_count(void **state)
{
	AUTO(nvml_close) struct nvml n;
	AUTO(nvml_processes_done) struct nvml_processes p = {0};
	uint64_t newest = 0;
	void *device = first_gpu(&n, "processes=0:100:1:0:c");

	nvml_list_processes(&n, device, NVML_COMPUTE, &p);
	fake_nvml_sample(100, 40);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(nvml_read_utilization(&n, device, wall_us(), &newest, &p),
			NVML_OK);
		assert_double_equal(p.process[0].utilization, 0.4, 1e-9);
	}
	newest = wall_us() + 3600000000;
	assert_int_equal(nvml_read_utilization(&n, device, wall_us(), &newest, &p), NVML_OK);
	assert_double_equal(p.process[0].utilization, 0.4, 1e-9);
	assert_true(newest <= wall_us());
}

static void a_library_of_long_ago_will_do(void **state)
{
	AUTO(nvml_close) struct nvml n;
	AUTO(nvml_processes_done) struct nvml_processes p = {0};
	uint64_t used, total, newest = 0;
	void *device;

	assert_int_equal(setenv("RIGHTSIZE_FAKE_NVML", "processes=0:100:5:0:c,0:101:6:0:c", 1), 0);
	assert_int_equal(nvml_open(&n, FAKE_NVML_OLD_PATH), 0);
	assert_null(n.mig_mode);
	assert_null(n.list[NVML_COMPUTE][0]);
	assert_int_equal(n.init(), NVML_OK);
	assert_int_equal(n.by_index(0, &device), NVML_OK);
	assert_int_equal(nvml_list_processes(&n, device, NVML_COMPUTE, &p), NVML_OK);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.process[1].pid, 101);
	assert_double_equal(p.process[1].vram_bytes, 6 * 1048576.0, 0);
	assert_int_equal(nvml_list_processes(&n, device, NVML_MPS, &p), NVML_NO_FUNCTION);
	assert_int_equal(nvml_read_utilization(&n, device, wall_us(), &newest, &p),
		NVML_NO_FUNCTION);
	assert_int_equal(nvml_read_memory(&n, device, &used, &total), NVML_OK);
	assert_int_equal(used, (1024 + 512) * 1048576ULL);
}

static void used_memory_is_without_what_the_driver_keeps(void **state)
{
	AUTO(nvml_close) struct nvml n;
	uint64_t used, total;
	void *device = first_gpu(&n, "");

	assert_int_equal(nvml_read_memory(&n, device, &used, &total), NVML_OK);
	assert_int_equal(used, 1024 * 1048576ULL);
	assert_int_equal(total, 80 * 1024 * 1048576ULL);
	/* The driver refuses the newer structure. */
	fake_nvml_play("fail=nvmlDeviceGetMemoryInfo_v2:25");
	assert_int_equal(nvml_read_memory(&n, device, &used, &total), NVML_OK);
	assert_int_equal(used, (1024 + 512) * 1048576ULL);
}

static void what_is_no_such_library_is_absent(void **state)
{
	struct nvml n;

	assert_int_equal(nvml_open(&n, "libno-such-library.so.1"), -ENOENT);
	assert_int_equal(nvml_open(&n, "libc.so.6"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_every_length_are_read),
		cmocka_unit_test(v2_is_asked_only_when_v3_leaves_doubt),
		cmocka_unit_test(many_processes_are_all_listed),
		cmocka_unit_test(a_process_of_two_kinds_is_one_process),
		cmocka_unit_test(memory_that_is_not_told_is_unknown),
		cmocka_unit_test(utilization_is_the_newest_sample_that_makes_sense),
		cmocka_unit_test(each_sample_of_a_process_counts_once),
		cmocka_unit_test(two_processes_share_the_samples),
		cmocka_unit_test(without_a_new_sample_the_last_seconds_count),
		cmocka_unit_test(a_library_of_long_ago_will_do),
		cmocka_unit_test(used_memory_is_without_what_the_driver_keeps),
		cmocka_unit_test(what_is_no_such_library_is_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
