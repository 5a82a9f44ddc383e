#include "exporter/text/suggest.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Only this many first bytes of each word are compared, so that a search in thousands of long names
 * is fast. */
#define COMPARED 64

static size_t least_of(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Returns the edit distance of `a` and `b`, ignoring case, or `most` + 1 when the distance exceeds
 * `most`. */
static size_t distance(const char *a, const char *b, size_t most)
{
	size_t row[COMPARED + 1], na = strnlen(a, COMPARED), nb = strnlen(b, COMPARED);

	if ((na > nb ? na - nb : nb - na) > most)
		return most + 1;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0], least = i;

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t above = row[j];
			size_t replaced = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));

			row[j] = least_of(above + 1, row[j - 1] + 1, replaced);
			diagonal = above;
			least = row[j] < least ? row[j] : least;
		}
		if (least > most)
			return most + 1;
	}
	return row[nb];
}

/* Returns true when `word` and `name` are similar, in one of two ways:
 * - One is a part of the other, and has more than two letters.
 * - At most 1 + half of the letters of `word` are wrong.
 *
 * The smaller `*ret` is, the more similar they are. */
static bool is_like(const char *word, const char *name, size_t *ret)
{
	size_t len = strnlen(word, COMPARED), most = 1 + len / 2;
	bool is_part = (len > 2 && strcasestr(name, word)) ||
		       (strnlen(name, 3) > 2 && strcasestr(word, name));
	size_t d = *word ? distance(word, name, is_part ? COMPARED : most) : most + 1;

	*ret = d + (is_part ? 0 : 2 * COMPARED);
	return is_part || d <= most;
}

static bool is_found(const char *const *found, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(found[i], name) == 0)
			return true;
	return false;
}

void suggest_closest(const char *word, const char *const *names, size_t n,
	const char *ret[CLOSEST_MAX + 1])
{
	size_t found = 0, score[CLOSEST_MAX];

	for (size_t i = 0; i < n; i++) {
		size_t u, at = found;

		if (!is_like(word, names[i], &u) || is_found(ret, found, names[i]))
			continue;
		while (at > 0 && u < score[at - 1])
			at--;
		if (at >= CLOSEST_MAX)
			continue;
		if (found < CLOSEST_MAX)
			found++;
		memmove(score + at + 1, score + at, (found - 1 - at) * sizeof *score);
		memmove(ret + at + 1, ret + at, (found - 1 - at) * sizeof *ret);
		score[at] = u;
		ret[at] = names[i];
	}
	ret[found] = NULL;
}

const char *suggest_slip(const char *word, const char *const *names, size_t n)
{
	const char *near[CLOSEST_MAX + 1];

	suggest_closest(word, names, n, near);
	if (!near[0])
		return NULL;
	/* The word is a misspelling of the name in two cases: the word is a part of the name, or at
	 * most 1 + n / 3 of the word's n letters are wrong. */
	if (strlen(word) > 2 && strcasestr(near[0], word))
		return near[0];
	size_t most = 1 + strnlen(word, COMPARED) / 3;

	return distance(word, near[0], most) <= most ? near[0] : NULL;
}
