#include "exporter/forward/to_exporter.h"

#include <string.h>

#include "exporter/core/json.h"
#include "exporter/forward/run_message.h"

#define RUNS_AT_ONCE 64

static bool is_error(const json_t *error, const char *code)
{
	const char *told = json_string_value(json_object_get(error, "code"));

	return told && strcmp(told, code) == 0;
}

bool forward_is_refusal(const struct http_response *a)
{
	json_t *o = json_loadb(buf_text(&a->body), a->body.len, 0, NULL);
	const json_t *error = json_object_get(o, "error");
	bool ret = (a->status == 400 && is_error(error, "bad_body")) ||
		   (a->status == 413 && is_error(error, "too_large"));

	json_decref(o);
	return ret;
}

bool forward_is_accepted(const struct http_response *a, const char *run_id)
{
	json_t *o = json_loadb(buf_text(&a->body), a->body.len, 0, NULL);
	const char *kept_id = json_string_value(json_object_get(o, "run_id"));
	bool ret =
		(a->status == 200 || a->status == 201) && kept_id && strcmp(kept_id, run_id) == 0;

	json_decref(o);
	return ret;
}

static void add_message(struct buf *out, const struct run *r)
{
	json_t *message = run_message(r);

	json_write(out, message);
	json_decref(message);
}

/* Writes one run as an object, several as an array. */
static size_t write_runs(struct buf *body, const struct run *const *run, size_t n)
{
	size_t i = 0;

	if (n == 1) {
		add_message(body, run[0]);
		return 1;
	}
	for (; i < n; i++) {
		size_t len = body->len;

		buf_addc(body, i ? ',' : '[');
		add_message(body, run[i]);
		if (body->len + 1 > RUN_MESSAGE_MAX && i) {
			body->len = len;
			break;
		}
	}
	buf_addc(body, ']');
	return i;
}

/* Reads the answer to an array of runs. The answer has one entry for each run, in the same order.
 * Stops at an entry of another run, and at an error other than bad_body, which is not about the
 * run. */
static const char *read_list(const struct http_response *a, const struct run *const *run, size_t n,
	enum run_verdict *ret, struct arena *arena)
{
	json_t *o = json_loadb(buf_text(&a->body), a->body.len, 0, NULL);
	const json_t *list = json_object_get(o, "runs");
	const char *why = "";

	for (size_t i = 0; i < n && a->status == 200; i++) {
		const json_t *one = json_array_get(list, i), *error = json_object_get(one, "error");
		const char *id = json_string_value(json_object_get(one, "run_id")),
			   *message = json_string_value(json_object_get(error, "message"));

		if (!id || strcmp(id, run[i]->run_id) != 0 ||
			(error && !is_error(error, "bad_body")))
			break;
		ret[i] = error ? VERDICT_REFUSED : VERDICT_TAKEN;
		if (message)
			why = arena_text(arena, message, strlen(message));
	}
	json_decref(o);
	return why;
}

static const char *read_answer(const struct http_response *a, const struct run *const *run,
	size_t n, enum run_verdict *ret, struct arena *arena)
{
	if (n > 1)
		return read_list(a, run, n, ret, arena);
	if (forward_is_refusal(a))
		*ret = VERDICT_REFUSED;
	else if (forward_is_accepted(a, run[0]->run_id))
		*ret = VERDICT_TAKEN;
	else if (a->status < 300)
		return "the answer does not name the run";
	return forward_answer_text(a, arena);
}

const struct forward_protocol to_exporter = {
	.to = RECEIVER_CENTRAL,
	.thread = "forwarder",
	.content_type = "application/json",
	.runs_at_once = RUNS_AT_ONCE,
	.statuses_of_run = {500},
	.write = write_runs,
	.read = read_answer,
};
