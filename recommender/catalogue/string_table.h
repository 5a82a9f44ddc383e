/*
 * A map from text to a number that stores each text once: equal texts share one entry, so texts can
 * be compared by pointer.
 */
#ifndef RECOMMENDER_CATALOGUE_STRING_TABLE_H
#define RECOMMENDER_CATALOGUE_STRING_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "collectors/base/mem.h"

struct string_entry {
	const char *text;
	uint32_t value; /* the caller's; 0 in a new entry */
	uint32_t hash;
};

struct string_table {
	struct arena *arena; /* owns the texts; the caller's */
	struct string_entry *slot;
	size_t n, room; /* room: slots, a power of two or 0 */
	size_t bytes;   /* of the texts */
};

/* Finds or adds the entry of a text. Valid until the next call; entry->text stays valid. */
struct string_entry *string_table_add(struct string_table *m, const char *text, size_t len);

/* The same for a pair of texts as one key. */
struct string_entry *string_table_add_pair(struct string_table *m, const char *first,
	const char *second);

void string_table_done(struct string_table *m); /* frees the table; texts stay in the arena */

#endif
