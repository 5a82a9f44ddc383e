/*
 * Text that is safe to show: valid UTF-8, bounded, unique after cutting. One hostile process name must
 * not make a whole scrape invalid.
 */
#ifndef COLLECTORS_BASE_UTF8_H
#define COLLECTORS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

bool utf8_valid(const char *s, size_t len);

/* Valid, not empty, and without control characters (below U+0020, and U+007F to U+009F). */
bool utf8_plain(const char *s);

/*
 * Writes s to out as valid UTF-8, NUL-terminated, and returns its length (< size). Invalid bytes, NULs
 * and U+0080 to U+009F, which control terminals, become U+FFFD. A text that does not fit is cut at a
 * code point and ends in "~" and the 8 hexadecimal digits of its FNV-1a hash: long texts that differ
 * only late stay different. size must be at least 16.
 */
size_t utf8_clean(const char *s, size_t len, char *out, size_t size);

#endif
