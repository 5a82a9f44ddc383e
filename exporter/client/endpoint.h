/* A server to which documents are posted: how to reach it, and how to log in there. libcurl, which
 * takes 5 MB of memory, is loaded only before the first request. Only one thread may use an
 * endpoint. */
#ifndef EXPORTER_CLIENT_ENDPOINT_H
#define EXPORTER_CLIENT_ENDPOINT_H

#include "collectors/base/text_list.h"
#include "exporter/client/download.h"

struct endpoint_options {
	/* Files with secrets and certificates. They are read before each request, because they may
	 * change. NULL = none. */
	const char *token_file;      /* token for Authorization: Bearer */
	const char *basic_auth_file; /* USER:PASSWORD for Authorization: Basic */
	const char *ca_file;         /* certificates to trust; NULL = the system's */
	const char *ca_option;       /* option that sets ca_file, for messages */
	struct text_list headers;    /* further headers, "NAME: VALUE" */
	double connect_seconds, total_seconds;
	size_t answer_max;       /* maximum size of an answer in bytes */
	const atomic_bool *stop; /* as in struct download_options */
};

struct endpoint {
	struct endpoint_options options;
	char user_agent[64];
	struct download_options download_options;
	struct download *download; /* NULL = not opened yet */
	const char **header;
};

/* The texts in `o` must live longer than the endpoint. `ret` must not be moved. */
void endpoint_init(struct endpoint *ret, const struct endpoint_options *o);
void endpoint_done(struct endpoint *p);

/* The document of a POST request. `header` is an array of further headers for this kind of
 * document, at most ENDPOINT_HEADERS_MAX, with NULL at the end; NULL = none. */
struct endpoint_document {
	const char *content_type;
	const char *const *header;
	const char *body;
	size_t len;
};
#define ENDPOINT_HEADERS_MAX 4

/* Posts a document. Returns as download_post does, or an error of bearer_token_read. */
int endpoint_post(struct endpoint *p, const char *url, const struct endpoint_document *d,
	struct http_response *ret, struct err *e);

#endif
