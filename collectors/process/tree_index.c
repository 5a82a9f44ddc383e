#include "collectors/process/tree_index.h"

#include "collectors/base/mem.h"

size_t process_tree_find(const struct process_tree *t, pid_t pid)
{
	const uint32_t *i = pid_map_find(&t->index, pid);

	return i ? *i : PROCESS_TREE_NONE;
}

void process_tree_reindex(struct process_tree *t)
{
	pid_map_clear(&t->index);
	for (size_t i = 0; i < t->n; i++)
		*pid_map_add(&t->index, t->member[i].pid) = (uint32_t)i;
}

bool process_tree_enter(struct process_tree *t, pid_t pid)
{
	return !t->all || member_limit_enter(t->all, pid);
}

void process_tree_leave(struct process_tree *t, pid_t pid)
{
	if (t->all)
		member_limit_leave(t->all, pid);
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
	t->member[t->n] = *m;
	*pid_map_add(&t->index, m->pid) = (uint32_t)t->n;
	t->generation++;
	return t->n++;
}

void process_tree_expect_orphans(struct process_tree *t, size_t of)
{
	size_t i = of;

	for (size_t steps = 0; steps < t->n; steps++) {
		i = process_tree_find(t, t->member[i].ppid);
		/* Stop at a vanished ancestor. This function is called for that ancestor, too, and
		 * then marks the higher ancestors. */
		if (i == PROCESS_TREE_NONE || t->member[i].vanished)
			return;
		t->member[i].children_due = true;
	}
}
