/* A hash table with open addressing. Entries are never removed. */
#include "recommender/catalogue/string_table.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256

static void names_grow(struct string_table *m)
{
	struct string_entry *old = m->slot;
	size_t old_room = m->room;

	m->room = old_room ? old_room * 2 : FIRST_ROOM;
	m->slot = xcalloc(m->room, sizeof *m->slot);
	for (size_t i = 0; i < old_room; i++) {
		if (!old[i].text)
			continue;
		size_t at = old[i].hash & (m->room - 1);

		while (m->slot[at].text)
			at = (at + 1) & (m->room - 1);
		m->slot[at] = old[i];
	}
	free(old);
}

struct string_entry *string_table_add(struct string_table *m, const char *text, size_t len)
{
	uint32_t hash = (uint32_t)hash_bytes(text, len);

	if (m->n >= m->room / 2)
		names_grow(m);
	size_t at = hash & (m->room - 1);

	for (; m->slot[at].text; at = (at + 1) & (m->room - 1)) {
		struct string_entry *found = &m->slot[at];

		if (found->hash == hash && strncmp(found->text, text, len) == 0 &&
			!found->text[len])
			return found;
	}
	m->n++;
	m->bytes += len + 1;
	m->slot[at] = (struct string_entry){.text = arena_text(m->arena, text, len), .hash = hash};
	return &m->slot[at];
}

struct string_entry *string_table_add_pair(struct string_table *m, const char *first,
	const char *second)
{
	char small[2 * 256];
	size_t n = strlen(first), k = strlen(second);
	AUTO(freep) char *large = n + k + 2 > sizeof small ? xmalloc(n + k + 2) : NULL;
	char *key = large ? large : small;

	memcpy(key, first, n);
	key[n] = '\x1f'; /* separator: valid texts have no control characters */
	memcpy(key + n + 1, second, k + 1);
	return string_table_add(m, key, n + 1 + k);
}

void string_table_done(struct string_table *m)
{
	free(m->slot);
	*m = (struct string_table){.arena = m->arena};
}
