/* collectors/cgroup: the control group of a run, on file trees in memory. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/cgroup/files.h"
#include "collectors/accounting/run_group.h"
#include "collectors/accounting/group_owner.h"
#include "tests/support/test_host.h"

static void proc(struct test_host *w, const char *path, const char *text)
{
	memory_tree_text(w->proc, path, text);
}

static void sys(struct test_host *w, const char *path, const char *text)
{
	memory_tree_text(w->sys, path, text);
}

/* Puts a process into a control group. `membership` is the whole text of /proc/PID/cgroup. */
static void process(struct test_host *w, int pid, int ppid, const char *membership)
{
	char path[64], text[200];

	snprintf(path, sizeof path, "%d/stat", pid);
	snprintf(text, sizeof text,
		"%d (job) S %d 1 1 0 -1 0 1 0 0 0 1 1 0 0 20 0 1 0 %d 1000 5 0\n", pid, ppid, pid);
	proc(w, path, text);
	snprintf(path, sizeof path, "%d/cgroup", pid);
	proc(w, path, membership);
}

#define MOUNTS_V2                                                                                  \
	"20 1 0:18 / /sys rw - sysfs sysfs rw\n25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 "  \
	"rw,nsdelegate\n"
#define MOUNTS_V1                                                                                  \
	"20 1 0:18 / /sys rw - sysfs sysfs rw\n25 20 0:21 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"  \
	"26 25 0:22 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"              \
	"27 25 0:23 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"

static bool is_10_or_11(const void *context, pid_t pid)
{
	(void)context;
	return pid == 10 || pid == 11;
}

static const struct group_members members = {is_10_or_11};

/* ---- reading ---- */

static void v2_group_is_read(void **state)
{
	AUTO(test_host_done) struct test_host w = test_host_made();
	struct cgroup c;
	AUTO(cgroup_files_close) struct cgroup_files f;
	double v[CGROUP_VALUES];

	process(&w, 10, 1, "0::/kubepods/pod1/abc\n");
	proc(&w, "self/mountinfo", MOUNTS_V2);
	sys(&w, "fs/cgroup/kubepods/pod1/abc/cgroup.procs", "10\n");
	sys(&w, "fs/cgroup/kubepods/pod1/abc/cpu.stat",
		"usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\nnr_periods "
		"40\nnr_throttled 4\n"
		"throttled_usec 250000\nnr_bursts 0\n");
	sys(&w, "fs/cgroup/kubepods/pod1/abc/cpu.pressure",
		"some avg10=1.00 avg60=0.00 avg300=0.00 total=7000000\nfull avg10=0.00 avg60=0.00 "
		"avg300=0.00 total=1\n");
	sys(&w, "fs/cgroup/kubepods/pod1/abc/memory.current", "4096000\n");
	sys(&w, "fs/cgroup/kubepods/pod1/abc/memory.peak", "8192000\n");
	sys(&w, "fs/cgroup/kubepods/pod1/abc/memory.events",
		"low 0\nhigh 5\nmax 6\noom 2\noom_kill 1\noom_group_kill 9\n");
	sys(&w, "fs/cgroup/kubepods/pod1/abc/memory.pressure",
		"some avg10=0 avg60=0 avg300=0 total=1500000\n");
	sys(&w, "fs/cgroup/kubepods/pod1/abc/pids.current", "7\n");
	sys(&w, "fs/cgroup/kubepods/pod1/abc/pids.peak", "9\n");
	sys(&w, "fs/cgroup/kubepods/pod1/abc/io.stat",
		"8:0 rbytes=1000 wbytes=200 rios=3 wios=4 dbytes=0 dios=0\n253:1 rbytes=24 "
		"wbytes=5 rios=1 wios=1\n");
	assert_int_equal(cgroup_of_process(&c, &w.host, 10, NULL), 0);
	cgroup_files_open(&f, &c, CGROUP_WANT_ALL);
	cgroup_files_read(&f, &w.host, v, NULL);
	assert_double_equal(v[CGROUP_CPU_SECONDS], 2.5, 1e-9);
	assert_double_equal(v[CGROUP_CPU_USER_SECONDS], 2, 1e-9);
	assert_double_equal(v[CGROUP_CPU_SYSTEM_SECONDS], 0.5, 1e-9);
	assert_double_equal(v[CGROUP_CPU_PRESSURE_SECONDS], 7, 1e-9);
	assert_double_equal(v[CGROUP_MEMORY_BYTES], 4096000, 0);
	assert_double_equal(v[CGROUP_MEMORY_PEAK_BYTES], 8192000, 0);
	assert_double_equal(v[CGROUP_MEMORY_HIGH_EVENTS], 5, 0);
	assert_double_equal(v[CGROUP_MEMORY_MAX_EVENTS], 6, 0);
	assert_double_equal(v[CGROUP_MEMORY_OOM_EVENTS], 2, 0);
	assert_double_equal(v[CGROUP_OOM_KILLS], 1, 0);
	assert_double_equal(v[CGROUP_MEMORY_PRESSURE_SECONDS], 1.5, 1e-9);
	assert_double_equal(v[CGROUP_TASKS], 7, 0);
	assert_double_equal(v[CGROUP_TASKS_PEAK], 9, 0);
	assert_double_equal(v[CGROUP_IO_READ_BYTES], 1024, 0);
	assert_double_equal(v[CGROUP_IO_WRITTEN_BYTES], 205, 0);
	assert_true(isnan(v[CGROUP_IO_PRESSURE_SECONDS])); /* no file: unknown, not 0 */
}

static void v1_group_is_read(void **state)
{
	AUTO(test_host_done) struct test_host w = test_host_made();
	struct cgroup c;
	AUTO(cgroup_files_close) struct cgroup_files f;
	double v[CGROUP_VALUES];

	process(&w, 10, 1, "5:memory:/box\n4:cpu,cpuacct:/box\n0::/\n");
	proc(&w, "self/mountinfo", MOUNTS_V1);
	sys(&w, "fs/cgroup/cpu,cpuacct/box/cpuacct.usage", "1500000000\n");
	sys(&w, "fs/cgroup/cpu,cpuacct/box/cpuacct.usage_user", "1000000000\n");
	sys(&w, "fs/cgroup/cpu,cpuacct/box/cpuacct.usage_sys", "500000000\n");
	sys(&w, "fs/cgroup/cpu,cpuacct/box/cpu.stat",
		"nr_periods 8\nnr_throttled 2\nthrottled_time 300000000\n");
	sys(&w, "fs/cgroup/memory/box/memory.usage_in_bytes", "1000\n");
	sys(&w, "fs/cgroup/memory/box/memory.max_usage_in_bytes", "2000\n");
	sys(&w, "fs/cgroup/memory/box/memory.failcnt", "33\n");
	sys(&w, "fs/cgroup/memory/box/memory.oom_control",
		"oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
	assert_int_equal(cgroup_of_process(&c, &w.host, 10, NULL), 0);
	cgroup_files_open(&f, &c, CGROUP_WANT_ALL);
	cgroup_files_read(&f, &w.host, v, NULL);
	assert_double_equal(v[CGROUP_CPU_SECONDS], 1.5, 1e-9);
	assert_double_equal(v[CGROUP_CPU_USER_SECONDS], 1, 1e-9);
	assert_double_equal(v[CGROUP_CPU_SYSTEM_SECONDS], 0.5, 1e-9);
	assert_double_equal(v[CGROUP_MEMORY_BYTES], 1000, 0);
	assert_double_equal(v[CGROUP_MEMORY_PEAK_BYTES], 2000, 0);
	assert_double_equal(v[CGROUP_MEMORY_MAX_EVENTS], 33, 0);
	assert_double_equal(v[CGROUP_OOM_KILLS], 4, 0);
	assert_true(isnan(v[CGROUP_CPU_PRESSURE_SECONDS]));
	assert_true(isnan(v[CGROUP_TASKS]));
	/* The group was removed. Its values are unknown, and not 0. */
	memory_tree_remove(w.host.sys, "fs/cgroup/memory/box");
	cgroup_files_read(&f, &w.host, v, NULL);
	assert_true(isnan(v[CGROUP_OOM_KILLS]));
	assert_double_equal(v[CGROUP_CPU_SECONDS], 1.5, 1e-9);
}

static void v1_io_is_the_sum_of_its_devices(void **state)
{
	AUTO(test_host_done) struct test_host w = test_host_made();
	struct cgroup c = {0};
	AUTO(cgroup_files_close) struct cgroup_files f;
	double v[CGROUP_VALUES];

	c.place[CGROUP_IO] =
		(struct cgroup_place){.tree = w.host.sys, .version = 1, .path = "blkio"};
	sys(&w, "blkio/blkio.throttle.io_service_bytes",
		"8:0 Read 100\n8:0 Write 7\n8:0 Sync 107\n8:0 Total 107\n8:16 Read 11\n8:16 Total "
		"11\nTotal 118\n");
	cgroup_files_open(&f, &c, CGROUP_WANT_ALL);
	cgroup_files_read(&f, &w.host, v, NULL);
	assert_double_equal(v[CGROUP_IO_READ_BYTES], 111, 0);
	assert_double_equal(v[CGROUP_IO_WRITTEN_BYTES], 7, 0);
	sys(&w, "blkio/blkio.throttle.io_service_bytes", "Total 0\n");
	cgroup_files_read(&f, &w.host, v, NULL);
	assert_double_equal(v[CGROUP_IO_READ_BYTES], 0, 0);
}

static void nonsense_in_the_files_is_unknown(void **state)
{
	static const char *const texts[] = {"", "\n", "max\n", "usage_usec\n", "usage_usec x\n",
		"some total=\n", "some\n", "-5\n", "99999999999999999999999999\n", ":\n", "8:0\n"};
	AUTO(test_host_done) struct test_host w = test_host_made();
	struct cgroup c = {0};
	struct cgroup_files f;
	double v[CGROUP_VALUES];

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		c.place[i] = (struct cgroup_place){.tree = w.host.sys, .version = 2, .path = "g"};
	cgroup_files_open(&f, &c, CGROUP_WANT_ALL);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		sys(&w, "g/cpu.stat", texts[i]);
		sys(&w, "g/cpu.pressure", texts[i]);
		sys(&w, "g/memory.current", texts[i]);
		cgroup_files_read(&f, &w.host, v, NULL);
		assert_true(isnan(v[CGROUP_CPU_SECONDS]));
		assert_true(isnan(v[CGROUP_CPU_PRESSURE_SECONDS]));
		assert_true(isnan(v[CGROUP_MEMORY_BYTES]) || texts[i][0] == '8');
	}
	cgroup_files_close(&f);
	cgroup_files_close(&f);
}

/* ---- is the group the run's own ---- */

struct own_case {
	const char *name;
	const char *self, *init, *parent, *root; /* /proc/PID/cgroup of 99, 1, 2 and 10 */
	const char *procs;                       /* cgroup.procs of process 10's control group */
	const char *directory;                   /* directory of that group in `sys` */
	bool own;
};

static void group_is_own_when_it_began_with_the_run(void **state)
{
	static const struct own_case cases[] = {
		{"container", "0::/a\n", "0::/init\n", "0::/shim\n", "0::/box\n", "10\n11\n",
			"fs/cgroup/box", true},
		{"with a stranger", "0::/a\n", "0::/init\n", "0::/shim\n", "0::/box\n", "10\n12\n",
			"fs/cgroup/box", false},
		{"hidden process", "0::/a\n", "0::/init\n", "0::/shim\n", "0::/box\n", "10\n0\n",
			"fs/cgroup/box", false},
		{"ours too", "0::/box\n", "0::/init\n", "0::/shim\n", "0::/box\n", "10\n",
			"fs/cgroup/box", false},
		{"its parent's too", "0::/a\n", "0::/init\n", "0::/box\n", "0::/box\n", "2\n10\n",
			"fs/cgroup/box", false},
		{"that of init", "0::/a\n", "0::/box\n", "0::/shim\n", "0::/box\n", "1\n10\n",
			"fs/cgroup/box", false},
		{"init unknown", "0::/a\n", NULL, "0::/shim\n", "0::/box\n", "10\n",
			"fs/cgroup/box", true},
		{"no list", "0::/a\n", "0::/init\n", "0::/shim\n", "0::/box\n", NULL,
			"fs/cgroup/box", false},
		{"longer path", "0::/a\n", "0::/init\n", "0::/box\n", "0::/box/deep\n", "10\n",
			"fs/cgroup/box/deep", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct own_case *k = &cases[i];
		char path[128];
		AUTO(test_host_done) struct test_host w = test_host_made();
		struct cgroup c;

		proc(&w, "self/mountinfo", MOUNTS_V2);
		proc(&w, "self/cgroup", k->self);
		if (k->init)
			process(&w, 1, 0, k->init);
		process(&w, 2, 1, k->parent);
		process(&w, 10, 2, k->root);
		snprintf(path, sizeof path, "%s/cpu.stat", k->directory);
		sys(&w, path, "usage_usec 1\n");
		snprintf(path, sizeof path, "%s/cgroup.procs", k->directory);
		if (k->procs)
			sys(&w, path, k->procs);
		assert_int_equal(cgroup_of_process(&c, &w.host, 10, NULL), 0);
		if (cgroup_keep_own(&c, &w.host, 10, &members) != k->own)
			fail_msg("%s: own is not %d", k->name, k->own);
		assert_int_equal(c.place[CGROUP_CPU].version, k->own ? 2 : 0);
	}
}

static void v1_controllers_are_judged_one_by_one(void **state)
{
	AUTO(test_host_done) struct test_host w = test_host_made();
	struct cgroup c;

	proc(&w, "self/mountinfo", MOUNTS_V1);
	proc(&w, "self/cgroup", "5:memory:/\n4:cpu,cpuacct:/\n");
	process(&w, 1, 0, "5:memory:/\n4:cpu,cpuacct:/\n");
	process(&w, 10, 1, "5:memory:/box\n4:cpu,cpuacct:/\n");
	sys(&w, "fs/cgroup/memory/box/cgroup.procs", "10\n");
	sys(&w, "fs/cgroup/cpu,cpuacct/cgroup.procs", "1\n10\n");
	assert_int_equal(cgroup_of_process(&c, &w.host, 10, NULL), 0);
	assert_true(cgroup_keep_own(&c, &w.host, 10, &members));
	assert_int_equal(c.place[CGROUP_MEMORY].version, 1);
	assert_int_equal(c.place[CGROUP_CPUACCT].version, 0);
}

/* In v1 the kernel shows an exiting process as a member of the group "/". That group is not the
 * run's: its list has all processes of the machine. */
static void exiting_process_owns_no_v1_group(void **state)
{
	static const struct {
		unsigned flags;
		int version;
		bool own;
	} cases[] = {{0, 1, true}, {0x400000, 1, true}, {0x4, 1, false}, {0x400004, 2, true}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(test_host_done) struct test_host w = test_host_made();
		bool v2 = cases[i].version == 2;
		struct cgroup c, all;
		char text[100];

		proc(&w, "self/mountinfo", v2 ? MOUNTS_V2 : MOUNTS_V1);
		proc(&w, "self/cgroup", v2 ? "0::/a\n" : "5:memory:/a\n");
		process(&w, 10, 1, v2 ? "0::/\n" : "5:memory:/\n");
		sys(&w, v2 ? "fs/cgroup/cgroup.procs" : "fs/cgroup/memory/cgroup.procs",
			"1\n2\n10\n");
		assert_int_equal(cgroup_of_process(&all, &w.host, 10, NULL), 0);
		snprintf(text, sizeof text,
			"10 (job) Z 1 1 1 0 -1 %u 1 0 0 0 1 1 0 0 20 0 1 0 10 1000 5 0\n",
			cases[i].flags);
		proc(&w, "10/stat", text);
		assert_int_equal(cgroup_of_process(&c, &w.host, 10, NULL),
			cases[i].own ? 0 : -ENOENT);
		/* `all` was filled before the process began to exit. */
		assert_true(cgroup_keep_own(&all, &w.host, 10, &(struct group_members){0}) ==
			    cases[i].own);
	}
}

static void first_process_of_a_container_is_its_own_init(void **state)
{
	AUTO(test_host_done) struct test_host w = test_host_made();
	struct cgroup c;

	proc(&w, "self/mountinfo", MOUNTS_V2);
	proc(&w, "self/cgroup", "0::/a\n");
	process(&w, 1, 0, "0::/box\n");
	sys(&w, "fs/cgroup/box/cgroup.procs", "1\n");
	assert_int_equal(cgroup_of_process(&c, &w.host, 1, NULL), 0);
	struct cgroup all = c;

	assert_false(cgroup_keep_own(&c, &w.host, 1, &members)); /* `members` lacks process 1 */
	sys(&w, "fs/cgroup/box/cgroup.procs", "10\n11\n");
	assert_true(cgroup_keep_own(&all, &w.host, 1, &members));
}

/* In an inner PID namespace, cgroup.procs of v1 leaves out the processes of other namespaces. They
 * are noticed only by the pids controller, which counts all threads of its group. The group of the
 * pids controller must have the same path. */
static void v1_group_may_hide_processes_of_other_namespaces(void **state)
{
	static const struct {
		const char *what, *pids_path, *tasks, *current;
		bool initial, own;
	} cases[] = {
		{"nobody hidden", "/box", "10\n10\n11\n", "3\n", false, true},
		{"somebody hidden", "/box", "10\n10\n11\n", "4\n", false, false},
		{"another pids group", "/else", "10\n10\n11\n", "3\n", false, false},
		{"no pids controller", NULL, NULL, NULL, false, false},
		{"the machine's namespace", NULL, NULL, NULL, true, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(test_host_done) struct test_host w = test_host_made();
		struct cgroup c;
		char text[200], path[100];

		proc(&w, "self/mountinfo",
			MOUNTS_V1 "28 25 0:24 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n");
		proc(&w, "self/cgroup", "6:pids:/\n5:memory:/\n4:cpu,cpuacct:/\n");
		snprintf(text, sizeof text, "6:pids:%s\n5:memory:/\n4:cpu,cpuacct:/box\n",
			cases[i].pids_path ? cases[i].pids_path : "/");
		process(&w, 10, 1, text);
		sys(&w, "fs/cgroup/cpu,cpuacct/box/cgroup.procs", "10\n11\n");
		sys(&w, "fs/cgroup/pids/cgroup.procs", "1\n");
		if (cases[i].pids_path) {
			snprintf(path, sizeof path, "fs/cgroup/pids%s/tasks", cases[i].pids_path);
			sys(&w, path, cases[i].tasks);
			snprintf(path, sizeof path, "fs/cgroup/pids%s/pids.current",
				cases[i].pids_path);
			sys(&w, path, cases[i].current);
		}
		w.host.own_pid_namespace = true;
		w.host.initial_pid_namespace = cases[i].initial;
		assert_int_equal(cgroup_of_process(&c, &w.host, 10, NULL), 0);
		cgroup_keep_own(&c, &w.host, 10, &members);
		if ((c.place[CGROUP_CPUACCT].version == 1) != cases[i].own)
			fail_msg("%s: own is not %d", cases[i].what, cases[i].own);
	}
}

/* /proc shows another PID namespace than the exporter's, so the pids in cgroup.procs cannot be
 * found there. The members are found by reading the cgroup file of each process in /proc. That
 * finds all members only if /proc shows all processes of the machine. */
static void group_is_listed_by_a_proc_of_another_namespace(void **state)
{
	static const struct {
		const char *what, *kthreadd, *stranger;
		bool own;
	} cases[] = {
		{"the machine's",
			"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0\n",
			"0::/else\n", true},
		{"a stranger in the group",
			"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0\n",
			"0::/box\n", false},
		{"a container's", "2 (sh) S 0 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0\n",
			"0::/else\n", false},
		{"some are hidden", NULL, "0::/else\n", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(test_host_done) struct test_host w = test_host_made();
		struct cgroup c;

		proc(&w, "self/mountinfo", MOUNTS_V2);
		proc(&w, "self/cgroup", "0::/a\n");
		process(&w, 1, 0, "0::/init\n");
		process(&w, 10, 1, "0::/box\n");
		process(&w, 12, 1, cases[i].stranger);
		proc(&w, "2/cgroup", "0::/\n");
		if (cases[i].kthreadd)
			proc(&w, "2/stat", cases[i].kthreadd);
		sys(&w, "fs/cgroup/box/cpu.stat", "usage_usec 1\n");
		sys(&w, "fs/cgroup/box/cgroup.procs", "0\n");
		w.host.other_pid_namespace = true;
		assert_int_equal(cgroup_of_process(&c, &w.host, 10, NULL), 0);
		if (cgroup_keep_own(&c, &w.host, 10, &members) != cases[i].own)
			fail_msg("%s: own is not %d", cases[i].what, cases[i].own);
	}
}

/* The wrapper made the group, so no other process can be in it. */
static void group_that_was_made_for_the_run_needs_no_list(void **state)
{
	AUTO(test_host_done) struct test_host w = test_host_made();
	struct cgroup c;

	proc(&w, "self/mountinfo", MOUNTS_V2);
	proc(&w, "self/cgroup", "0::/\n");
	process(&w, 10, 1, "0::/box\n");
	sys(&w, "fs/cgroup/box/cpu.stat", "usage_usec 1\n");
	assert_int_equal(cgroup_of_process(&c, &w.host, 10, NULL), 0);
	assert_true(cgroup_keep_own(&c, &w.host, 10, &(struct group_members){0}));
	assert_int_equal(c.place[CGROUP_CPU].version, 2);
}

/* ---- another container's group, read through its root folder ---- */

static void sibling_container_is_read_through_its_root(void **state)
{
	AUTO(test_host_done) struct test_host w = test_host_made();
	struct cgroup c;
	AUTO(cgroup_files_close) struct cgroup_files f;
	double v[CGROUP_VALUES];

	proc(&w, "self/mountinfo", MOUNTS_V2);
	proc(&w, "self/cgroup", "0::/\n");
	process(&w, 1, 0, "0::/../pause\n");
	process(&w, 10, 0, "0::/../main\n");
	sys(&w, "fs/cgroup/cgroup.procs", "99\n");
	assert_int_equal(cgroup_of_process(&c, &w.host, 10, NULL), -ENOENT);
	proc(&w, "10/root/sys/fs/cgroup/cgroup.procs", "10\n11\n");
	proc(&w, "10/root/sys/fs/cgroup/cpu.stat", "usage_usec 3000000\n");
	proc(&w, "10/root/sys/fs/cgroup/memory.max", "134217728\n");
	proc(&w, "10/root/sys/fs/cgroup/cpu.max", "50000 100000\n");
	assert_int_equal(cgroup_of_process(&c, &w.host, 10, NULL), 0);
	struct cgroup_limits limits = cgroup_limits_read(&c, &w.host);

	assert_double_equal(limits.memory_bytes, 134217728, 0);
	assert_double_equal(limits.cpu_cores, 0.5, 1e-9);
	assert_true(cgroup_keep_own(&c, &w.host, 10, &members));
	cgroup_files_open(&f, &c, CGROUP_WANT_ALL);
	cgroup_files_read(&f, &w.host, v, NULL);
	assert_double_equal(v[CGROUP_CPU_SECONDS], 3, 1e-9);
}

static void group_below_the_containers_is_found_by_its_path(void **state)
{
	AUTO(test_host_done) struct test_host w = test_host_made();
	struct cgroup c;

	proc(&w, "self/mountinfo", MOUNTS_V2);
	process(&w, 10, 0, "0::/../../user.slice/run\n");
	proc(&w, "10/root/sys/fs/cgroup/cgroup.procs", "1\n");
	proc(&w, "10/root/sys/fs/cgroup/user.slice/run/cgroup.procs", "10\n");
	assert_int_equal(cgroup_of_process(&c, &w.host, 10, NULL), 0);
	assert_string_equal(c.place[CGROUP_CPU].path, "10/root/sys/fs/cgroup/user.slice/run");
	assert_int_equal(c.place[CGROUP_CPU].top, strlen("10/root/sys/fs/cgroup"));
}

static void v1_container_is_read_through_its_root(void **state)
{
	AUTO(test_host_done) struct test_host w = test_host_made();
	struct cgroup c;

	proc(&w, "self/mountinfo", "20 1 0:18 / /sys rw - sysfs sysfs rw\n");
	process(&w, 10, 0, "5:memory:/../main\n4:cpu,cpuacct:/../main\n");
	proc(&w, "10/root/sys/fs/cgroup/cpu,cpuacct/cgroup.procs", "10\n");
	proc(&w, "10/root/sys/fs/cgroup/memory/cgroup.procs", "77\n"); /* not the run's process */
	assert_int_equal(cgroup_of_process(&c, &w.host, 10, NULL), 0);
	assert_int_equal(c.place[CGROUP_CPUACCT].version, 1);
	assert_string_equal(c.place[CGROUP_CPU].path, "10/root/sys/fs/cgroup/cpu,cpuacct");
	assert_int_equal(c.place[CGROUP_MEMORY].version, 0);
}

/* The group's list is read again a few times after a fork, because the child may be moved into
 * another group later. Without forks it is read only now and then. */
static void a_group_is_listed_when_somebody_may_be_new(void **state)
{
	struct run_group g = {0};
	int due = 0;

	for (int i = 0; i < 3; i++)
		assert_true(run_group_due(&g, 100));
	for (int i = 0; i < 100; i++)
		due += run_group_due(&g, 100);
	assert_int_equal(due, 10);
	for (int i = 0; i < 3; i++)
		assert_true(run_group_due(&g, 101));
	/* 0 = unknown number of created processes: the list is read each time. */
	for (int i = 0; i < 100; i++)
		assert_true(run_group_due(&g, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(v2_group_is_read),
		cmocka_unit_test(v1_group_is_read),
		cmocka_unit_test(v1_io_is_the_sum_of_its_devices),
		cmocka_unit_test(nonsense_in_the_files_is_unknown),
		cmocka_unit_test(group_is_own_when_it_began_with_the_run),
		cmocka_unit_test(v1_controllers_are_judged_one_by_one),
		cmocka_unit_test(exiting_process_owns_no_v1_group),
		cmocka_unit_test(first_process_of_a_container_is_its_own_init),
		cmocka_unit_test(sibling_container_is_read_through_its_root),
		cmocka_unit_test(group_below_the_containers_is_found_by_its_path),
		cmocka_unit_test(a_group_is_listed_when_somebody_may_be_new),
		cmocka_unit_test(v1_container_is_read_through_its_root),
		cmocka_unit_test(v1_group_may_hide_processes_of_other_namespaces),
		cmocka_unit_test(group_is_listed_by_a_proc_of_another_namespace),
		cmocka_unit_test(group_that_was_made_for_the_run_needs_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
