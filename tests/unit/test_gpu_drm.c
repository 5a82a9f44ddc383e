/* Tests the gpu collector with the kernel's DRM drivers. Totals come from sysfs, and the use by
 * processes from fdinfo. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/followed/jobs.h"
#include "tests/support/fake_nvml.h"
#include "tests/support/fdinfo_samples.h"
#include "tests/support/gpu_world.h"

#define MIB 1048576.0

/* Makes a world without an NVIDIA driver. */
static struct gpu_world *drm_world(void)
{
	fake_nvml_play("");
	return gpu_world_new();
}

static void sys_file(struct gpu_world *w, const char *card, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof path, "class/drm/%s/%s", card, file);
	memory_tree_text(w->sys, path, text);
}

static void put_amdgpu(struct gpu_world *w, int pid, int fd, unsigned long long client,
	unsigned long long vram_mib, unsigned long long gfx_ms)
{
	char text[1024];

	snprintf(text, sizeof text, FDINFO_AMDGPU, client, vram_mib * 1024, gfx_ms * 1000000, 0ULL);
	gpu_world_fd(w, pid, fd, "/dev/dri/renderD128", text);
}

static void start(struct gpu_world *w)
{
	assert_int_equal(gpu_world_start(w), 0);
	assert_true(gpus_wait(w->state, 60));
}

/* Makes a world with an AMD GPU and process 100. `children` are the children of process 100. */
static struct gpu_world *amd_world(const char *children)
{
	struct gpu_world *w = drm_world();

	gpu_world_card(w, "card0", "amdgpu", "0000:03:00.0");
	gpu_world_process(w, 100, 1, children);
	return w;
}

static void amdgpu_totals_come_from_sysfs(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = drm_world();

	gpu_world_card(w, "card1", "amdgpu", "0000:03:00.0");
	sys_file(w, "card1", "device/gpu_busy_percent", "37\n");
	sys_file(w, "card1", "device/mem_info_vram_used", "1073741824\n");
	sys_file(w, "card1", "device/mem_info_vram_total", "68702699520\n");
	sys_file(w, "card1", "device/product_name", "AMD Instinct MI210 \n");
	sys_file(w, "card1", "device/unique_id", "d5c2ac2a7c2a1a4d\n");
	sys_file(w, "card1", "device/hwmon/hwmon4/power1_average", "41000000\n");
	sys_file(w, "card1", "device/hwmon/hwmon4/power1_cap", "300000000\n");
	sys_file(w, "card1", "device/hwmon/hwmon4/temp1_input", "-5000\n");
	sys_file(w, "card1", "device/hwmon/hwmon4/freq1_input", "800000000\n");
	sys_file(w, "card1", "device/mem_busy_percent", "nonsense\n");
	start(w);
	assert_int_equal(gpu_world_tick(w, 1), 0);
	assert_point(w, "rightsize_gpu_utilization_ratio", "card1", 0.37, 1e-9);
	assert_point(w, "rightsize_gpu_memory_used_bytes", "card1", 1073741824, 0);
	assert_point(w, "rightsize_gpu_memory_total_bytes", "card1", 68702699520, 0);
	assert_point(w, "rightsize_gpu_power_watts", "card1", 41, 1e-9);
	assert_point(w, "rightsize_gpu_power_limit_watts", "card1", 300, 1e-9);
	assert_point(w, "rightsize_gpu_temperature_celsius", "card1", -5, 1e-9);
	assert_point(w, "rightsize_gpu_clock_hertz", "card1|graphics", 8e8, 0);
	assert_point(w, "rightsize_gpu",
		"card1|AMD Instinct MI210|d5c2ac2a7c2a1a4d|0000:03:00.0|amdgpu|", 1, 0);
	assert_point(w, "rightsize_gpus_used", "", 1, 0);
	assert_true(isnan(gpu_world_value(w, "rightsize_gpu_memory_busy_ratio", "card1")));
	assert_true(isnan(gpu_world_value(w, "rightsize_gpu_energy_joules", "card1")));
}

static void intel_gives_what_it_has(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = drm_world();

	gpu_world_card(w, "card0", "xe", "0000:8c:00.0");
	gpu_world_card(w, "card1", "i915", "0000:00:02.0");
	sys_file(w, "card0", "device/tile0/physical_vram_size_bytes", "12884901888\n");
	sys_file(w, "card0", "device/tile0/gt0/freq0/act_freq", "1200\n");
	sys_file(w, "card0", "device/hwmon/hwmon2/energy1_input", "5000000\n");
	sys_file(w, "card0", "device/hwmon/hwmon2/temp2_input", "45000\n");
	sys_file(w, "card1", "gt_act_freq_mhz", "350\n");
	start(w);
	assert_int_equal(gpu_world_tick(w, 1), 0);
	assert_point(w, "rightsize_gpu_memory_total_bytes", "card0", 12884901888, 0);
	assert_point(w, "rightsize_gpu_energy_joules", "card0", 5, 1e-9);
	assert_point(w, "rightsize_gpu_temperature_celsius", "card0", 45, 1e-9);
	assert_point(w, "rightsize_gpu_clock_hertz", "card0|graphics", 1200e6, 0);
	assert_point(w, "rightsize_gpu_clock_hertz", "card1|graphics", 350e6, 0);
	/* Neither driver reports utilization, so it is unknown, and not 0. */
	assert_true(isnan(gpu_world_value(w, "rightsize_gpu_utilization_ratio", "card0")));
	assert_true(isnan(gpu_world_value(w, "rightsize_gpus_used", "")));
}

static void what_is_no_gpu_of_ours_is_left_out(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = drm_world();

	gpu_world_card(w, "card0", "nvidia", "0000:01:00.0");
	gpu_world_card(w, "card1", "virtio_gpu", "");
	gpu_world_card(w, "card2-HDMI-A-1", "amdgpu", "0000:03:00.0");
	sys_file(w, "card3", "device/uevent", "DRIVER=ast\n"); /* no render node */
	start(w);
	assert_int_equal(gpu_world_tick(w, 1), -ENOENT);
	assert_string_equal(w->err.text, "");
}

static void a_run_gets_the_time_of_its_clients(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = amd_world("101 ");

	gpu_world_process(w, 101, 100, "");
	gpu_world_fd(w, 100, 0, "/dev/null", NULL);
	put_amdgpu(w, 100, 5, 42, 500, 1000);
	put_amdgpu(w, 101, 3, 43, 100, 0);
	gpu_world_follow(w, 100);
	start(w);
	assert_int_equal(gpu_world_tick(w, 1), 0);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 1, 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 600 * MIB, 0);
	assert_true(isnan(gpu_world_run(w, RUN_GPU_USAGE))); /* a rate needs two readings */
	put_amdgpu(w, 100, 5, 42, 200, 2000);
	put_amdgpu(w, 101, 3, 43, 100, 500);
	assert_int_equal(gpu_world_tick(w, 2), 0);
	assert_double_equal(gpu_world_run(w, RUN_GPU_USAGE), 0.75, 1e-9);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 300 * MIB, 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_PEAK_BYTES), 600 * MIB, 0);
	/* A scrape shortly after the tick sees the same values. */
	assert_int_equal(gpu_world_tick(w, 0.1), 0);
	assert_double_equal(gpu_world_run(w, RUN_GPU_USAGE), 0.75, 1e-9);
}

static void a_client_counts_once_through_all_its_descriptors(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = amd_world("101 ");

	gpu_world_process(w, 101, 100, "");
	for (int tick = 0; tick < 2; tick++) {
		put_amdgpu(w, 100, 5, 42, 500, 1000 + 500 * (unsigned)tick);
		put_amdgpu(w, 100, 6, 42, 500,
			1000 + 500 * (unsigned)tick); /* descriptor 6 was made by dup(2) */
		put_amdgpu(w, 101, 5, 42, 500,
			1000 + 500 * (unsigned)tick); /* process 101 was made by fork(2) */
		if (tick == 0) {
			gpu_world_follow(w, 100);
			start(w);
		}
		assert_int_equal(gpu_world_tick(w, 1), 0);
	}
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 500 * MIB, 0);
	assert_double_equal(gpu_world_run(w, RUN_GPU_USAGE), 0.5, 1e-9);
	/* The descriptor that was read is closed. The client still has another descriptor, so its
	 * GPU time goes on from the last value. */
	memory_tree_remove(w->proc, "100/fd/5");
	memory_tree_remove(w->proc, "100/fdinfo/5");
	memory_tree_remove(w->proc, "101/fd/5");
	memory_tree_remove(w->proc, "101/fdinfo/5");
	put_amdgpu(w, 100, 6, 42, 500, 1600);
	assert_int_equal(gpu_world_tick(w, 1), 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 500 * MIB, 0);
	put_amdgpu(w, 100, 6, 42, 500, 1700);
	assert_int_equal(gpu_world_tick(w, 1), 0);
	assert_double_equal(gpu_world_run(w, RUN_GPU_USAGE), 0.1, 1e-9);
}

static void every_driver_is_read(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = drm_world();
	char text[1024];

	gpu_world_card(w, "card0", "i915", "0000:4d:00.0");
	gpu_world_card(w, "card1", "xe", "0000:8c:00.0");
	gpu_world_card(w, "card2", "amdgpu", "0000:03:00.0");
	gpu_world_process(w, 100, 1, "");
	snprintf(text, sizeof text, FDINFO_I915, 42ULL, 100ULL, 100ULL, 1000000000ULL, 0ULL);
	gpu_world_fd(w, 100, 3, "/dev/dri/renderD128", text);
	snprintf(text, sizeof text, FDINFO_XE, 42ULL, 51200ULL, 51200ULL, 0ULL, 1000ULL, 100ULL,
		1000ULL);
	gpu_world_fd(w, 100, 4, "/dev/dri/renderD129", text);
	/* The GPU was opened but never used, so it does not count as the run's. */
	put_amdgpu(w, 100, 5, 42, 1, 0);
	gpu_world_follow(w, 100);
	start(w);
	assert_int_equal(gpu_world_tick(w, 1), 0);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 2, 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 150 * MIB, 0);
	snprintf(text, sizeof text, FDINFO_I915, 42ULL, 100ULL, 100ULL, 1200000000ULL, 0ULL);
	gpu_world_fd(w, 100, 3, "/dev/dri/renderD128", text);
	snprintf(text, sizeof text, FDINFO_XE, 42ULL, 51200ULL, 51200ULL, 0ULL, 2000ULL, 1700ULL,
		2000ULL);
	gpu_world_fd(w, 100, 4, "/dev/dri/renderD129", text);
	assert_int_equal(gpu_world_tick(w, 1), 0);
	assert_double_equal(gpu_world_run(w, RUN_GPU_USAGE), 0.2 + 0.4, 1e-9);
}

/* A program that uses ROCm works through /dev/kfd, and the driver counts that work in no engine's
 * time. The program's memory is known, but its GPU time is not. */
static void compute_queues_have_memory_but_no_known_time(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = amd_world("");

	gpu_world_fd(w, 100, 3, "/dev/kfd", NULL);
	put_amdgpu(w, 100, 5, 42, 4096, 0);
	gpu_world_follow(w, 100);
	start(w);
	gpu_world_tick(w, 1);
	gpu_world_tick(w, 1);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 1, 0);
	assert_true(isnan(gpu_world_run(w, RUN_GPU_USAGE)));
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 4096 * MIB, 0);
}

static void a_process_may_vanish_or_refuse(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = amd_world("101 ");

	gpu_world_process(w, 101, 100, "");
	put_amdgpu(w, 101, 5, 42, 500, 1000);
	gpu_world_follow(w, 100);
	start(w);
	gpu_world_tick(w, 1);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 500 * MIB, 0);
	gpu_world_gone(w, 101);
	gpu_world_process(w, 100, 1, "");
	gpu_world_tick(w, 1);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 0, 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 0, 0);
	/* The descriptor leads to a GPU that the collector does not know. The result must be
	 * unknown, and not "no GPU". */
	char text[1024];

	snprintf(text, sizeof text, FDINFO_I915, 42ULL, 100ULL, 100ULL, 1000000000ULL, 0ULL);
	gpu_world_fd(w, 100, 3, "/dev/dri/renderD140", text);
	gpu_world_tick(w, 60);
	assert_true(isnan(gpu_world_run(w, RUN_GPUS_USED)));
	gpu_world_fd(w, 100, 3, "/dev/dri/renderD140", "drm-driver:\tnvidia-drm\n");
	gpu_world_tick(w, 60);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 0, 0);
	/* The descriptors cannot be read. The result must be unknown, and not "no GPU". */
	memory_tree_refuse(w->proc, "100/fd", -EACCES);
	gpu_world_tick(w, 60);
	assert_true(isnan(gpu_world_run(w, RUN_GPUS_USED)));
	assert_true(isnan(gpu_world_run(w, RUN_VRAM_BYTES)));
}

static void a_descriptor_opened_later_is_found(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = amd_world("");

	gpu_world_fd(w, 100, 0, "/dev/null", NULL);
	gpu_world_follow(w, 100);
	start(w);
	gpu_world_tick(w, 1);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 0, 0);
	put_amdgpu(w, 100, 5, 42, 500, 1000);
	/* The number of descriptors has changed, so the next tick searches all of them. */
	gpu_world_tick(w, 1);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 1, 0);
	/* The same descriptor number now leads to another client. There is no rate across the two
	 * clients. */
	put_amdgpu(w, 100, 5, 77, 300, 5);
	gpu_world_tick(w, 1);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 300 * MIB, 0);
	assert_true(isnan(gpu_world_run(w, RUN_GPU_USAGE)));
}

/* There are more descriptors than one tick searches. The values are unknown until all are
 * searched. */
static void searching_is_rationed(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = drm_world();
	char list[800] = "";

	gpu_world_card(w, "card0", "amdgpu", "0000:03:00.0");
	for (int pid = 101; pid <= 125; pid++) {
		size_t len = strlen(list);

		snprintf(list + len, sizeof list - len, "%d ", pid);
		gpu_world_process(w, pid, 100, "");
		for (int fd = 0; fd < 100; fd++)
			gpu_world_fd(w, pid, fd, "/dev/null", NULL);
	}
	gpu_world_process(w, 100, 1, list);
	gpu_world_follow(w, 100);
	start(w);
	gpu_world_tick(w, 1);
	assert_true(isnan(gpu_world_run(w, RUN_GPUS_USED)));
	gpu_world_tick(w, 1);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 0, 0);
}

/* One process has more descriptors than one tick may search. Only the first ones are searched. */
static void a_process_of_too_many_descriptors_is_searched_as_far_as_it_goes(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = amd_world("");

	put_amdgpu(w, 100, 0, 42, 500, 1000);
	for (int fd = 1; fd < 2100; fd++)
		gpu_world_fd(w, 100, fd, "/dev/null", NULL);
	gpu_world_follow(w, 100);
	start(w);
	gpu_world_tick(w, 1);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 500 * MIB, 0);
}

/* One machine has both kinds of GPU, and one run uses both. */
static void nvidia_and_others_add_up(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = gpu_world_new();

	fake_nvml_play("gpus=2 processes=1:100:512:40:c");
	gpu_world_nvidia(w);
	w->host.own_pid_namespace = w->host.initial_pid_namespace = true;
	gpu_world_card(w, "card0", "amdgpu", "0000:03:00.0");
	gpu_world_process(w, 100, 1, "");
	put_amdgpu(w, 100, 5, 42, 500, 1000);
	gpu_world_follow(w, 100);
	start(w);
	gpu_world_tick(w, 1);
	put_amdgpu(w, 100, 5, 42, 500, 1300);
	gpu_world_tick(w, 1);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 2, 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 1012 * MIB, 0);
	assert_double_equal(gpu_world_run(w, RUN_GPU_USAGE), 0.7, 1e-9);
	assert_gpu_kind(w, "", "");
}

/* The PCI id says who made the GPU, but it is not the name of a model. */
static void a_run_notes_which_gpu_it_used(void **state)
{
	static const struct {
		const char *uevent, *product, *manufacturer, *model;
	} cases[] = {
		{"PCI_ID=1002:740F\n", "AMD Instinct MI210\n", "AMD", "AMD Instinct MI210"},
		{"PCI_ID=1002:740F\n", "AMD \x01\xff\n", "AMD", "AMD ?\xef\xbf\xbd"},
		{"PCI_ID=1002:740F\n", "", "AMD", ""},
		{"PCI_ID=8086:0BD5\n", "", "Intel", ""},
		{"PCI_ID=10de:2330\n", "", "NVIDIA", ""},
		{"PCI_ID=1DB7:DC2A\n", "", "", ""},
		{"OF_NAME=gpu\n", "", "", ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		AUTO(gpu_world_freep) struct gpu_world *w = amd_world("");
		char text[96];

		snprintf(text, sizeof text, "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n%s",
			cases[i].uevent);
		sys_file(w, "card0", "device/uevent", text);
		if (cases[i].product[0])
			sys_file(w, "card0", "device/product_name", cases[i].product);
		gpu_world_follow(w, 100);
		start(w);
		gpu_world_tick(w, 1);
		assert_gpu_kind(w, "", "");
		put_amdgpu(w, 100, 5, 42, 500, 1000);
		gpu_world_tick(w, 6);
		assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 1, 0);
		assert_gpu_kind(w, cases[i].manufacturer, cases[i].model);
	}
}

/* Every read fails in turn, with each error. Nothing may crash or leak. A value that could not be
 * read must not be reported as 0. */
static void a_read_that_fails_is_a_gap(void **state)
{
	static const int codes[] = {-EACCES, -ENOENT, -ESRCH, -EIO};

	for (size_t c = 0; c < sizeof codes / sizeof codes[0]; c++)
		for (int n = 0, passed = 0; !passed; n++) {
			AUTO(gpu_world_freep) struct gpu_world *w = drm_world();
			struct tree *proc = w->proc, *sys = w->sys;
			int left = -1;

			gpu_world_card(w, "card0", "amdgpu", "0000:03:00.0");
			sys_file(w, "card0", "device/gpu_busy_percent", "37\n");
			gpu_world_process(w, 100, 1, "");
			put_amdgpu(w, 100, 5, 42, 500, 1000);
			gpu_world_follow(w, 100);
			w->host.proc = failing_tree(proc, &left, codes[c]);
			w->host.sys = failing_tree(sys, &left, codes[c]);
			left = n;
			if (gpu_world_start(w) == 0) {
				assert_true(gpus_wait(w->state, 60));
				int code = gpu_world_tick(w, 1);

				passed = left >= 0;
				assert_true(code == 0 || code == -ENOENT);
				double vram = gpu_world_run(w, RUN_VRAM_BYTES);

				/* A process that ended uses nothing. A process that cannot be read
				 * may use any amount. */
				bool may_be_gone = codes[c] == -ENOENT || codes[c] == -ESRCH;

				assert_true(isnan(vram) || vram == 500 * MIB ||
					    (may_be_gone && vram == 0));
				double busy = gpu_world_value(w, "rightsize_gpu_utilization_ratio",
					"card0");

				assert_true(isnan(busy) || fabs(busy - 0.37) < 1e-9);
			}
			if (passed) {
				assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 500 * MIB, 0);
				assert_true(n > 10);
			}
			left = -1;
			tree_free(w->host.proc);
			tree_free(w->host.sys);
			w->host.proc = proc;
			w->host.sys = sys;
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amdgpu_totals_come_from_sysfs),
		cmocka_unit_test(intel_gives_what_it_has),
		cmocka_unit_test(what_is_no_gpu_of_ours_is_left_out),
		cmocka_unit_test(a_run_gets_the_time_of_its_clients),
		cmocka_unit_test(a_client_counts_once_through_all_its_descriptors),
		cmocka_unit_test(every_driver_is_read),
		cmocka_unit_test(compute_queues_have_memory_but_no_known_time),
		cmocka_unit_test(a_process_may_vanish_or_refuse),
		cmocka_unit_test(a_descriptor_opened_later_is_found),
		cmocka_unit_test(searching_is_rationed),
		cmocka_unit_test(a_process_of_too_many_descriptors_is_searched_as_far_as_it_goes),
		cmocka_unit_test(nvidia_and_others_add_up),
		cmocka_unit_test(a_run_notes_which_gpu_it_used),
		cmocka_unit_test(a_read_that_fails_is_a_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
