/* collectors/accounting/lineage.c without exit records: a simulated kernel, whose processes run, fork,
 * start threads and end at any time, and whose last event of a process may come late. */
#include "tests/unit/test_main.h"

#include <stdlib.h>

#include "collectors/accounting/lineage.h"
#include "collectors/base/mem.h"

#define PIDS   400
#define ROOT   10
#define CPUS   4
#define ROUNDS 400
#define STEPS  300
#define STEP   1000000 /* ns */

struct process {
	bool alive;
	unsigned threads;
	uint64_t clock;
	uint64_t late_at; /* time of an end whose event has not arrived; 0 = none */
};

struct kernel {
	struct lineage *book;
	struct process process[PIDS];
	pid_t next;
	uint32_t random;
	uint64_t now, truth;
};

static uint32_t below(struct kernel *k, uint32_t n)
{
	k->random = k->random * 1664525 + 1013904223;
	return (k->random >> 8) % n;
}

static void tell(struct kernel *k, enum process_event_kind kind, pid_t pid, pid_t parent,
	uint64_t at_ns)
{
	lineage_event(k->book, &(struct process_event){
				       .kind = kind, .pid = pid, .parent = parent, .at_ns = at_ns});
}

static bool clock_of(void *context, pid_t pid, uint64_t *ret)
{
	const struct kernel *k = context;

	*ret = k->process[pid].clock;
	return k->process[pid].alive;
}

static pid_t any_living(struct kernel *k)
{
	pid_t pid = ROOT + (pid_t)below(k, (uint32_t)(k->next - ROOT));

	return k->process[pid].alive ? pid : 0;
}

/* A process ends in the middle of a step. */
static void end(struct kernel *k, pid_t pid)
{
	struct process *p = &k->process[pid];
	uint64_t lived = below(k, STEP), ran = lived * below(k, 101) / 100;

	p->alive = false;
	k->truth += ran;
	p->late_at = k->now + lived;
	if (below(k, 3)) {
		tell(k, THREAD_ENDED, pid, 0, p->late_at);
		p->late_at = 0;
	}
}

static void happen(struct kernel *k, pid_t pid)
{
	struct process *p = &k->process[pid];
	uint32_t what = below(k, 12);

	if (what == 0 && k->next < PIDS) {
		k->process[k->next] = (struct process){.alive = true, .threads = 1};
		tell(k, PROCESS_FORKED, k->next++, pid, k->now);
	} else if (what == 1 && p->threads < 6) {
		p->threads++;
		tell(k, THREAD_STARTED, pid, 0, k->now);
	} else if (what == 2 && p->threads > 1) {
		p->threads--;
		tell(k, THREAD_ENDED, pid, 0, k->now);
	} else if (what == 3) {
		end(k, pid);
	}
}

/* Lets one step pass. Living processes run on up to as many CPUs as they have threads. */
static void step(struct kernel *k)
{
	for (uint32_t i = below(k, 4); i; i--) {
		pid_t pid = any_living(k);

		if (pid)
			happen(k, pid);
	}
	for (pid_t pid = ROOT; pid < k->next; pid++) {
		struct process *p = &k->process[pid];
		uint32_t most = p->threads < CPUS ? p->threads : CPUS;
		uint64_t ran = p->alive ? (uint64_t)STEP * most * below(k, 101) / 100 : 0;

		p->clock += ran;
		k->truth += ran;
	}
	k->now += STEP;
}

static void tell_late_ends(struct kernel *k)
{
	for (pid_t pid = ROOT; pid < k->next; pid++)
		if (k->process[pid].late_at) {
			tell(k, THREAD_ENDED, pid, 0, k->process[pid].late_at);
			k->process[pid].late_at = 0;
		}
}

static void check(struct kernel *k, unsigned run)
{
	struct lineage_tally t;

	lineage_read_clocks(k->book, k->now, clock_of, k);
	lineage_settle(k->book, k->now);
	lineage_tally(k->book, run, &t);
	assert_true(t.whole);
	assert_true(t.cpu_ns <= k->truth);
	assert_true(t.cpu_ns + t.unseen_ns >= k->truth);
	tell_late_ends(k);
}

static void truth_is_within_the_bound_at_each_look(void **state)
{
	for (uint32_t seed = 1; seed <= ROUNDS; seed++) {
		struct kernel *k = xcalloc(1, sizeof *k);

		k->random = seed;
		k->book = lineage_new();
		k->next = ROOT + 1;
		k->now = STEP;
		k->process[ROOT] = (struct process){.alive = true, .threads = 1 + seed % 2};
		lineage_without_records(k->book, CPUS);
		unsigned run = lineage_begin(k->book, ROOT, 0);

		if (k->process[ROOT].threads == 1)
			lineage_has_one_thread(k->book, ROOT);
		check(k, run);
		for (int i = 0; i < STEPS; i++) {
			step(k);
			if (below(k, 5) == 0)
				check(k, run);
		}
		check(k, run);
		lineage_free(k->book);
		free(k);
	}
	(void)state;
}

/* A thread that runs all the time, and is looked at 1 ms before its end. */
static void bound_of_one_thread_is_the_time_since_the_last_look(void **state)
{
	struct lineage *book = lineage_new();
	struct kernel k = {.book = book, .next = ROOT + 1, .now = STEP};
	struct lineage_tally t;

	lineage_without_records(book, CPUS);
	k.process[ROOT] = (struct process){.alive = true, .threads = 1, .clock = 5 * STEP};
	unsigned run = lineage_begin(book, ROOT, 0);

	lineage_has_one_thread(book, ROOT);
	k.truth = 5 * STEP;
	check(&k, run);
	k.process[ROOT].alive = false;
	tell(&k, THREAD_ENDED, ROOT, 0, k.now + STEP);
	k.now += 100 * (uint64_t)STEP;
	k.truth += STEP;
	check(&k, run);
	lineage_tally(book, run, &t);
	assert_int_equal(t.cpu_ns, 5 * STEP);
	assert_true(t.unseen_ns >= STEP && t.unseen_ns < 2 * STEP);
	lineage_free(book);
	(void)state;
}

static void process_that_was_never_looked_at_has_no_bound(void **state)
{
	struct lineage *book = lineage_new();
	struct kernel k = {.book = book, .next = ROOT + 1, .now = STEP};
	struct lineage_tally t;

	lineage_without_records(book, CPUS);
	unsigned run = lineage_begin(book, ROOT, 0);

	lineage_read_clocks(book, k.now, clock_of, &k);
	lineage_settle(book, k.now);
	lineage_tally(book, run, &t);
	assert_false(t.whole);
	lineage_free(book);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truth_is_within_the_bound_at_each_look),
		cmocka_unit_test(bound_of_one_thread_is_the_time_since_the_last_look),
		cmocka_unit_test(process_that_was_never_looked_at_has_no_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
