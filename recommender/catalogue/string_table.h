/*
 * Texts kept once: a map from text to a small number. Equal texts give the same name, so they can be
 * compared by pointer afterwards.
 */
#ifndef RECOMMENDER_CATALOGUE_STRING_TABLE_H
#define RECOMMENDER_CATALOGUE_STRING_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "collectors/base/mem.h"

struct name {
	const char *text;
	uint32_t value; /* the caller's; 0 in a new name */
	uint32_t hash;
};

struct names {
	struct arena *arena; /* holds the texts; the caller's */
	struct name *slot;
	size_t n, room; /* room: a power of two, or 0 */
	size_t bytes;   /* of the texts */
};

/* The name of that text, added when it is new. Valid until the next one is added; its text for good. */
struct name *names_add(struct names *m, const char *text, size_t len);

/* The same for two texts as one key; they must not contain a NUL. */
struct name *names_add_pair(struct names *m, const char *first, const char *second);

void names_done(struct names *m); /* the table; texts stay in the arena */

#endif
