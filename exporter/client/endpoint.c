#include "exporter/client/endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/client/bearer_token.h"
#include "exporter/core/version.h"

void endpoint_init(struct endpoint *ret, const struct endpoint_options *o)
{
	size_t n = o->headers.n;

	*ret = (struct endpoint){.options = *o,
		.header = xcalloc(n + ENDPOINT_HEADERS_MAX + 1, sizeof *ret->header)};
	for (size_t i = 0; i < n; i++)
		ret->header[i] = o->headers.text[i];
	snprintf(ret->user_agent, sizeof ret->user_agent, "rightsize-exporter/%s", version.version);
	ret->download_options = (struct download_options){
		.user_agent = ret->user_agent,
		.ca_file = o->ca_file,
		.ca_option = o->ca_option,
		.connect_seconds = o->connect_seconds,
		.total_seconds = o->total_seconds,
		.max_bytes = o->answer_max,
		.stop = o->stop,
	};
}

void endpoint_done(struct endpoint *p)
{
	download_close(TAKE(p->download));
	free(TAKE(p->header));
}

static void put_headers(struct endpoint *p, const char *const *further)
{
	const char **to = p->header + p->options.headers.n;

	for (size_t i = 0; further && further[i] && i < ENDPOINT_HEADERS_MAX; i++)
		*to++ = further[i];
	*to = NULL;
}

int endpoint_post(struct endpoint *p, const char *url, const struct endpoint_document *d,
	struct http_response *ret, struct err *e)
{
	char token[TOKEN_MAX] = "", password[TOKEN_MAX] = "";
	int code = 0;

	response_headers_clear(ret);
	if (p->options.token_file)
		code = bearer_token_read(p->options.token_file, token, e);
	if (code == 0 && p->options.basic_auth_file)
		code = bearer_token_read(p->options.basic_auth_file, password, e);
	if (code == 0 && !p->download)
		code = download_open(&p->download, &p->download_options, e);
	put_headers(p, d->header);
	const struct download_post post = {url, d->content_type, d->body, d->len,
		token[0] ? token : NULL, password[0] ? password : NULL, p->header};

	if (code == 0)
		code = download_post(p->download, &post, ret, e);
	explicit_bzero(token, sizeof token);
	explicit_bzero(password, sizeof password);
	return code;
}
