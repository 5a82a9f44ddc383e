/* collectors/accounts beside exit accounting: what ends cost is in a run's CPU time, and bounds what others tell of it. */
#include "tests/unit/test_main.h"

#include <stdio.h>

#include "tests/support/accounts_world.h"
#include "tests/support/fake_exit_events.h"

#define MS UINT64_C(1000000)

/* There are no such processes here (PID_MAX_LIMIT), whose clocks would be read: exit accounting is for this namespace. */
#define ROOT        5000010
#define OTHER       5000012
#define CHILD       5000100
#define SIGCHLD_BIT 65536 /* of sigignore */

struct group {
	struct world w;
	struct exit_events *events;
};

/* The other ignores SIGCHLD, or not; with each page fault it uses a tick. */
static void put_other(struct group *g, unsigned faults, unsigned ignored)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/stat", OTHER);
	snprintf(text, sizeof text,
		"%d (job) S 1 1 1 0 -1 0 %u 0 0 0 %u 0 0 0 20 0 1 0 5 1000 5 0 0 0 0 0 0 0 0 %u\n",
		OTHER, faults, faults, ignored);
	test_host_file(&g->w.t, path, text);
}

/* A run, and an other that is in its group. */
static void group_init(struct group *g, unsigned ignored)
{
	static const struct task_clock clock = TASK_CLOCK_NONE;
	struct world *w = &g->w;

	world_init(w, "/");
	account_close(w->account);
	process_tree_done(&w->tree);
	put_process(w, ROOT, 1, 100, "/box");
	put_process(w, OTHER, 1, 0, "/box");
	put_other(g, 0, ignored);
	test_host_file(&w->t, GROUP "cgroup.type", "domain\n");
	test_host_file(&w->t, GROUP "cgroup.procs", "5000010\n5000012\n");
	usage(w, 5000000, "");
	g->events = fake_exit_events_first();
	fake_processes(g->events)->alive[ROOT % FAKE_PIDS] = true;
	fake_processes(g->events)->alive[OTHER % FAKE_PIDS] = true;
	w->t.host.own_pid_namespace = true;
	assert_int_equal(process_tree_begin(&w->tree, &w->t.host, ROOT, 0, 0), 0);
	w->account = account_open(w->accounts, &w->t.host,
		&(struct account_spec){.root = ROOT, .forked_seconds = 0.25, .clock = &clock},
		&w->tree);
}

static void group_done(struct group *g)
{
	world_done(&g->w);
}

/* A child of the other ends, for whom nobody waits, and ten of the run: 2 ms and 300 ms, and 1 ms for each end. */
static void children_end(struct group *g)
{
	struct world *w = &g->w;

	look_again(w);
	for (pid_t pid = CHILD; pid < CHILD + 11; pid++) {
		bool others = pid == CHILD;

		fake_fork(g->events, others ? OTHER : ROOT, pid, 50 * MS);
		fake_end(g->events, pid, others ? 2 * MS : 30 * MS, MS);
	}
	usage(w, 5000000 + 10000 + 2000 + 300000 + 11 * 1000, "");
	put_process(w, ROOT, 1, 130, "/box"); /* with the children that it waited for */
	put_other(g, 1, SIGCHLD_BIT);
	machine(w, 102, 61);
	fake_processes(g->events)->clock_ns[OTHER % FAKE_PIDS] = 10 * MS;
}

static void ends_are_measured_by_the_group_that_a_run_shares(void **state)
{
	AUTO(group_done) struct group g;

	group_init(&g, SIGCHLD_BIT);
	children_end(&g);
	look_again(&g.w);
	/* 1.3 s, less what the root did as another program, and ten of eleven ends. */
	assert_double_equal(g.w.value[RUN_CPU_SECONDS], 1.3 - 0.25 + 0.010, 5e-4);
	assert_double_equal(note_of(&g.w).cpu_missed_seconds, 0.001, 5e-4);
}

/* The rest of the group would be more: the children of one who ignores SIGCHLD are nobody's. */
static void rest_of_the_group_is_no_more_than_the_kernel_told_of_the_run(void **state)
{
	AUTO(group_done) struct group g;

	group_init(&g, SIGCHLD_BIT);
	children_end(&g);
	fake_fork(g.events, OTHER, CHILD + 100, 50 * MS);
	fake_end(g.events, CHILD + 100, 9 * MS, MS);
	/* A hundredth of what the run did itself is more than that. */
	fake_processes(g.events)->clock_ns[ROOT % FAKE_PIDS] = 10000 * MS;
	put_process(&g.w, ROOT, 1, 1130, "/box");
	usage(&g.w, 15000000 + 10000 + 2000 + 300000 + 9000 + 12 * 1000, "");
	look_again(&g.w);
	assert_double_equal(g.w.value[RUN_CPU_SECONDS], 11.3 - 0.25 + 0.010, 2e-3);
	assert_true(note_of(&g.w).cpu_missed_seconds < 0.003);
}

static void exit_accounting_needs_no_clock(void **state)
{
	AUTO(group_done) struct group g;

	group_init(&g, SIGCHLD_BIT);
	assert_false(note_of(&g.w).uses_clock);
}

static void loss_of_records_charges_nothing_of_the_group(void **state)
{
	AUTO(group_done) struct group g;

	group_init(&g, 0);
	fake_loss(g.events);
	usage(&g.w, 5000000 + 400000, "");
	look_again(&g.w);
	assert_double_equal(g.w.value[RUN_CPU_SECONDS], 1 - 0.25, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_measured_by_the_group_that_a_run_shares),
		cmocka_unit_test(rest_of_the_group_is_no_more_than_the_kernel_told_of_the_run),
		cmocka_unit_test(exit_accounting_needs_no_clock),
		cmocka_unit_test(loss_of_records_charges_nothing_of_the_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
