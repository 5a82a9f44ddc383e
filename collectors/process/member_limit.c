/* A hash table of pids, by open addressing. */
#include "collectors/process/member_limit.h"

#include <stdlib.h>

#include "collectors/base/mem.h"

#define SLOTS_MIN 64

static size_t home_of(const struct run_members *m, pid_t pid)
{
	return ((uint32_t)pid * 2654435761U) & (m->n_slots - 1);
}

/* Its slot, or the free one where it belongs. */
static size_t place_of(const struct run_members *m, pid_t pid)
{
	size_t i = home_of(m, pid);

	while (m->slot[i].pid && m->slot[i].pid != pid)
		i = (i + 1) & (m->n_slots - 1);
	return i;
}

static void grow(struct run_members *m)
{
	struct run_members old = *m;

	if (m->n_slots >= 2 * (m->n_pids + 1))
		return;
	m->n_slots = old.n_slots ? 2 * old.n_slots : SLOTS_MIN;
	m->slot = xcalloc(m->n_slots, sizeof *m->slot);
	for (size_t i = 0; i < old.n_slots; i++)
		if (old.slot[i].pid)
			m->slot[place_of(m, old.slot[i].pid)] = old.slot[i];
	free(old.slot);
}

bool run_members_enter(struct run_members *m, pid_t pid)
{
	if (m->n >= m->most)
		return false;
	grow(m);

	struct member_slot *s = &m->slot[place_of(m, pid)];

	if (s->runs >= RUN_MEMBERS_NESTED_MAX)
		return false;
	m->n_pids += !s->pid;
	s->pid = pid;
	s->runs++;
	m->n++;
	return true;
}

/* Those behind a slot that becomes free move up, unless they are where they belong. */
static void close_gap(struct run_members *m, size_t gap)
{
	for (size_t i = (gap + 1) & (m->n_slots - 1); m->slot[i].pid;
		i = (i + 1) & (m->n_slots - 1)) {
		size_t from_home = (i - home_of(m, m->slot[i].pid)) & (m->n_slots - 1);

		if (from_home < ((i - gap) & (m->n_slots - 1)))
			continue;
		m->slot[gap] = m->slot[i];
		gap = i;
	}
	m->slot[gap] = (struct member_slot){0};
}

void run_members_leave(struct run_members *m, pid_t pid)
{
	size_t i = place_of(m, pid);

	m->n--;
	if (--m->slot[i].runs)
		return;
	m->n_pids--;
	close_gap(m, i);
}

void run_members_done(struct run_members *m)
{
	free(m->slot);
	*m = (struct run_members){.most = m->most};
}
