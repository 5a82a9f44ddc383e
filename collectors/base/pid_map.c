#include "collectors/base/pid_map.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"

#define SLOTS_MIN 64

static size_t next(const struct pid_map *m, size_t i)
{
	return (i + 1) & (m->n_slots - 1);
}

static size_t home_of(const struct pid_map *m, pid_t pid)
{
	return ((uint32_t)pid * 2654435761U) & (m->n_slots - 1);
}

/* Finds the slot of `pid`, or the free slot where `pid` would be added. */
static struct pid_slot *place_of(const struct pid_map *m, pid_t pid)
{
	size_t i = home_of(m, pid);

	while (m->slot[i].pid && m->slot[i].pid != pid)
		i = next(m, i);
	return &m->slot[i];
}

uint32_t *pid_map_find(const struct pid_map *m, pid_t pid)
{
	struct pid_slot *s = m->n ? place_of(m, pid) : NULL;

	return s && s->pid ? &s->value : NULL;
}

static void grow(struct pid_map *m)
{
	struct pid_map old = *m;

	if (m->n_slots >= 2 * (m->n + 1))
		return;
	m->n_slots = old.n_slots ? 2 * old.n_slots : SLOTS_MIN;
	m->slot = xcalloc(m->n_slots, sizeof *m->slot);
	for (size_t i = 0; i < old.n_slots; i++)
		if (old.slot[i].pid)
			*place_of(m, old.slot[i].pid) = old.slot[i];
	free(old.slot);
}

uint32_t *pid_map_add(struct pid_map *m, pid_t pid)
{
	grow(m);

	struct pid_slot *s = place_of(m, pid);

	if (!s->pid) {
		*s = (struct pid_slot){.pid = pid};
		m->n++;
	}
	return &s->value;
}

/* Closes the gap that the removed entry leaves: moves later entries of the probe sequence into it,
 * one after another. An entry never moves before its home slot, where a search begins. */
void pid_map_remove(struct pid_map *m, pid_t pid)
{
	size_t mask = m->n_slots - 1, gap = (size_t)(place_of(m, pid) - m->slot);

	for (size_t i = next(m, gap); m->slot[i].pid; i = next(m, i)) {
		size_t from_home = (i - home_of(m, m->slot[i].pid)) & mask;

		if (from_home < ((i - gap) & mask))
			continue;
		m->slot[gap] = m->slot[i];
		gap = i;
	}
	m->slot[gap] = (struct pid_slot){0};
	m->n--;
}

void pid_map_clear(struct pid_map *m)
{
	if (m->n)
		memset(m->slot, 0, m->n_slots * sizeof *m->slot);
	m->n = 0;
}

void pid_map_done(struct pid_map *m)
{
	free(m->slot);
	*m = (struct pid_map){0};
}
