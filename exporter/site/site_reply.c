/* Reads arguments from a request, and converts a reply to an HTTP answer. */
#include "exporter/site/site_state.h"

#include <stdio.h>

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
