/* collectors/process/tree.c against a simulated kernel, whose processes run, fork, end, become
 * orphans and are waited for between any two reads. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "collectors/process/tree.h"

#define PROCESSES 4000
#define ALIVE_MAX 60
#define REAPER    2
#define ROOT      10
#define FIRST     11
#define LOOKS     25

enum state { NOBODY, ALIVE, ZOMBIE };

struct process {
	enum state state;
	int parent;
	bool ignores; /* ignores SIGCHLD: its children vanish and their times are lost */
	uint64_t ticks, faults, waited_ticks, waited_faults;
};

struct kernel {
	struct tree tree;
	struct host host;
	uint32_t random;
	/* `root_may_end`: the root may end between two reads of one tick. */
	bool may_ignore, root_may_end, closing;
	bool reading;         /* events happen between two reads */
	uint32_t events_max;  /* largest number of events between two reads */
	uint32_t between_max; /* more than the largest number of events between two ticks */
	/* Called before each read; NULL = no more events. */
	void (*before)(struct kernel *k, const char *path);
	unsigned stats_read; /* number of times that `before` saw its process's stat file read */
	int next_pid;
	size_t n_alive;
	uint64_t spent; /* ticks used by the run */
	struct process process[PROCESSES];
};

static uint32_t number_below(struct kernel *k, uint32_t n)
{
	k->random = k->random * 1664525 + 1013904223;
	return (k->random >> 8) % n;
}

/* ---- what the simulated processes do ---- */

static void run_one(struct kernel *k, int pid)
{
	uint64_t ticks = number_below(k, 8);

	k->process[pid].ticks += ticks;
	k->process[pid].faults += number_below(k, 20);
	k->spent += ticks;
}

static void fork_one(struct kernel *k, int parent)
{
	if (k->closing || k->n_alive >= ALIVE_MAX || k->next_pid == PROCESSES)
		return;
	k->process[k->next_pid++] = (struct process){
		.state = ALIVE,
		.parent = parent,
		.ignores = k->may_ignore && number_below(k, 4) == 0,
		.faults = 1 + number_below(k, 5),
	};
	k->n_alive++;
}

static void wait_for(struct kernel *k, int pid)
{
	struct process *p = &k->process[pid], *parent = &k->process[p->parent];

	parent->waited_ticks += p->ticks + p->waited_ticks;
	parent->waited_faults += p->faults + p->waited_faults;
	p->state = NOBODY;
}

static void end_one(struct kernel *k, int pid)
{
	struct process *p = &k->process[pid];

	if (pid == ROOT && !(k->root_may_end && k->reading) && !k->closing)
		return;
	for (int i = FIRST; i < k->next_pid; i++)
		if (k->process[i].state != NOBODY && k->process[i].parent == pid)
			k->process[i].parent = REAPER;
	k->n_alive--;
	p->state = k->process[p->parent].ignores ? NOBODY : ZOMBIE;
}

static int pick(struct kernel *k, enum state state)
{
	int from = ROOT + (int)number_below(k, (uint32_t)(k->next_pid - ROOT));

	for (int i = from; i < k->next_pid; i++)
		if (k->process[i].state == state)
			return i;
	for (int i = ROOT; i < from; i++)
		if (k->process[i].state == state)
			return i;
	return 0;
}

static void something_happens(struct kernel *k)
{
	int alive = pick(k, ALIVE), zombie = pick(k, ZOMBIE);

	switch (number_below(k, 5)) {
	case 0:
		if (alive)
			fork_one(k, alive);
		break;
	case 1:
		if (alive)
			end_one(k, alive);
		break;
	case 2:
		if (zombie)
			wait_for(k, zombie);
		break;
	default:
		if (alive)
			run_one(k, alive);
	}
}

/* ---- the simulated /proc ---- */

static bool exists(const struct kernel *k, uint64_t pid)
{
	return pid < PROCESSES && k->process[pid].state != NOBODY;
}

static void print_stat(const struct kernel *k, int pid, struct buf *b)
{
	const struct process *p = &k->process[pid];

	buf_addf(b, "%d (job) %c %d 1 1 0 -1 0 %llu %llu 0 0 %llu 0 %llu 0 20 0 1 0 %d 1000 5\n",
		pid, p->state == ZOMBIE ? 'Z' : 'S', p->parent, (unsigned long long)p->faults,
		(unsigned long long)p->waited_faults, (unsigned long long)p->ticks,
		(unsigned long long)p->waited_ticks, pid);
}

static void print_children(const struct kernel *k, int pid, struct buf *b)
{
	for (int i = ROOT; i < k->next_pid; i++)
		if (k->process[i].state != NOBODY && k->process[i].parent == pid)
			buf_addf(b, "%d ", i);
}

static struct kernel *kernel_of(struct tree *t)
{
	return (struct kernel *)(void *)t;
}

static ssize_t kernel_read(struct tree *t, const char *path, char *out, size_t size)
{
	struct kernel *k = kernel_of(t);
	struct scan s = SCAN(path, strlen(path));
	struct buf b = BUF_MAX(65536);
	uint64_t pid;

	k->reading = true;
	for (uint32_t n = number_below(k, k->events_max + 3); n > 2; n--)
		something_happens(k);
	k->reading = false;
	if (k->before)
		k->before(k, path);
	if (!scan_u64(&s, &pid) || !exists(k, pid))
		return -ENOENT;
	if (strstr(path, "/children"))
		print_children(k, (int)pid, &b);
	else if (strstr(path, "/stat") && !strstr(path, "/status"))
		print_stat(k, (int)pid, &b);
	else
		buf_addf(&b, "Pid:\t%d\n", (int)pid);
	size_t len = b.len < size - 1 ? b.len : size - 1;

	memcpy(out, buf_text(&b), len);
	out[len] = '\0';
	buf_done(&b);
	return (ssize_t)len;
}

static int kernel_list(struct tree *t, const char *path,
	int (*each)(void *context, const char *name), void *context)
{
	struct kernel *k = kernel_of(t);
	char name[16];
	int code = 0;

	if (path[0])
		return -ENOENT;
	for (int i = 0; i < k->next_pid && code == 0; i++)
		if (k->process[i].state != NOBODY) {
			snprintf(name, sizeof name, "%d", i);
			code = each(context, name);
		}
	return code;
}

static int64_t kernel_get(struct tree *t, const struct tree_request *r)
{
	if (r->call == TREE_READ || r->call == TREE_READ_RECORDS)
		return kernel_read(t, r->path, r->out, r->size);
	return r->call == TREE_LIST ? kernel_list(t, r->path, r->each, r->context) : -EACCES;
}

static const struct tree_ops kernel_ops = {.get = kernel_get};

static struct kernel *kernel_new(uint32_t seed, bool may_ignore)
{
	struct kernel *k = xcalloc(1, sizeof *k);

	k->tree.ops = &kernel_ops;
	k->host = (struct host){
		.proc = &k->tree,
		.ticks_per_second = 100,
		.page_size = 4096,
		.scratch = xmalloc(HOST_SCRATCH_SIZE),
		.scratch_size = HOST_SCRATCH_SIZE,
	};
	k->random = seed;
	k->may_ignore = may_ignore;
	k->next_pid = FIRST;
	k->n_alive = 1;
	/* Children that the reaper waited for earlier are not the run's. */
	k->process[REAPER] = (struct process){
		.state = ALIVE, .parent = 1, .waited_ticks = 7777, .waited_faults = 888};
	k->process[ROOT] = (struct process){.state = ALIVE, .parent = REAPER, .faults = 1};
	return k;
}

static void kernel_free(struct kernel *k)
{
	free(k->host.scratch);
	free(k);
}

static uint64_t ticks_of(const struct process_tree *t)
{
	return t->total[TREE_CPU_NS] / (NS_PER_S / 100);
}

static void everybody_ends_and_is_waited_for(struct kernel *k)
{
	int pid;

	k->closing = true;
	while ((pid = pick(k, ALIVE)))
		end_one(k, pid);
	while ((pid = pick(k, ZOMBIE)))
		wait_for(k, pid);
}

/* Samples many times. The total is never more than was used, and never decreases. */
static void live(struct kernel *k, struct process_tree *t)
{
	uint64_t last = 0;
	struct tree_now now;

	for (int i = 0; i < LOOKS; i++) {
		for (uint32_t n = number_below(k, k->between_max); n > 0; n--)
			something_happens(k);
		process_tree_look(t, &k->host, 0, &now);
		if (ticks_of(t) > k->spent || ticks_of(t) < last)
			fail_msg("look %d: %llu ticks of %llu, after %llu", i,
				(unsigned long long)ticks_of(t), (unsigned long long)k->spent,
				(unsigned long long)last);
		last = ticks_of(t);
	}
}

/* At most `events_max` events happen between two reads, and a tick has at most `passes_max` passes.
 * The test is repeated for `seeds` seeds, beginning with `first`. If `unreaped`, the tree does not
 * contain the reaper, which then adopts and waits as init does. If `few_between`, few events happen
 * between two ticks, so that a time that counts twice is more than the times that nobody saw. */
struct life {
	uint32_t events_max, first, seeds;
	unsigned passes_max;
	bool unreaped, root_may_end, few_between;
};

/* No event happens before the run has begun. */
static void begin(struct kernel *k, struct process_tree *t, const struct life *life)
{
	assert_int_equal(process_tree_begin(t, &k->host, ROOT, 0, life->unreaped ? 0 : REAPER), 0);
	k->events_max = life->events_max;
	k->between_max = life->few_between ? 20 : 200;
	k->root_may_end = life->root_may_end;
	t->passes_max = life->passes_max;
}

static void never_more_than_was_spent_and_never_less_than_before(const struct life *life)
{
	for (uint32_t seed = life->first; seed < life->first + life->seeds; seed++) {
		struct kernel *k = kernel_new(seed, true);
		struct process_tree t;

		begin(k, &t, life);
		live(k, &t);
		process_tree_done(&t);
		kernel_free(k);
	}
}

static void all_of_it_when_everybody_was_waited_for(const struct life *life)
{
	for (uint32_t seed = life->first; seed < life->first + life->seeds; seed++) {
		struct kernel *k = kernel_new(seed, false);
		struct process_tree t;
		struct tree_now now;

		begin(k, &t, life);
		live(k, &t);
		everybody_ends_and_is_waited_for(k);
		assert_int_equal(process_tree_look(&t, &k->host, 0, &now), 0);
		assert_int_equal(ticks_of(&t), k->spent);
		process_tree_done(&t);
		kernel_free(k);
	}
}

static void whoever_ends_while_they_are_looked_at(void **state)
{
	static const struct life life = {3, 0, 12, PROCESS_TREE_PASSES};

	never_more_than_was_spent_and_never_less_than_before(&life);
	all_of_it_when_everybody_was_waited_for(&life);
}

/* Processes end faster than they can be read again, so every pass misses some of them. */
static void whoever_ends_faster_than_they_can_be_looked_at(void **state)
{
	static const struct life life[] = {
		{3, 128, 8, 1}, {3, 705, 1, 1}, {30, 0, 2, 1}, {30, 0, 1, PROCESS_TREE_PASSES}};

	for (size_t i = 0; i < ARRAY_LEN(life); i++) {
		never_more_than_was_spent_and_never_less_than_before(&life[i]);
		all_of_it_when_everybody_was_waited_for(&life[i]);
	}
}

static void whoever_ends_after_the_root_or_with_it(void **state)
{
	static const struct life life[] = {
		{3, 0, 100, PROCESS_TREE_PASSES, .root_may_end = true, .few_between = true},
		{3, 0, 100, 1, .root_may_end = true, .few_between = true},
		{3, 0, 1000, PROCESS_TREE_PASSES, true, true, true},
		{3, 0, 1000, 1, true, true, true},
		{30, 0, 100, PROCESS_TREE_PASSES, true, true, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(life); i++) {
		never_more_than_was_spent_and_never_less_than_before(&life[i]);
		if (!life[i].unreaped)
			all_of_it_when_everybody_was_waited_for(&life[i]);
	}
}

/* ---- events in a fixed order ---- */

static void fork_as(struct kernel *k, int pid, int parent)
{
	k->process[pid] =
		(struct process){.state = ALIVE, .parent = parent, .ticks = 100, .faults = 10};
	k->spent += 100;
	k->n_alive++;
	k->next_pid = pid + 1;
}

static void end_and_wait(struct kernel *k, int pid)
{
	end_one(k, pid);
	wait_for(k, pid);
}

/* ROOT has two children, and the first child has one child. */
static struct kernel *family(struct process_tree *t)
{
	static const struct life quiet = {0, 0, 1, PROCESS_TREE_PASSES};
	struct kernel *k = kernel_new(0, false);

	fork_as(k, FIRST, ROOT);
	fork_as(k, FIRST + 1, FIRST);
	fork_as(k, FIRST + 2, ROOT);
	begin(k, t, &quiet);
	return k;
}

static void is_told_of_all(struct kernel *k, struct process_tree *t)
{
	struct tree_now now;

	process_tree_look(t, &k->host, 0, &now);
	assert_int_equal(ticks_of(t), k->spent);
	process_tree_done(t);
	kernel_free(k);
}

static void an_orphan_of_a_zombie_is_with_who_adopted_it(void **state)
{
	struct process_tree t;
	struct kernel *k = family(&t);

	end_one(k, FIRST);
	end_and_wait(k, FIRST + 1);
	assert_int_equal(k->process[FIRST].state, ZOMBIE);
	assert_int_equal(k->process[FIRST + 1].parent, REAPER);
	is_told_of_all(k, &t);
}

/* The grandchild ends after its parent was read. The parent ends after its new time, which includes
 * the grandchild's time, was read. */
static void ends_one_after_the_other(struct kernel *k, const char *path)
{
	char parent[16], grandchild[16];

	snprintf(parent, sizeof parent, "%d/stat", FIRST);
	snprintf(grandchild, sizeof grandchild, "%d/stat", FIRST + 1);
	if (strcmp(path, grandchild) == 0 && exists(k, FIRST + 1))
		end_and_wait(k, FIRST + 1);
	if (strcmp(path, parent) == 0 && ++k->stats_read == 3)
		end_and_wait(k, FIRST);
}

static void what_one_had_got_is_not_kept_beside_it(void **state)
{
	struct process_tree t;
	struct kernel *k = family(&t);

	end_and_wait(k, FIRST + 2);
	k->before = ends_one_after_the_other;
	is_told_of_all(k, &t);
}

/* The first child ends after the root was read, and the root waits for it. The root is read again.
 * Then the root and the second child end, and a process outside the tree waits for both. */
static void root_ends_after_its_child(struct kernel *k, const char *path)
{
	char root[16], child[16], other[16];

	snprintf(root, sizeof root, "%d/stat", ROOT);
	snprintf(child, sizeof child, "%d/stat", FIRST);
	snprintf(other, sizeof other, "%d/stat", FIRST + 1);
	k->stats_read += strcmp(path, root) == 0;
	if (k->stats_read == 1 && strcmp(path, child) == 0 && exists(k, FIRST))
		end_and_wait(k, FIRST);
	if (k->stats_read == 2 && strcmp(path, other) == 0 && exists(k, FIRST + 1)) {
		k->closing = true; /* only then the root may end */
		end_and_wait(k, ROOT);
		end_and_wait(k, FIRST + 1);
	}
}

static void what_an_ended_root_had_got_is_not_kept_beside_it(void **state)
{
	static const struct life quiet = {0, 0, 1, PROCESS_TREE_PASSES, .unreaped = true};
	struct kernel *k = kernel_new(0, false);
	struct process_tree t;
	struct tree_now now;

	fork_as(k, FIRST, ROOT);
	fork_as(k, FIRST + 1, ROOT);
	begin(k, &t, &quiet);
	k->before = root_ends_after_its_child;
	assert_int_equal(process_tree_look(&t, &k->host, 0, &now), 0);
	if (ticks_of(&t) > k->spent || ticks_of(&t) + 2 < k->spent) /* the root rounds to ticks */
		fail_msg("%d ticks of %d", (int)ticks_of(&t), (int)k->spent);
	process_tree_done(&t);
	kernel_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whoever_ends_while_they_are_looked_at),
		cmocka_unit_test(whoever_ends_faster_than_they_can_be_looked_at),
		cmocka_unit_test(whoever_ends_after_the_root_or_with_it),
		cmocka_unit_test(an_orphan_of_a_zombie_is_with_who_adopted_it),
		cmocka_unit_test(what_one_had_got_is_not_kept_beside_it),
		cmocka_unit_test(what_an_ended_root_had_got_is_not_kept_beside_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
