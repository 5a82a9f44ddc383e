/* Tests the limit of the file descriptors that are kept open for runs. A run that has ended must
 * not keep any. */
#include "tests/unit/test_main.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/process/exit_watch.h"
#include "collectors/accounting/run_group.h"
#include "tests/support/jobs_world.h"

#define GROUP_FILES 7 /* number of files in `folder`; all of them are read */

static int count_name(void *context, const char *name)
{
	(void)name;
	++*(size_t *)context;
	return 0;
}

static size_t open_descriptors(const struct host *h)
{
	size_t n = 0;

	assert_int_equal(tree_list(h->proc, "self/fd", count_name, &n), 0);
	return n;
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[200];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	AUTO(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static const char *const group_files[][2] = {
	{"cpu.stat", "usage_usec 2500000\nsystem_usec 500000\n"},
	{"cpu.pressure", "some avg10=1.00 avg60=0.00 avg300=0.00 total=7000000\n"},
	{"memory.current", "4096000\n"},
	{"memory.peak", "8192000\n"},
	{"memory.events", "low 0\nhigh 5\nmax 6\noom 2\noom_kill 1\n"},
	{"memory.pressure", "some avg10=0 avg60=0 avg300=0 total=1500000\n"},
	{"memory.stat", "anon 1\nfile 2\n"},
};

static void check_group(struct run_group *g, const struct host *h)
{
	double value[RUN_N_METRICS], v[CGROUP_VALUES];

	run_group_read(g, h, value, v);
	assert_double_equal(v[CGROUP_CPU_SECONDS], 2.5, 1e-9);
	assert_double_equal(value[RUN_MEMORY_CGROUP_PEAK_BYTES], 8192000, 0);
	assert_double_equal(value[RUN_OOM_KILLS], 1, 0);
}

static void files_of_groups_beyond_what_may_be_are_opened_for_each_reading(void **state)
{
	char folder[] = "/tmp/rightsize-test-XXXXXX";
	struct run_group first, second, third;
	struct host h;

	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < ARRAY_LEN(group_files); i++)
		write_file(folder, group_files[i][0], group_files[i][1]);
	assert_int_equal(host_open(&h, &(struct host_paths){"/proc", "/sys", folder}, NULL), 0);
	struct cgroup_place place = {.tree = h.root, .version = 2, .path = "."};
	struct cgroup own = {.place = {[CGROUP_CPU] = place, [CGROUP_MEMORY] = place}};

	h.group_files->most = 2 * GROUP_FILES - 1;
	size_t before = open_descriptors(&h);

	run_group_open(&first, &own, &h);
	run_group_open(&second, &own, &h);
	for (int i = 0; i < 2; i++) {
		check_group(&first, &h);
		check_group(&second, &h);
		assert_int_equal(open_descriptors(&h), before + GROUP_FILES);
	}
	assert_int_equal(h.group_files->kept, GROUP_FILES);
	run_group_close(&second);
	run_group_close(&first);
	assert_int_equal(open_descriptors(&h), before);
	run_group_open(&third, &own, &h); /* there is room again after the others were closed */
	check_group(&third, &h);
	assert_int_equal(open_descriptors(&h), before + GROUP_FILES);
	run_group_close(&third);
	run_group_close(&third);
	assert_int_equal(h.group_files->kept, 0);
	host_close(&h);
	AUTO(closep) int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < ARRAY_LEN(group_files); i++)
		unlinkat(directory, group_files[i][0], 0);
	rmdir(folder);
}

static void ends_of_roots_are_watched_as_many_as_may_be(void **state)
{
	struct exit_watches all;
	struct exit_watch first, second, third;
	struct host h;

	assert_int_equal(host_open(&h, &(struct host_paths){"/proc", "/sys", "/"}, NULL), 0);
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	struct process_stat s;

	assert_int_equal(process_read_stat(&h, pid, &s), 0);
	h.root_ends->most = 1;
	exit_watches_init(&all);
	exit_watch_begin(&first, &all, &h, pid, s.start_ticks);
	exit_watch_begin(&second, &all, &h, pid, s.start_ticks);
	bool watched = first.pidfd >= 0;

	assert_int_equal(second.pidfd, -1);
	assert_int_equal(second.known, EXIT_STATUS_UNKNOWN);
	exit_watch_done(&second);
	exit_watch_done(&first);
	exit_watch_done(&first);
	assert_int_equal(h.root_ends->kept, 0);
	/* The start time is not that of the process with this pid, so the pid belongs to another
	 * process now. No descriptor is kept for it. */
	exit_watch_begin(&third, &all, &h, pid, s.start_ticks + 1);
	assert_int_equal(third.pidfd, -1);
	assert_int_equal(h.root_ends->kept, 0);
	exit_watches_done(&all);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	host_close(&h);
	if (!watched)
		skip(); /* the kernel has no pidfds */
}

/* An ended run stays in memory until the next scrape, or for minutes. If it kept descriptors, many
 * short runs would use up the limit. */
static void a_run_that_ended_keeps_none(void **state)
{
	struct descriptors group_files_of_runs = {.most = 100};
	AUTO(world_freep) struct world *w = world_new();

	w->host.group_files = &group_files_of_runs;
	memory_tree_text(w->proc, "self/mountinfo",
		"20 1 0:18 / /sys rw - sysfs sysfs rw\n"
		"25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	memory_tree_text(w->proc, "self/cgroup", "0::/\n");
	memory_tree_text(w->proc, "1/cgroup", "0::/\n");
	PUT(w, .pid = 10, .ppid = 1, .start = 5, .children = "");
	memory_tree_text(w->proc, "10/cgroup", "0::/box\n");
	memory_tree_text(w->sys, "fs/cgroup/box/cgroup.procs", "10\n");
	memory_tree_text(w->sys, "fs/cgroup/box/cpu.stat", "usage_usec 3000000\n");
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 3, 1e-9);
	assert_true(group_files_of_runs.kept > 0);
	memory_tree_text(w->sys, "fs/cgroup/box/cpu.stat", "usage_usec 4000000\n");
	gone(w, 10);
	const struct run_reading *last = look(w);

	assert_true(last->ended);
	assert_double_equal(last->value[RUN_CPU_SECONDS], 4, 1e-9);
	assert_true(jobs_note(w->host.jobs, &w->host, "r1", &(struct account_note){0}));
	assert_int_equal(group_files_of_runs.kept, 0);
	struct account_note note;

	assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
	assert_string_equal(note.cpu_source, "cgroup");
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], 4, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_groups_beyond_what_may_be_are_opened_for_each_reading),
		cmocka_unit_test(ends_of_roots_are_watched_as_many_as_may_be),
		cmocka_unit_test(a_run_that_ended_keeps_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
