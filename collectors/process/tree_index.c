/* The list of the members of a tree. */
#include "collectors/process/tree_index.h"

#include <string.h>

#include "collectors/base/mem.h"

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

bool process_tree_enter(struct process_tree *t, pid_t pid)
{
	return !t->all || run_members_enter(t->all, pid);
}

void process_tree_leave(struct process_tree *t, pid_t pid)
{
	if (t->all)
		run_members_leave(t->all, pid);
}

void process_tree_drop(struct process_tree *t, size_t i)
{
	struct member *m = &t->member[i];

	if (!m->reaper)
		process_tree_leave(t, m->pid);
	member_done(m);
}

size_t process_tree_add(struct process_tree *t, const struct member *m)
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
