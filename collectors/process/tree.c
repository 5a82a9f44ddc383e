/* Membership. */
#include "collectors/process/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"

/* ---- finding a member by pid ---- */

static size_t slot_of(const struct process_tree *t, pid_t pid)
{
	return ((uint32_t)pid * 2654435761U) & (t->n_slots - 1);
}

size_t process_tree_find(const struct process_tree *t, pid_t pid)
{
	if (t->n_slots == 0)
		return PROCESS_TREE_NONE;
	for (size_t s = slot_of(t, pid); t->slot[s]; s = (s + 1) & (t->n_slots - 1))
		if (t->member[t->slot[s] - 1].pid == pid)
			return t->slot[s] - 1;
	return PROCESS_TREE_NONE;
}

static void index_add(struct process_tree *t, size_t i)
{
	size_t s = slot_of(t, t->member[i].pid);

	while (t->slot[s])
		s = (s + 1) & (t->n_slots - 1);
	t->slot[s] = (uint32_t)(i + 1);
}

void process_tree_reindex(struct process_tree *t)
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

/* Counted with the members of all runs; the reaper is not. */
static bool enter(struct process_tree *t, pid_t pid)
{
	return !t->all || run_members_enter(t->all, pid);
}

static void leave(struct process_tree *t, pid_t pid)
{
	if (t->all)
		run_members_leave(t->all, pid);
}

void process_tree_drop(struct process_tree *t, size_t i)
{
	struct member *m = &t->member[i];

	if (!m->reaper)
		leave(t, m->pid);
	member_done(m);
}

static size_t add(struct process_tree *t, const struct member *m)
{
	GROW(t->member, t->n, t->room);
	t->member[t->n++] = *m;
	t->generation++;
	if (t->n_slots < t->n * 2)
		process_tree_reindex(t);
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

/* What failed may be known at the next look: it says neither that there is nobody nor that we may not know. */
static bool is_passing(int code)
{
	return code < 0 && !process_gone(code) && !process_refused(code);
}

/* Adds pid, a child of ppid and so of a member (0: whoever's): 0, or -ESRCH when it is gone, or what failed. */
static int take_in(struct process_tree *t, const struct host *h, pid_t pid, pid_t ppid)
{
	struct process_stat s;
	int code = process_read_stat(h, pid, &s);

	if (code < 0)
		return code;
	if (ppid && s.ppid != ppid && process_tree_find(t, s.ppid) == PROCESS_TREE_NONE)
		return -ESRCH;
	struct member m = {.pid = pid, .start_ticks = s.start_ticks, .stack_start = s.stack_start};
	size_t parent = process_tree_find(t, s.ppid);

	/* A child that the reaper had before. */
	if (parent != PROCESS_TREE_NONE && t->member[parent].reaper &&
		s.start_ticks < t->start_ticks)
		return -ESRCH;
	if (parent != PROCESS_TREE_NONE && s.stack_start &&
		t->member[parent].stack_start == s.stack_start)
		m.inherited_bytes = t->member[parent].rss_bytes;
	if (!member_begin(&m, h))
		return -ESRCH;
	add(t, &m);
	return 0;
}

/*
 * The same, unless it is known, or may not be in one more run: then nothing of it is read. False: it could not be read this
 * time.
 */
static bool adopt(struct process_tree *t, const struct host *h, pid_t pid, pid_t ppid)
{
	int code = 0;

	if (process_tree_find(t, pid) != PROCESS_TREE_NONE)
		return true;
	if (!enter(t, pid))
		t->left_out = true;
	else
		code = take_in(t, h, pid, ppid);
	if (code)
		leave(t, pid);
	return !is_passing(code);
}

/* Children of one member; the loop of the caller goes on over those that are added. False: there may be more. */
static bool find_children_of(struct process_tree *t, const struct host *h, size_t i,
	struct found *f)
{
	const struct member *m = &t->member[i];
	pid_t pid = m->pid;
	/* The kernel gives orphans to the first thread of a reaper (find_new_reaper() in kernel/exit.c). */
	uint64_t threads = m->reaper ? 1 : m->threads;

	f->n = 0;
	int code = process_children(h, pid, threads, m->files ? &m->files->children : NULL,
		found_add, f);
	bool all = !is_passing(code);

	for (size_t k = 0; k < f->n; k++)
		all = adopt(t, h, f->pid[k], pid) && all;
	return all;
}

/* By parent links of all processes: for kernels without children files. False: there may be more. */
static bool find_by_scan(struct process_tree *t, const struct host *h, struct found *f)
{
	struct {
		pid_t pid, ppid;
	} *unknown = NULL;
	size_t n = 0, room = 0;
	bool again = true;

	f->n = 0;
	bool all = process_list(h, found_add, f) == 0;

	for (size_t i = 0; i < f->n; i++) {
		struct process_stat s;

		if (process_tree_find(t, f->pid[i]) != PROCESS_TREE_NONE)
			continue;
		int code = process_read_stat(h, f->pid[i], &s);

		all = all && !is_passing(code);
		if (code < 0 || s.start_ticks < t->start_ticks)
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
			if (!unknown[i].pid ||
				process_tree_find(t, unknown[i].ppid) == PROCESS_TREE_NONE)
				continue;
			size_t before = t->n;

			all = adopt(t, h, unknown[i].pid, unknown[i].ppid) && all;
			unknown[i].pid = 0;
			again = again || t->n > before;
		}
	}
	free(unknown);
	return all;
}

static void find_new(struct process_tree *t, const struct host *h)
{
	struct found f = {0};
	bool all = true;

	/* Who has not run has no new children, except those that the kernel gives to a reaper. */
	for (size_t i = 0; i < t->n && !t->no_children_file; i++) {
		struct member *m = &t->member[i];
		bool asked = m->children_due || m->reaper;

		m->children_due = false;
		/* A zombie of several threads is the first of them; the others may have children. */
		if (asked && (!m->zombie || m->threads > 1) && !find_children_of(t, h, i, &f)) {
			t->member[i].children_due = true;
			all = false;
		}
	}
	if (t->n && t->no_children_file)
		all = find_by_scan(t, h, &f);
	/* Whom a file that could not be read would have told is searched for again, though nobody is born meanwhile. */
	if (!all)
		t->births = 0;
	free(f.pid);
}

/* ---- looking ---- */

void process_tree_expect_orphans(struct process_tree *t, size_t of)
{
	size_t i = of;

	for (size_t steps = 0; steps < t->n; steps++) {
		i = process_tree_find(t, t->member[i].ppid);
		/* One that vanished goes on from there itself: a deep chain that ends at once is climbed once. */
		if (i == PROCESS_TREE_NONE || t->member[i].vanished)
			return;
		t->member[i].children_due = true;
	}
}

static void look_at_known(struct process_tree *t, const struct host *h)
{
	bool waited = false;

	t->any_vanished = false;
	/* Parents first: a child that ends in between would else be counted in itself and in its parent. */
	for (size_t i = 0; i < t->n; i++) {
		struct member *m = &t->member[i];

		/* Some that vanished are kept for one look more. */
		if (!m->vanished && !member_look(m, h)) {
			m->vanished = true;
			t->vanished++;
		}
		t->any_vanished = t->any_vanished || m->vanished;
		waited = waited || m->waited_faults != m->credited_faults;
		if (m->zombie && m->ran)
			process_tree_expect_orphans(t, i);
	}
	if (t->any_vanished || waited)
		process_tree_settle(t, h);
}

/* Newcomers may have waited for members, who were still there when they were looked at. */
static void look_for_new(struct process_tree *t, const struct host *h)
{
	size_t before = t->n;
	bool waited = false;

	find_new(t, h);
	for (size_t i = before; i < t->n; i++)
		waited = waited || t->member[i].waited_faults;
	if (waited)
		process_tree_settle(t, h);
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
	*t = (struct process_tree){.all = h->members, .passes_max = PROCESS_TREE_PASSES};

	struct member root = {.pid = pid, .start_ticks = s.start_ticks};
	struct member reaper = {.pid = reaper_pid, .reaper = true};

	if (!enter(t, pid))
		return -EDQUOT;
	if (!member_begin(&root, h)) {
		leave(t, pid);
		return -ESRCH;
	}
	t->start_ticks = root.start_ticks;
	t->pss_budget_ns = PSS_FIRST_BUDGET_NS;
	t->no_children_file = process_children(h, pid, 1, NULL, ignore_child, NULL) == -ENOENT;
	if (reaper_pid && process_read_stat(h, reaper_pid, &s) == 0) {
		reaper.start_ticks = s.start_ticks;
		if (member_begin(&reaper, h)) {
			member_credit(&reaper);
			add(t, &reaper);
		}
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

/* Its children at once: it need not run any more, and who does not is not asked for them. */
void process_tree_from_now(struct process_tree *t)
{
	t->from_now = true;
	t->peak_bytes = t->peak_process_bytes = 0;
	for (size_t i = 0; i < t->n; i++) {
		struct member *m = &t->member[i];

		for (size_t c = 0; c < TREE_COUNTERS; c++)
			t->retained[c] -= m->counter[c];
		m->old_mark_bytes = m->peak_bytes;
		m->peak_bytes = 0;
	}
}

void process_tree_adopt(struct process_tree *t, const struct host *h, pid_t pid)
{
	struct found f = {0};
	size_t i = t->n;

	adopt(t, h, pid, 0);
	for (; i < t->n && !t->no_children_file; i++)
		if (!t->member[i].zombie)
			find_children_of(t, h, i, &f);
	free(f.pid);
}

bool process_tree_has(const struct process_tree *t, pid_t pid)
{
	size_t i = process_tree_find(t, pid);

	return i != PROCESS_TREE_NONE && !t->member[i].reaper;
}

size_t process_tree_look(struct process_tree *t, const struct host *h, uint64_t births,
	struct tree_now *now)
{
	bool none_born = births && births == t->births;

	t->births = births;
	look_at_known(t, h);
	t->looks++;
	if (t->n && (!none_born || t->looks % SEARCH_LOOKS == 0))
		look_for_new(t, h);
	process_tree_sum(t, h, now);
	return now->processes;
}

void process_tree_let_go(struct process_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		process_tree_drop(t, i);
	free(t->member);
	free(t->slot);
	t->member = NULL;
	t->slot = NULL;
	t->n = t->room = t->n_slots = 0;
}

void process_tree_done(struct process_tree *t)
{
	process_tree_let_go(t);
	*t = (struct process_tree){0};
}
