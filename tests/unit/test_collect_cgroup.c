/* Tests the cgroup collector, and how it finds its control groups. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/cgroup/find.h"
#include "tests/support/test_host.h"

extern const struct collector collector_cgroup;

static void reads_v1(void **state)
{
	static const struct test_expected table[] = {
		{"rightsize_cgroup", "v1", 1},
		{"rightsize_cgroup_cpu_seconds", "", 835.128491402},
		{"rightsize_cgroup_cpu_throttled_seconds", "", 1.5},
		{"rightsize_cgroup_cpu_periods", "", 12},
		{"rightsize_cgroup_cpu_throttled_periods", "", 3},
		{"rightsize_cgroup_cpu_limit_cores", "", 1.5},
		{"rightsize_cgroup_memory_usage_bytes", "", 85942272},
		{"rightsize_cgroup_memory_peak_bytes", "", 579153920},
		{"rightsize_cgroup_swap_usage_bytes", "", 4096},
		/* The group itself has no limit. Its parent has a limit of 16 GiB. A group above
		 * that, which the collector cannot see, has a limit of 8 GiB. */
		{"rightsize_cgroup_memory_limit_bytes", "", 8589934592},
		{"rightsize_cgroup_oom_kills", "", 2},
		{"rightsize_cgroup_tasks", "", 112},
		{"rightsize_cgroup_tasks_limit", "", NAN},
	};

	test_captured(&collector_cgroup, "vm", table, ARRAY_LEN(table));
}

static void reads_v2_and_limits_of_the_groups_above(void **state)
{
	static const struct test_expected table[] = {
		{"rightsize_cgroup", "v2", 1},
		{"rightsize_cgroup_cpu_seconds", "", 2.5},
		{"rightsize_cgroup_cpu_throttled_seconds", "", 0.25},
		{"rightsize_cgroup_cpu_periods", "", 40},
		{"rightsize_cgroup_cpu_throttled_periods", "", 4},
		{"rightsize_cgroup_cpu_limit_cores", "", 4},
		{"rightsize_cgroup_memory_usage_bytes", "", 7340032},
		{"rightsize_cgroup_memory_peak_bytes", "", 9437184},
		{"rightsize_cgroup_memory_limit_bytes", "", 134217728},
		{"rightsize_cgroup_swap_usage_bytes", "", 0},
		{"rightsize_cgroup_oom_kills", "", 0},
		{"rightsize_cgroup_tasks", "", 6},
		{"rightsize_cgroup_tasks_limit", "", 32},
	};

	test_captured(&collector_cgroup, "node", table, ARRAY_LEN(table));
}

static void reads_v2_inside_a_cgroup_namespace(void **state)
{
	static const struct test_expected table[] = {
		{"rightsize_cgroup", "v2", 1},
		{"rightsize_cgroup_cpu_limit_cores", "", 0.5},
		{"rightsize_cgroup_memory_limit_bytes", "", 67108864},
		{"rightsize_cgroup_memory_usage_bytes", "", 5242880},
		{"rightsize_cgroup_swap_usage_bytes", "", 4096},
		{"rightsize_cgroup_oom_kills", "", 1},
		{"rightsize_cgroup_tasks_limit", "", NAN},
	};

	test_captured(&collector_cgroup, "pod", table, ARRAY_LEN(table));
}

/* One case: the texts of two files of /proc/self, and the folders of groups that exist. `found` is
 * the folder that must be found for each controller; "" = none. */
struct path_case {
	const char *what, *membership, *mountinfo;
	const char *directories[6];
	const char *found[CGROUP_CONTROLLERS]; /* in this order: cpu, cpuacct, memory, pids, io */
	int version[CGROUP_CONTROLLERS];
};

#define V1(id, point, root, controllers)                                                           \
	id " 1 0:" id " " root " " point " rw - cgroup cgroup rw," controllers "\n"
#define V2(id, point, root) id " 1 0:" id " " root " " point " rw - cgroup2 cgroup2 rw\n"

static const struct path_case path_cases[] = {
	{"v2 on a host", "0::/user.slice/x\n", V2("9", "/sys/fs/cgroup", "/"),
		{"/sys/fs/cgroup/user.slice/x/cpu.stat"},
		{"fs/cgroup/user.slice/x", "fs/cgroup/user.slice/x", "fs/cgroup/user.slice/x",
			"fs/cgroup/user.slice/x", "fs/cgroup/user.slice/x"},
		{2, 2, 2, 2, 2}},
	{"hybrid: v1 where a v1 hierarchy has the controller, v2 for the rest",
		"5:cpu,cpuacct:/a\n4:memory:/b\n1:name=systemd:/s\n0::/c\n",
		V1("9", "/sys/fs/cgroup/cpu,cpuacct", "/", "cpu,cpuacct")
			V1("10", "/sys/fs/cgroup/memory", "/", "memory")
				V2("11", "/sys/fs/cgroup/unified", "/"),
		{"/sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "/sys/fs/cgroup/memory/b/memory.stat",
			"/sys/fs/cgroup/unified/c/cgroup.procs"},
		{"fs/cgroup/cpu,cpuacct/a", "fs/cgroup/cpu,cpuacct/a", "fs/cgroup/memory/b",
			"fs/cgroup/unified/c", "fs/cgroup/unified/c"},
		{1, 1, 1, 2, 2}},
	{"v1 in a container without a cgroup namespace: the group is the mount's root",
		"4:memory:/docker/1a2b\n3:pids:/docker/1a2b/sub\n",
		V1("9", "/sys/fs/cgroup/memory", "/docker/1a2b", "memory")
			V1("10", "/sys/fs/cgroup/pids", "/docker/1a2b", "pids"),
		{"/sys/fs/cgroup/memory/memory.stat", "/sys/fs/cgroup/pids/sub/pids.max"},
		{"", "", "fs/cgroup/memory", "fs/cgroup/pids/sub", ""}, {0, 0, 1, 1, 0}},
	{"a mount that shows somebody else's group", "4:memory:/docker/1a2b\n",
		V1("9", "/sys/fs/cgroup/memory", "/docker/1a2", "memory"),
		{"/sys/fs/cgroup/memory/memory.stat"}, {"", "", "", "", ""}, {0}},
	{"the host's groups are also mounted: ours are below /sys", "0::/\n",
		V2("9", "/host/sys/fs/cgroup", "/") V2("10", "/sys/fs/cgroup", "/"),
		{"/sys/fs/cgroup/cpu.stat", "/host/sys/fs/cgroup/cpu.stat"},
		{"fs/cgroup", "fs/cgroup", "fs/cgroup", "fs/cgroup", "fs/cgroup"}, {2, 2, 2, 2, 2}},
	{"only somewhere else", "0::/x\n", V2("9", "/cgroup2", "/"), {"/cgroup2/x/cpu.stat"},
		{"cgroup2/x", "cgroup2/x", "cgroup2/x", "cgroup2/x", "cgroup2/x"}, {2, 2, 2, 2, 2}},
	{"another container's process, seen from inside a cgroup namespace", "0::/../7c8d\n",
		V2("9", "/sys/fs/cgroup", "/"),
		{"/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/../7c8d/cpu.stat"},
		{"", "", "", "", ""}, {0}},
	{"the group above the namespace", "0::/..\n", V2("9", "/sys/fs/cgroup", "/"),
		{"/sys/fs/cgroup/../cpu.stat"}, {"", "", "", "", ""}, {0}},
	{"a group that is gone", "0::/old (deleted)\n", V2("9", "/sys/fs/cgroup", "/"),
		{"/sys/fs/cgroup/cpu.stat"}, {"", "", "", "", ""}, {0}},
	{"a mount point that leads nowhere below the tree", "0::/etc\n", V2("9", "/", "/"),
		{"/etc/passwd"}, {"", "", "", "", ""}, {0}},
	{"no lines of use", "x\n7:\n:::\n-1::/\n0:cpu\n2:cpu:relative\n",
		V2("9", "/sys/fs/cgroup", "/"), {NULL}, {"", "", "", "", ""}, {0}},
};

static void finds_the_files_of_each_controller(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(path_cases); i++) {
		const struct path_case *c = &path_cases[i];
		struct cgroup found = {0};
		AUTO(test_host_done) struct test_host t = test_host_made();
		struct err e = {0};
		bool any = false;

		test_host_file(&t, "/proc/self/mountinfo", c->mountinfo);
		test_host_file(&t, "/proc/42/cgroup", c->membership);
		for (size_t j = 0; j < ARRAY_LEN(c->directories) && c->directories[j]; j++)
			test_host_file(&t, c->directories[j], "");
		for (size_t j = 0; j < CGROUP_CONTROLLERS; j++)
			any = any || c->version[j];
		assert_int_equal(cgroup_find(&found, &t.host, "42", &e), any ? 0 : -ENOENT);
		assert_string_equal(e.text, "");
		for (size_t j = 0; j < CGROUP_CONTROLLERS; j++) {
			if (found.place[j].version != c->version[j] ||
				strcmp(found.place[j].path, c->found[j]) != 0)
				fail_msg("%s, controller %zu: v%d %s", c->what, j,
					found.place[j].version, found.place[j].path);
			assert_ptr_equal(found.place[j].tree, !found.place[j].version ? NULL :
							      strncmp(c->found[j], "fs/", 3) == 0 ?
											t.sys :
											t.root);
		}
	}
}

static void a_group_has_parents_up_to_the_mount_point(void **state)
{
	struct cgroup_place p = {.version = 2, .path = "fs/cgroup/a/b", .top = 9};
	char path[CGROUP_FILE_MAX];

	assert_string_equal(cgroup_file(&p, "cpu.max", path), "fs/cgroup/a/b/cpu.max");
	assert_true(cgroup_parent(&p));
	assert_string_equal(p.path, "fs/cgroup/a");
	assert_true(cgroup_parent(&p));
	assert_string_equal(p.path, "fs/cgroup");
	assert_false(cgroup_parent(&p));
	assert_string_equal(p.path, "fs/cgroup");
	p = (struct cgroup_place){0};
	assert_false(cgroup_parent(&p));
}

static void paths_that_are_too_long_are_not_cut(void **state)
{
	struct test_host t;
	struct cgroup found;
	char text[3000], path[3000];

	memset(path, 'x', sizeof path);
	for (size_t len = CGROUP_PATH_MAX - 20; len < CGROUP_PATH_MAX + 20; len++) {
		test_host_init(&t);
		snprintf(text, sizeof text, "0::/%.*s\n", (int)len, path);
		test_host_file(&t, "/proc/self/cgroup", text);
		test_host_file(&t, "/proc/self/mountinfo", V2("9", "/sys/fs/cgroup", "/"));
		snprintf(text, sizeof text, "/sys/fs/cgroup/%.*s/cpu.stat", (int)len, path);
		test_host_file(&t, text, "");
		int code = cgroup_find(&found, &t.host, "self", NULL);

		assert_int_equal(code, len + 10 < CGROUP_PATH_MAX ? 0 : -ENOENT);
		if (code == 0)
			assert_int_equal(strlen(found.place[0].path), len + 10);
		test_host_done(&t);
	}
}

static void limits_may_be_absent_or_hostile(void **state)
{
	static const struct {
		const char *cpu_max, *memory_max, *pids_max;
		double cores, bytes, tasks;
	} table[] = {
		{"max 100000\n", "max\n", "max\n", NAN, NAN, NAN},
		{"50000 100000\n", "1048576\n", "10\n", 0.5, 1048576, 10},
		{"50000", "", "", NAN, NAN, NAN},
		{"50000 0\n", "-1\n", "-1\n", NAN, NAN, NAN},
		{"0 100000\n", "0\n", "0\n", NAN, 0, 0},
		{"x", "9223372036854771712\n", "18446744073709551616\n", NAN, NAN, NAN},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(test_host_done) struct test_host t = test_host_made();
		struct cgroup group;

		test_host_file(&t, "/proc/self/cgroup", "0::/g\n");
		test_host_file(&t, "/proc/self/mountinfo", V2("9", "/sys/fs/cgroup", "/"));
		test_host_file(&t, "/sys/fs/cgroup/g/cpu.max", table[i].cpu_max);
		test_host_file(&t, "/sys/fs/cgroup/g/memory.max", table[i].memory_max);
		test_host_file(&t, "/sys/fs/cgroup/g/pids.max", table[i].pids_max);
		assert_int_equal(cgroup_find(&group, &t.host, "self", NULL), 0);
		struct cgroup_limits l = cgroup_limits_read(&group, &t.host);

		assert_value(l.cpu_cores, table[i].cores);
		assert_value(l.memory_bytes, table[i].bytes);
		assert_value(l.tasks, table[i].tasks);
	}
}

static void counters_may_be_as_large_as_64_bits_are(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r;

	test_host_file(&t, "/proc/self/cgroup", "0::/g\n");
	test_host_file(&t, "/proc/self/mountinfo", V2("9", "/sys/fs/cgroup", "/"));
	test_host_file(&t, "/sys/fs/cgroup/g/cpu.stat", "usage_usec 18446744073709551615\n");
	test_host_file(&t, "/sys/fs/cgroup/g/memory.current", "18446744073709551615\n");
	test_host_file(&t, "/sys/fs/cgroup/g/memory.peak", "max\n");
	test_host_file(&t, "/sys/fs/cgroup/g/memory.events",
		"max 18446744073709551615\noom 18446744073709551616\n");
	test_host_file(&t, "/sys/fs/cgroup/g/cpu.pressure", "some total=18446744073709551615\n");
	assert_int_equal(test_run_start(&r, &collector_cgroup, &t.host), 0);
	assert_int_equal(test_run_collect(&r, &t.host), 0);
	assert_value(test_run_value(&r, "rightsize_cgroup_cpu_seconds", ""), 18446744073709.551615);
	assert_value(test_run_value(&r, "rightsize_cgroup_memory_usage_bytes", ""),
		18446744073709551615.0);
	assert_value(test_run_value(&r, "rightsize_cgroup_memory_peak_bytes", ""), NAN);
	assert_value(test_run_value(&r, "rightsize_cgroup_memory_max_events", ""),
		18446744073709551615.0);
	assert_value(test_run_value(&r, "rightsize_cgroup_memory_oom_events", ""), NAN);
	assert_value(test_run_value(&r, "rightsize_cgroup_cpu_pressure_seconds", ""),
		18446744073709.551615);
}

static void v1_quota_of_minus_one_is_none(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	struct cgroup group;

	test_host_file(&t, "/proc/self/cgroup", "2:cpu:/\n");
	test_host_file(&t, "/proc/self/mountinfo", V1("9", "/sys/fs/cgroup/cpu", "/", "cpu"));
	test_host_file(&t, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
	test_host_file(&t, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	assert_int_equal(cgroup_find(&group, &t.host, "self", NULL), 0);
	assert_value(cgroup_limits_read(&group, &t.host).cpu_cores, NAN);
}

static void no_control_groups_is_no_error(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r = test_run_started(&collector_cgroup, &t.host);

	for (int i = 0; i < 3; i++) {
		assert_int_equal(test_run_collect(&r, &t.host), -ENOENT);
		assert_string_equal(r.err.text, "");
		test_host_advance(&t, 1);
	}
}

static double collected(struct test_run *r, struct test_host *t, double seconds, const char *name)
{
	test_host_advance(t, seconds);
	assert_int_equal(test_run_collect(r, &t->host), 0);
	assert_null(block_fault(r->block));
	return test_run_value(r, name, "");
}

static void moving_to_another_group_is_noticed(void **state)
{
	static const char cpu[] = "rightsize_cgroup_cpu_seconds";
	static const char limit[] = "rightsize_cgroup_memory_limit_bytes";
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r;

	test_host_file(&t, "/proc/self/cgroup", "0::/a\n");
	test_host_file(&t, "/proc/self/mountinfo", V2("9", "/sys/fs/cgroup", "/"));
	test_host_file(&t, "/sys/fs/cgroup/a/cpu.stat", "usage_usec 9000000\n");
	test_host_file(&t, "/sys/fs/cgroup/a/memory.max", "1000\n");
	test_host_file(&t, "/sys/fs/cgroup/b/cpu.stat", "usage_usec 1000000\n");
	test_host_file(&t, "/sys/fs/cgroup/b/memory.max", "5000\n");
	assert_int_equal(test_run_start(&r, &collector_cgroup, &t.host), 0);
	assert_value(collected(&r, &t, 0, cpu), 9);
	assert_value(test_run_value(&r, limit, ""), 1000);
	test_host_file(&t, "/sys/fs/cgroup/a/memory.max", "2000\n");
	collected(&r, &t, 9.9, cpu);
	assert_value(test_run_value(&r, limit, ""), 1000);
	collected(&r, &t, 0.1, cpu);
	assert_value(test_run_value(&r, limit, ""), 2000);
	test_host_file(&t, "/proc/self/cgroup", "0::/b\n");
	assert_value(collected(&r, &t, 60, cpu), 10); /* the counter goes on from its last value */
	assert_value(test_run_value(&r, limit, ""), 5000);
	test_host_remove(&t, "/proc/self/cgroup");
	test_host_advance(&t, 60);
	assert_int_equal(test_run_collect(&r, &t.host), -ENOENT);
}

static void an_unreadable_file_is_named(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r;

	test_host_file(&t, "/proc/self/cgroup", "0::/a\n");
	test_host_file(&t, "/proc/self/mountinfo", V2("9", "/sys/fs/cgroup", "/"));
	test_host_file(&t, "/sys/fs/cgroup/a/cpu.stat", "usage_usec 9000000\n");
	memory_tree_refuse(t.sys, "fs/cgroup/a/memory.current", -EACCES);
	assert_int_equal(test_run_start(&r, &collector_cgroup, &t.host), 0);
	assert_int_equal(test_run_collect(&r, &t.host), -EACCES);
	assert_string_equal(r.err.text, "read sys/fs/cgroup/a/memory.current: Permission denied");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_v1),
		cmocka_unit_test(reads_v2_and_limits_of_the_groups_above),
		cmocka_unit_test(reads_v2_inside_a_cgroup_namespace),
		cmocka_unit_test(finds_the_files_of_each_controller),
		cmocka_unit_test(a_group_has_parents_up_to_the_mount_point),
		cmocka_unit_test(paths_that_are_too_long_are_not_cut),
		cmocka_unit_test(limits_may_be_absent_or_hostile),
		cmocka_unit_test(counters_may_be_as_large_as_64_bits_are),
		cmocka_unit_test(v1_quota_of_minus_one_is_none),
		cmocka_unit_test(no_control_groups_is_no_error),
		cmocka_unit_test(moving_to_another_group_is_noticed),
		cmocka_unit_test(an_unreadable_file_is_named),
	};

	return cmocka_run_group_tests_name("collect_cgroup", tests, NULL, NULL);
}
