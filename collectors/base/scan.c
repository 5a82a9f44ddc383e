#include "collectors/base/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 64

bool scan_end(const struct scan *s)
{
	return s->at >= s->end;
}

bool scan_char(struct scan *s, char c)
{
	if (scan_end(s) || *s->at != c)
		return false;
	s->at++;
	return true;
}

bool scan_literal(struct scan *s, const char *literal)
{
	size_t n = strlen(literal);

	if ((size_t)(s->end - s->at) < n || memcmp(s->at, literal, n) != 0)
		return false;
	s->at += n;
	return true;
}

void scan_blanks(struct scan *s)
{
	while (!scan_end(s) && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
}

/* 64 bits can store any number of 19 digits, so only the 20th and later digits are checked for
 * overflow. */
#define DIGITS_THAT_FIT 19

bool scan_u64(struct scan *s, uint64_t *ret)
{
	const char *at = s->at, *end = s->end;
	uint64_t v = 0;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	const char *first = at;

	for (; at < end && *at >= '0' && *at <= '9'; at++) {
		unsigned digit = (unsigned)(*at - '0');

		if (at - first >= DIGITS_THAT_FIT && v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	if (at == first)
		return false;
	s->at = at;
	*ret = v;
	return true;
}

bool scan_i64(struct scan *s, int64_t *ret)
{
	struct scan t = *s;
	uint64_t v;

	scan_blanks(&t);
	bool minus = scan_char(&t, '-');

	if (minus && (scan_end(&t) || *t.at < '0' || *t.at > '9'))
		return false;
	if (!scan_u64(&t, &v) || v > (uint64_t)INT64_MAX + minus)
		return false;
	*s = t;
	*ret = minus ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

bool scan_double(struct scan *s, double *ret)
{
	struct scan t = *s;
	char text[NUMBER_MAX];
	size_t n = 0;

	scan_blanks(&t);
	while (!scan_end(&t) && n < sizeof text - 1 && *t.at && strchr("0123456789+-.eE", *t.at))
		text[n++] = *t.at++;
	text[n] = '\0';

	char *stop;
	double v = strtod(text, &stop);

	if (n == 0 || *stop != '\0' || !isfinite(v))
		return false;
	*s = t;
	*ret = v;
	return true;
}

bool scan_word(struct scan *s, struct slice *ret)
{
	struct scan t = *s;

	scan_blanks(&t);
	const char *first = t.at;

	while (!scan_end(&t) && *t.at != ' ' && *t.at != '\t' && *t.at != '\n')
		t.at++;
	if (t.at == first)
		return false;
	*s = t;
	*ret = (struct slice){first, (size_t)(t.at - first)};
	return true;
}

bool scan_until(struct scan *s, char stop, struct slice *ret)
{
	const char *found = scan_end(s) ? NULL : memchr(s->at, stop, (size_t)(s->end - s->at));

	if (!found)
		return false;
	*ret = (struct slice){s->at, (size_t)(found - s->at)};
	s->at = found + 1;
	return true;
}

bool scan_piece(struct scan *s, char stop, struct slice *ret)
{
	if (scan_end(s))
		return false;
	if (!scan_until(s, stop, ret)) {
		*ret = scan_rest(s);
		s->at = s->end;
	}
	return true;
}

bool scan_line(struct scan *s, struct scan *ret)
{
	if (scan_end(s))
		return false;
	const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));

	*ret = (struct scan){s->at, newline ? newline : s->end};
	s->at = newline ? newline + 1 : s->end;
	return true;
}

struct slice scan_first_line(struct scan text)
{
	struct scan line = text;

	scan_line(&text, &line);
	return slice_trim(scan_rest(&line));
}

bool scan_line_of(struct scan *s, const char *start, struct scan *ret)
{
	while (scan_line(s, ret))
		if (scan_literal(ret, start))
			return true;
	return false;
}

bool slice_equal(struct slice a, struct slice b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool slice_is(struct slice s, const char *text)
{
	return slice_equal(s, (struct slice){text, strlen(text)});
}

bool slice_starts(struct slice s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.len >= n && (n == 0 || memcmp(s.data, prefix, n) == 0);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct slice slice_trim(struct slice s)
{
	while (s.len && is_space(s.data[s.len - 1]))
		s.len--;
	for (; s.len && is_space(*s.data); s.len--)
		s.data++;
	return s;
}

void slice_copy(struct slice s, char *out, size_t size)
{
	size_t n = s.len < size - 1 ? s.len : size - 1;

	if (n)
		memcpy(out, s.data, n);
	out[n] = '\0';
}

void text_copy(const char *text, char *out, size_t size)
{
	slice_copy((struct slice){text, strlen(text)}, out, size);
}
