/* Membership, and conservation of what the dead used. */
#include "collectors/process_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/jobs.h"

#define NONE SIZE_MAX

/* ---- finding a member by pid ---- */

static size_t slot_of(const struct process_tree *t, pid_t pid)
{
	return ((uint32_t)pid * 2654435761U) & (t->n_slots - 1);
}

static size_t find(const struct process_tree *t, pid_t pid)
{
	if (t->n_slots == 0)
		return NONE;
	for (size_t s = slot_of(t, pid); t->slot[s]; s = (s + 1) & (t->n_slots - 1))
		if (t->member[t->slot[s] - 1].pid == pid)
			return t->slot[s] - 1;
	return NONE;
}

static void index_add(struct process_tree *t, size_t i)
{
	size_t s = slot_of(t, t->member[i].pid);

	while (t->slot[s])
		s = (s + 1) & (t->n_slots - 1);
	t->slot[s] = (uint32_t)(i + 1);
}

static void index_rebuild(struct process_tree *t)
{
	size_t n = t->n_slots ? t->n_slots : 64;

	while (n < t->n * 2 + 2)
		n *= 2;
	if (n != t->n_slots)
		t->slot = xreallocarray(t->slot, n, sizeof *t->slot);
	t->n_slots = n;
	memset(t->slot, 0, n * sizeof *t->slot);
	for (size_t i = 0; i < t->n; i++)
		index_add(t, i);
}

static size_t add(struct process_tree *t, const struct member *m)
{
	GROW(t->member, t->n, t->room);
	t->member[t->n++] = *m;
	t->generation++;
	if (t->n_slots < t->n * 2)
		index_rebuild(t);
	else
		index_add(t, t->n - 1);
	return t->n - 1;
}

/* ---- new members ---- */

struct found {
	size_t n, room;
	pid_t *pid;
};

static void found_add(void *context, pid_t pid)
{
	struct found *f = context;

	GROW(f->pid, f->n, f->room);
	f->pid[f->n++] = pid;
}

/* Adds pid, a child of ppid and so of a member (0: whoever's), unless it is known or gone. */
static void adopt(struct process_tree *t, const struct host *h, pid_t pid, pid_t ppid)
{
	struct process_stat s;

	if (t->n >= JOBS_PROCESSES_MAX || find(t, pid) != NONE)
		return;
	if (process_read_stat(h, pid, &s) < 0 ||
		(ppid && s.ppid != ppid && find(t, s.ppid) == NONE))
		return;
	struct member m = {.pid = pid, .start_ticks = s.start_ticks, .stack_start = s.stack_start};
	size_t parent = find(t, s.ppid);

	if (parent != NONE && s.stack_start && t->member[parent].stack_start == s.stack_start)
		m.inherited_bytes = t->member[parent].rss_bytes;
	if (member_begin(&m, h))
		add(t, &m);
}

/* Children of one member; the loop of the caller goes on over those that are added. */
static void find_children_of(struct process_tree *t, const struct host *h, size_t i,
	struct found *f)
{
	pid_t pid = t->member[i].pid;

	f->n = 0;
	process_children(h, pid, t->member[i].threads, found_add, f);
	for (size_t k = 0; k < f->n; k++)
		adopt(t, h, f->pid[k], pid);
}

/* By parent links of all processes: for kernels without children files, and as a check now and then. */
static void find_by_scan(struct process_tree *t, const struct host *h, struct found *f)
{
	struct {
		pid_t pid, ppid;
	} *unknown = NULL;
	size_t n = 0, room = 0;
	bool again = true;

	f->n = 0;
	process_list(h, found_add, f);
	for (size_t i = 0; i < f->n; i++) {
		struct process_stat s;

		if (find(t, f->pid[i]) != NONE || process_read_stat(h, f->pid[i], &s) < 0 ||
			s.start_ticks < t->start_ticks)
			continue;
		GROW(unknown, n, room);
		unknown[n].pid = s.pid;
		unknown[n++].ppid = s.ppid;
	}
	/* Pids are not in the order of birth: go round until nobody new is found. */
	while (again) {
		again = false;
		for (size_t i = 0; i < n; i++) {
			/* cppcheck-suppress nullPointer ; there is one when n is not 0 */
			if (!unknown[i].pid || find(t, unknown[i].ppid) == NONE)
				continue;
			size_t before = t->n;

			adopt(t, h, unknown[i].pid, unknown[i].ppid);
			unknown[i].pid = 0;
			again = again || t->n > before;
		}
	}
	free(unknown);
}

static void find_new(struct process_tree *t, const struct host *h)
{
	struct found f = {0};

	/* Who has not run has no new children, except those that the kernel gives to a reaper. */
	for (size_t i = 0; i < t->n && !t->no_children_file; i++) {
		struct member *m = &t->member[i];

		if (!m->zombie && (m->ran || m->reaper))
			find_children_of(t, h, i, &f);
	}
	if (t->n && (t->no_children_file || t->looks % SCAN_LOOKS == 0))
		find_by_scan(t, h, &f);
	free(f.pid);
}

/* ---- the dead ---- */

/*
 * The nearest live ancestor of vanished member i among the members, by the parents last seen; NONE when the
 * chain leaves the tree.
 */
static size_t heir_of(const struct process_tree *t, size_t i, const bool *vanished)
{
	for (size_t steps = 0; steps <= t->n; steps++) {
		i = find(t, t->member[i].ppid);
		if (i == NONE || !vanished[i])
			return i;
	}
	return NONE;
}

/*
 * Does a waiting parent get this counter of its child? The kernel keeps context switches and waits to itself; of a
 * reaper's I/O its own part is not known, so none of it is counted.
 */
static bool passes_to(const struct member *heir, size_t counter)
{
	switch ((enum tree_counter)counter) {
	case TREE_CPU_NS:
	case TREE_SYSTEM_NS:
	case TREE_MINOR_FAULTS:
	case TREE_MAJOR_FAULTS:
		return true;
	case TREE_READ_CHARS:
	case TREE_WRITTEN_CHARS:
	case TREE_READ_BYTES:
	case TREE_WRITTEN_BYTES:
		return !heir || !heir->reaper;
	case TREE_VOLUNTARY_SWITCHES:
	case TREE_INVOLUNTARY_SWITCHES:
	case TREE_CPU_WAIT_NS:
	case TREE_IO_WAIT_NS:
	case TREE_MEMORY_WAIT_NS:
	case TREE_COUNTERS:
		return false;
	}
	return false;
}

/* What is needed to decide about the dead of one look; each array has an entry for every member. */
struct burial {
	bool *vanished;
	uint64_t *before; /* waited faults at the look before */
	size_t *heir;
	size_t *pool; /* the next member of whose pool it is part; itself at the end */
	uint64_t *left,
		*got; /* faults of each pool: of the vanished, and that its members got by waiting */
};

static size_t pool_of(const struct burial *b, size_t i)
{
	while (b->pool[i] != i)
		i = b->pool[i];
	return i;
}

static void pool_with(struct burial *b, size_t i, size_t j)
{
	b->pool[pool_of(b, i)] = pool_of(b, j);
}

/*
 * Finds the heir of a vanished process. When its parent is gone too, it may have become an orphan before it ended:
 * then it went to whichever ancestor adopts orphans, or to the reaper. All that may have got it make a pool, or
 * it would be counted in one of them and kept here as well.
 */
static void find_heir(const struct process_tree *t, struct burial *b, size_t i)
{
	size_t heir = b->heir[i] = heir_of(t, i, b->vanished);

	if (heir == NONE || heir == find(t, t->member[i].ppid))
		return;
	for (size_t j = heir, steps = 0; j != NONE && steps <= t->n; steps++) {
		if (!b->vanished[j])
			pool_with(b, heir, j);
		j = find(t, t->member[j].ppid);
	}
	if (t->member[0].reaper && !b->vanished[0])
		pool_with(b, heir, 0);
}

/* Decides for each vanished process how much of it its heirs got by waiting, and keeps the rest. */
static void bury(struct process_tree *t, struct burial *b)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!b->vanished[i])
			b->got[pool_of(b, i)] += t->member[i].waited_faults - b->before[i];
		else if (b->heir[i] != NONE)
			b->left[pool_of(b, b->heir[i])] += t->member[i].counter[TREE_MINOR_FAULTS];
	}
	for (size_t i = 0; i < t->n; i++) {
		if (!b->vanished[i])
			continue;
		double kept = 1;
		size_t pool = b->heir[i] == NONE ? NONE : pool_of(b, b->heir[i]);

		if (pool != NONE && b->left[pool])
			kept = b->got[pool] >= b->left[pool] ?
				       0 :
				       1 - (double)b->got[pool] / (double)b->left[pool];
		for (size_t c = 0; c < TREE_COUNTERS; c++) {
			bool inherited = passes_to(pool == NONE ? NULL : &t->member[b->heir[i]], c);

			t->retained[c] +=
				inherited ? (uint64_t)((double)t->member[i].counter[c] * kept) :
					    t->member[i].counter[c];
		}
	}
}

static void remove_vanished(struct process_tree *t, const bool *vanished)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (!vanished[i])
			t->member[n++] = t->member[i];
	t->n = n;
	t->generation++;
	index_rebuild(t);
}

/* Whoever may have got the time of a vanished one was read before it was missed: reads them again. */
static void settle_dead(struct process_tree *t, const struct host *h, struct burial *b)
{
	AUTO(freep) bool *concerned = xcalloc(t->n, sizeof *concerned);

	for (size_t i = 0; i < t->n; i++)
		b->pool[i] = i;
	for (size_t i = 0; i < t->n; i++)
		if (b->vanished[i])
			find_heir(t, b, i);
	for (size_t i = 0; i < t->n; i++)
		if (b->vanished[i] && b->heir[i] != NONE)
			concerned[pool_of(b, b->heir[i])] = true;
	for (size_t i = 0; i < t->n; i++)
		if (!b->vanished[i] && concerned[pool_of(b, i)])
			member_read(&t->member[i], h, false);
	bury(t, b);
	remove_vanished(t, b->vanished);
}

static void look_at_known(struct process_tree *t, const struct host *h)
{
	AUTO(freep) bool *vanished = xcalloc(t->n, sizeof *vanished);
	AUTO(freep) uint64_t *counts = xcalloc(t->n * 3, sizeof *counts);
	AUTO(freep) size_t *indexes = xcalloc(t->n * 2, sizeof *indexes);
	struct burial b = {
		vanished, counts, indexes, indexes + t->n, counts + t->n, counts + 2 * t->n};

	t->any_vanished = false;
	/* Parents first: a child that dies in between would else be counted twice, in itself and its parent. */
	for (size_t i = 0; i < t->n; i++) {
		b.before[i] = t->member[i].waited_faults;
		vanished[i] = !member_look(&t->member[i], h);
		t->any_vanished = t->any_vanished || vanished[i];
	}
	if (t->any_vanished)
		settle_dead(t, h, &b);
}

static void ignore_child(void *context, pid_t child)
{
	(void)context;
	(void)child;
}

int process_tree_begin(struct process_tree *t, const struct host *h, pid_t pid,
	uint64_t start_ticks, pid_t reaper_pid)
{
	struct process_stat s;
	int code = process_read_stat(h, pid, &s);

	if (code < 0)
		return process_gone(code) ? -ESRCH : code;
	if (start_ticks && s.start_ticks != start_ticks)
		return -ESRCH;
	*t = (struct process_tree){0};

	struct member root = {.pid = pid, .start_ticks = s.start_ticks};
	struct member reaper = {.pid = reaper_pid, .reaper = true};

	if (!member_begin(&root, h))
		return -ESRCH;
	t->start_ticks = root.start_ticks;
	t->pss_budget_ns = PSS_FIRST_BUDGET_NS;
	t->no_children_file = process_children(h, pid, 1, ignore_child, NULL) == -ENOENT;
	if (reaper_pid && process_read_stat(h, reaper_pid, &s) == 0) {
		reaper.start_ticks = s.start_ticks;
		if (member_begin(&reaper, h))
			add(t, &reaper);
		/* What it waited for before this run began is not the run's. */
		for (size_t c = 0; c < TREE_COUNTERS; c++)
			t->retained[c] -= reaper.counter[c];
	}
	add(t, &root);
	find_new(t, h);
	/* Marks from before we came, each by itself. */
	for (size_t i = 0; i < t->n; i++) {
		raise_to(&t->peak_bytes, t->member[i].peak_bytes);
		raise_to(&t->peak_process_bytes, t->member[i].peak_bytes);
	}
	return 0;
}

void process_tree_adopt(struct process_tree *t, const struct host *h, pid_t pid)
{
	adopt(t, h, pid, 0);
}

bool process_tree_has(const struct process_tree *t, pid_t pid)
{
	size_t i = find(t, pid);

	return i != NONE && !t->member[i].reaper;
}

size_t process_tree_look(struct process_tree *t, const struct host *h, struct tree_now *now)
{
	look_at_known(t, h);
	t->looks++;
	if (t->n)
		find_new(t, h);
	process_tree_sum(t, h, now);
	return now->processes;
}

void process_tree_done(struct process_tree *t)
{
	free(t->member);
	free(t->slot);
	*t = (struct process_tree){0};
}
