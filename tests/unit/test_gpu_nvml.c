/* Tests the gpu collector with NVIDIA GPUs. The library and the job are simulated. Some calls fail
 * or hang. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/gpu/nvml_thread.h"
#include "tests/support/fake_nvml.h"
#include "tests/support/gpu_world.h"

#define MIB 1048576.0
#define GIB (1024 * MIB)

/* Seconds to wait. A longer wait means that something is broken. */
#define PATIENCE 60

/* Makes a world where the exporter is in the initial PID namespace, and so is /proc. The pids that
 * the driver reports are then the pids in /proc. */
static struct gpu_world *host_world(const char *scenario)
{
	struct gpu_world *w = gpu_world_new();

	fake_nvml_play(scenario);
	gpu_world_nvidia(w);
	w->host.own_pid_namespace = w->host.initial_pid_namespace = true;
	return w;
}

static void news(struct gpu_world *w, double seconds)
{
	assert_true(gpus_wait(w->state, PATIENCE));
	assert_int_equal(gpu_world_tick(w, seconds), 0);
}

/* Makes a world where process 100 is the root of a run. The driver has been read once. */
static struct gpu_world *world_of_a_run(const char *scenario)
{
	struct gpu_world *w = host_world(scenario);

	gpu_world_process(w, 100, 1, "");
	gpu_world_follow(w, 100);
	assert_int_equal(gpu_world_start(w), 0);
	news(w, 1);
	return w;
}

static void one_gpu_gives_every_number(void **state)
{
	static const struct {
		const char *name, *labels;
		double value;
	} cases[] = {
		{"rightsize_gpu_up", "0", 1},
		{"rightsize_gpu_utilization_ratio", "0", 0.05},
		{"rightsize_gpu_memory_busy_ratio", "0", 0},
		{"rightsize_gpu_memory_used_bytes", "0", GIB},
		{"rightsize_gpu_memory_total_bytes", "0", 80 * GIB},
		{"rightsize_gpu_power_watts", "0", 100.5},
		{"rightsize_gpu_power_limit_watts", "0", 700},
		{"rightsize_gpu_energy_joules", "0", 123456.789},
		{"rightsize_gpu_temperature_celsius", "0", 40},
		{"rightsize_gpu_processes", "0", 0},
		{"rightsize_gpu", "0|Fake GPU 0|GPU-fake-0--1|0000:3b:00.0|nvidia|999.10", 1},
		{"rightsize_gpu_clock_hertz", "0|graphics", 1000e6},
		{"rightsize_gpu_clock_hertz", "0|sm", 1001e6},
		{"rightsize_gpu_clock_hertz", "0|memory", 1002e6},
		{"rightsize_gpu_clock_hertz", "0|video", 1003e6},
		{"rightsize_gpu_throttled", "0|power_cap", 1},
		{"rightsize_gpu_throttled", "0|hardware_thermal", 1},
		{"rightsize_gpu_throttled", "0|power_brake", 0},
		{"rightsize_gpu_ecc_errors", "0|corrected", 2},
		{"rightsize_gpu_ecc_errors", "0|uncorrected", 0},
		{"rightsize_gpus_used", "", 1},
		{"rightsize_gpu_unattributed_processes", "", 0},
	};
	AUTO(gpu_world_freep) struct gpu_world *w = host_world("");

	assert_int_equal(gpu_world_start(w), 0);
	news(w, 1);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		double value = gpu_world_value(w, cases[i].name, cases[i].labels);

		if (!(fabs(value - cases[i].value) <= 1e-9))
			fail_msg("%s{%s} is %.17g, not %.17g", cases[i].name, cases[i].labels,
				value, cases[i].value);
	}
}

/* If `helper` is true, process 101 is the exporter, which is a helper. */
static void a_run_gets_nothing_of_a_helper_s_gpus(void **state)
{
	for (int helper = 0; helper < 2; helper++) {
		AUTO(gpu_world_freep)
		struct gpu_world *w =
			host_world("gpus=8 processes=0:100:512:40:c,7:101:1024:100:c");

		w->host.self = helper ? 101 : 0;
		gpu_world_process(w, 100, 1, "101 ");
		gpu_world_process(w, 101, 100, "");
		gpu_world_follow(w, 100);
		assert_int_equal(gpu_world_start(w), 0);
		news(w, 1);
		assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), helper ? 1 : 2, 0);
		assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), (helper ? 512 : 1536) * MIB,
			0);
	}
}

static void a_run_gets_what_its_processes_use_of_eight_gpus(void **state)
{
	AUTO(gpu_world_freep)
	struct gpu_world *w =
		host_world("gpus=8 processes=0:100:512:40:c,1:100:256:20:c,7:101:1024:100:c,"
			   "7:100:100:0:c,2:999:4096:90:c,3:100:10:0:m");

	gpu_world_process(w, 100, 1, "101 ");
	gpu_world_process(w, 101, 100, "");
	gpu_world_follow(w, 100);
	assert_int_equal(gpu_world_start(w), 0);
	news(w, 1);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 4,
		0); /* the run uses the GPUs 0, 1, 7, and 3 by MPS; GPU 2 is not its own */
	assert_double_equal(gpu_world_run(w, RUN_GPU_USAGE), 1.6, 1e-9);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 1902 * MIB, 0);
	assert_point(w, "rightsize_gpu_utilization_ratio", "7", 0.75, 1e-9);
	assert_point(w, "rightsize_gpu_processes", "7", 2, 0);
	assert_point(w, "rightsize_gpus_used", "", 8, 0);
	/* The child ends, and less memory is used. The peak stays. */
	gpu_world_gone(w, 101);
	gpu_world_process(w, 100, 1, "");
	fake_nvml_play("gpus=8 processes=0:100:512:40:c,7:101:1024:100:c");
	news(w, 1);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 1, 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 512 * MIB, 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_PEAK_BYTES), 1902 * MIB, 0);
	/* The run has ended. Its current use is unknown, but its peak stays known. */
	gpu_world_gone(w, 100);
	news(w, 1);
	assert_true(isnan(gpu_world_run(w, RUN_GPUS_USED)));
	assert_true(isnan(gpu_world_run(w, RUN_GPU_USAGE)));
	assert_true(isnan(gpu_world_run(w, RUN_VRAM_BYTES)));
	assert_double_equal(gpu_world_run(w, RUN_VRAM_PEAK_BYTES), 1902 * MIB, 0);
}

static void a_run_notes_which_gpus_it_used(void **state)
{
	static const struct {
		const char *first, *later, *manufacturer, *model;
	} cases[] = {
		{"gpus=2", "gpus=2", "", ""},
		{"gpus=2", "gpus=2 processes=1:100:512:40:c", "NVIDIA", "Fake GPU 1"},
		{"gpus=2 processes=1:100:512:40:c,0:999:512:40:c", "gpus=2", "NVIDIA",
			"Fake GPU 1"},
		/* The GPUs of the fake library have different names. */
		{"gpus=2 processes=0:100:512:40:c,1:100:512:40:c", "gpus=2", "NVIDIA", ""},
		{"gpus=2 processes=0:100:512:40:c", "gpus=2 processes=1:100:512:40:c", "NVIDIA",
			""},
		{"mig=0 processes=0.1:100:512:0:c", "mig=0", "NVIDIA", "Fake GPU 0"},
		{"fail=nvmlDeviceGetName:3 processes=0:100:512:40:c", "", "NVIDIA", ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		AUTO(gpu_world_freep) struct gpu_world *w = world_of_a_run(cases[i].first);

		fake_nvml_play(cases[i].later);
		news(w, 1);
		news(w, 1);
		assert_gpu_kind(w, cases[i].manufacturer, cases[i].model);
	}
}

static void a_run_without_gpu_work_uses_none(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = world_of_a_run("processes=0:999:512:40:c");

	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 0, 0);
	assert_double_equal(gpu_world_run(w, RUN_GPU_USAGE), 0, 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 0, 0);
}

static void slices_are_told_apart(void **state)
{
	AUTO(gpu_world_freep)
	struct gpu_world *w =
		world_of_a_run("gpus=2 mig=0 "
			       "processes=0.0:100:512:0:c,0.1:100:256:0:c,0.1:101:128:0:g");

	assert_point(w, "rightsize_gpu_mig", "0|7/0|Fake GPU 0 MIG 1g.10gb|MIG-fake-0-0", 1, 0);
	assert_point(w, "rightsize_gpu_mig_memory_used_bytes", "0|8/0", 2 * GIB, 0);
	assert_point(w, "rightsize_gpu_mig_memory_total_bytes", "0|8/0", 10 * GIB, 0);
	assert_point(w, "rightsize_gpu_processes", "0", 2, 0);
	/* The driver reports no utilization for a GPU in MIG mode, so it is unknown, and not 0. */
	assert_true(isnan(gpu_world_value(w, "rightsize_gpu_utilization_ratio", "0")));
	assert_point(w, "rightsize_gpu_utilization_ratio", "1", 0.15, 1e-9);
	assert_point(w, "rightsize_gpus_used", "", 2, 0);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 1, 0);
	assert_true(isnan(gpu_world_run(w, RUN_GPU_USAGE)));
}

/* Each call fails in turn, with each error. The value that the call returns is missing then, and
 * all others must be there. */
static void a_call_that_fails_costs_its_number(void **state)
{
	static const struct {
		const char *call, *name, *labels;
	} cases[] = {
		{"nvmlDeviceGetUtilizationRates", "rightsize_gpu_utilization_ratio", "0"},
		{"nvmlDeviceGetPowerUsage", "rightsize_gpu_power_watts", "0"},
		{"nvmlDeviceGetEnforcedPowerLimit", "rightsize_gpu_power_limit_watts", "0"},
		{"nvmlDeviceGetTotalEnergyConsumption", "rightsize_gpu_energy_joules", "0"},
		{"nvmlDeviceGetTemperature", "rightsize_gpu_temperature_celsius", "0"},
		{"nvmlDeviceGetClockInfo", "rightsize_gpu_clock_hertz", "0|sm"},
		{"nvmlDeviceGetCurrentClocksThrottleReasons", "rightsize_gpu_throttled",
			"0|power_cap"},
		{"nvmlDeviceGetTotalEccErrors", "rightsize_gpu_ecc_errors", "0|corrected"},
	};
	static const int codes[] = {NVML_NOT_SUPPORTED, NVML_NO_PERMISSION, NVML_UNKNOWN};
	AUTO(gpu_world_freep) struct gpu_world *w = host_world("");
	char scenario[128];

	assert_int_equal(gpu_world_start(w), 0);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (size_t k = 0; k < sizeof codes / sizeof codes[0]; k++) {
			snprintf(scenario, sizeof scenario, "fail=%s:%d", cases[i].call, codes[k]);
			fake_nvml_play(scenario);
			/* After this many tables, each call was made, also that for the energy. */
			for (size_t n = 0; n < NVML_ENERGY_READINGS; n++)
				news(w, 0.001);
			for (size_t other = 0; other < sizeof cases / sizeof cases[0]; other++)
				assert_int_equal(isnan(gpu_world_value(w, cases[other].name,
							 cases[other].labels)),
					other == i);
			assert_point(w, "rightsize_gpu_up", "0", 1, 0);
		}
}

static void energy_is_read_less_often_and_always_there(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = host_world("");

	assert_int_equal(gpu_world_start(w), 0);
	for (size_t n = 0; n < 2 * NVML_ENERGY_READINGS; n++) {
		news(w, 0.001);
		assert_point(w, "rightsize_gpu_energy_joules", "0", 123456.789, 1e-9);
	}
	unsigned all = fake_nvml_calls("nvmlDeviceGetPowerUsage"),
		 energy = fake_nvml_calls("nvmlDeviceGetTotalEnergyConsumption");

	assert_true(all >= 2 * NVML_ENERGY_READINGS);
	assert_in_range(energy, 2, 1 + all / NVML_ENERGY_READINGS);
}

static void who_may_not_see_the_processes_does_not_call_a_run_idle(void **state)
{
	AUTO(gpu_world_freep)
	struct gpu_world *w = world_of_a_run("gpus=2 processes=0:100:512:40:c "
					     "fail=nvmlDeviceGetComputeRunningProcesses_v3:4,"
					     "nvmlDeviceGetGraphicsRunningProcesses_v3:4");

	assert_true(isnan(gpu_world_value(w, "rightsize_gpu_processes", "0")));
	assert_true(isnan(gpu_world_run(w, RUN_GPUS_USED)));
	assert_true(isnan(gpu_world_run(w, RUN_VRAM_BYTES)));
	assert_true(isnan(gpu_world_run(w, RUN_VRAM_PEAK_BYTES)));
}

static void utilization_of_processes_may_be_unknown_alone(void **state)
{
	AUTO(gpu_world_freep)
	struct gpu_world *w =
		world_of_a_run("processes=0:100:512:40:c fail=nvmlDeviceGetProcessUtilization:3");

	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 1, 0);
	assert_true(isnan(gpu_world_run(w, RUN_GPU_USAGE)));
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 512 * MIB, 0);
}

static void a_lost_gpu_is_down_and_the_others_go_on(void **state)
{
	AUTO(gpu_world_freep)
	struct gpu_world *w = world_of_a_run("gpus=3 processes=0:100:512:40:c,1:100:512:40:c");

	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 2, 0);
	fake_nvml_play("gpus=3 lost=1 processes=0:100:512:40:c,1:100:512:40:c");
	news(w, 1);
	assert_point(w, "rightsize_gpu_up", "0", 1, 0);
	assert_point(w, "rightsize_gpu_up", "1", 0, 0);
	assert_true(isnan(gpu_world_value(w, "rightsize_gpu_memory_used_bytes", "1")));
	assert_true(isnan(gpu_world_value(w, "rightsize_gpu_processes", "1")));
	assert_point(w, "rightsize_gpu_up", "2", 1, 0);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 1, 0);
}

static void half_a_reading_is_none(void **state)
{
	AUTO(gpu_world_freep)
	struct gpu_world *w =
		world_of_a_run("processes=0:100:512:40:c fail=nvmlDeviceGetTemperature:15");

	assert_point(w, "rightsize_gpu_up", "0", 0, 0);
	assert_true(isnan(gpu_world_value(w, "rightsize_gpu_memory_used_bytes", "0")));
	assert_true(isnan(gpu_world_run(w, RUN_GPUS_USED)));
}

static void a_gpu_lost_from_the_start_is_down(void **state)
{
	AUTO(gpu_world_freep)
	struct gpu_world *w = host_world("gpus=2 fail=nvmlDeviceGetHandleByIndex:15");

	assert_int_equal(gpu_world_start(w), 0);
	news(w, 1);
	assert_point(w, "rightsize_gpu_up", "1", 0, 0);
	assert_true(isnan(gpu_world_value(w, "rightsize_gpus_used", "")));
}

static void a_hanging_call_costs_a_gap_and_no_more(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = world_of_a_run("processes=0:100:512:40:c");

	fake_nvml_play("hang=nvmlDeviceGetTemperature processes=0:100:256:40:c");
	assert_false(gpus_wait(w->state, 0));
	fake_nvml_await_hang();
	/* The last values are reported for a while. */
	assert_int_equal(gpu_world_tick(w, 1), 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 512 * MIB, 0);
	assert_int_equal(gpu_world_tick(w, NVML_STALE_SECONDS + 1), -ETIMEDOUT);
	assert_non_null(strstr(w->err.text, "temperature"));
	assert_non_null(strstr(w->err.text, "GPU 0"));
	assert_true(isnan(gpu_world_run(w, RUN_GPUS_USED)));
	assert_true(isnan(gpu_world_run(w, RUN_VRAM_BYTES)));
	assert_double_equal(gpu_world_run(w, RUN_VRAM_PEAK_BYTES), 512 * MIB, 0);
	/* The call returns, and the values are current again. */
	fake_nvml_release();
	w->host.now = now_read();
	news(w, 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 256 * MIB, 0);
}

static void stopping_does_not_wait_for_a_hanging_call(void **state)
{
	static const char *const calls[] = {"nvmlInit_v2", "nvmlDeviceGetUUID",
		"nvmlDeviceGetUtilizationRates", "nvmlShutdown"};
	char scenario[64];

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		struct gpu_nvml *n;
		struct err e = {0};

		snprintf(scenario, sizeof scenario, "hang=%s", calls[i]);
		fake_nvml_play(scenario);
		assert_int_equal(gpu_nvml_start(&n, NVML_LIBRARY, &e), 0);
		if (strcmp(calls[i], "nvmlShutdown") != 0)
			fake_nvml_await_hang();
		gpu_nvml_stop(n);
		/* The thread is still inside the call. It frees its own memory when the call
		 * returns. */
		fake_nvml_release();
		fake_nvml_await_call("nvmlShutdown");
	}
}

static void a_library_that_has_not_answered_yet_is_quiet(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = host_world("hang=nvmlInit_v2");

	gpu_world_process(w, 100, 1, "");
	gpu_world_follow(w, 100);
	assert_int_equal(gpu_world_start(w), 0);
	fake_nvml_await_hang();
	assert_int_equal(gpu_world_tick(w, 1), -ENOENT);
	assert_string_equal(w->err.text, "");
	assert_true(isnan(gpu_world_run(w, RUN_GPUS_USED)));
	assert_int_equal(gpu_world_tick(w, NVML_STALE_SECONDS + 1), -ETIMEDOUT);
	assert_non_null(strstr(w->err.text, "init"));
	fake_nvml_release();
	w->host.now = now_read();
	news(w, 0);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 0, 0);
}

static void without_a_driver_or_a_gpu_there_is_nothing(void **state)
{
	static const char *const scenarios[] = {"init=9", "gpus=0"};

	for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
		AUTO(gpu_world_freep) struct gpu_world *w = host_world(scenarios[i]);

		gpu_world_process(w, 100, 1, "");
		gpu_world_follow(w, 100);
		assert_int_equal(gpu_world_start(w), 0);
		assert_true(gpus_wait(w->state, PATIENCE));
		assert_int_equal(gpu_world_tick(w, 1), -ENOENT);
		assert_string_equal(w->err.text, "");
		assert_true(isnan(gpu_world_run(w, RUN_GPUS_USED)));
		assert_true(isnan(gpu_world_run(w, RUN_VRAM_PEAK_BYTES)));
		/* A missing driver is not searched for at every tick. */
		assert_true(gpus_wait(w->state, PATIENCE));
		assert_int_equal(fake_nvml_calls("nvmlInit_v2"), 1);
	}
}

static void a_driver_that_is_not_loaded_is_left_alone_until_it_is(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = gpu_world_new();

	fake_nvml_play("");
	assert_int_equal(gpu_world_start(w), 0);
	assert_true(gpus_wait(w->state, PATIENCE));
	assert_int_equal(gpu_world_tick(w, 1), -ENOENT);
	assert_string_equal(w->err.text, "");
	assert_int_equal(fake_nvml_calls("nvmlInit_v2"), 0);
	gpu_world_nvidia(w);
	gpu_world_tick(w, 1);
	news(w, 1);
	assert_point(w, "rightsize_gpu_up", "0", 1, 0);
}

static void a_driver_of_another_version_is_said_in_words(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = host_world("init=18");

	assert_int_equal(gpu_world_start(w), 0);
	assert_true(gpus_wait(w->state, PATIENCE));
	assert_int_equal(gpu_world_tick(w, 1), -EIO);
	assert_non_null(strstr(w->err.text, "version mismatch"));
	/* The driver may be repaired while the exporter runs. */
	fake_nvml_play("");
	news(w, 1);
	assert_point(w, "rightsize_gpu_up", "0", 1, 0);
}

static void an_unloaded_driver_may_come_back(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = host_world("init=18");

	assert_int_equal(gpu_world_start(w), 0);
	assert_true(gpus_wait(w->state, PATIENCE));
	memory_tree_remove(w->sys, "module/nvidia");
	assert_int_equal(gpu_world_tick(w, 1), -ENOENT);
	assert_string_equal(w->err.text, "");
	fake_nvml_play("");
	assert_int_equal(gpu_world_tick(w, 100), -ENOENT);
	assert_int_equal(fake_nvml_calls("nvmlInit_v2"), 0);
	w->host.now = now_read();
	gpu_world_nvidia(w);
	gpu_world_tick(w, 0);
	news(w, 0);
	assert_point(w, "rightsize_gpu_up", "0", 1, 0);
}

static void a_process_younger_than_the_table_is_a_stranger(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = host_world("processes=0:100:512:40:c");

	gpu_world_process(w, 100, 1, "");
	memory_tree_text(w->proc, "100/stat",
		"100 (train) S 1 1 1 0 -1 0 9 0 0 0 5 5 0 0 20 0 1 0 99999999999 1000000 100 0\n");
	gpu_world_follow(w, 100);
	assert_int_equal(gpu_world_start(w), 0);
	news(w, 1);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 0, 0);
}

static void a_table_is_made_shortly_before_the_tick_that_uses_it(void **state)
{
	/* Arguments and result of nvml_pause, in seconds: time that the last table took, time since
	 * the last tick, time between ticks, and pause until the next table. */
	static const struct {
		double spent, since_tick, period, expected;
	} cases[] = {
		{0.03, 0.03, 1, 0.86},   /* the next table begins 0.11 s before the next tick */
		{0.01, 0.95, 1, 0.98},   /* the next tick comes too soon, so the one after it */
		{0.01, 0.94, 1, 0.99},   /* the same, after a table that ended earlier */
		{0.01, 0.5, 1, 1.43},    /* a table at the next tick would come too soon */
		{0.01, 0.05, 0.1, 0.78}, /* with ten ticks a second, most use an old table */
		{0.01, 0.5, 4, 3.43},    /* no table is made that no tick uses */
		{0.2, 0.5, 1, 2.05},     /* a slow driver does not make a table every second */
		{0.01, 4000, 1, 1},      /* the last tick was long ago: a table every second */
		{0.01, -4000, 1, 1},     /* the last tick is in the future: ignore it */
		{0.01, 0.5, 3600, 1},    /* the next tick is far away: ignore it */
		{30, 0.5, 3600, 5},      /* the longest pause */
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		double pause = nvml_pause(cases[i].spent, cases[i].since_tick, cases[i].period);

		if (!(fabs(pause - cases[i].expected) <= 1e-6))
			fail_msg("case %zu: %.9g", i, pause);
	}
}

/* The table was made before the process opened the GPU. The next table decides. */
static void a_new_user_of_the_gpu_is_unknown_until_it_is_listed(void **state)
{
	static const struct {
		const char *device;
		double age_seconds; /* of the process, when the table is made */
		bool looked_before; /* one tick comes before the process opens the device */
		bool unknown;
	} cases[] = {
		{"/dev/nvidia-uvm", 0.5, false, true},
		{"/dev/nvidia-uvm", 0.5, true, true},
		{"/dev/nvidia-uvm", -0.5, false, true},
		{"/dev/nvidia-uvm", 10, false, false}, /* CUDA without a context */
		{"/dev/nvidia-uvm", 10, true, false},
		{"/dev/null", 0.5, false, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		AUTO(gpu_world_freep) struct gpu_world *w = host_world("processes=0:999:512:40:c");
		double born = (double)now_read().mono.ns / 1e9 - cases[i].age_seconds;
		char stat[128];

		gpu_world_process(w, 100, 1, "");
		snprintf(stat, sizeof stat,
			"100 (train) S 1 1 1 0 -1 0 9 0 0 0 5 5 0 0 20 0 1 0 %.0f 1000000 100 0\n",
			born * 100);
		memory_tree_text(w->proc, "100/stat", stat);
		gpu_world_fd(w, 100, 0, "/dev/null", NULL);
		gpu_world_follow(w, 100);
		assert_int_equal(gpu_world_start(w), 0);
		if (cases[i].looked_before) {
			news(w, 0.01);
			assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 0, 0);
		}
		gpu_world_fd(w, 100, 7, cases[i].device, NULL);
		news(w, 0.97);
		assert_int_equal(isnan(gpu_world_run(w, RUN_GPUS_USED)), cases[i].unknown);
		assert_int_equal(isnan(gpu_world_run(w, RUN_GPU_USAGE)), cases[i].unknown);
		assert_int_equal(isnan(gpu_world_run(w, RUN_VRAM_PEAK_BYTES)), cases[i].unknown);
		fake_nvml_play("processes=0:100:512:40:c");
		news(w, 1);
		/* If the process is younger than the table, the table lists an earlier process with
		 * the same pid. */
		if (cases[i].age_seconds < 0)
			assert_true(isnan(gpu_world_run(w, RUN_GPUS_USED)));
		else
			assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 1, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_gpu_gives_every_number),
		cmocka_unit_test(a_run_gets_what_its_processes_use_of_eight_gpus),
		cmocka_unit_test(a_run_gets_nothing_of_a_helper_s_gpus),
		cmocka_unit_test(a_run_notes_which_gpus_it_used),
		cmocka_unit_test(a_run_without_gpu_work_uses_none),
		cmocka_unit_test(slices_are_told_apart),
		cmocka_unit_test(a_call_that_fails_costs_its_number),
		cmocka_unit_test(energy_is_read_less_often_and_always_there),
		cmocka_unit_test(who_may_not_see_the_processes_does_not_call_a_run_idle),
		cmocka_unit_test(utilization_of_processes_may_be_unknown_alone),
		cmocka_unit_test(a_lost_gpu_is_down_and_the_others_go_on),
		cmocka_unit_test(half_a_reading_is_none),
		cmocka_unit_test(a_gpu_lost_from_the_start_is_down),
		cmocka_unit_test(a_hanging_call_costs_a_gap_and_no_more),
		cmocka_unit_test(stopping_does_not_wait_for_a_hanging_call),
		cmocka_unit_test(a_library_that_has_not_answered_yet_is_quiet),
		cmocka_unit_test(without_a_driver_or_a_gpu_there_is_nothing),
		cmocka_unit_test(a_driver_that_is_not_loaded_is_left_alone_until_it_is),
		cmocka_unit_test(a_driver_of_another_version_is_said_in_words),
		cmocka_unit_test(an_unloaded_driver_may_come_back),
		cmocka_unit_test(a_process_younger_than_the_table_is_a_stranger),
		cmocka_unit_test(a_table_is_made_shortly_before_the_tick_that_uses_it),
		cmocka_unit_test(a_new_user_of_the_gpu_is_unknown_until_it_is_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
