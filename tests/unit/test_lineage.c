/* collectors/accounting/lineage.c: descent and CPU time, also of nested runs, from events, records
 * and clocks that the test makes. */
#include "tests/unit/test_main.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/accounting/lineage.h"

#define PIDS 5000

struct world {
	struct lineage *book;
	bool alive[PIDS];
	uint64_t clock[PIDS], now;
	unsigned job, step; /* the outer and the inner run of nested_world() */
};

#define EVENT(w, ...)  lineage_event((w)->book, &(struct process_event){__VA_ARGS__})
#define RECORD(w, ...) lineage_record((w)->book, &(struct task_record){__VA_ARGS__})

static bool clock_of(void *context, pid_t pid, uint64_t *ret)
{
	const struct world *w = context;

	*ret = w->clock[pid];
	return w->alive[pid];
}

static struct world *world_new(void)
{
	struct world *w = xcalloc(1, sizeof *w);

	w->book = lineage_new();
	return w;
}

static void world_freep(struct world **owner)
{
	struct world *w = *owner;

	lineage_free(w->book);
	free(w);
}

static void fork_event(struct world *w, pid_t parent, pid_t pid)
{
	w->alive[pid] = true;
	w->clock[pid] = 0;
	EVENT(w, .kind = PROCESS_FORKED, .pid = pid, .parent = parent);
}

static void exit_event(struct world *w, pid_t pid, int status)
{
	EVENT(w, .kind = THREAD_ENDED, .pid = pid, .status = status);
}

/* Ends the process with its record. It is reaped at once. */
static void end(struct world *w, pid_t pid, uint64_t cpu_ns)
{
	exit_event(w, pid, 0);
	RECORD(w, .id = pid, .cpu_ns = cpu_ns, .peak_bytes = cpu_ns * 4096);
	w->alive[pid] = false;
}

static struct lineage_tally settle(struct world *w, unsigned run)
{
	struct lineage_tally t;

	lineage_read_clocks(w->book, w->now, clock_of, w);
	lineage_settle(w->book, w->now);
	lineage_tally(w->book, run, &t);
	return t;
}

static unsigned begin(struct world *w, pid_t root, uint64_t clock, uint64_t base)
{
	w->alive[root] = true;
	w->clock[root] = clock;
	return lineage_begin(w->book, root, base);
}

static void child_that_lived_between_looks_is_counted(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 100, 7);

	fork_event(w, 10, 11);
	end(w, 11, 30);
	struct lineage_tally t = settle(w, run);

	assert_int_equal(t.cpu_ns, 137);
	assert_int_equal(t.born, 1);
	assert_int_equal(t.ended, 1);
	assert_true(t.whole);
}

static void orphan_of_an_orphan_is_counted(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0);

	fork_event(w, 10, 11);
	fork_event(w, 11, 12);
	end(w, 11, 1);
	fork_event(w, 12, 13);
	end(w, 12, 2);
	w->clock[13] = 50;
	assert_int_equal(settle(w, run).cpu_ns, 53);
	end(w, 13, 60);
	assert_int_equal(settle(w, run).cpu_ns, 63);
}

static void zombie_counts_once_and_for_as_long_as_it_stays(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0);

	fork_event(w, 10, 11);
	exit_event(w, 11, 0);
	RECORD(w, .id = 11, .cpu_ns = 40);
	w->clock[11] = 40;
	for (int i = 0; i < 3; i++) {
		/* The process is found in /proc again and again, but it is already known. */
		lineage_add(w->book, run, 11);
		assert_int_equal(settle(w, run).cpu_ns, 40);
	}
	w->alive[11] = false;
	assert_int_equal(settle(w, run).cpu_ns, 40);
	/* The process is added after it was reaped. Its time must not count again. */
	lineage_add(w->book, run, 11);
	assert_int_equal(settle(w, run).cpu_ns, 40);
	assert_true(settle(w, run).whole);
}

static void newborn_that_has_not_run_is_alive(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0);

	fork_event(w, 10, 11);
	assert_int_equal(settle(w, run).cpu_ns, 0);
	end(w, 11, 90);
	assert_int_equal(settle(w, run).cpu_ns, 90);
	assert_true(settle(w, run).whole);
}

static void first_thread_may_end_before_the_others(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0);

	fork_event(w, 10, 11);
	w->clock[11] = 100;
	RECORD(w, .id = 11, .cpu_ns = 60, .peak_bytes = 4096, .voluntary = 4);
	EVENT(w, .kind = THREAD_ENDED, .pid = 11, .at_ns = 5);
	w->clock[11] = 150; /* the other threads of process 11 have used more CPU time */
	assert_int_equal(settle(w, run).cpu_ns, 150);
	/* A thread's own record is not the record of its process. */
	RECORD(w, .id = 4000, .process = 11, .cpu_ns = 140, .voluntary = 70, .involuntary = 6);
	RECORD(w, .id = 4001, .process = 4001, .voluntary = 800); /* of another process */
	/* The process of this thread is unknown. */
	RECORD(w, .id = 4002, .voluntary = 800);
	assert_int_equal(settle(w, run).voluntary, 74);
	RECORD(w, .id = 11, .whole = true, .cpu_ns = 200, .cpu_wait_ns = 9, .voluntary = 5000);
	w->alive[11] = false;
	struct lineage_tally t = settle(w, run);

	assert_int_equal(t.cpu_ns, 200);
	assert_int_equal(t.cpu_wait_ns, 9);
	assert_int_equal(t.voluntary, 74);
	assert_int_equal(t.involuntary, 6);
	assert_int_equal(t.peak_process_bytes, 4096);
	assert_int_equal(t.unseen_ns, LINEAGE_END_NS + LINEAGE_END_PAGE_NS);
}

static void pid_used_again_is_another_process(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0);

	fork_event(w, 10, 11);
	end(w, 11, 25);
	fork_event(w, 999, 11); /* forked by a stranger */
	w->clock[11] = 77777;
	assert_int_equal(settle(w, run).cpu_ns, 25);
	fork_event(w, 10, 11); /* forked by the run, with the same pid again */
	w->clock[11] = 5;
	assert_int_equal(settle(w, run).cpu_ns, 30);
}

static void birth_told_late_is_no_second_process(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	w->alive[10] = true;
	unsigned run = begin(w, 10, 4, 0);

	fork_event(w, 1, 10); /* the root's own fork event */
	w->clock[10] = 4;
	lineage_add(w->book, run, 11);
	fork_event(w, 10, 11);
	end(w, 11, 30);
	assert_int_equal(settle(w, run).cpu_ns, 34);
	assert_int_equal(settle(w, run).ended, 1);
	assert_true(settle(w, run).whole);
}

static void pid_used_again_unseen_is_told_by_its_clock(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0);

	fork_event(w, 10, 11);
	w->clock[11] = 500;
	assert_int_equal(settle(w, run).cpu_ns, 500);
	/* The end of this process 11 and the fork of the next process 11 are lost. */
	lineage_lost(w->book);
	w->clock[11] = 3;
	assert_int_equal(settle(w, run).cpu_ns, 500);
	w->clock[11] = 900;
	assert_int_equal(settle(w, run).cpu_ns, 500);
	assert_false(settle(w, run).whole);
}

static void process_gone_without_record_keeps_its_last_clock(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0);

	fork_event(w, 10, 11);
	w->clock[11] = 70;
	assert_true(settle(w, run).whole);
	w->alive[11] = false;
	assert_int_equal(settle(w, run).cpu_ns, 70);
	assert_false(settle(w, run).whole);
}

static void runs_do_not_mix_and_numbers_are_used_again(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned a = begin(w, 10, 0, 0), b = begin(w, 20, 0, 1000);

	assert_int_not_equal(a, b);
	fork_event(w, 10, 11);
	fork_event(w, 20, 21);
	end(w, 11, 1);
	end(w, 21, 2);
	assert_int_equal(settle(w, a).cpu_ns, 1);
	assert_int_equal(settle(w, b).cpu_ns, 1002);
	lineage_forget(w->book, a);
	assert_int_equal(begin(w, 30, 0, 0), a);
	fork_event(w, 10, 12); /* a child of the forgotten run's root */
	w->clock[12] = 5;
	assert_int_equal(settle(w, a).cpu_ns, 0);
	assert_int_equal(settle(w, b).cpu_ns, 1002);
}

static void root_status_is_its_last_threads(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0);

	assert_false(settle(w, run).status_heard);
	exit_event(w, 10, 0);      /* pthread_exit() of the first thread */
	exit_event(w, 10, 3 << 8); /* exit(3) of another thread */
	exit_event(w, 11, 9);
	struct lineage_tally t = settle(w, run);

	assert_true(t.status_heard);
	assert_int_equal(t.status, 3 << 8);
	/* The next process with the same pid is not the root. */
	fork_event(w, 1, 10);
	exit_event(w, 10, 9);
	assert_int_equal(settle(w, run).status, 3 << 8);
}

static void status_of_an_earlier_thread_is_not_told_when_the_last_was_lost(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0), gone = begin(w, 20, 0, 0);

	exit_event(w, 10, 0);
	exit_event(w, 20, 5 << 8);
	w->alive[20] = false;
	assert_true(settle(w, run).status_heard);
	lineage_lost(w->book);
	assert_false(settle(w, run).status_heard);
	assert_true(settle(w, gone).status_heard);
	exit_event(w, 10, 3 << 8);
	assert_int_equal(settle(w, run).status, 3 << 8);
}

static void storm_is_counted_to_the_last_one(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 1, 0);

	for (pid_t pid = 100; pid < PIDS; pid++)
		fork_event(w, 10, pid);
	for (pid_t pid = 100; pid < PIDS; pid++)
		end(w, pid, 10);
	assert_int_equal(lineage_ended(w->book), PIDS - 100);
	assert_int_equal(settle(w, run).cpu_ns, (PIDS - 100) * 10 + 1);
	assert_int_equal(lineage_ended(w->book), 0);
	assert_int_equal(settle(w, run).ended, PIDS - 100);
}

#define MS 1000000ULL

/* Ends a process like the kernel does. The record comes 30 ms after the fork, and the exit takes
 * `end_ns` more. */
static void live_and_end(struct world *w, pid_t pid, uint64_t cpu_ns, uint64_t end_ns)
{
	uint64_t born = 1000 * MS, elapsed = 30 * MS;

	EVENT(w, .kind = PROCESS_FORKED, .pid = pid, .parent = 10, .at_ns = born);
	RECORD(w, .id = pid, .cpu_ns = cpu_ns, .elapsed_ns = elapsed, .peak_bytes = 100 * 4096);
	EVENT(w, .kind = THREAD_ENDED, .pid = pid, .at_ns = born + elapsed + end_ns);
}

static void end_of_a_process_is_counted_from_its_record_on(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0);

	live_and_end(w, 11, 1000, 90000);
	struct lineage_tally t = settle(w, run);

	assert_int_equal(t.cpu_ns, 1000);
	assert_int_equal(t.ends_ns, 90000);
	/* The upper bound decreases by the 90000 ns that are now estimated. */
	assert_int_equal(t.unseen_ns, LINEAGE_END_NS + 100 * LINEAGE_END_PAGE_NS - 90000);
}

/* Each exit takes 50 us of CPU time. Every `every`-th exit is delayed by other processes. */
static void time_of_others_is_no_part_of_an_end(void **state)
{
	static const struct {
		pid_t every; /* 0 = no exit is delayed */
		uint64_t held_up_ns;
	} cases[] = {{0, 0}, {20, 110000}, {20, 4 * MS}, {5, 4 * MS}, {3, 100 * MS}};
	enum { ENDS = 3000 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(world_freep) struct world *w = world_new();
		unsigned run = begin(w, 10, 0, 0);

		for (pid_t pid = 100; pid < 100 + ENDS; pid++) {
			bool held_up = cases[i].every && pid % cases[i].every == 0;

			live_and_end(w, pid, 0, 50000 + (held_up ? cases[i].held_up_ns : 0));
		}
		struct lineage_tally t = settle(w, run);

		assert_int_equal(t.cpu_ns, 0);
		assert_in_range(t.ends_ns, ENDS * 49500, ENDS * 51500);
	}
}

/* The exits of all processes become more expensive, so the usual cost of an exit must follow. */
static void usual_end_follows_what_is_usual_now(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0);
	pid_t pid = 100;
	uint64_t before;

	for (; pid < 1000; pid++)
		live_and_end(w, pid, 0, 50000);
	for (; pid < 2000; pid++)
		live_and_end(w, pid, 0, 250000);
	before = settle(w, run).ends_ns;
	live_and_end(w, pid, 0, 250000);
	assert_int_equal(settle(w, run).ends_ns - before, 250000);
	live_and_end(w, pid + 1, 0, 20 * MS);
	assert_in_range(settle(w, run).ends_ns - before, 480000, 520000);
}

static void end_is_not_guessed(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0);

	/* The cost of an exit is not estimated if the fork, the exit or the time of the record is
	 * missing, if there are several threads, or if a clock is behind. */
	EVENT(w, .kind = PROCESS_FORKED, .pid = 11, .parent = 10);
	RECORD(w, .id = 11, .cpu_ns = 5, .elapsed_ns = MS);
	EVENT(w, .kind = THREAD_ENDED, .pid = 11, .at_ns = 5 * MS);
	EVENT(w, .kind = PROCESS_FORKED, .pid = 12, .parent = 10, .at_ns = MS);
	RECORD(w, .id = 12, .cpu_ns = 5, .elapsed_ns = MS);
	live_and_end(w, 13, 5, 0);
	live_and_end(w, 14, 3, 80000);
	RECORD(w, .id = 14, .cpu_ns = 5, .whole = true);
	assert_int_equal(settle(w, run).cpu_ns, 20);
	assert_int_equal(settle(w, run).ends_ns, 0);
}

static void zombie_s_clock_holds_its_end(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned run = begin(w, 10, 0, 0);

	live_and_end(w, 11, 1000, 90000);
	w->alive[11] = true;
	w->clock[11] = 77000;
	struct lineage_tally t = settle(w, run);

	assert_int_equal(t.cpu_ns, 77000);
	assert_int_equal(t.ends_ns, 0);
	assert_int_equal(t.unseen_ns, 0);
}

/* ---- nested runs: a step (process 20) of a batch job (process 10), in either order ---- */

static uint64_t cpu(struct world *w, unsigned run)
{
	return settle(w, run).cpu_ns;
}

/* The job is followed first. Its children are process 11 and the step (process 20). The step has
 * the child 21 when the step is followed. */
static struct world *nested_world(void)
{
	struct world *w = world_new();

	w->job = begin(w, 10, 100, 7);
	fork_event(w, 10, 11);
	fork_event(w, 10, 20);
	fork_event(w, 20, 21);
	w->clock[20] = 5;
	w->clock[21] = 3;
	assert_int_equal(cpu(w, w->job), 115);
	/* Process 22, a child of the step, used 4 ns and ended. The job has the record of process
	 * 22. The step gets this time from its root, which waited for process 22. */
	fork_event(w, 20, 22);
	end(w, 22, 4);
	assert_int_equal(cpu(w, w->job), 119);
	w->step = lineage_begin(w->book, 20, 4);
	lineage_add(w->book, w->step, 21);
	return w;
}

static void count(void *context, pid_t pid)
{
	(void)pid;
	++*(unsigned *)context;
}

static unsigned living(const struct world *w, unsigned run)
{
	unsigned n = 0;

	lineage_living(w->book, run, count, &n);
	return n;
}

static void inner_run_has_what_is_its_own_and_the_outer_has_all(void **state)
{
	AUTO(world_freep) struct world *w = nested_world();

	assert_int_equal(cpu(w, w->step), 12);
	assert_int_equal(cpu(w, w->job), 119);
	for (pid_t pid = 30; pid < 60; pid++) {
		fork_event(w, pid % 2 ? 20 : 21, pid);
		end(w, pid, 20);
	}
	end(w, 11, 50);
	assert_int_equal(cpu(w, w->step), 612);
	assert_int_equal(cpu(w, w->job), 769);
	assert_int_equal(settle(w, w->step).born, 30);
	assert_int_equal(settle(w, w->job).born, 34);
	assert_int_equal(settle(w, w->step).peak_process_bytes, 20 * 4096);
	assert_int_equal(settle(w, w->job).peak_process_bytes, 50 * 4096);
	assert_int_equal(settle(w, w->job).unseen_ns,
		settle(w, w->step).unseen_ns + 2 * LINEAGE_END_NS + 54 * LINEAGE_END_PAGE_NS);
	assert_true(settle(w, w->job).whole && settle(w, w->step).whole);
	assert_int_equal(living(w, w->step), 2);
	assert_int_equal(living(w, w->job), 3);
	/* The job also finds all its processes in /proc. */
	lineage_add(w->book, w->job, 21);
	fork_event(w, 21, 23);
	w->clock[23] = 1000;
	assert_int_equal(cpu(w, w->step), 1612);
	assert_int_equal(cpu(w, w->job), 1769);
}

static void what_the_inner_run_lacks_the_outer_lacks(void **state)
{
	struct world *w = nested_world();

	settle(w, w->step);
	w->alive[21] = false;
	assert_false(settle(w, w->step).whole);
	assert_false(settle(w, w->job).whole);
	world_freep(&w);
	w = nested_world();
	w->alive[11] = false;
	assert_true(settle(w, w->step).whole);
	assert_false(settle(w, w->job).whole);
	world_freep(&w);
}

static void inner_run_that_is_forgotten_stays_with_the_outer(void **state)
{
	AUTO(world_freep) struct world *w = nested_world();
	struct lineage_tally t;

	fork_event(w, 20, 30);
	end(w, 30, 20);
	assert_int_equal(cpu(w, w->job), 139);
	lineage_forget(w->book, w->step);
	lineage_tally(w->book, w->job, &t);
	assert_int_equal(t.cpu_ns, 139);
	assert_int_equal(cpu(w, w->job), 139);
	end(w, 21, 33);
	end(w, 20, 55);
	assert_int_equal(cpu(w, w->job), 219);
	/* The run's number is used again by a run that is not nested. */
	w->alive[70] = true;
	w->clock[70] = 1;
	assert_int_equal(lineage_begin(w->book, 70, 0), w->step);
	assert_int_equal(cpu(w, w->step), 1);
	assert_int_equal(cpu(w, w->job), 219);
}

static void outer_run_that_is_forgotten_takes_nothing_along(void **state)
{
	AUTO(world_freep) struct world *w = nested_world();

	lineage_forget(w->book, w->job);
	assert_int_equal(cpu(w, w->step), 12);
	fork_event(w, 21, 30);
	end(w, 30, 20);
	assert_int_equal(cpu(w, w->step), 32);
}

/* The outer run may be followed later than the job inside it. */
static void outer_run_may_begin_later(void **state)
{
	AUTO(world_freep) struct world *w = nested_world();
	unsigned whole;

	w->alive[5] = true;
	w->clock[5] = 1000;
	/* `whole` is the run of the whole machine. It begins with 18 ns of ended processes: 7 from
	 * before the job was followed, 4 of process 22 and 7 of process 11. */
	end(w, 11, 7);
	assert_int_equal(cpu(w, w->job), 126);
	whole = lineage_begin(w->book, 5, 18);
	for (pid_t pid = 10; pid < 22; pid++)
		if (w->alive[pid])
			lineage_add(w->book, whole, pid);
	/* 1126 = 18 of ended processes + 1000 of process 5 + 100, 5 and 3 of the processes 10, 20
	 * and 21. */
	assert_int_equal(cpu(w, whole), 1126);
	assert_int_equal(cpu(w, w->job), 126);
	assert_int_equal(cpu(w, w->step), 12);
	end(w, 21, 13);
	assert_int_equal(cpu(w, whole), 1136);
	assert_int_equal(cpu(w, w->job), 136);
	assert_int_equal(cpu(w, w->step), 22);
	/* The run in the middle is forgotten. The two others keep their values. */
	lineage_forget(w->book, w->job);
	assert_int_equal(cpu(w, whole), 1136);
	assert_int_equal(cpu(w, w->step), 22);
	fork_event(w, 20, 30);
	end(w, 30, 4);
	assert_int_equal(cpu(w, whole), 1140);
	assert_int_equal(cpu(w, w->step), 26);
}

static void run_between_two_may_begin_last(void **state)
{
	AUTO(world_freep) struct world *w = nested_world();
	unsigned last;

	fork_event(w, 11, 12);
	fork_event(w, 12, 13);
	w->clock[12] = 40;
	w->clock[13] = 60;
	unsigned inmost = lineage_begin(w->book, 13, 0);

	fork_event(w, 13, 14);
	end(w, 14, 9);
	assert_int_equal(cpu(w, w->job), 228);
	last = lineage_begin(w->book, 12, 9);
	lineage_add(w->book, last, 13);
	assert_int_equal(cpu(w, last), 109);
	assert_int_equal(cpu(w, inmost), 69);
	assert_int_equal(cpu(w, w->job), 228);
	fork_event(w, 13, 14);
	end(w, 14, 1);
	assert_int_equal(cpu(w, last), 110);
	assert_int_equal(cpu(w, w->job), 229);
}

/* The cost of exits in a group is not divided among its runs while a part of a run is in another
 * group. */
static void inner_run_in_another_group_is_elsewhere(void **state)
{
	AUTO(world_freep) struct world *w = nested_world();
	unsigned others = lineage_begin_others(w->book);
	pid_t listed[] = {10, 11, 20, 21};
	struct lineage_listing listing = {{4, 4, listed}, 0};

	lineage_share(w->book, w->job, others);
	settle(w, w->job);
	assert_int_equal(lineage_compare(w->book, others, &listing, clock_of, w),
		LINEAGE_RUN_ELSEWHERE);
	lineage_share(w->book, w->step, others);
	assert_int_equal(lineage_compare(w->book, others, &listing, clock_of, w), LINEAGE_SAME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(child_that_lived_between_looks_is_counted),
		cmocka_unit_test(orphan_of_an_orphan_is_counted),
		cmocka_unit_test(zombie_counts_once_and_for_as_long_as_it_stays),
		cmocka_unit_test(newborn_that_has_not_run_is_alive),
		cmocka_unit_test(first_thread_may_end_before_the_others),
		cmocka_unit_test(pid_used_again_is_another_process),
		cmocka_unit_test(birth_told_late_is_no_second_process),
		cmocka_unit_test(pid_used_again_unseen_is_told_by_its_clock),
		cmocka_unit_test(process_gone_without_record_keeps_its_last_clock),
		cmocka_unit_test(runs_do_not_mix_and_numbers_are_used_again),
		cmocka_unit_test(root_status_is_its_last_threads),
		cmocka_unit_test(status_of_an_earlier_thread_is_not_told_when_the_last_was_lost),
		cmocka_unit_test(storm_is_counted_to_the_last_one),
		cmocka_unit_test(end_of_a_process_is_counted_from_its_record_on),
		cmocka_unit_test(time_of_others_is_no_part_of_an_end),
		cmocka_unit_test(usual_end_follows_what_is_usual_now),
		cmocka_unit_test(end_is_not_guessed),
		cmocka_unit_test(zombie_s_clock_holds_its_end),
		cmocka_unit_test(inner_run_has_what_is_its_own_and_the_outer_has_all),
		cmocka_unit_test(what_the_inner_run_lacks_the_outer_lacks),
		cmocka_unit_test(inner_run_that_is_forgotten_stays_with_the_outer),
		cmocka_unit_test(outer_run_that_is_forgotten_takes_nothing_along),
		cmocka_unit_test(outer_run_may_begin_later),
		cmocka_unit_test(run_between_two_may_begin_last),
		cmocka_unit_test(inner_run_in_another_group_is_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
