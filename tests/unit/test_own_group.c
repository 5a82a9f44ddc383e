/* collectors/accounting/own_group.c, task_clock.c: accounting for a command that is about to start,
 * on the running kernel. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/accounting/own_group.h"
#include "collectors/accounting/task_clock.h"
#include "collectors/process/process.h"

#define BURN_NS  2000000
#define CHILDREN 20
/* CPU time before a clock is attached: far more than the children's. */
#define BEFORE_NS (UINT64_C(200) * BURN_NS)

static int64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The parent ignores SIGCHLD, so the kernel reaps the children at once. */
static void burn_in_unwaited_children(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (child == 0) {
			int64_t end = own_cpu_ns() + BURN_NS;

			while (own_cpu_ns() < end)
				;
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* ---- which group may be divided ---- */

static void group_below_systemd_is_left_to_it(void **state)
{
	static const struct {
		const char *path; /* below the mount point */
		bool under_systemd, allowed;
	} cases[] = {
		{"", false, true},
		{"/docker/0123", false, true},
		{"/system.slice/cron.service", false, true},
		{"", true, false},
		{"/system.slice", true, false},
		{"/system.slice/cron.service", true, false},
		{"/user.slice/user-0.slice/session-1.scope", true, false},
		{"/user.slice/user-0.slice/session-1.scope/sub/sub2", true, false},
		{"/unmarked", true, false},
		{"/.service", true, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char path[256] = "/nowhere/at/all";
		size_t mount = strlen(path);

		snprintf(path + mount, sizeof path - mount, "%s", cases[i].path);
		assert_int_equal(own_group_allowed(path, mount, cases[i].under_systemd),
			cases[i].allowed);
	}
}

static void make_directory(const char *path)
{
	assert_int_equal(mkdir(path, 0700), 0);
}

static void delegated_unit_may_be_divided(void **state)
{
	char top[] = "/tmp/rightsize-test-XXXXXX", slice[80], unit[120], below[160];

	assert_non_null(mkdtemp(top));
	snprintf(slice, sizeof slice, "%s/batch.slice", top);
	snprintf(unit, sizeof unit, "%s/job.service", slice);
	snprintf(below, sizeof below, "%s/worker", unit);
	make_directory(slice);
	make_directory(unit);
	make_directory(below);
	bool marked = setxattr(unit, "user.delegate", "1", 1, 0) == 0 ||
		      setxattr(unit, "trusted.delegate", "1", 1, 0) == 0;

	if (marked) {
		assert_true(own_group_allowed(unit, strlen(top), true));
		assert_true(own_group_allowed(below, strlen(top), true));
		assert_false(own_group_allowed(slice, strlen(top), true));
	}
	rmdir(below);
	rmdir(unit);
	rmdir(slice);
	rmdir(top);
	if (!marked)
		skip();
}

/* Most cases are scopes as `systemd-run --user --scope` makes them. The user's systemd marks no
 * group as delegated. */
static void scope_of_a_user_may_be_divided_by_who_is_alone_in_it(void **state)
{
	static const struct {
		const char *above, *unit;
		int others; /* other processes in the group */
		bool we, allowed;
	} cases[] = {
		{"user@1000.service", "run-1.scope", 0, true, true},
		{"user@1000.service", "run-1.scope", 1, true, false},
		{"user@1000.service", "run-1.scope", 1, false, false},
		{"user@1000.service", "run-1.scope", 0, false, false},
		{"user@1000.service", "app.service", 0, true, false},
		{"user@1000.slice", "run-1.scope", 0, true, false},
		{"machine.slice", "run-1.scope", 0, true, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char top[] = "/tmp/rightsize-test-XXXXXX", above[80], unit[120], procs[160];

		assert_non_null(mkdtemp(top));
		snprintf(above, sizeof above, "%s/%s", top, cases[i].above);
		snprintf(unit, sizeof unit, "%s/%s", above, cases[i].unit);
		snprintf(procs, sizeof procs, "%s/cgroup.procs", unit);
		make_directory(above);
		make_directory(unit);
		FILE *f = fopen(procs, "w");

		assert_non_null(f);
		if (cases[i].we)
			fprintf(f, "%d\n", (int)getpid());
		if (cases[i].others)
			fprintf(f, "%d\n", (int)getppid());
		assert_int_equal(fclose(f), 0);
		if (own_group_allowed(unit, strlen(top), true) != cases[i].allowed)
			fail_msg("%s/%s, %d others", cases[i].above, cases[i].unit,
				cases[i].others);
		unlink(procs);
		rmdir(unit);
		rmdir(above);
		rmdir(top);
	}
}

/* ---- the run's own group ---- */

static const struct {
	const char *directory;
	int version;
} places[] = {
	{"/sys/fs/cgroup/cpuacct", 1},
	{"/sys/fs/cgroup/unified", 2},
	{"/sys/fs/cgroup", 2},
};

/* Calls `test` with every group that can be made on this machine. */
static void in_every_place(void (*test)(struct own_group *g, const char *directory))
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct own_group g = OWN_GROUP_NONE;

		if (own_group_make(&g, places[i].directory, places[i].version, NULL) < 0) {
			assert_int_equal(g.self, -1);
			continue;
		}
		any = true;
		test(&g, places[i].directory);
	}
	if (!any)
		skip();
}

static bool exists(const char *directory, const char *name)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return access(path, F_OK) == 0;
}

static void count_unwaited(struct own_group *g, const char *directory)
{
	char name[OWN_GROUP_NAME_MAX];
	uint64_t ns = 0;
	int status;
	pid_t child = fork();

	snprintf(name, sizeof name, "%s", g->name);
	assert_true(exists(directory, name));
	if (child == 0) {
		if (!own_group_enter(g))
			_exit(1);
		burn_in_unwaited_children();
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(own_group_cpu_ns(g, &ns), 0);
	assert_true(ns >= (uint64_t)CHILDREN * BURN_NS);
	own_group_remove(g);
	assert_false(exists(directory, name));
	assert_false(own_group_enter(g));
	assert_int_equal(own_group_cpu_ns(g, &ns), -ENODATA);
	own_group_remove(g);
}

static void group_counts_children_that_nobody_waits_for(void **state)
{
	in_every_place(count_unwaited);
}

static void leave_one_behind(struct own_group *g, const char *directory)
{
	char name[OWN_GROUP_NAME_MAX];
	int entered[2];
	char byte = 0;

	snprintf(name, sizeof name, "%s", g->name);
	assert_int_equal(pipe(entered), 0);
	pid_t child = fork();

	if (child == 0) {
		byte = own_group_enter(g) ? 'y' : 'n';
		if (write(entered[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(entered[0], &byte, 1), 1);
	assert_int_equal(byte, 'y');
	own_group_remove(g);
	assert_false(exists(directory, name));
	assert_int_equal(kill(child, 0), 0); /* still alive, in the parent group */
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(entered[0]);
	close(entered[1]);
}

static void what_is_left_in_the_group_goes_back_up(void **state)
{
	in_every_place(leave_one_behind);
}

static pid_t dead_pid(void)
{
	pid_t gone = fork();

	if (gone == 0)
		_exit(0);
	waitpid(gone, NULL, 0);
	return gone;
}

static void find_a_leftover(struct own_group *g, const char *directory)
{
	struct own_group next = OWN_GROUP_NONE;
	char path[256], ours[OWN_GROUP_NAME_MAX];

	snprintf(path, sizeof path, "%s/rightsize-%d-00000000", directory, (int)dead_pid());
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(ours, sizeof ours, "%s", g->name);
	assert_int_equal(own_group_make(&next, directory, g->version, NULL), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_true(exists(directory, ours)); /* the group of a living process stays */
	own_group_remove(&next);
	own_group_remove(g);
}

static void leftover_of_a_dead_maker_is_removed(void **state)
{
	in_every_place(find_a_leftover);
}

static void make_group(const char *path, const char *name)
{
	char full[512];

	snprintf(full, sizeof full, "%s/%s", path, name);
	assert_int_equal(mkdir(full, 0755), 0);
}

static void remove_group(const char *path, const char *name)
{
	char full[512];

	snprintf(full, sizeof full, "%s/%s", path, name);
	assert_int_equal(rmdir(full), 0);
}

static void leave_groups_behind(struct own_group *g, const char *directory)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", directory, g->name);
	make_group(path, "made");
	make_group(path, "made/by-the-job");
	make_group(path, "another");
	own_group_remove(g);
	assert_int_equal(access(path, F_OK), -1);
}

static void groups_that_the_job_left_empty_go_with_it(void **state)
{
	in_every_place(leave_groups_behind);
}

static void leave_a_group_of_a_living_maker(struct own_group *g, const char *directory)
{
	char path[256], inner[OWN_GROUP_NAME_MAX];

	snprintf(path, sizeof path, "%s/%s", directory, g->name);
	snprintf(inner, sizeof inner, "rightsize-%d-00000000", (int)getpid());
	make_group(path, inner);
	own_group_remove(g);
	assert_true(exists(path, inner));
	remove_group(path, inner);
	remove_group(path, "");
}

static void group_that_another_wrapper_is_about_to_use_stays(void **state)
{
	in_every_place(leave_a_group_of_a_living_maker);
}

static void find_leftovers_in_leftovers(struct own_group *g, const char *directory)
{
	struct own_group next = OWN_GROUP_NONE;
	char inner[OWN_GROUP_NAME_MAX], place[128], outer[256];
	int gone = (int)dead_pid();

	snprintf(inner, sizeof inner, "rightsize-%d-00000001", gone);
	/* The place is inside a group of the test, where no other program cleans up. */
	snprintf(place, sizeof place, "%s/%s", directory, g->name);
	snprintf(outer, sizeof outer, "%s/rightsize-%d-00000000", place, gone);
	make_group(outer, "");
	make_group(outer, inner);
	assert_int_equal(own_group_make(&next, place, g->version, NULL), 0);
	assert_int_equal(access(outer, F_OK), -1);
	own_group_remove(&next);

	/* A job that outlived its wrapper may have made the inner group. */
	make_group(outer, "");
	make_group(outer, "of-the-job");
	assert_int_equal(own_group_make(&next, place, g->version, NULL), 0);
	assert_true(exists(outer, "of-the-job"));
	own_group_remove(&next);
	own_group_remove(g);
	assert_false(exists(place, ""));
}

static void leftovers_in_leftovers_are_removed(void **state)
{
	in_every_place(find_leftovers_in_leftovers);
}

static void group_that_cannot_be_made_says_why(void **state)
{
	struct own_group g = OWN_GROUP_NONE;
	struct err e = {0};

	assert_int_equal(own_group_make(&g, "/nowhere/at/all", 2, &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nowhere/at/all"));
	assert_false(own_group_enter(&g));
	own_group_remove(&g);
}

/* ---- the inherited clock ---- */

/* The ends are unknown on a machine with many CPUs, or if the user has no locked memory left. A
 * sanitizer may start one more thread in each process. */
static void assert_ends(const struct task_clock *clock, double expected)
{
	double ends = task_clock_ends(clock, NAN);

	if (clock->n_buffers)
		assert_true(ends >= expected && ends <= 2 * expected);
	else
		assert_true(isnan(ends));
}

static void clock_counts_children_that_nobody_waits_for(void **state)
{
	struct task_clock clock = TASK_CLOCK_NONE;
	uint64_t ns = 0;
	int status;

	if (task_clock_open(&clock) < 0)
		skip();
	pid_t child = fork();

	if (child == 0) {
		execl("/proc/self/exe", "burn", (char *)NULL);
		_exit(1);
	}
	/* The test's own CPU time is not part of the command's. */
	int64_t end = own_cpu_ns() + 5 * BURN_NS;

	while (own_cpu_ns() < end)
		;
	assert_int_equal(task_clock_read(&clock, &ns), 0);
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(task_clock_read(&clock, &ns), 0);
	assert_true(ns >= (uint64_t)CHILDREN * BURN_NS);
	assert_ends(&clock, CHILDREN + 1);
	/* A CPU that has no buffer may have seen more ends. */
	assert_true(isnan(task_clock_ends(&clock, TASK_CLOCK_BUFFERS + 1)));
	task_clock_close(&clock);
	assert_int_equal(task_clock_read(&clock, &ns), -ENODATA);
	assert_true(isnan(task_clock_ends(&clock, NAN)));
}

static void clock_does_not_count_who_opened_it(void **state)
{
	struct task_clock clock = TASK_CLOCK_NONE;
	uint64_t ns = 77;

	if (task_clock_open(&clock) < 0)
		skip();
	int64_t end = own_cpu_ns() + BURN_NS;

	while (own_cpu_ns() < end)
		;
	assert_int_equal(task_clock_read(&clock, &ns), 0);
	assert_int_equal(ns, 0);
	assert_ends(&clock, 0);
	task_clock_close(&clock);
}

/* A clock that is attached to a running process counts only later CPU time. It includes children
 * that the process starts later and does not wait for. */
static void attached_clock_counts_from_now_on(void **state)
{
	struct task_clock clock = TASK_CLOCK_NONE;
	struct host host;
	struct process_stat s;
	int go[2], status;
	uint64_t ns = 0;
	char byte = 0;

	assert_int_equal(host_open(&host, &(struct host_paths){"/proc", "/sys", "/"}, NULL), 0);
	assert_int_equal(pipe(go), 0);
	pid_t child = fork();

	if (child == 0) {
		int64_t end = own_cpu_ns() + (int64_t)BEFORE_NS;

		while (own_cpu_ns() < end)
			;
		if (read(go[0], &byte, 1) == 1)
			execl("/proc/self/exe", "burn", (char *)NULL);
		_exit(1);
	}
	/* The child sleeps in read() after it burned its time. */
	do {
		usleep(1000);
		assert_int_equal(process_read_stat(&host, child, &s), 0);
	} while (s.state != 'S');
	int code = task_clock_attach(&clock, &child, 1);

	assert_int_equal(write(go[1], "x", 1), 1);
	waitpid(child, &status, 0);
	close(go[0]);
	close(go[1]);
	if (code < 0) {
		host_close(&host);
		skip();
	}
	assert_int_equal(status, 0);
	assert_int_equal(task_clock_read(&clock, &ns), 0);
	assert_true(ns >= (uint64_t)CHILDREN * BURN_NS);
	/* CPU time from before the clock was attached is not counted. */
	assert_true(ns < BEFORE_NS);
	assert_ends(&clock, CHILDREN + 1);
	task_clock_close(&clock);
	/* A thread that has ended is left out. The thread id 0 belongs to no thread, so the clock
	 * cannot be attached. */
	assert_int_equal(task_clock_attach(&clock, &child, 1), 0);
	assert_int_equal(task_clock_read(&clock, &ns), -ENODATA);
	child = 0;
	assert_int_equal(task_clock_attach(&clock, &child, 1), -ENXIO);
	host_close(&host);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_below_systemd_is_left_to_it),
		cmocka_unit_test(delegated_unit_may_be_divided),
		cmocka_unit_test(scope_of_a_user_may_be_divided_by_who_is_alone_in_it),
		cmocka_unit_test(group_counts_children_that_nobody_waits_for),
		cmocka_unit_test(what_is_left_in_the_group_goes_back_up),
		cmocka_unit_test(leftover_of_a_dead_maker_is_removed),
		cmocka_unit_test(groups_that_the_job_left_empty_go_with_it),
		cmocka_unit_test(group_that_another_wrapper_is_about_to_use_stays),
		cmocka_unit_test(leftovers_in_leftovers_are_removed),
		cmocka_unit_test(group_that_cannot_be_made_says_why),
		cmocka_unit_test(clock_counts_children_that_nobody_waits_for),
		cmocka_unit_test(clock_does_not_count_who_opened_it),
		cmocka_unit_test(attached_clock_counts_from_now_on),
	};

	if (argc > 0 && strcmp(argv[0], "burn") == 0) {
		burn_in_unwaited_children();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
