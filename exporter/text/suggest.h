/* For messages like "did you mean ...?": finds the names that are most similar to a word, by edit
 * distance. */
#ifndef EXPORTER_TEXT_SUGGEST_H
#define EXPORTER_TEXT_SUGGEST_H

#include <stddef.h>

#define CLOSEST_MAX 5

/* Finds the names that are similar to `word`, ignoring case. Stores at most CLOSEST_MAX of them in
 * `ret`, the most similar first, then NULL. A name that contains `word`, or is contained in `word`,
 * comes before a name that only has similar letters. Equal names are stored once. */
void suggest_closest(const char *word, const char *const *names, size_t n,
	const char *ret[CLOSEST_MAX + 1]);

/* Returns the name of which `word` probably is a misspelling, or NULL. */
const char *suggest_slip(const char *word, const char *const *names, size_t n);

#endif
