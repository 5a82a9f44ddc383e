/* collectors/cgroup_others: who is in a group beside a run, and who ended. */
#include "tests/unit/test_main.h"

#include <stdio.h>

#include "collectors/base/mem.h"
#include "tests/support/rest_world.h"

/* The shell forks and waits: 99 is seen once at 2 s, and used 2.5 s in all; others were never seen. */
static void children_of_others_may_come_and_go(void **state)
{
	static const char shell[] = "/proc/5/stat",
			  waited_for[] =
				  "5 (sh) S 2 1 1 0 -1 0 1 %d 0 0 50 0 %d 0 20 0 1 0 5 1000 5 0\n";
	struct group_remainder_reading now;
	char text[128];
	AUTO(rest_world_done) struct rest_world w;

	rest_world_init(&w);
	rest_put_process(&w, 99, SHELL, 200, 0);
	rest_group_has(&w, "5\n7\n10\n99\n", 50);
	now = rest_read(&w);
	assert_double_equal(now.seconds, 1 + 20 - 2, 1e-9);
	test_host_remove(&w.t, "/proc/99");
	snprintf(text, sizeof text, waited_for, 20, 250);
	test_host_file(&w.t, shell, text);
	rest_group_has(&w, "5\n7\n10\n", 50.5);
	now = rest_read(&w);
	assert_double_equal(now.seconds, 1 + 20.5 - 2.5 - HALF_TICK, 1e-9);
	snprintf(text, sizeof text, waited_for, 30, 450);
	test_host_file(&w.t, shell, text);
	rest_group_has(&w, "5\n7\n10\n", 52.5);
	now = rest_read(&w);
	assert_double_equal(now.seconds, 1 + 20.5 - 2.5 - HALF_TICK, 1e-9);
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

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(rest_world_done) struct rest_world w;

		rest_world_init(&w);
		rest_put_process(&w, 98, SHELL, 100, 0);
		rest_put_process(&w, 99, 98, 200, 0);
		rest_group_has(&w, "5\n7\n10\n98\n99\n", 33);
		assert_double_equal(rest_read(&w).seconds, 1, 0.01);
		test_host_remove(&w.t, "/proc/98");
		test_host_remove(&w.t, "/proc/99");
		rest_put(&w, &(struct rest_fields){SHELL, 2, 50, 1, cases[i].told, 20, false});
		rest_group_has(&w, "5\n7\n10\n", 53);
		if (cases[i].certain)
			assert_double_equal(rest_read(&w).seconds, 1 + 23 - 4.5 - HALF_TICK, 1e-9);
		else
			assert_doubtful(&w, 1 + 23 - 3);
	}
}

/* 98 had used 60 s, and children of its 40 s, before the run began: the shell is told of that, too, when 98 ends. */
static void what_others_used_before_is_not_taken_off_the_run(void **state)
{
	AUTO(rest_world_done) struct rest_world w;

	rest_world_init(&w);
	group_remainder_close(w.rest);
	rest_put(&w, &(struct rest_fields){98, SHELL, 6000, 1, 4000, 5, false});
	rest_group_has(&w, "5\n7\n10\n98\n", 200);
	w.rest = rest_open(&w);
	assert_double_equal(rest_read(&w).seconds, 1, 1e-9);
	test_host_remove(&w.t, "/proc/98");
	rest_put(&w, &(struct rest_fields){SHELL, 2, 50, 1, 10100, 20, false});
	rest_group_has(&w, "5\n7\n10\n", 209);
	assert_double_equal(rest_read(&w).seconds, 1 + 9 - 1, 1e-9);
}

static void put_crowd(struct rest_world *w, int first, int n)
{
	static char pids[16384];
	size_t length = (size_t)snprintf(pids, sizeof pids, "5\n7\n10\n");

	for (int pid = first; pid < first + n; pid++) {
		rest_put_process(w, pid, 1, 0, 0);
		length += (size_t)snprintf(pids + length, sizeof pids - length, "%d\n", pid);
	}
	rest_group_has(w, pids, 30);
}

static void crowd_is_told_apart_where_orphans_come_to_us(void **state)
{
	static const struct {
		int n;
		bool orphans_ours, apart;
	} cases[] = {{14, false, true}, {15, false, false}, {300, true, true}, {600, true, false}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(rest_world_done) struct rest_world w;

		rest_world_init(&w);
		group_remainder_close(w.rest);
		put_crowd(&w, 1000, cases[i].n);
		w.orphans_ours = cases[i].orphans_ours;
		w.rest = rest_open(&w);
		assert_int_equal(w.rest != NULL, cases[i].apart);
	}
}

static void who_is_not_shown_here_is_not_told_apart(void **state)
{
	AUTO(rest_world_done) struct rest_world w;

	rest_world_init(&w);
	rest_group_has(&w, "0\n7\n10\n", 30);
	assert_null(rest_open(&w));
}

static void note_pid(void *context, pid_t pid)
{
	*(uint64_t *)context = *(uint64_t *)context * 100 + (uint64_t)pid;
}

/* 77 and 78 belong to nobody: where orphans come to us, they are others'. 78 is just being reaped. */
static void strangers_are_others_where_orphans_come_to_us(void **state)
{
	for (int ours = 0; ours < 2; ours++) {
		uint64_t found = 0;
		AUTO(rest_world_done) struct rest_world w;

		rest_world_init(&w);
		group_remainder_close(w.rest);
		w.orphans_ours = ours;
		w.rest = rest_open(&w);
		rest_put_process(&w, 1, 0, 0, 0);
		rest_put_process(&w, 77, 1, 300, 0);
		test_host_file(&w.t, "/proc/78/stat",
			"78 (job) X 0 0 0 0 -1 0 1 0 0 0 200 0 0 0 20 0 0 0 5 0 0 0\n");
		rest_group_has(&w, "5\n7\n10\n77\n78\n", 40);
		assert_double_equal(rest_read(&w).seconds, ours ? 8 : 11, 1e-9);
		group_remainder_processes(w.rest, &w.t.host, note_pid, &found);
		assert_int_equal(found, ours ? 0 : 107778);
	}
}

static void groups_below_are_not_told_apart(void **state)
{
	AUTO(rest_world_done) struct rest_world w;

	rest_world_init(&w);
	test_host_file(&w.t, GROUP "below/cgroup.procs", "");
	assert_null(rest_open(&w));
}

static void orphans_of_the_run_are_found_in_the_group(void **state)
{
	AUTO(rest_world_done) struct rest_world w;
	uint64_t found = 0;

	rest_world_init(&w);
	rest_put_process(&w, 20, 1, 30, 0);
	rest_put_process(&w, 21, SHELL, 0, 0);
	rest_group_has(&w, "5\n7\n10\n20\n21\n", 30);
	group_remainder_processes(w.rest, &w.t.host, note_pid, &found);
	assert_int_equal(found, 1020);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_of_others_may_come_and_go),
		cmocka_unit_test(generations_of_others_may_end_at_once),
		cmocka_unit_test(what_others_used_before_is_not_taken_off_the_run),
		cmocka_unit_test(crowd_is_told_apart_where_orphans_come_to_us),
		cmocka_unit_test(who_is_not_shown_here_is_not_told_apart),
		cmocka_unit_test(strangers_are_others_where_orphans_come_to_us),
		cmocka_unit_test(groups_below_are_not_told_apart),
		cmocka_unit_test(orphans_of_the_run_are_found_in_the_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
