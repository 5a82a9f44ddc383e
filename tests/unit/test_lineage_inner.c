/* collectors/lineage: runs inside others. A step (process 20) of a batch job (process 10), in either order. */
#include "tests/unit/test_main.h"

#include "collectors/base/mem.h"
#include "collectors/accounting/lineage.h"

#define PIDS 100

struct world {
	struct lineage *book;
	bool alive[PIDS];
	uint64_t clock[PIDS];
	unsigned job, step;
};

static bool clock_of(void *context, pid_t pid, uint64_t *ret)
{
	const struct world *w = context;

	*ret = w->clock[pid];
	return w->alive[pid];
}

static void born(struct world *w, pid_t parent, pid_t pid)
{
	w->alive[pid] = true;
	lineage_event(w->book,
		&(struct process_event){.kind = PROCESS_FORKED, .pid = pid, .parent = parent});
}

static void end(struct world *w, pid_t pid, uint64_t cpu_ns)
{
	lineage_event(w->book, &(struct process_event){.kind = THREAD_ENDED, .pid = pid});
	lineage_record(w->book,
		&(struct task_record){.id = pid, .cpu_ns = cpu_ns, .peak_bytes = cpu_ns * 4096});
	w->alive[pid] = false;
}

static struct lineage_tally settle(struct world *w, unsigned run)
{
	struct lineage_tally t;

	lineage_read_clocks(w->book, clock_of, w);
	lineage_settle(w->book);
	lineage_tally(w->book, run, &t);
	return t;
}

static uint64_t cpu(struct world *w, unsigned run)
{
	return settle(w, run).cpu_ns;
}

/* The job is followed first, and has a child 11 beside its step, which has a child 21 when it is followed. */
static struct world *world_new(void)
{
	struct world *w = xcalloc(1, sizeof *w);

	w->book = lineage_new();
	w->alive[10] = true;
	w->clock[10] = 100;
	w->job = lineage_begin(w->book, 10, 7);
	born(w, 10, 11);
	born(w, 10, 20);
	born(w, 20, 21);
	w->clock[20] = 5;
	w->clock[21] = 3;
	assert_int_equal(cpu(w, w->job), 115);
	/* A child of the step that was gone before used 4: the job has its record, the step knows by its parent. */
	born(w, 20, 22);
	end(w, 22, 4);
	assert_int_equal(cpu(w, w->job), 119);
	w->step = lineage_begin(w->book, 20, 4);
	lineage_add(w->book, w->step, 21);
	return w;
}

static void world_freep(struct world **owner)
{
	struct world *w = *owner;

	lineage_free(w->book);
	free(w);
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
	AUTO(world_freep) struct world *w = world_new();

	(void)state;
	assert_int_equal(cpu(w, w->step), 12);
	assert_int_equal(cpu(w, w->job), 119);
	for (pid_t pid = 30; pid < 60; pid++) {
		born(w, pid % 2 ? 20 : 21, pid);
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
	/* The job looks at all of its processes, too. */
	lineage_add(w->book, w->job, 21);
	born(w, 21, 23);
	w->clock[23] = 1000;
	assert_int_equal(cpu(w, w->step), 1612);
	assert_int_equal(cpu(w, w->job), 1769);
}

static void what_the_inner_run_lacks_the_outer_lacks(void **state)
{
	struct world *w = world_new();

	(void)state;
	settle(w, w->step);
	w->alive[21] = false;
	assert_false(settle(w, w->step).whole);
	assert_false(settle(w, w->job).whole);
	world_freep(&w);
	w = world_new();
	w->alive[11] = false;
	assert_true(settle(w, w->step).whole);
	assert_false(settle(w, w->job).whole);
	world_freep(&w);
}

static void inner_run_that_is_forgotten_stays_with_the_outer(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	struct lineage_tally t;

	(void)state;
	born(w, 20, 30);
	end(w, 30, 20);
	assert_int_equal(cpu(w, w->job), 139);
	lineage_forget(w->book, w->step);
	lineage_tally(w->book, w->job, &t);
	assert_int_equal(t.cpu_ns, 139);
	assert_int_equal(cpu(w, w->job), 139);
	end(w, 21, 33);
	end(w, 20, 55);
	assert_int_equal(cpu(w, w->job), 219);
	/* The number is used again, by somebody who is not inside. */
	w->alive[70] = true;
	w->clock[70] = 1;
	assert_int_equal(lineage_begin(w->book, 70, 0), w->step);
	assert_int_equal(cpu(w, w->step), 1);
	assert_int_equal(cpu(w, w->job), 219);
}

static void outer_run_that_is_forgotten_takes_nothing_along(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	(void)state;
	lineage_forget(w->book, w->job);
	assert_int_equal(cpu(w, w->step), 12);
	born(w, 21, 30);
	end(w, 30, 20);
	assert_int_equal(cpu(w, w->step), 32);
}

/* As when a name was set before the job's own. */
static void outer_run_may_begin_later(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned whole;

	(void)state;
	w->alive[5] = true;
	w->clock[5] = 1000;
	/* The machine's: who had ended of the job and the step by now used 11, as told by who waited for them. */
	end(w, 11, 7);
	assert_int_equal(cpu(w, w->job), 126);
	whole = lineage_begin(w->book, 5, 18);
	for (pid_t pid = 10; pid < 22; pid++)
		if (w->alive[pid])
			lineage_add(w->book, whole, pid);
	/* 18 and 1000, and 100, 5 and 3 of the living. */
	assert_int_equal(cpu(w, whole), 1126);
	assert_int_equal(cpu(w, w->job), 126);
	assert_int_equal(cpu(w, w->step), 12);
	end(w, 21, 13);
	assert_int_equal(cpu(w, whole), 1136);
	assert_int_equal(cpu(w, w->job), 136);
	assert_int_equal(cpu(w, w->step), 22);
	/* The one between them goes: then the other two are as they were. */
	lineage_forget(w->book, w->job);
	assert_int_equal(cpu(w, whole), 1136);
	assert_int_equal(cpu(w, w->step), 22);
	born(w, 20, 30);
	end(w, 30, 4);
	assert_int_equal(cpu(w, whole), 1140);
	assert_int_equal(cpu(w, w->step), 26);
}

static void run_between_two_may_begin_last(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned last;

	(void)state;
	born(w, 11, 12);
	born(w, 12, 13);
	w->clock[12] = 40;
	w->clock[13] = 60;
	unsigned inmost = lineage_begin(w->book, 13, 0);

	born(w, 13, 14);
	end(w, 14, 9);
	assert_int_equal(cpu(w, w->job), 228);
	last = lineage_begin(w->book, 12, 9);
	lineage_add(w->book, last, 13);
	assert_int_equal(cpu(w, last), 109);
	assert_int_equal(cpu(w, inmost), 69);
	assert_int_equal(cpu(w, w->job), 228);
	born(w, 13, 14);
	end(w, 14, 1);
	assert_int_equal(cpu(w, last), 110);
	assert_int_equal(cpu(w, w->job), 229);
}

/* What ends cost in a group is not shared out when part of a run in it is elsewhere. */
static void inner_run_in_another_group_is_elsewhere(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	unsigned others = lineage_begin_others(w->book);
	pid_t listed[] = {10, 11, 20, 21};
	struct lineage_listing listing = {{4, 4, listed}, 0};

	(void)state;
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
