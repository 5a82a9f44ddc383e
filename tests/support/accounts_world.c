#include "tests/support/accounts_world.h"

#include <math.h>
#include <stdio.h>

#include "tests/unit/test_main.h"

void usage(struct world *w, unsigned usec, const char *parts)
{
	char text[256];

	snprintf(text, sizeof text, "usage_usec %u\n%s", usec, parts);
	test_host_file(&w->t, GROUP "cpu.stat", text);
}

void put_process(struct world *w, int pid, int ppid, unsigned ticks, const char *group)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	snprintf(text, sizeof text,
		"%d (job) S %d 1 1 0 -1 0 1 0 0 0 %u %u 0 0 20 0 1 0 5 1000 5 0\n", pid, ppid,
		ticks / 2, ticks - ticks / 2);
	test_host_file(&w->t, path, text);
	snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
	snprintf(text, sizeof text, "0::%s\n", group);
	test_host_file(&w->t, path, text);
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
	test_host_file(&w->t, path, "");
}

void machine(struct world *w, double idle, unsigned births)
{
	char text[256];

	snprintf(text, sizeof text, "cpu  1 0 1 %.0f 0 0 0 0 0 0\ncpu0 1\ncpu1 1\nprocesses %u\n",
		idle * 100, births);
	test_host_file(&w->t, "/proc/stat", text);
}

void open_account(struct world *w, const struct account_spec *spec)
{
	account_close(w->account);
	w->account = account_open(w->accounts, &w->t.host, spec, &w->tree);
}

void world_init(struct world *w, const char *group)
{
	*w = (struct world){0};
	test_host_init(&w->t);
	test_host_file(&w->t, "/proc/self/mountinfo",
		"20 1 0:18 / /sys rw - sysfs sysfs rw\n25 20 0:22 / /sys/fs/cgroup rw - cgroup2 "
		"cgroup2 rw\n");
	test_host_file(&w->t, "/proc/self/cgroup", "0::/\n");
	put_process(w, 1, 0, 0, "/");
	put_process(w, 10, 1, 100, group);
	test_host_file(&w->t, GROUP "cgroup.procs", "10\n");
	usage(w, 1000000, "user_usec 600000\nsystem_usec 400000\n");
	test_host_file(&w->t, GROUP "memory.max", "134217728\n");
	test_host_file(&w->t, GROUP "memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n");
	machine(w, 100, 50);
	w->accounts = accounts_new();
	assert_int_equal(process_tree_begin(&w->tree, &w->t.host, 10, 0, 0), 0);
	OPEN(w, .root = 10, .ours = true);
}

void world_done(struct world *w)
{
	account_close(w->account);
	process_tree_done(&w->tree);
	accounts_free(w->accounts);
	test_host_done(&w->t);
}

void look_again(struct world *w)
{
	struct tree_now now;

	test_host_advance(&w->t, 1);
	accounts_tick(w->accounts, &w->t.host);
	process_tree_look(&w->tree, &w->t.host, 0, &now);
	for (size_t i = 0; i < RUN_N_METRICS; i++)
		w->value[i] = NAN;
	w->value[RUN_CPU_SECONDS] = (double)w->tree.total[TREE_CPU_NS] / 1e9;
	w->value[RUN_CPU_SYSTEM_SECONDS] = (double)w->tree.total[TREE_SYSTEM_NS] / 1e9;
	account_look(w->account, &w->t.host, &w->tree, w->value);
}

struct account_note note_of(struct world *w)
{
	struct account_note note;

	account_note(w->account, &w->t.host, &note);
	return note;
}
