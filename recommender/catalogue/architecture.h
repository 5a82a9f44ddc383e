/*
 * Processor architectures, by the names that the catalogue gives them.
 */
#ifndef RECOMMENDER_CATALOGUE_ARCHITECTURE_H
#define RECOMMENDER_CATALOGUE_ARCHITECTURE_H

#include <stdbool.h>
#include <stddef.h>

enum architecture {
	ARCHITECTURE_UNKNOWN,
	ARCHITECTURE_X86_64,
	ARCHITECTURE_ARM64,
	ARCHITECTURE_I386,
	ARCHITECTURE_X86_64_MAC,
	ARCHITECTURE_ARM64_MAC,
	ARCHITECTURE_COUNT,
};

/* As Keeper spells them; [UNKNOWN] is "". */
extern const char *const architecture_name[ARCHITECTURE_COUNT];

/* The index of text in names[n], ignoring case; false when it is none of them. */
bool catalogue_name_find(const char *const *names, size_t n, const char *text, unsigned *ret);

#endif
