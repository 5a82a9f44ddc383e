#include "exporter/http/send.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "collectors/base/mem.h"
#include "exporter/core/counters.h"
#include "exporter/site/event_stream.h"

#define STREAM_BLOCK 4096u

static void drop_body(void *body)
{
	shared_drop(&((struct response_body *)body)->shared);
}

/* Adds the headers that the configuration lists. They replace the headers of the same name that
 * this program would send. */
static void add_configured(struct MHD_Response *response, const struct http_answer *a,
	const struct web_config *c)
{
	bool sniff_set = false, policy_set = false;

	for (size_t i = 0; c && i < WEB_HEADERS_MAX; i++) {
		if (!c->header[i])
			continue;
		MHD_add_response_header(response, web_config_headers[i], c->header[i]);
		sniff_set |= strcmp(web_config_headers[i], "X-Content-Type-Options") == 0;
		policy_set |= strcmp(web_config_headers[i], "Content-Security-Policy") == 0;
	}
	if (a->policy && !policy_set)
		MHD_add_response_header(response, "Content-Security-Policy", a->policy);
	if (!sniff_set)
		MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
}

static void add_headers(struct MHD_Response *response, const struct http_answer *a)
{
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, a->content_type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
		a->etag ? "no-cache" : "no-store");
	if (a->status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic");
	if (a->status == MHD_HTTP_TOO_MANY_REQUESTS || a->status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
	if (a->body->gzip)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (a->negotiated)
		MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding");
	if (a->etag)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, a->etag);
	if (a->is_last)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (a->allow)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, a->allow);
}

/* ---- streams: a connection is suspended while there is nothing to send ---- */

struct stream_response {
	struct event_stream *stream;
	struct MHD_Connection *connection;
};

static void pause_stream(void *streaming)
{
	MHD_suspend_connection(((struct stream_response *)streaming)->connection);
}

static void resume_stream(void *streaming)
{
	MHD_resume_connection(((struct stream_response *)streaming)->connection);
}

static ssize_t read_stream(void *streaming, uint64_t position, char *out, size_t room)
{
	struct stream_response *s = streaming;
	struct event_stream_reader reader = {pause_stream, resume_stream, s};
	ssize_t n = event_stream_read(s->stream, out, room, &reader);

	(void)position;
	return n < 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

static void close_stream(void *streaming)
{
	event_stream_close(((struct stream_response *)streaming)->stream);
	free(streaming);
}

static struct MHD_Response *stream_response(struct MHD_Connection *connection,
	struct event_stream *stream)
{
	struct stream_response *s = xcalloc(1, sizeof *s);

	*s = (struct stream_response){stream, connection};
	struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN,
		STREAM_BLOCK, read_stream, s, close_stream);

	if (!response)
		close_stream(s);
	return response;
}

static struct MHD_Response *body_response(struct response_body *body)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer_with_free_callback_cls(body->len, body->data,
			drop_body, body);

	if (!response)
		drop_body(body);
	return response;
}

enum MHD_Result http_send(struct MHD_Connection *connection, const struct http_answer *a,
	const struct web_config *config)
{
	struct MHD_Response *response =
		a->stream ? stream_response(connection, a->stream) : body_response(a->body);

	if (!response) {
		if (a->stream)
			drop_body(a->body);
		return MHD_NO;
	}
	add_headers(response, a);
	if (a->stream)
		drop_body(a->body);
	add_configured(response, a, config);
	enum MHD_Result queued = MHD_queue_response(connection, (unsigned)a->status, response);

	MHD_destroy_response(response);
	counters_http_add(a->handler, a->status);
	return queued;
}
