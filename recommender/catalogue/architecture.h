/* Processor architectures and their names in the catalogue. */
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

/* The names are spelled as in the API of the Spare Cores Keeper. The name of ARCHITECTURE_UNKNOWN
 * is "". */
extern const char *const architecture_name[ARCHITECTURE_COUNT];

/* Finds `text` among the `n` names, ignoring case, and writes its index to *ret. Returns false if
 * it is not found. */
bool catalogue_name_find(const char *const *names, size_t n, const char *text, unsigned *ret);

#endif
