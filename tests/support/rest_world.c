/* Others and the run in one group, for tests. */
#include "tests/unit/test_main.h"

#include "tests/support/rest_world.h"

#include <stdio.h>

#include "collectors/base/mem.h"

double rest_allowed(double seconds)
{
	return seconds * 0.01 + 0.01;
}

void rest_put(struct rest_world *w, const struct rest_fields *f)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/stat", f->pid);
	/* The last one is sigignore: bit 16 is SIGCHLD. */
	snprintf(text, sizeof text,
		"%d (job) S %d 1 1 0 -1 0 %u %u 0 0 %u 0 %u 0 20 0 1 0 5 1000 5 0 0 0 0 0 0 0 0 "
		"%d\n",
		f->pid, f->ppid, f->faults, f->waited_faults, f->ticks, f->waited_ticks,
		f->ignores_children ? 65536 : 0);
	test_host_file(&w->t, path, text);
}

void rest_put_process(struct rest_world *w, int pid, int ppid, unsigned ticks,
	unsigned waited_faults)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	snprintf(text, sizeof text,
		"%d (job) S %d 1 1 0 -1 0 1 %u 0 0 %u 0 0 0 20 0 1 0 5 1000 5 0\n", pid, ppid,
		waited_faults, ticks);
	test_host_file(&w->t, path, text);
}

void rest_group_has(struct rest_world *w, const char *pids, double seconds)
{
	char text[64];

	test_host_file(&w->t, GROUP "cgroup.procs", pids);
	snprintf(text, sizeof text, "usage_usec %.0f\n", seconds * 1e6);
	test_host_file(&w->t, GROUP "cpu.stat", text);
}

bool rest_is_root(const void *context, pid_t pid)
{
	(void)context;
	return pid == ROOT;
}

struct group_remainder *rest_open(struct rest_world *w)
{
	return group_remainder_open(&w->t.host,
		&(struct group_remainder_spec){.root = ROOT,
			.group = &w->group,
			.members = {rest_is_root},
			.start = group_remainder_start(&w->group, &w->t.host),
			.known_seconds = 1,
			.orphans_ours = w->orphans_ours});
}

struct group_remainder_reading rest_read(struct rest_world *w)
{
	return group_remainder_read(w->rest, &w->t.host, 1);
}

void assert_doubtful(struct rest_world *w, double most)
{
	struct group_remainder_reading now = rest_read(w);

	assert_true(now.seconds <= 1 + rest_allowed(most));
	assert_true(now.most >= most);
}

void rest_world_init(struct rest_world *w)
{
	*w = (struct rest_world){0};
	test_host_init(&w->t);
	test_host_file(&w->t, "/proc/self/mountinfo",
		"20 1 0:18 / /sys rw - sysfs sysfs rw\n25 20 0:22 / /sys/fs/cgroup rw - cgroup2 "
		"cgroup2 rw\n");
	test_host_file(&w->t, "/proc/10/cgroup", "0::/box\n");
	test_host_link(&w->t, "/proc/self", "7");
	rest_put_process(w, SHELL, 2, 50, 9);
	rest_put_process(w, OURS, SHELL, 20, 3);
	rest_put_process(w, ROOT, OURS, 100, 0);
	rest_group_has(w, "5\n7\n10\n", 30);
	assert_int_equal(cgroup_find(&w->group, &w->t.host, "10", NULL), 0);
	w->rest = rest_open(w);
	assert_non_null(w->rest);
}

void rest_world_done(struct rest_world *w)
{
	group_remainder_close(w->rest);
	test_host_done(&w->t);
}
