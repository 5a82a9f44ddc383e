/*
 * Texts kept once: a map from text to a small number. Equal texts give the same name, so they can be
 * compared by pointer afterwards.
 */
#ifndef RECOMMENDER_CATALOGUE_STRING_TABLE_H
#define RECOMMENDER_CATALOGUE_STRING_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "collectors/base/mem.h"

struct string_entry {
	const char *text;
	uint32_t value; /* the caller's; 0 in a new name */
	uint32_t hash;
};

struct string_table {
	struct arena *arena; /* holds the texts; the caller's */
	struct string_entry *slot;
	size_t n, room; /* room: a power of two, or 0 */
	size_t bytes;   /* of the texts */
};

/* The name of that text, added when it is new. Valid until the next one is added; its text for good. */
struct string_entry *string_table_add(struct string_table *m, const char *text, size_t len);

/* The same for two texts as one key; they must not contain a NUL. */
struct string_entry *string_table_add_pair(struct string_table *m, const char *first,
	const char *second);

void string_table_done(struct string_table *m); /* the table; texts stay in the arena */

#endif
