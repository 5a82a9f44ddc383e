/* A map from text to a number. The map stores each text once, so equal texts can be compared by
 * pointer. */
#ifndef RECOMMENDER_CATALOGUE_STRING_TABLE_H
#define RECOMMENDER_CATALOGUE_STRING_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "collectors/base/mem.h"

struct string_entry {
	const char *text;
	uint32_t value; /* set and read only by the caller; 0 in a new entry */
	uint32_t hash;
};

struct string_table {
	struct arena *arena; /* owns the texts; the caller owns the arena */
	struct string_entry *slot;
	size_t n, room; /* room: number of slots, a power of two or 0 */
	size_t bytes;   /* bytes of all texts */
};

/* Finds or adds the entry of a text. The pointer to the entry is valid only until the next call,
 * but entry->text stays valid. */
struct string_entry *string_table_add(struct string_table *m, const char *text, size_t len);

/* Finds or adds the entry of a pair of texts, which form one key. */
struct string_entry *string_table_add_pair(struct string_table *m, const char *first,
	const char *second);

void string_table_done(struct string_table *m); /* frees the table; the arena keeps the texts */

#endif
