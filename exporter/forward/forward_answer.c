/* Telling an exporter from what stands before it. */
#include "exporter/forward/forward_answer.h"

#include <jansson.h>
#include <string.h>

#include "collectors/base/mem.h"

#define TEXT_MAX 200

static const struct {
	int status;
	const char *code;
} refusals[] = {
	{400, "bad_body"},
	{413, "too_large"},
};

bool forward_is_refusal(const struct answer *a)
{
	json_t *o = json_loadb(buf_text(&a->body), a->body.len, 0, NULL);
	const char *code = json_string_value(json_object_get(json_object_get(o, "error"), "code"));
	bool ret = false;

	for (size_t i = 0; code && i < ARRAY_LEN(refusals); i++)
		ret = ret ||
		      (a->status == refusals[i].status && strcmp(code, refusals[i].code) == 0);
	json_decref(o);
	return ret;
}

bool forward_is_accepted(const struct answer *a, const char *run_id)
{
	json_t *o = json_loadb(buf_text(&a->body), a->body.len, 0, NULL);
	const char *kept = json_string_value(json_object_get(o, "run_id"));
	bool ret = (a->status == 200 || a->status == 201) && kept && strcmp(kept, run_id) == 0;

	json_decref(o);
	return ret;
}

const char *forward_answer_text(struct answer *a)
{
	if (a->body.len > TEXT_MAX)
		a->body.data[TEXT_MAX] = '\0';
	return buf_text(&a->body);
}
