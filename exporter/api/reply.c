/* Builds replies. */
#include <stdarg.h>
#include <stdio.h>

#include "exporter/core/memory_budget.h"
#include "exporter/core/json.h"
#include "exporter/api/route.h"

/* Maximum size of an error message in bytes. It may list all paths of the site. */
#define MESSAGE_MAX 8192

int reply_json(struct reply *r, int status, json_t *take)
{
	r->status = status;
	r->content_type = "application/json; charset=utf-8";
	if (!r->body.max)
		r->body.max = REPLY_BODY_MAX;
	buf_reset(&r->body);
	if (!memory_budget_gave_up())
		json_write(&r->body, take);
	json_decref(take);
	return 0;
}

json_t *reply_error_json(const char *code, const char *message)
{
	json_t *error = json_object();

	json_put(error, "code", json_text(code));
	json_put(error, "message", json_text(message));
	return error;
}

__attribute__((format(printf, 6, 0))) static void vreply_error(struct reply *r, int status,
	const char *code, const char *list, const char *const *names, const char *format,
	va_list args)
{
	json_t *document = json_object(), *error;
	char message[MESSAGE_MAX];

	vsnprintf(message, sizeof message, format, args);
	error = reply_error_json(code, message);
	if (list) {
		json_t *array = json_array();

		for (; names && *names; names++)
			json_push(array, json_text(*names));
		json_put(error, list, array);
	}
	json_put(document, "error", error);
	reply_json(r, status, document);
}

int reply_error(struct reply *r, int status, const char *code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vreply_error(r, status, code, NULL, NULL, format, args);
	va_end(args);
	return 0;
}

int reply_error_list(struct reply *r, int status, const char *code, const char *list,
	const char *const *names, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vreply_error(r, status, code, list, names, format, args);
	va_end(args);
	return 0;
}
