/* collectors/cgroup_rest: a run in a group with others, on a /proc and a v2 group in memory. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>

#include "collectors/base/mem.h"
#include "collectors/cgroup_rest.h"
#include "tests/support/test_host.h"

#define GROUP "/sys/fs/cgroup/box/"
#define ROOT  10
#define SHELL 5
#define OURS  7

struct world {
	struct test_host t;
	struct cgroup group;
	struct cgroup_rest *rest;
	bool orphans_ours;
};

/* What may be told beyond the truth. */
static double allowed(double seconds)
{
	return seconds * 0.01 + 0.01;
}

struct fields {
	int pid, ppid;
	unsigned ticks, faults;
	unsigned waited_ticks, waited_faults;
	bool ignores_children;
};

static void put_fields(struct world *w, const struct fields *f)
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

static void put_process(struct world *w, int pid, int ppid, unsigned ticks, unsigned waited_faults)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	snprintf(text, sizeof text,
		"%d (job) S %d 1 1 0 -1 0 1 %u 0 0 %u 0 0 0 20 0 1 0 5 1000 5 0\n", pid, ppid,
		waited_faults, ticks);
	test_host_file(&w->t, path, text);
}

static void group_has(struct world *w, const char *pids, double seconds)
{
	char text[64];

	test_host_file(&w->t, GROUP "cgroup.procs", pids);
	snprintf(text, sizeof text, "usage_usec %.0f\n", seconds * 1e6);
	test_host_file(&w->t, GROUP "cpu.stat", text);
}

static bool is_root(const void *context, pid_t pid)
{
	(void)context;
	return pid == ROOT;
}

static struct cgroup_rest *open_rest(struct world *w)
{
	return cgroup_rest_open(&w->t.host,
		&(struct cgroup_rest_spec){.root = ROOT,
			.group = &w->group,
			.is_member = is_root,
			.start = cgroup_rest_start(&w->group, &w->t.host),
			.known_seconds = 1,
			.orphans_ours = w->orphans_ours});
}

static struct cgroup_rest_reading read_rest(struct world *w)
{
	return cgroup_rest_read(w->rest, &w->t.host, 1);
}

/* Others may have spent what is not told of them: no more is told than what is known of the run, which is 1 s. */
static void assert_doubtful(struct world *w, double most)
{
	struct cgroup_rest_reading now = read_rest(w);

	assert_true(now.seconds <= 1 + allowed(most));
	assert_true(now.most >= most);
}

/* A shell (0.5 s so far) started this exporter (0.2 s), which started the run (1 s). */
static void world_init(struct world *w)
{
	*w = (struct world){0};
	test_host_init(&w->t);
	test_host_file(&w->t, "/proc/self/mountinfo",
		"20 1 0:18 / /sys rw - sysfs sysfs rw\n25 20 0:22 / /sys/fs/cgroup rw - cgroup2 "
		"cgroup2 rw\n");
	test_host_file(&w->t, "/proc/10/cgroup", "0::/box\n");
	test_host_link(&w->t, "/proc/self", "7");
	put_process(w, SHELL, 2, 50, 9);
	put_process(w, OURS, SHELL, 20, 3);
	put_process(w, ROOT, OURS, 100, 0);
	group_has(w, "5\n7\n10\n", 30);
	assert_int_equal(cgroup_find(&w->group, &w->t.host, "10", NULL), 0);
	w->rest = open_rest(w);
	assert_non_null(w->rest);
}

static void world_done(struct world *w)
{
	cgroup_rest_close(w->rest);
	test_host_done(&w->t);
}

static void rest_of_the_group_is_the_run_s(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	assert_double_equal(read_rest(&w).seconds, 1, 1e-9);
	/* 8 s more, of which 0.3 s were ours and 0.01 s the shell's; we waited for an orphan of the run. */
	put_process(&w, SHELL, 2, 51, 9);
	put_process(&w, OURS, SHELL, 50, 300);
	group_has(&w, "5\n7\n10\n77\n", 38);
	put_process(&w, 77, 2, 0, 0); /* another orphan of the run */
	assert_double_equal(read_rest(&w).seconds, 1 + 8 - 0.3 - 0.01, 1e-9);
	/* The shell is told that we ended; the group goes. */
	test_host_remove(&w.t, "/sys/fs/cgroup/box");

	struct cgroup_rest_reading last = read_rest(&w);

	assert_double_equal(last.seconds, 1 + 8 - 0.3 - 0.01, 1e-9);
	/* The shell's one tick may be two. */
	assert_double_equal(last.most, last.seconds, 0.02);
	world_done(&w);
}

static void what_we_did_while_the_run_was_looked_at_is_not_the_run_s(void **state)
{
	struct cgroup_rest_spec spec = {.root = ROOT, .is_member = is_root, .known_seconds = 1};
	struct world w;

	(void)state;
	world_init(&w);
	cgroup_rest_close(w.rest);
	spec.group = &w.group;
	spec.start = cgroup_rest_start(&w.group, &w.t.host);
	put_process(&w, OURS, SHELL, 70, 3);
	w.rest = cgroup_rest_open(&w.t.host, &spec);
	group_has(&w, "5\n7\n10\n", 32.5);
	assert_double_equal(read_rest(&w).seconds, 1 + 2.5 - 0.5, 1e-9);
	world_done(&w);
}

static void parent_may_wait_for_the_root(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	cgroup_rest_close(w.rest);
	put_process(&w, ROOT, SHELL, 100, 0);
	w.rest = open_rest(&w);
	test_host_remove(&w.t, "/proc/10/stat");
	put_process(&w, SHELL, 2, 50, 444);
	group_has(&w, "5\n7\n", 32);
	assert_double_equal(read_rest(&w).seconds, 3, 1e-9);
	world_done(&w);
}

/* As when it does so between two files that are read: the root is a zombie, or already gone. */
static void parent_that_waited_just_now_is_believed_once(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	cgroup_rest_close(w.rest);
	put_process(&w, ROOT, SHELL, 100, 0);
	w.rest = open_rest(&w);
	test_host_file(&w.t, "/proc/10/stat",
		"10 (job) X 7 1 1 0 -1 0 1 0 0 0 100 0 0 0 20 0 1 0 5 0 0 0\n");
	put_process(&w, SHELL, 2, 50, 444);
	group_has(&w, "5\n7\n10\n", 32);
	assert_double_equal(read_rest(&w).seconds, 3, 1e-9);
	test_host_remove(&w.t, "/proc/10/stat");
	group_has(&w, "5\n7\n", 32);
	assert_double_equal(read_rest(&w).seconds, 3, 1e-9);
	put_process(&w, SHELL, 2, 50, 500);
	group_has(&w, "5\n7\n", 40);

	struct cgroup_rest_reading last = read_rest(&w);

	assert_double_equal(last.seconds, 3, 1e-9);
	assert_double_equal(last.most, 11, 1e-9);
	world_done(&w);
}

static void others_may_work(void **state)
{
	static const struct {
		const char *what;
		unsigned shell_ticks, shell_waited_faults; /* the shell had 50 and 9 */
		int child_of;                              /* a process 99; 0 = none */
		unsigned child_ticks;
		double others; /* seconds, of 4 */
		double unseen; /* by what ended, at most */
	} cases[] = {
		{"nothing", 50, 9, 0, 0, 0, 0},
		{"a hundredth", 54, 9, 0, 0, 0.04, 0},
		{"more", 60, 9, 0, 0, 0.1, 0},
		{"waited for a child", 50, 10, 0, 0, 0, 0},
		{"has a child that sleeps", 50, 9, SHELL, 1, 0.01, 0.01},
		{"has a child that works", 50, 9, SHELL, 200, 2, 2},
		{"has a grandchild that works", 50, 9, 98, 200, 2, 2},
		{"the run has a child that works", 50, 9, ROOT, 200, 0, 0},
		{"we have one", 50, 9, OURS, 200, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cgroup_rest_reading now;
		double truth = 5 - cases[i].others;
		struct world w;

		world_init(&w);
		put_process(&w, SHELL, 2, cases[i].shell_ticks, cases[i].shell_waited_faults);
		put_process(&w, 98, SHELL, 0, 0);
		if (cases[i].child_of)
			put_process(&w, 99, cases[i].child_of, cases[i].child_ticks, 0);
		group_has(&w, cases[i].child_of ? "5\n7\n10\n99\n" : "5\n7\n10\n", 34);
		now = read_rest(&w);
		if (fabs(now.seconds - truth) > 1e-9 || now.most > truth + 0.02)
			fail_msg("shell %s: %f, at most %f", cases[i].what, now.seconds, now.most);
		/* 56 s more; nobody waited for the child, which may have done as much again. */
		test_host_remove(&w.t, "/proc/99");
		group_has(&w, "5\n7\n10\n", 90);
		truth += 56;
		now = read_rest(&w);
		if (now.seconds > truth + 1e-9 ||
			now.seconds > truth - cases[i].unseen + 0.02 + allowed(truth) ||
			now.seconds < truth - cases[i].unseen || now.most < truth ||
			now.most > truth + 0.02)
			fail_msg("shell %s, then: %f, at most %f", cases[i].what, now.seconds,
				now.most);
		world_done(&w);
	}
}

/* The shell forks and waits: 99 is seen once at 2 s, and used 2.5 s in all; others were never seen. */
static void children_of_others_may_come_and_go(void **state)
{
	static const char shell[] = "/proc/5/stat",
			  waited_for[] =
				  "5 (sh) S 2 1 1 0 -1 0 1 %d 0 0 50 0 %d 0 20 0 1 0 5 1000 5 0\n";
	struct cgroup_rest_reading now;
	char text[128];
	struct world w;

	(void)state;
	world_init(&w);
	put_process(&w, 99, SHELL, 200, 0);
	group_has(&w, "5\n7\n10\n99\n", 50);
	now = read_rest(&w);
	assert_double_equal(now.seconds, 1 + 20 - 2, 1e-9);
	test_host_remove(&w.t, "/proc/99");
	snprintf(text, sizeof text, waited_for, 20, 250);
	test_host_file(&w.t, shell, text);
	group_has(&w, "5\n7\n10\n", 50.5);
	now = read_rest(&w);
	assert_double_equal(now.seconds, 1 + 20.5 - 2.5, 1e-9);
	snprintf(text, sizeof text, waited_for, 30, 450);
	test_host_file(&w.t, shell, text);
	group_has(&w, "5\n7\n10\n", 52.5);
	now = read_rest(&w);
	assert_double_equal(now.seconds, 1 + 20.5 - 2.5, 1e-9);
	world_done(&w);
}

/* A family of an other: 98 is a child of the shell, and 99 a child of that. Both end before they are seen again. */
static void generations_of_others_may_end_at_once(void **state)
{
	static const struct {
		const char *what;
		unsigned told; /* ticks that the shell is told of */
		bool certain;
	} cases[] = {
		{"all that both used, and more", 450, true},
		{"less: one left its parent behind", 110, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		world_init(&w);
		put_process(&w, 98, SHELL, 100, 0);
		put_process(&w, 99, 98, 200, 0);
		group_has(&w, "5\n7\n10\n98\n99\n", 33);
		assert_double_equal(read_rest(&w).seconds, 1, 0.01);
		test_host_remove(&w.t, "/proc/98");
		test_host_remove(&w.t, "/proc/99");
		put_fields(&w, &(struct fields){SHELL, 2, 50, 1, cases[i].told, 20, false});
		group_has(&w, "5\n7\n10\n", 53);
		if (cases[i].certain)
			assert_double_equal(read_rest(&w).seconds, 1 + 23 - 4.5, 1e-9);
		else
			assert_doubtful(&w, 1 + 23 - 3);
		world_done(&w);
	}
}

/* 98 had used 60 s, and children of its 40 s, before the run began: the shell is told of that, too, when 98 ends. */
static void what_others_used_before_is_not_taken_off_the_run(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	cgroup_rest_close(w.rest);
	put_fields(&w, &(struct fields){98, SHELL, 6000, 1, 4000, 5, false});
	group_has(&w, "5\n7\n10\n98\n", 200);
	w.rest = open_rest(&w);
	assert_double_equal(read_rest(&w).seconds, 1, 1e-9);
	test_host_remove(&w.t, "/proc/98");
	put_fields(&w, &(struct fields){SHELL, 2, 50, 1, 10100, 20, false});
	group_has(&w, "5\n7\n10\n", 209);
	assert_double_equal(read_rest(&w).seconds, 1 + 9 - 1, 1e-9);
	world_done(&w);
}

/* Sixteen who forked: the error of 32 ticks at most that none of them may have is told, and not taken off. */
static void ticks_of_many_are_right_on_average(void **state)
{
	struct cgroup_rest_reading now;
	struct world w;

	(void)state;
	world_init(&w);
	cgroup_rest_close(w.rest);
	for (int pid = 80; pid < 94; pid++)
		put_process(&w, pid, SHELL, 0, 0);
	group_has(&w, "5\n7\n10\n80\n81\n82\n83\n84\n85\n86\n87\n88\n89\n90\n91\n92\n93\n", 30);
	w.rest = open_rest(&w);
	for (int pid = 80; pid < 94; pid++)
		put_fields(&w, &(struct fields){pid, SHELL, 0, 1, 10, 3, false});
	group_has(&w, "5\n7\n10\n80\n81\n82\n83\n84\n85\n86\n87\n88\n89\n90\n91\n92\n93\n", 32.4);
	now = read_rest(&w);
	assert_true(now.seconds <= 2 && now.seconds > 2 * 0.98);
	assert_true(now.most >= 2.05 && now.most < 2.1);
	world_done(&w);
}

/* Whoever called fork(2) takes a page fault at its next write. */
static void who_lets_the_kernel_reap_its_children_must_not_fork(void **state)
{
	static const struct {
		const char *what;
		unsigned ticks, faults; /* had 50 and 7 */
		bool certain;
	} cases[] = {
		{"sleeps", 50, 7, true},
		{"ran, and did not fork", 51, 7, true},
		{"may have forked", 51, 8, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		world_init(&w);
		cgroup_rest_close(w.rest);
		put_fields(&w, &(struct fields){SHELL, 2, 50, 7, 0, 9, true});
		w.rest = open_rest(&w);
		put_fields(&w,
			&(struct fields){SHELL, 2, cases[i].ticks, cases[i].faults, 0, 9, true});
		group_has(&w, "5\n7\n10\n", 50);
		if (cases[i].certain)
			assert_double_equal(read_rest(&w).seconds,
				21 - (cases[i].ticks - 50) * 0.01, 1e-9);
		else
			assert_doubtful(&w, 20.9);
		/* From then on it sleeps, and all is the run's. */
		double before = read_rest(&w).seconds;

		group_has(&w, "5\n7\n10\n", 60);
		assert_double_equal(read_rest(&w).seconds, before + 10, allowed(30));
		world_done(&w);
	}
}

static void newcomer_that_ignores_its_children_may_have_had_some(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	put_fields(&w, &(struct fields){98, SHELL, 0, 3, 0, 0, true});
	group_has(&w, "5\n7\n10\n98\n", 50);
	assert_doubtful(&w, 21);
	world_done(&w);
}

static void put_crowd(struct world *w, int first, int n)
{
	static char pids[16384];
	size_t length = (size_t)snprintf(pids, sizeof pids, "5\n7\n10\n");

	for (int pid = first; pid < first + n; pid++) {
		put_process(w, pid, 1, 0, 0);
		length += (size_t)snprintf(pids + length, sizeof pids - length, "%d\n", pid);
	}
	group_has(w, pids, 30);
}

static void crowd_is_told_apart_where_orphans_come_to_us(void **state)
{
	static const struct {
		int n;
		bool orphans_ours, apart;
	} cases[] = {{14, false, true}, {15, false, false}, {300, true, true}, {600, true, false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		world_init(&w);
		cgroup_rest_close(w.rest);
		put_crowd(&w, 1000, cases[i].n);
		w.orphans_ours = cases[i].orphans_ours;
		w.rest = open_rest(&w);
		assert_int_equal(w.rest != NULL, cases[i].apart);
		world_done(&w);
	}
}

static void who_is_not_shown_here_is_not_told_apart(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	group_has(&w, "0\n7\n10\n", 30);
	assert_null(open_rest(&w));
	world_done(&w);
}

static void note_pid(void *context, pid_t pid)
{
	*(uint64_t *)context = *(uint64_t *)context * 100 + (uint64_t)pid;
}

/* 77 and 78 belong to nobody: where orphans come to us, they are others'. 78 is just being reaped. */
static void strangers_are_others_where_orphans_come_to_us(void **state)
{
	(void)state;
	for (int ours = 0; ours < 2; ours++) {
		uint64_t found = 0;
		struct world w;

		world_init(&w);
		cgroup_rest_close(w.rest);
		w.orphans_ours = ours;
		w.rest = open_rest(&w);
		put_process(&w, 1, 0, 0, 0);
		put_process(&w, 77, 1, 300, 0);
		test_host_file(&w.t, "/proc/78/stat",
			"78 (job) X 0 0 0 0 -1 0 1 0 0 0 200 0 0 0 20 0 0 0 5 0 0 0\n");
		group_has(&w, "5\n7\n10\n77\n78\n", 40);
		assert_double_equal(read_rest(&w).seconds, ours ? 8 : 11, 1e-9);
		cgroup_rest_processes(w.rest, &w.t.host, note_pid, &found);
		assert_int_equal(found, ours ? 0 : 107778);
		world_done(&w);
	}
}

static void groups_below_are_not_told_apart(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	test_host_file(&w.t, GROUP "below/cgroup.procs", "");
	assert_null(open_rest(&w));
	world_done(&w);
}

static void orphans_of_the_run_are_found_in_the_group(void **state)
{
	struct world w;
	uint64_t found = 0;

	(void)state;
	world_init(&w);
	put_process(&w, 20, 1, 30, 0);
	put_process(&w, 21, SHELL, 0, 0);
	group_has(&w, "5\n7\n10\n20\n21\n", 30);
	cgroup_rest_processes(w.rest, &w.t.host, note_pid, &found);
	assert_int_equal(found, 1020);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rest_of_the_group_is_the_run_s),
		cmocka_unit_test(what_we_did_while_the_run_was_looked_at_is_not_the_run_s),
		cmocka_unit_test(parent_may_wait_for_the_root),
		cmocka_unit_test(parent_that_waited_just_now_is_believed_once),
		cmocka_unit_test(others_may_work),
		cmocka_unit_test(children_of_others_may_come_and_go),
		cmocka_unit_test(generations_of_others_may_end_at_once),
		cmocka_unit_test(what_others_used_before_is_not_taken_off_the_run),
		cmocka_unit_test(ticks_of_many_are_right_on_average),
		cmocka_unit_test(who_lets_the_kernel_reap_its_children_must_not_fork),
		cmocka_unit_test(newcomer_that_ignores_its_children_may_have_had_some),
		cmocka_unit_test(crowd_is_told_apart_where_orphans_come_to_us),
		cmocka_unit_test(who_is_not_shown_here_is_not_told_apart),
		cmocka_unit_test(strangers_are_others_where_orphans_come_to_us),
		cmocka_unit_test(groups_below_are_not_told_apart),
		cmocka_unit_test(orphans_of_the_run_are_found_in_the_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
