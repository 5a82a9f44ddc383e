/* Reads arguments from a request, converts a reply to an HTTP answer, and compresses it. */
#include "exporter/site/site_state.h"

#include <stdio.h>

#include "exporter/core/memory_budget.h"

#define TEXT_PLAIN "text/plain; charset=utf-8"

bool site_arguments(struct arguments *a, const struct parameter *parameters,
	struct request_target *t, struct reply *r)
{
	struct err e = {0};
	char *name, *value;
	int code;

	arguments_begin(a, parameters);
	while ((code = request_target_next(t, &name, &value, &e)) > 0) {
		code = arguments_add(a, name, value, &e);
		if (code)
			break;
	}
	if (code == 0)
		code = arguments_finish(a, &e);
	if (code)
		reply_error(r, 400, "bad_parameter", "%s", e.text);
	return code == 0;
}

void site_reply(struct http_answer *ret, struct reply *r)
{
	if (r->body.full)
		reply_error(r, 422, "too_large", "the answer would be too large");
	ret->status = r->status ? r->status : 200;
	snprintf(ret->content_type, sizeof ret->content_type, "%s",
		r->content_type ? r->content_type : TEXT_PLAIN);
	ret->body = response_body_new(&r->body);
	buf_done(&r->body);
}

void site_refusal(struct http_answer *ret, int status, const char *code, const char *message)
{
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};

	*ret = (struct http_answer){.handler = "other"};
	reply_error(&r, status, code, "%s", message);
	site_reply(ret, &r);
}

void site_compress(struct site *s, const struct http_request *request, struct http_answer *ret)
{
	if (ret->negotiated)
		return;
	ret->negotiated = true;
	if (s->app->options->disable_compression || !negotiate_gzip(request->accept_encoding))
		return;
	struct response_body *small =
		memory_budget_is_short(ret->body->len) ? NULL : response_body_gzip(ret->body);

	if (!small)
		return;
	shared_drop(&ret->body->shared);
	ret->body = small;
}
