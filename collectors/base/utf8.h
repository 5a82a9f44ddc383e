/*
 * Text that anyone may show: valid UTF-8, bounded, unique after cutting. One hostile process name must
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
 * Writes s to out as valid UTF-8, NUL-terminated, and returns its length (< size). Each byte that is no
 * part of a valid sequence, each NUL, and each of U+0080 to U+009F, which steer terminals, becomes U+FFFD. What does not fit is cut at a code point and
 * ends in "~" and eight hexadecimal digits of the whole text's FNV-1a hash, so that two long texts that
 * differ only late stay different. size must be at least 16.
 */
size_t utf8_clean(const char *s, size_t len, char *out, size_t size);

#endif
