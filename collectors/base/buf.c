#include "collectors/base/buf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"

/* Makes room for `len` more bytes and a NUL. If the text would become longer than b->max, sets
 * `full` and returns false. */
static bool room_for(struct buf *b, size_t len)
{
	if (b->full || len > b->max || b->len > b->max - len) {
		b->full = true;
		return false;
	}
	if (b->len + len + 1 <= b->room)
		return true;
	size_t room = b->room ? b->room : 128;

	while (room < b->len + len + 1)
		room *= 2;
	b->data = xrealloc(b->data, room);
	b->room = room;
	return true;
}

void buf_expect(struct buf *b, size_t len)
{
	if (len == 0 || len >= b->max || b->len + len < b->room)
		return;
	b->room = b->len + len + 1;
	b->data = xrealloc(b->data, b->room);
	b->data[b->len] = '\0';
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (!room_for(b, len))
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

/* Returns true if `len` more bytes fit into memory that is already allocated. The caller then
 * writes into this memory directly, which is faster than buf_add. */
static bool has_room(const struct buf *b, size_t len)
{
	return !b->full && b->len + len < b->room && b->len + len <= b->max;
}

void buf_addc(struct buf *b, char c)
{
	if (!has_room(b, 1)) {
		buf_add(b, &c, 1);
		return;
	}
	b->data[b->len++] = c;
	b->data[b->len] = '\0';
}

void buf_addf(struct buf *b, const char *format, ...)
{
	char small[256];
	va_list args;

	va_start(args, format);
	int n = vsnprintf(small, sizeof small, format, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n < sizeof small) {
		buf_add(b, small, (size_t)n);
		return;
	}
	if (!room_for(b, (size_t)n))
		return;
	va_start(args, format);
	vsnprintf(b->data + b->len, (size_t)n + 1, format, args);
	va_end(args);
	b->len += (size_t)n;
}

/* Writes at most 20 digits and no NUL. Returns the number of digits. */
static size_t u64_text(char *out, uint64_t v)
{
	char digits[24];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	for (size_t i = 0; i < n; i++)
		out[i] = digits[n - 1 - i];
	return n;
}

void buf_add_u64(struct buf *b, uint64_t v)
{
	char text[24];

	buf_add(b, text, u64_text(text, v));
}

/* Writes the number `digits` / 10^`decimals` in the form of %g, such as "5.3e-05". The number must
 * be below 1e-4. */
static size_t exponent_text(char *out, uint64_t digits, unsigned decimals)
{
	size_t n = u64_text(out + 1, digits);
	unsigned exponent = decimals - (unsigned)(n - 1);

	out[0] = out[1];
	out[1] = '.';
	n = n > 1 ? n + 1 : 1;
	out[n++] = 'e';
	out[n++] = '-';
	out[n++] = (char)('0' + exponent / 10);
	out[n++] = (char)('0' + exponent % 10);
	out[n] = '\0';
	return n;
}

/* Writes the shortest text that reads back as `v`, if `v` has few decimals (ticks, milliseconds,
 * percentages). This is ten times faster than printf. Returns 0 if 15 decimals are too few.
 *
 * k decimals are enough if digits / 10^k equals `v`. `digits` and 10^k are exact as doubles, so
 * only the quotient is rounded, in the same way as strtod rounds the text. */
static size_t short_decimal(char out[DOUBLE_TEXT_MAX], double v)
{
	double magnitude = fabs(v), scale = 1;

	if (!(magnitude >= 1e-9 && magnitude < 1e15))
		return 0;
	for (unsigned decimals = 0; decimals <= 15; decimals++, scale *= 10) {
		double digits = nearbyint(magnitude * scale);

		if (digits >= 9007199254740992.0)
			return 0;
		if (digits / scale != magnitude)
			continue;
		uint64_t whole = (uint64_t)digits / (uint64_t)scale;
		uint64_t rest = (uint64_t)digits % (uint64_t)scale;
		size_t n = v < 0;

		out[0] = '-';
		if (magnitude < 1e-4)
			return n + exponent_text(out + n, rest, decimals);
		n += u64_text(out + n, whole);
		if (decimals)
			out[n++] = '.';
		for (size_t i = decimals; i-- > 0; rest /= 10)
			out[n + i] = (char)('0' + rest % 10);
		n += decimals;
		out[n] = '\0';
		return n;
	}
	return 0;
}

size_t double_text(char out[DOUBLE_TEXT_MAX], double v)
{
	if (isnan(v))
		return (size_t)snprintf(out, DOUBLE_TEXT_MAX, "NaN");
	if (isinf(v))
		return (size_t)snprintf(out, DOUBLE_TEXT_MAX, v > 0 ? "+Inf" : "-Inf");
	/* Most values are whole numbers. They are written without printf, which is slow. -0 is
	 * written as 0. */
	if (v >= 0 && v < 9007199254740992.0 && v == (double)(uint64_t)v) {
		size_t n = u64_text(out, (uint64_t)v);

		out[n] = '\0';
		return n;
	}
	size_t length = short_decimal(out, v);

	if (length)
		return length;
	for (int digits = 15; digits <= 17; digits++) {
		int n = snprintf(out, DOUBLE_TEXT_MAX, "%.*g", digits, v);

		if (digits == 17 || strtod(out, NULL) == v)
			return (size_t)n;
	}
	return 0;
}

void buf_add_double(struct buf *b, double v)
{
	char text[DOUBLE_TEXT_MAX];

	if (has_room(b, DOUBLE_TEXT_MAX))
		b->len += double_text(b->data + b->len, v);
	else
		buf_add(b, text, double_text(text, v));
}

const char *buf_text(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
	char *text = b->data ? b->data : xstrdup("");

	*b = BUF_MAX(b->max);
	return text;
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->full = false;
	if (b->data)
		b->data[0] = '\0';
}

void buf_done(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}
