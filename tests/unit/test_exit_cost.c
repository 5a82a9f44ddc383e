/* Tests collectors/accounting/exit_cost.c: what the exits of processes cost. The v2 control group
 * is simulated, and the test makes the events. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

#include "collectors/accounting/exit_cost.h"
#include "tests/support/fake_exit_events.h"
#include "tests/support/test_host.h"

#define BOX   "/sys/fs/cgroup/box/"
#define ROOT  10
#define ROOT2 20
#define OTHER 5
#define MS    1000000ULL
/* The usual cost of an exit in ns, for a process without pages. The same cost is assumed for an
 * exit that cannot be measured. */
#define END 60000ULL

struct world {
	struct test_host t;
	struct exit_events *x;
	struct fake_processes *p;
	struct exit_cost_groups groups;
	struct cgroup group;
	struct exit_cost run[2];
	unsigned number[2];
	uint64_t usage_ns;
	char present[256];
};

static void group_file(struct world *w)
{
	char text[64];

	snprintf(text, sizeof text, "usage_usec %.0f\n", (double)w->usage_ns / 1e3);
	test_host_file(&w->t, BOX "cpu.stat", text);
	test_host_file(&w->t, BOX "cgroup.procs", w->present);
}

static void begin_run(struct world *w, size_t i, pid_t root, uint64_t base_ns)
{
	w->number[i] = lineage_begin(exit_events_book(w->x), root, base_ns);
	exit_cost_begin(&w->run[i], &w->groups, w->x, w->number[i], &w->group, &w->t.host);
}

static void end_run(struct world *w, size_t i)
{
	lineage_forget(exit_events_book(w->x), w->number[i]);
	exit_cost_done(&w->run[i], &w->groups, w->x);
}

/* Makes the process exist, with one second of CPU time. */
static void live(struct world *w, pid_t pid)
{
	w->p->alive[pid] = true;
	w->p->clock_ns[pid] = 1000 * MS;
}

/* Makes a run (10) and a stranger (5) in a group that has used an hour of CPU time. */
static void world_init(struct world *w)
{
	struct err e = {0};

	*w = (struct world){.usage_ns = 3600 * 1000 * MS, .present = "10\n5\n"};
	test_host_init(&w->t);
	test_host_file(&w->t, "/proc/self/mountinfo",
		"20 1 0:18 / /sys rw - sysfs sysfs rw\n25 20 0:22 / /sys/fs/cgroup rw - cgroup2 "
		"cgroup2 rw\n");
	test_host_file(&w->t, "/proc/10/cgroup", "0::/box\n");
	test_host_file(&w->t, BOX "cgroup.type", "domain\n");
	group_file(w);
	assert_int_equal(cgroup_find(&w->group, &w->t.host, "10", NULL), 0);
	assert_int_equal(exit_events_start(&w->x, false, &e), 0);
	w->p = fake_processes(w->x);
	live(w, ROOT);
	live(w, OTHER);
	begin_run(w, 0, ROOT, 7 * MS);
}

static void world_done(struct world *w)
{
	for (size_t i = 0; i < ARRAY_LEN(w->run); i++)
		if (w->run[i].group)
			end_run(w, i);
	assert_int_equal(w->groups.n, 0);
	exit_events_stop(w->x);
	test_host_done(&w->t);
}

static void use(struct world *w, pid_t pid, uint64_t ns)
{
	w->p->clock_ns[pid] += ns;
	w->usage_ns += ns;
}

/* Simulates a child that used 1 ms and ended. The exit lasted `took_ns`, and cost `cost_ns` of CPU
 * time. */
static void child_ends(struct world *w, pid_t parent, pid_t pid, uint64_t took_ns, uint64_t cost_ns)
{
	fake_fork(w->x, parent, pid, 50 * MS);
	fake_end(w->x, pid, MS, took_ns);
	w->usage_ns += MS + cost_ns;
}

static void tick(struct world *w)
{
	group_file(w);
	exit_cost_groups_read(&w->groups, &w->t.host);
	exit_events_settle(w->x);
	exit_cost_groups_measure(&w->groups, w->x, &w->t.host);
}

#define assert_ends(run, ns) assert_double_equal((run).seconds, (double)(ns) / 1e9, 2e-6)

static void ends_are_what_the_group_used_beyond_what_is_told(void **state)
{
	static const struct {
		uint64_t took_ns, cost_ns; /* elapsed time and CPU time of each of 10 exits */
		uint64_t expected_ns;
	} cases[] = {
		{END, END, 10 * END},
		{END, 45000, 450000},
		/* The machine stalled, and the stall counts as cost. */
		{40 * END, 30 * END, 300 * END},
		{40 * END, END, 10 * END}, /* other tasks used the CPU during the exits */
		/* The cost is measured as the group's CPU time that no process accounts for. If it
		 * is longer than the exits lasted, other processes used it. If it is 0, the exits
		 * ran in another group. In both cases the usual cost is assumed. */
		{END, 5 * END, 10 * END},
		{END, 0, 10 * END},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;

		world_init(&w);
		use(&w, ROOT, 300 * MS);
		use(&w, OTHER, 900 * MS);
		for (pid_t pid = 100; pid < 110; pid++)
			child_ends(&w, ROOT, pid, cases[i].took_ns, cases[i].cost_ns);
		for (int looks = 0; looks < 3; looks++) {
			tick(&w);
			assert_ends(w.run[0], cases[i].expected_ns);
		}
	}
}

static void ends_are_shared_out_between_the_run_and_others(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w);
	for (pid_t pid = 100; pid < 130; pid++)
		child_ends(&w, pid % 3 ? ROOT : OTHER, pid, END, 2 * END);
	tick(&w);
	assert_ends(w.run[0], 40 * END);
	/* The exits of the run may have cost more than its share. The upper bound is the time that
	 * they lasted plus 0.1 ms each. */
	assert_double_equal(w.run[0].missed_seconds, 20 * (END + 100000 - 2 * END) / 1e9, 1e-6);
}

/* The machine stalled during one exit, so that exit cost as much as it lasted. All other exits were
 * too short for that cost, so it is not shared among them. */
static void end_that_took_long_is_whose_it_was(void **state)
{
	static const struct {
		pid_t parent;
		double least, most; /* the run's share in ns */
	} cases[] = {{ROOT, 99.5 * MS, 101 * MS}, {OTHER, 0, 2 * MS}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;

		world_init(&w);
		for (pid_t pid = 100; pid < 110; pid++)
			child_ends(&w, pid % 2 ? ROOT : OTHER, pid, END, END);
		child_ends(&w, cases[i].parent, 110, 100 * MS, 100 * MS);
		tick(&w);
		assert_true(w.run[0].seconds * 1e9 >= cases[i].least);
		assert_true(w.run[0].seconds * 1e9 <= cases[i].most);
	}
}

static void runs_in_one_group_have_their_own_ends_each(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w);
	child_ends(&w, ROOT, 100, END, 2 * END);
	tick(&w);
	/* Process OTHER becomes the root of a second run. Its earlier CPU time is not part of any
	 * exit's cost. */
	use(&w, OTHER, 50 * MS);
	group_file(&w);
	begin_run(&w, 1, OTHER, 3 * MS);
	child_ends(&w, OTHER, 101, END, 3 * END / 4);
	child_ends(&w, ROOT, 102, END, 3 * END / 4);
	tick(&w);
	assert_ends(w.run[0], 2 * END + 3 * END / 4);
	assert_ends(w.run[1], 3 * END / 4);
	/* The second run ends. Its process goes on as a stranger. */
	end_run(&w, 1);
	tick(&w);
	child_ends(&w, OTHER, 103, END, 2 * END);
	child_ends(&w, ROOT, 104, END, 2 * END);
	use(&w, OTHER, 10 * MS);
	tick(&w);
	assert_ends(w.run[0], 4 * END + 3 * END / 4);
}

static void child_of_the_run_that_was_found_later_makes_no_difference(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w);
	live(&w, 12);
	snprintf(w.present, sizeof w.present, "10\n5\n12\n");
	tick(&w);
	lineage_add(exit_events_book(w.x), w.number[0], 12);
	use(&w, 12, 5 * MS);
	child_ends(&w, 12, 100, END, 2 * END);
	tick(&w);
	assert_ends(w.run[0], 2 * END);
}

/* The present processes of the group change. Either a process enters the group and uses CPU time in
 * it, or a process leaves the group and uses CPU time elsewhere. That CPU time must not count as
 * the cost of an exit. */
static void who_comes_or_leaves_is_no_end(void **state)
{
	static const struct {
		const char *present;
		uint64_t used_by_stranger_ns, used_elsewhere_ns;
	} cases[] = {{"10\n5\n77\n", 100000, 0}, {"10\n", 0, 100000}, {"5\n", 0, 100000}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;

		world_init(&w);
		child_ends(&w, ROOT, 100, 10 * END, 5 * END);
		tick(&w);
		assert_ends(w.run[0], 5 * END);
		live(&w, 77);
		use(&w, 77, cases[i].used_by_stranger_ns);
		w.p->clock_ns[strcmp(cases[i].present, "5\n") ? OTHER : ROOT] +=
			cases[i].used_elsewhere_ns;
		child_ends(&w, ROOT, 101, END, 2 * END);
		snprintf(w.present, sizeof w.present, "%s", cases[i].present);
		tick(&w);
		/* The usual cost is assumed for this exit. The next exit is measured again if the
		 * whole run is in the group. */
		assert_ends(w.run[0], 6 * END);
		child_ends(&w, ROOT, 102, END, 2 * END);
		use(&w, 77, strstr(cases[i].present, "77") ? 20 * MS : 0);
		tick(&w);
		assert_ends(w.run[0], strstr(cases[i].present, "10") ? 8 * END : 7 * END);
	}
}

/* There is a run in each of two groups. A stranger with much earlier CPU time moves from the first
 * group to the second. That CPU time must not count as the cost of an exit in either group. */
static void who_moves_between_groups_is_no_end_of_either(void **state)
{
	static const char *const there[] = {"20\n", "20\n5\n", "20\n5\n"};
	static const char *const here[] = {"10\n5\n", "10\n", "10\n"};
	AUTO(world_done) struct world w;

	world_init(&w);
	live(&w, ROOT2);
	test_host_file(&w.t, "/proc/20/cgroup", "0::/two\n");
	test_host_file(&w.t, "/sys/fs/cgroup/two/cgroup.type", "domain\n");
	test_host_file(&w.t, "/sys/fs/cgroup/two/cgroup.procs", there[0]);
	test_host_file(&w.t, "/sys/fs/cgroup/two/cpu.stat", "usage_usec 1000000\n");
	assert_int_equal(cgroup_find(&w.group, &w.t.host, "20", NULL), 0);
	begin_run(&w, 1, ROOT2, 0);
	for (unsigned i = 0; i < ARRAY_LEN(there); i++) {
		char usage[64];

		child_ends(&w, ROOT, (pid_t)(100 + i), END, 2 * END);
		/* In the second group a child ends. The stranger uses CPU time there after the
		 * move. */
		fake_fork(w.x, ROOT2, (pid_t)(200 + i), 50 * MS);
		fake_end(w.x, (pid_t)(200 + i), MS, END);
		w.p->clock_ns[OTHER] += i ? 70 * MS : 0;
		snprintf(usage, sizeof usage, "usage_usec %u\n",
			1000000 + (i + 1) * 1120 + i * 70000);
		test_host_file(&w.t, "/sys/fs/cgroup/two/cpu.stat", usage);
		test_host_file(&w.t, "/sys/fs/cgroup/two/cgroup.procs", there[i]);
		snprintf(w.present, sizeof w.present, "%s", here[i]);
		tick(&w);
		/* The exit at the tick of the move counts with the usual cost. All others count as
		 * measured. */
		assert_ends(w.run[0], (2 * (i + 1) - (i > 0)) * END);
		assert_ends(w.run[1], (2 * (i + 1) - (i > 0)) * END);
	}
}

static void who_ended_or_was_born_around_the_listing_changes_nothing(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w);
	/* Process 100 was listed and ended. Process 101 was created after the listing. */
	child_ends(&w, ROOT, 100, END, 2 * END);
	snprintf(w.present, sizeof w.present, "10\n5\n100\n99\n");
	fake_fork(w.x, ROOT, 101, UINT64_MAX / 2);
	tick(&w);
	assert_ends(w.run[0], 2 * END);
	/* cgroup.procs does not list a zombie. */
	fake_fork(w.x, ROOT, 102, MS);
	fake_end(w.x, 102, MS, END);
	w.p->alive[102] = true;
	w.p->clock_ns[102] = MS + END;
	w.usage_ns += MS + END;
	tick(&w);
	assert_ends(w.run[0], 2 * END);
	w.p->alive[102] = false;
	tick(&w);
	assert_ends(w.run[0], 2 * END);
}

static void lost_records_are_no_ends(void **state)
{
	AUTO(world_done) struct world w;

	world_init(&w);
	child_ends(&w, ROOT, 100, END, 2 * END);
	tick(&w);
	child_ends(&w, ROOT, 101, END, 3 * END);
	use(&w, 77, END); /* the events of process 77 were lost */
	fake_loss(w.x);
	tick(&w);
	assert_ends(w.run[0], 3 * END);
	child_ends(&w, ROOT, 102, END, 2 * END);
	tick(&w);
	assert_ends(w.run[0], 5 * END);
}

static void group_that_cannot_be_measured_leaves_the_estimate(void **state)
{
	static const struct {
		const char *file, *text; /* NULL = the file does not exist */
	} cases[] = {
		{BOX "cgroup.type", NULL}, /* the root control group has no such file */
		{BOX "cpu.stat", NULL},
		{BOX "cgroup.procs", NULL},
		{BOX "cgroup.procs", "10\n5\n0\n"},
		{BOX "below/cgroup.procs", "50\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_done) struct world w;

		world_init(&w);
		end_run(&w, 0);
		if (cases[i].text)
			test_host_file(&w.t, cases[i].file, cases[i].text);
		else
			test_host_remove(&w.t, cases[i].file);
		begin_run(&w, 0, ROOT, 0);
		group_file(&w);
		if (cases[i].text)
			test_host_file(&w.t, cases[i].file, cases[i].text);
		else
			test_host_remove(&w.t, cases[i].file);
		child_ends(&w, ROOT, 100, END, 2 * END);
		exit_cost_groups_read(&w.groups, &w.t.host);
		exit_events_settle(w.x);
		exit_cost_groups_measure(&w.groups, w.x, &w.t.host);
		if (!w.run[0].group) {
			struct lineage_tally tally;

			lineage_tally(exit_events_book(w.x), w.number[0], &tally);
			exit_cost_estimate(&w.run[0], &tally);
			lineage_forget(exit_events_book(w.x), w.number[0]);
		}
		assert_ends(w.run[0], END);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_what_the_group_used_beyond_what_is_told),
		cmocka_unit_test(ends_are_shared_out_between_the_run_and_others),
		cmocka_unit_test(end_that_took_long_is_whose_it_was),
		cmocka_unit_test(runs_in_one_group_have_their_own_ends_each),
		cmocka_unit_test(child_of_the_run_that_was_found_later_makes_no_difference),
		cmocka_unit_test(who_comes_or_leaves_is_no_end),
		cmocka_unit_test(who_moves_between_groups_is_no_end_of_either),
		cmocka_unit_test(who_ended_or_was_born_around_the_listing_changes_nothing),
		cmocka_unit_test(lost_records_are_no_ends),
		cmocka_unit_test(group_that_cannot_be_measured_leaves_the_estimate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
