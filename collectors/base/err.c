#include "collectors/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* If the text was cut, replaces its end by "...", so that a list that was cut does not look
 * complete. `length` is the length of the text before it was cut. */
static void mark_cut(struct err *e, int length)
{
	size_t at = sizeof e->text - sizeof "...";

	if (length < (int)sizeof e->text)
		return;
	/* Do not cut inside a code point of UTF-8. */
	while (at > 0 && ((unsigned char)e->text[at] & 0xC0) == 0x80)
		at--;
	memcpy(e->text + at, "...", sizeof "...");
}

__attribute__((format(printf, 3, 0))) static void set(struct err *e, int code, const char *format,
	va_list args)
{
	e->code = code;
	mark_cut(e, vsnprintf(e->text, sizeof e->text, format, args));
}

static void add_text(struct err *e, const char *text)
{
	size_t n = strlen(e->text);

	mark_cut(e, (int)n + snprintf(e->text + n, sizeof e->text - n, ": %s", text));
}

int err_set(struct err *e, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (e)
		set(e, code, format, args);
	va_end(args);
	return code;
}

int err_system(struct err *e, int code, const char *format, ...)
{
	const char *words = strerrordesc_np(code < 0 ? -code : code);
	char number[32];
	va_list args;

	if (!e)
		return code;
	va_start(args, format);
	set(e, code, format, args);
	va_end(args);
	snprintf(number, sizeof number, "error %d", code);
	add_text(e, words ? words : number);
	return code;
}

int err_wrap(struct err *e, const char *format, ...)
{
	va_list args;

	if (!e)
		return 0;

	struct err inner = *e;

	va_start(args, format);
	set(e, e->code, format, args);
	va_end(args);
	add_text(e, inner.text);
	return e->code;
}
