/* collectors/gpu/nvml_pid.c: which process the driver's pid belongs to, across PID namespaces. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/gpu/nvml_pid.h"
#include "tests/support/fake_nvml.h"
#include "tests/support/gpu_world.h"

#define MIB 1048576.0

static void process(struct gpu_world *w, int pid, const char *ns_pids, const char *device)
{
	char path[64], text[128];

	snprintf(path, sizeof path, "%d/status", pid);
	snprintf(text, sizeof text, "Name:\ttrain\nPid:\t%d\nNSpid:\t%s\nThreads:\t1\n", pid,
		ns_pids);
	gpu_world_process(w, pid, 1, "");
	memory_tree_text(w->proc, path, text);
	gpu_world_fd(w, pid, 0, "/dev/null", NULL);
	if (device)
		gpu_world_fd(w, pid, 7, device, NULL);
}

static pid_t map(struct gpu_world *w, uint32_t driver_pid)
{
	struct gpu_pids m = {0};

	gpu_pids_update(&m, &w->host, &driver_pid, 1);
	pid_t pid = gpu_pid_of(&m, driver_pid);

	gpu_pids_done(&m);
	return pid;
}

static void in_the_initial_namespace_the_numbers_are_the_same(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = gpu_world_new();

	w->host.own_pid_namespace = w->host.initial_pid_namespace = true;
	assert_int_equal(map(w, 4242), 4242);
	/* In a container's own PID namespace the driver's number may be the pid of another
	 * process. */
	w->host.initial_pid_namespace = false;
	assert_int_equal(map(w, 4242), 0);
}

static void a_number_is_taken_on_evidence_only(void **state)
{
	/* Each row: the pids of process 50, from the outer to the innermost namespace; the file that
	 * it has open; the driver's pid; and the process that the pid stands for, 0 = unknown. */
	static const struct {
		const char *ns_pids, *device;
		uint32_t driver_pid;
		pid_t pid;
	} cases[] = {
		{"50", "/dev/nvidia0", 50, 50}, /* the process has this pid, and a GPU open */
		{"50", "/dev/nvidia-uvm", 50, 50},
		{"50", NULL, 50, 0}, /* the process has this pid by chance, but no GPU open */
		{"50", "/dev/nvme0", 50, 0},
		{"50\t7", "/dev/nvidiactl", 7,
			50}, /* the process has this pid in a nested namespace */
		{"50\t7\t1", "/dev/nvidia3", 1, 50},
		{"50\t7", NULL, 7, 0},
		{"50\t7", "/dev/nvidia0", 8, 0}, /* no process has this pid */
		{"50\t7", "/dev/nvidia0", 4000000000, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		AUTO(gpu_world_freep) struct gpu_world *w = gpu_world_new();

		process(w, 50, cases[i].ns_pids, cases[i].device);
		assert_int_equal(map(w, cases[i].driver_pid), cases[i].pid);
	}
}

static void somebody_elses_process_stays_unattributed(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = gpu_world_new();

	process(w, 50, "50", "/dev/nvidia0");
	memory_tree_refuse(w->proc, "50/fd", -EACCES);
	assert_int_equal(map(w, 50), 0);
}

static void all_of_proc_is_searched_rarely(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = gpu_world_new();
	struct gpu_pids m = {0};
	const uint32_t numbers[] = {7, 9, 7};

	gpu_pids_update(&m, &w->host, numbers, 3);
	assert_int_equal(gpu_pid_of(&m, 7), 0);
	process(w, 50, "50\t7", "/dev/nvidia0");
	process(w, 51, "51\t9", "/dev/nvidia0");
	w->host.now.mono.ns += 30 * NS_PER_S;
	gpu_pids_update(&m, &w->host, numbers, 3);
	assert_int_equal(gpu_pid_of(&m, 7), 0);
	w->host.now.mono.ns += 30 * NS_PER_S;
	gpu_pids_update(&m, &w->host, numbers, 3);
	assert_int_equal(gpu_pid_of(&m, 7), 50);
	assert_int_equal(gpu_pid_of(&m, 9), 51);
	/* A known pid needs no second search. A pid that is no longer listed is forgotten. */
	gpu_world_gone(w, 50);
	gpu_pids_update(&m, &w->host, numbers, 1);
	assert_int_equal(gpu_pid_of(&m, 7), 50);
	assert_int_equal(m.n, 1);
	gpu_pids_done(&m);
}

/* Uses the collector. Each pid that the driver reports leads to a process of the run, or counts as
 * unattributed. */
static void a_run_in_a_container_is_found_or_said_to_be_unknown(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = gpu_world_new();

	fake_nvml_play("processes=0:7:512:40:c");
	gpu_world_nvidia(w);
	process(w, 50, "50\t7", "/dev/nvidia0");
	gpu_world_follow(w, 50);
	assert_int_equal(gpu_world_start(w), 0);
	assert_true(gpus_wait(w->state, 60));
	assert_int_equal(gpu_world_tick(w, 1), 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 512 * MIB, 0);
	assert_double_equal(gpu_world_value(w, "rightsize_gpu_unattributed_processes", ""), 0, 0);
	/* The driver reports a second pid, which leads to no process. The known part of the run's
	 * use stays. */
	fake_nvml_play("processes=0:7:512:40:c,0:8:100:40:c");
	assert_true(gpus_wait(w->state, 60));
	assert_int_equal(gpu_world_tick(w, 1), 0);
	assert_double_equal(gpu_world_run(w, RUN_VRAM_BYTES), 512 * MIB, 0);
	assert_double_equal(gpu_world_value(w, "rightsize_gpu_unattributed_processes", ""), 1, 0);
	/* All pids are unknown. They may be processes of the run, so the run's GPU use is unknown
	 * and not 0. */
	fake_nvml_play("processes=0:8:100:40:c");
	assert_true(gpus_wait(w->state, 60));
	assert_int_equal(gpu_world_tick(w, 1), 0);
	assert_true(isnan(gpu_world_run(w, RUN_VRAM_BYTES)));
	assert_true(isnan(gpu_world_run(w, RUN_GPUS_USED)));
}

/* An older driver reports no processes when it is called in a container. */
static void a_process_that_nvml_hides_is_not_called_idle(void **state)
{
	AUTO(gpu_world_freep) struct gpu_world *w = gpu_world_new();

	fake_nvml_play("");
	gpu_world_nvidia(w);
	process(w, 50, "50", NULL);
	gpu_world_follow(w, 50);
	assert_int_equal(gpu_world_start(w), 0);
	assert_true(gpus_wait(w->state, 60));
	assert_int_equal(gpu_world_tick(w, 1), 0);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 0, 0);
	/* A process with only nvidiactl open queries NVML, as the exporter does. It does not
	 * compute. */
	gpu_world_fd(w, 50, 6, "/dev/nvidiactl", NULL);
	assert_int_equal(gpu_world_tick(w, 5), 0);
	assert_double_equal(gpu_world_run(w, RUN_GPUS_USED), 0, 0);
	gpu_world_fd(w, 50, 7, "/dev/nvidia-uvm", NULL);
	assert_int_equal(gpu_world_tick(w, 5), 0);
	assert_true(isnan(gpu_world_run(w, RUN_GPUS_USED)));
	assert_true(isnan(gpu_world_run(w, RUN_VRAM_BYTES)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_the_initial_namespace_the_numbers_are_the_same),
		cmocka_unit_test(a_number_is_taken_on_evidence_only),
		cmocka_unit_test(somebody_elses_process_stays_unattributed),
		cmocka_unit_test(all_of_proc_is_searched_rarely),
		cmocka_unit_test(a_run_in_a_container_is_found_or_said_to_be_unknown),
		cmocka_unit_test(a_process_that_nvml_hides_is_not_called_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
