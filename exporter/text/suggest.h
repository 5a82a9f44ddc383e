/*
 * "Did you mean": the names most like a word, by edit distance.
 */
#ifndef EXPORTER_TEXT_SUGGEST_H
#define EXPORTER_TEXT_SUGGEST_H

#include <stddef.h>

#define CLOSEST_MAX 5

/*
 * Puts the names that are like word in ret, at most CLOSEST_MAX of them, the most alike first, and NULL after
 * them: a name that contains the word, or the other way round, comes before one of which at most every second
 * letter is another. Upper and lower case are the same.
 */
void suggest_closest(const char *word, const char *const *names, size_t n,
	const char *ret[CLOSEST_MAX + 1]);

/* What word is a slip of: the name most like it, when they are much the same; else NULL. */
const char *suggest_slip(const char *word, const char *const *names, size_t n);

#endif
