/* Bodies of answers. */
#include "exporter/core/memory_budget.h"
#include "exporter/core/json.h"
#include "exporter/api/route.h"

int reply_json(struct reply *r, int status, json_t *take)
{
	r->status = status;
	r->content_type = "application/json; charset=utf-8";
	if (!r->body.max)
		r->body.max = REPLY_BODY_MAX;
	buf_reset(&r->body);
	if (!allowance_gave_up())
		json_write(&r->body, take);
	json_decref(take);
	return 0;
}

int reply_error(struct reply *r, int status, const char *code, const char *message,
	const char *list, const char *const *names)
{
	json_t *error = json_object(), *document = json_object();

	json_put(error, "code", json_text(code));
	json_put(error, "message", json_text(message));
	if (list) {
		json_t *array = json_array();

		for (; names && *names; names++)
			json_push(array, json_text(*names));
		json_put(error, list, array);
	}
	json_put(document, "error", error);
	return reply_json(r, status, document);
}
