/* UTF-8 as in RFC 3629: no surrogates, no overlong sequences, at most U+10FFFF. */
#include "collectors/base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CUT_MARK 9 /* "~" and eight hexadecimal digits */

/* Returns the length of the valid sequence at `s`, or 0 if the sequence is not valid. */
static size_t sequence(const unsigned char *s, size_t len)
{
	if (s[0] < 0x80)
		return 1;
	size_t n = s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 0;

	if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4;
	if (n == 0 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
		(s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

bool utf8_valid(const char *s, size_t len)
{
	const unsigned char *u = (const unsigned char *)s;

	for (size_t i = 0, n; i < len; i += n) {
		n = sequence(u + i, len - i);
		if (n == 0)
			return false;
	}
	return true;
}

/* Returns true for the control characters U+0080 to U+009F. They are dangerous: many terminals read
 * U+009B as ESC [, the start of a command. */
static bool is_c1(const unsigned char *s, size_t len)
{
	return len > 1 && s[0] == 0xc2 && s[1] < 0xa0;
}

bool utf8_plain(const char *s)
{
	for (const unsigned char *c = (const unsigned char *)s; *c; c++)
		if (*c < 0x20 || *c == 0x7f || is_c1(c, c[1] ? 2 : 1))
			return false;
	return *s && utf8_valid(s, strlen(s));
}

static uint32_t fnv1a(const unsigned char *s, size_t len)
{
	uint32_t h = 2166136261U;

	for (size_t i = 0; i < len; i++)
		h = (h ^ s[i]) * 16777619U;
	return h;
}

/* Returns true if the text is ASCII without NULs. Nearly all texts are, and they are copied without
 * decoding. */
static bool ascii(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] == '\0' || (unsigned char)s[i] >= 0x80)
			return false;
	return true;
}

size_t utf8_clean(const char *s, size_t len, char *out, size_t size)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n = 0, mark_at = 0;

	if (len < size && ascii(s, len)) {
		memcpy(out, s, len);
		out[len] = '\0';
		return len;
	}
	for (size_t i = 0; i < len;) {
		size_t take = u[i] ? sequence(u + i, len - i) : 0;
		bool shown = take && !is_c1(u + i, len - i);
		const char *piece = shown ? s + i : "\xef\xbf\xbd";
		size_t put = shown ? take : 3;

		if (n + put > size - 1) {
			snprintf(out + mark_at, CUT_MARK + 1, "~%08x", fnv1a(u, len));
			return mark_at + CUT_MARK;
		}
		memcpy(out + n, piece, put);
		n += put;
		i += take ? take : 1;
		if (n + CUT_MARK <= size - 1)
			mark_at = n;
	}
	out[n] = '\0';
	return n;
}

void utf8_clean_plain(const char *s, size_t len, char instead, char *out, size_t size)
{
	utf8_clean(s, len, out, size);
	for (char *c = out; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = instead;
}
