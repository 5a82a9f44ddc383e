/* Text that is safe to show: valid UTF-8, with a size limit, and still unique after it is cut. One
 * hostile process name must not make a whole scrape invalid. */
#ifndef COLLECTORS_BASE_UTF8_H
#define COLLECTORS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

bool utf8_valid(const char *s, size_t len);

/* Returns true if the text is valid, not empty, and without control characters (below U+0020, and
 * U+007F to U+009F). */
bool utf8_plain(const char *s);

/* Writes `s` to `out` as valid UTF-8 with a NUL. Returns the length, which is below `size`. `size`
 * must be at least 16.
 *
 * Invalid bytes, NULs and U+0080 to U+009F, which control terminals, become U+FFFD. A text that
 * does not fit is cut after a whole character and ends in "~" and 8 hexadecimal digits, its FNV-1a
 * hash. Long texts that differ only near the end therefore stay different. */
size_t utf8_clean(const char *s, size_t len, char *out, size_t size);

/* Like utf8_clean, and also replaces the remaining control characters (below U+0020, and U+007F) by
 * `instead`. */
void utf8_clean_plain(const char *s, size_t len, char instead, char *out, size_t size);

#endif
