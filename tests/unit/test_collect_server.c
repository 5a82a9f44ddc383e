/* The server collector. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "tests/support/test_host.h"

extern const struct collector collector_server;

static void server_of_captured_machines(void **state)
{
	static const struct test_expected vm[] = {
		{"rightsize_server_cpus", "", 2},
		{"rightsize_server_cpu_cores", "", 1.5},             /* the quota */
		{"rightsize_server_memory_bytes", "", 8589934592.0}, /* limit of a parent group */
		{"rightsize_server", "x86_64|6.18.44|AMD EPYC", 1},
	};
	static const struct test_expected node[] = {
		{"rightsize_server_cpus", "", 64},
		{"rightsize_server_cpu_cores", "", 4}, /* CPU affinity and quota are both 4 */
		{"rightsize_server_memory_bytes", "", NAN},
	};

	test_captured(&collector_server, "vm", vm, ARRAY_LEN(vm));
	test_captured(&collector_server, "node", node, ARRAY_LEN(node));
}

static void usable_cores_are_the_least_of_all_limits(void **state)
{
	static const struct {
		const char *online;
		unsigned affinity;
		const char *cpu_max;
		double cpus, cores;
	} table[] = {
		{"0-7\n", 0, "max 100000\n", 8, 8},
		{"0-7\n", 3, "max 100000\n", 8, 3},
		{"0-7\n", 3, "150000 100000\n", 8, 1.5},
		{"0,2-3,9\n", 8, "900000 100000\n", 4, 4},
		{"0\n", 8, NULL, 1, 1},
		{NULL, 3, NULL, NAN, 3},
		{NULL, 0, "150000 100000\n", NAN, NAN},
		{"", 0, NULL, NAN, NAN},
		{"3-1\n", 2, NULL, NAN, 2},
		{"0-18446744073709551615\n", 2, NULL, NAN, 2},
		{"0-4294967294,0-4294967294,0-4294967294\n", 2, NULL, NAN, 2},
		{"x\n", 2, NULL, NAN, 2},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(test_host_done) struct test_host t = test_host_made();
		AUTO(test_run_done) struct test_run r;

		t.host.affinity_cpus = table[i].affinity;
		test_host_file(&t, "/proc/self/cgroup", "0::/g\n");
		test_host_file(&t, "/proc/self/mountinfo",
			"9 1 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
		if (table[i].cpu_max)
			test_host_file(&t, "/sys/fs/cgroup/g/cpu.max", table[i].cpu_max);
		if (table[i].online)
			test_host_file(&t, "/sys/devices/system/cpu/online", table[i].online);
		assert_int_equal(test_run_start(&r, &collector_server, &t.host), 0);
		assert_int_equal(test_run_collect(&r, &t.host), 0);
		assert_value(test_run_value(&r, "rightsize_server_cpus", ""), table[i].cpus);
		assert_value(test_run_value(&r, "rightsize_server_cpu_cores", ""), table[i].cores);
		assert_null(block_fault(r.block));
	}
}

static void an_affinity_that_changed_is_told_half_a_minute_later(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r;

	test_host_file(&t, "/sys/devices/system/cpu/online", "0-7\n");
	assert_int_equal(test_run_start(&r, &collector_server, &t.host), 0);
	assert_int_equal(test_run_collect(&r, &t.host), 0);
	assert_value(test_run_value(&r, "rightsize_server_cpu_cores", ""), 4);
	t.host.affinity_cpus = 2;
	test_host_advance(&t, 30);
	assert_int_equal(test_run_collect(&r, &t.host), 0);
	assert_value(test_run_value(&r, "rightsize_server_cpu_cores", ""), 2);
}

static void a_cpuinfo_of_many_cpus_is_read_too(void **state)
{
	static const char cpu[] =
		"processor : 1\nmodel name\t:  Big \xff CPU @ 2 GHz \nflags : fpu vme\n\n";
	AUTO(test_host_done) struct test_host t;
	AUTO(test_run_done) struct test_run r;
	size_t n = 0, room = 512 * 1024;
	AUTO(freep) char *text = xmalloc(room);

	while (n + sizeof cpu < room)
		n += (size_t)snprintf(text + n, room - n, "%s", cpu);
	test_host_init(&t);
	memory_tree_file(t.proc, "cpuinfo", text, n);
	test_host_file(&t, "/proc/sys/kernel/arch", "riscv64\n");
	assert_int_equal(test_run_start(&r, &collector_server, &t.host), 0);
	assert_int_equal(test_run_collect(&r, &t.host), 0);
	assert_value(test_run_value(&r, "rightsize_server",
			     "riscv64||Big \xef\xbf\xbd CPU @ 2 GHz"),
		1);
}

#define ARM(implementer, part)                                                                     \
	"processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: " implementer                      \
	"\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: " part "\nCPU revision\t: 1\n\n"

static void arm_cpus_are_named_as_lscpu_names_them(void **state)
{
	static const struct {
		const char *cpuinfo, *model;
	} table[] = {
		{ARM("0x41", "0xd0c"), "Neoverse-N1"},
		{ARM("0x41", "0xd40"), "Neoverse-V1"},
		{ARM("0x48", "0xd40"), "implementer 0x48 part 0xd40"},
		{ARM("0x46", "0x001"), "A64FX"},
		{ARM("0xc0", "0xac3"), "Ampere-1"},
		{ARM("0x41", "0xd08") ARM("0x41", "0xd03"), "Cortex-A72"},
		{ARM("0x41", "0xd0"), "implementer 0x41 part 0xd0"},
		{"model name\t: ARMv7 Processor rev 4 (v7l)\n" ARM("0x41", "0xd03"),
			"ARMv7 Processor rev 4 (v7l)"},
		{ARM("\xff", "0xd0c"), "implementer \xef\xbf\xbd part 0xd0c"},
		{"CPU implementer\t: 0x41\n", ""},
		{"CPU part\t: 0xd0c\n", ""},
		{"CPU implementer\t 0x41\nCPU part\t: 0xd0c\n", ""},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(test_host_done) struct test_host t = test_host_made();
		AUTO(test_run_done) struct test_run r;
		char labels[128];

		test_host_file(&t, "/proc/cpuinfo", table[i].cpuinfo);
		test_host_file(&t, "/proc/sys/kernel/arch", "aarch64\n");
		assert_int_equal(test_run_start(&r, &collector_server, &t.host), 0);
		assert_int_equal(test_run_collect(&r, &t.host), 0);
		snprintf(labels, sizeof labels, "aarch64||%s", table[i].model);
		assert_value(test_run_value(&r, "rightsize_server", labels), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(server_of_captured_machines),
		cmocka_unit_test(usable_cores_are_the_least_of_all_limits),
		cmocka_unit_test(an_affinity_that_changed_is_told_half_a_minute_later),
		cmocka_unit_test(a_cpuinfo_of_many_cpus_is_read_too),
		cmocka_unit_test(arm_cpus_are_named_as_lscpu_names_them),
	};

	return cmocka_run_group_tests_name("collect_server", tests, NULL, NULL);
}
