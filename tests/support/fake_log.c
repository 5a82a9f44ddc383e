#include "tests/support/fake_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exporter/core/log.h"

static char logged[4096];

const char *fake_log(void)
{
	return logged;
}

void fake_log_clear(void)
{
	logged[0] = '\0';
}

/* ---- exporter/core/log.h ---- */

void log_setup(const char *level, const char *format)
{
	(void)level;
	(void)format;
}

static void add(const char *message, va_list args)
{
	size_t n = strlen(logged);
	const char *key = va_arg(args, const char *);
	const char *value = key ? va_arg(args, const char *) : NULL;

	snprintf(logged + n, sizeof logged - n, "%s %s=%s\n", message, key ? key : "",
		value ? value : "");
}

void log_line(enum log_level level, const char *message, ...)
{
	va_list args;

	(void)level;
	va_start(args, message);
	add(message, args);
	va_end(args);
}

void log_first(const char *message, ...)
{
	va_list args;

	va_start(args, message);
	add(message, args);
	va_end(args);
}

void log_release(void) {}

bool log_complaint_due(struct complaint *c)
{
	return c->times++ == 0;
}

bool log_complaint_over(struct complaint *c)
{
	bool said = c->times > 0;

	c->times = 0;
	return said;
}
