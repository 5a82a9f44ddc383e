/* collectors/cgroup_rest: how much of a group's CPU time is a run's. */
#include "tests/unit/test_main.h"

#include <math.h>

#include "collectors/base/mem.h"
#include "tests/support/rest_world.h"

static void rest_of_the_group_is_the_run_s(void **state)
{
	AUTO(rest_world_done) struct rest_world w;

	rest_world_init(&w);
	assert_double_equal(rest_read(&w).seconds, 1, 1e-9);
	/* 8 s more, of which 0.3 s were ours and 0.01 s the shell's; we waited for an orphan of the run. */
	rest_put_process(&w, SHELL, 2, 51, 9);
	rest_put_process(&w, OURS, SHELL, 50, 300);
	rest_group_has(&w, "5\n7\n10\n77\n", 38);
	rest_put_process(&w, 77, 2, 0, 0); /* another orphan of the run */
	assert_double_equal(rest_read(&w).seconds, 1 + 8 - 0.3 - 0.01, 1e-9);
	/* The shell is told that we ended; the group goes. */
	test_host_remove(&w.t, "/sys/fs/cgroup/box");

	struct group_remainder_reading last = rest_read(&w);

	assert_double_equal(last.seconds, 1 + 8 - 0.3 - 0.01, 1e-9);
	/* The shell's one tick may be two. */
	assert_double_equal(last.most, last.seconds, 0.02);
}

static void what_we_did_while_the_run_was_looked_at_is_not_the_run_s(void **state)
{
	struct group_remainder_spec spec = {
		.root = ROOT, .members = {rest_is_root}, .known_seconds = 1};
	AUTO(rest_world_done) struct rest_world w;

	rest_world_init(&w);
	group_remainder_close(w.rest);
	spec.group = &w.group;
	spec.start = group_remainder_start(&w.group, &w.t.host);
	rest_put_process(&w, OURS, SHELL, 70, 3);
	w.rest = group_remainder_open(&w.t.host, &spec);
	rest_group_has(&w, "5\n7\n10\n", 32.5);
	assert_double_equal(rest_read(&w).seconds, 1 + 2.5 - 0.5, 1e-9);
}

/* All that the command and its children do is the run's: it is forked later, and its first children are gone by then. */
static void group_is_watched_before_the_command_is_forked(void **state)
{
	AUTO(rest_world_done) struct rest_world w;

	rest_world_init(&w);
	group_remainder_close(w.rest);
	test_host_remove(&w.t, "/proc/10");
	rest_group_has(&w, "5\n7\n", 29);
	w.rest = group_remainder_open(&w.t.host,
		&(struct group_remainder_spec){.group = &w.group,
			.start = group_remainder_start(&w.group, &w.t.host),
			.orphans_ours = true});
	rest_put_process(&w, OURS, SHELL, 30, 3);
	rest_put_process(&w, SHELL, 2, 51, 9);
	rest_put_process(&w, ROOT, OURS, 100, 0);
	rest_group_has(&w, "5\n7\n10\n", 29 + 3 + 0.1 + 0.01);
	assert_double_equal(rest_read(&w).seconds, 3, 1e-9);
}

static void parent_may_wait_for_the_root(void **state)
{
	AUTO(rest_world_done) struct rest_world w;

	rest_world_init(&w);
	group_remainder_close(w.rest);
	rest_put_process(&w, ROOT, SHELL, 100, 0);
	w.rest = rest_open(&w);
	test_host_remove(&w.t, "/proc/10/stat");
	rest_put_process(&w, SHELL, 2, 50, 444);
	rest_group_has(&w, "5\n7\n", 32);
	assert_double_equal(rest_read(&w).seconds, 3, 1e-9);
}

/* As when it does so between two files that are read: the root is a zombie, or already gone. */
static void parent_that_waited_just_now_is_believed_once(void **state)
{
	AUTO(rest_world_done) struct rest_world w;

	rest_world_init(&w);
	group_remainder_close(w.rest);
	rest_put_process(&w, ROOT, SHELL, 100, 0);
	w.rest = rest_open(&w);
	test_host_file(&w.t, "/proc/10/stat",
		"10 (job) X 7 1 1 0 -1 0 1 0 0 0 100 0 0 0 20 0 1 0 5 0 0 0\n");
	rest_put_process(&w, SHELL, 2, 50, 444);
	rest_group_has(&w, "5\n7\n10\n", 32);
	assert_double_equal(rest_read(&w).seconds, 3, 1e-9);
	test_host_remove(&w.t, "/proc/10/stat");
	rest_group_has(&w, "5\n7\n", 32);
	assert_double_equal(rest_read(&w).seconds, 3, 1e-9);
	rest_put_process(&w, SHELL, 2, 50, 500);
	rest_group_has(&w, "5\n7\n", 40);

	struct group_remainder_reading last = rest_read(&w);

	assert_double_equal(last.seconds, 3, 1e-9);
	assert_double_equal(last.most, 11, 1e-9);
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

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct group_remainder_reading now;
		double truth = 5 - cases[i].others;
		AUTO(rest_world_done) struct rest_world w;

		rest_world_init(&w);
		rest_put_process(&w, SHELL, 2, cases[i].shell_ticks, cases[i].shell_waited_faults);
		rest_put_process(&w, 98, SHELL, 0, 0);
		if (cases[i].child_of)
			rest_put_process(&w, 99, cases[i].child_of, cases[i].child_ticks, 0);
		rest_group_has(&w, cases[i].child_of ? "5\n7\n10\n99\n" : "5\n7\n10\n", 34);
		now = rest_read(&w);
		if (fabs(now.seconds - truth) > 1e-9 || now.most > truth + 0.02)
			fail_msg("shell %s: %f, at most %f", cases[i].what, now.seconds, now.most);
		/* 56 s more; nobody waited for the child, which may have done as much again. */
		test_host_remove(&w.t, "/proc/99");
		rest_group_has(&w, "5\n7\n10\n", 90);
		truth += 56;
		now = rest_read(&w);
		if (now.seconds > truth + 1e-9 ||
			now.seconds > truth - cases[i].unseen + 0.02 + rest_allowed(truth) ||
			now.seconds < truth - cases[i].unseen || now.most < truth ||
			now.most > truth + 0.02)
			fail_msg("shell %s, then: %f, at most %f", cases[i].what, now.seconds,
				now.most);
	}
}

/* The shell's one tick may be none, or nearly three: 17 ms. What a wrapper waited for will be told to the instant. */
static void short_run_is_told_too_little_rather_than_too_much(void **state)
{
	static const struct {
		bool orphans_ours;
		double more,
			at_most_above; /* seconds that the run did, and by which it may be overstated */
	} cases[] = {{false, 0.1, 0.01}, {true, 0.1, 0.001}, {false, 9, 0.01}, {true, 9, 0.001}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(rest_world_done) struct rest_world w;

		rest_world_init(&w);
		group_remainder_close(w.rest);
		w.orphans_ours = cases[i].orphans_ours;
		w.rest = rest_open(&w);
		rest_put_process(&w, SHELL, 2, 51, 9);
		rest_group_has(&w, "5\n7\n10\n", 30 + 0.01 + cases[i].more);

		double rest = 1 + cases[i].more, off = sqrt(3) * 0.01;
		double allowed = rest * 0.01 + cases[i].at_most_above;

		assert_double_equal(rest_read(&w).seconds, rest - fmax(off - allowed, 0), 1e-9);
	}
}

/* Fourteen who forked: all of them off by two ticks is what never happens, and not taken off. */
static void ticks_of_many_are_right_on_average(void **state)
{
	struct group_remainder_reading now;
	AUTO(rest_world_done) struct rest_world w;

	rest_world_init(&w);
	group_remainder_close(w.rest);
	for (int pid = 80; pid < 94; pid++)
		rest_put_process(&w, pid, SHELL, 0, 0);
	rest_group_has(&w, "5\n7\n10\n80\n81\n82\n83\n84\n85\n86\n87\n88\n89\n90\n91\n92\n93\n",
		30);
	w.rest = rest_open(&w);
	for (int pid = 80; pid < 94; pid++)
		rest_put(&w, &(struct rest_fields){pid, SHELL, 0, 1, 10, 3, false});
	rest_group_has(&w, "5\n7\n10\n80\n81\n82\n83\n84\n85\n86\n87\n88\n89\n90\n91\n92\n93\n",
		32.4);
	now = rest_read(&w);

	double truth = 1 + 2.4 - 14 * (0.1 + HALF_TICK);

	assert_true(now.seconds <= truth && now.seconds > truth * 0.98);
	assert_true(now.most > truth + 0.05 && now.most < truth + 0.1);
}

/* A process that called fork(2) takes a page fault at its next write. */
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

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(rest_world_done) struct rest_world w;

		rest_world_init(&w);
		group_remainder_close(w.rest);
		rest_put(&w, &(struct rest_fields){SHELL, 2, 50, 7, 0, 9, true});
		w.rest = rest_open(&w);
		rest_put(&w, &(struct rest_fields){
				     SHELL, 2, cases[i].ticks, cases[i].faults, 0, 9, true});
		rest_group_has(&w, "5\n7\n10\n", 50);
		if (cases[i].certain)
			assert_double_equal(rest_read(&w).seconds,
				21 - (cases[i].ticks - 50) * 0.01, 1e-9);
		else
			assert_doubtful(&w, 20.9);
		/* From then on it sleeps, and all is the run's. */
		double before = rest_read(&w).seconds;

		rest_group_has(&w, "5\n7\n10\n", 60);
		assert_double_equal(rest_read(&w).seconds, before + 10, rest_allowed(30));
	}
}

static void newcomer_that_ignores_its_children_may_have_had_some(void **state)
{
	AUTO(rest_world_done) struct rest_world w;

	rest_world_init(&w);
	rest_put(&w, &(struct rest_fields){98, SHELL, 0, 3, 0, 0, true});
	rest_group_has(&w, "5\n7\n10\n98\n", 50);
	assert_doubtful(&w, 21);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rest_of_the_group_is_the_run_s),
		cmocka_unit_test(what_we_did_while_the_run_was_looked_at_is_not_the_run_s),
		cmocka_unit_test(group_is_watched_before_the_command_is_forked),
		cmocka_unit_test(parent_may_wait_for_the_root),
		cmocka_unit_test(parent_that_waited_just_now_is_believed_once),
		cmocka_unit_test(others_may_work),
		cmocka_unit_test(short_run_is_told_too_little_rather_than_too_much),
		cmocka_unit_test(ticks_of_many_are_right_on_average),
		cmocka_unit_test(who_lets_the_kernel_reap_its_children_must_not_fork),
		cmocka_unit_test(newcomer_that_ignores_its_children_may_have_had_some),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
