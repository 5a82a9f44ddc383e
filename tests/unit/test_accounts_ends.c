/* Tests collectors/accounting/accounts.c with exit accounting. A run's CPU time includes the cost
 * of its processes' exits. Exit accounting also gives an upper bound for the other sources. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>

#include "tests/support/accounts_world.h"
#include "tests/support/fake_exit_events.h"

#define MS UINT64_C(1000000)

/* These pids are above PID_MAX_LIMIT, so that no real process has them and the test cannot read a
 * real CPU clock. Exit accounting is used only for processes of the exporter's own PID
 * namespace. */
#define ROOT        5000010
#define OTHER       5000012
#define CHILD       5000100
#define SIGCHLD_BIT 65536 /* in the sigignore field of /proc/PID/stat */

struct group {
	struct world w;
	struct exit_events *events;
};

/* Writes /proc/PID/stat of process OTHER. Its CPU time in ticks is the same number as its page
 * faults. */
static void put_other(struct group *g, unsigned faults, unsigned ignored)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/stat", OTHER);
	snprintf(text, sizeof text,
		"%d (job) S 1 1 1 0 -1 0 %u 0 0 0 %u 0 0 0 20 0 1 0 5 1000 5 0 0 0 0 0 0 0 0 %u\n",
		OTHER, faults, faults, ignored);
	test_host_file(&g->w.t, path, text);
}

/* Makes a run and a stranger, OTHER, in the same control group. */
static void group_init_with(struct group *g, unsigned ignored, bool records)
{
	static const struct task_clock clock = TASK_CLOCK_NONE;
	static struct descriptors none; /* no clock can be attached */
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
	w->t.host.group_files = records ? NULL : &none;
	if (!records)
		fake_without_records(g->events, 2);
	fake_processes(g->events)->alive[ROOT % FAKE_PIDS] = true;
	fake_processes(g->events)->alive[OTHER % FAKE_PIDS] = true;
	w->t.host.own_pid_namespace = true;
	assert_int_equal(process_tree_begin(&w->tree, &w->t.host, ROOT, 0, 0), 0);
	w->account = account_open(w->accounts, &w->t.host,
		&(struct account_spec){
			.root = ROOT, .forked_seconds = 0.25, .clock = records ? &clock : NULL},
		&w->tree);
}

static void group_init(struct group *g, unsigned ignored)
{
	group_init_with(g, ignored, true);
}

static void group_done(struct group *g)
{
	world_done(&g->w);
}

/* Ends one child of OTHER and ten children of the run. OTHER's child used 2 ms, and no process
 * waits for it. The run's children used 300 ms together. Each exit costs 1 ms. */
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
	put_process(w, ROOT, 1, 130, "/box"); /* includes the children that ROOT waited for */
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
	/* The root and its children used 1.3 s, of which 0.25 s came before exec. Ten of the eleven
	 * exits are the run's. */
	assert_double_equal(g.w.value[RUN_CPU_SECONDS], 1.3 - 0.25 + 0.010, 5e-4);
	assert_double_equal(note_of(&g.w).cpu_missed_seconds, 0.001, 5e-4);
}

/* The group used more CPU time than its known processes: it also contains the children of a
 * stranger that ignores SIGCHLD. The surplus must not count as CPU time that the run's reading
 * missed. */
static void rest_of_the_group_is_no_more_than_the_kernel_told_of_the_run(void **state)
{
	AUTO(group_done) struct group g;

	group_init(&g, SIGCHLD_BIT);
	children_end(&g);
	fake_fork(g.events, OTHER, CHILD + 100, 50 * MS);
	fake_end(g.events, CHILD + 100, 9 * MS, MS);
	/* The run uses so much CPU time that one percent of it is more than the 9 ms of the
	 * stranger's child. */
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

/* A child that nobody waits for used 30 ms of its 40 ms when its clock was last read. */
static void without_records_the_time_since_the_last_look_is_the_bound(void **state)
{
	AUTO(group_done) struct group g;

	group_init_with(&g, 0, false);
	look_again(&g.w);
	fake_fork(g.events, ROOT, CHILD, 50 * MS);
	fake_processes(g.events)->clock_ns[CHILD % FAKE_PIDS] = 30 * MS;
	machine(&g.w, 102, 61);
	usage(&g.w, 5000000 + 30000, "");
	look_again(&g.w);
	assert_double_equal(g.w.value[RUN_CPU_SECONDS], 1.03 - 0.25, 1e-9);
	fake_end_event(g.events, CHILD, 60 * MS);
	usage(&g.w, 5000000 + 900000, "");
	machine(&g.w, 202, 62);
	look_again(&g.w);

	struct account_note note = note_of(&g.w);

	assert_string_equal(note.cpu_source, "proc");
	assert_double_equal(g.w.value[RUN_CPU_SECONDS], 1.03 - 0.25, 1e-9);
	assert_double_equal(note.cpu_missed_seconds, 0.010, 5e-4);
	assert_double_equal(note.cpu_foreign_seconds, 0, 1e-9);
	assert_true(isnan(g.w.value[RUN_CPU_WAIT_SECONDS]));
	fake_loss(g.events);
	look_again(&g.w);
	assert_true(note_of(&g.w).cpu_missed_seconds > 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_measured_by_the_group_that_a_run_shares),
		cmocka_unit_test(rest_of_the_group_is_no_more_than_the_kernel_told_of_the_run),
		cmocka_unit_test(exit_accounting_needs_no_clock),
		cmocka_unit_test(without_records_the_time_since_the_last_look_is_the_bound),
		cmocka_unit_test(loss_of_records_charges_nothing_of_the_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
