/* Error sentences. */
#include "collectors/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *format, ...)
{
	va_list args;

	if (!e)
		return code;
	e->code = code;
	va_start(args, format);
	vsnprintf(e->text, sizeof e->text, format, args);
	va_end(args);
	return code;
}

int err_system(struct err *e, int code, const char *format, ...)
{
	va_list args;

	if (!e)
		return code;
	e->code = code;
	va_start(args, format);
	vsnprintf(e->text, sizeof e->text, format, args);
	va_end(args);

	size_t n = strlen(e->text);
	const char *words = strerrordesc_np(code < 0 ? -code : code);

	if (words)
		snprintf(e->text + n, sizeof e->text - n, ": %s", words);
	else
		snprintf(e->text + n, sizeof e->text - n, ": error %d", code);
	return code;
}

int err_wrap(struct err *e, const char *format, ...)
{
	char inner[sizeof e->text];
	va_list args;

	if (!e)
		return 0;
	memcpy(inner, e->text, sizeof inner);
	va_start(args, format);
	vsnprintf(e->text, sizeof e->text, format, args);
	va_end(args);

	size_t n = strlen(e->text);

	snprintf(e->text + n, sizeof e->text - n, ": %s", inner);
	return e->code;
}
