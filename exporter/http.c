/* The site on sockets. The only file that knows libmicrohttpd. */
#include "exporter/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <microhttpd.h>

#include "collectors/base/mem.h"
#include "exporter/http_count.h"
#include "exporter/listen.h"
#include "exporter/live.h"
#include "exporter/log.h"
#include "exporter/sampler.h"
#include "exporter/site.h"

#define THREADS      2u
#define THREAD_STACK ((size_t)256 * 1024)
#define STREAM_BLOCK 4096u

/*
 * Of a connection: bounds the request line and the headers; what does not fit is refused with 414
 * or 431.
 */
#define CONNECTION_MEMORY ((size_t)16 * 1024)

/*
 * Seconds without a byte: until the first request is complete, and afterwards (scrapers keep
 * connections open).
 */
#define FIRST_TIMEOUT 10u
#define IDLE_TIMEOUT  120u

struct server {
	struct MHD_Daemon *daemon;
	char address[LISTEN_TEXT_MAX];
};

struct http {
	struct site *site;
	struct app *app;
	size_t n;
	struct server server[HTTP_ADDRESSES_MAX];
};

/* One request on its way through libmicrohttpd. */
struct exchange {
	char *target;
	bool headers_seen;
	uint64_t scraped;
};

/*
 * Called first, with the target as it came: what libmicrohttpd hands over later is decoded and cut
 * at %00.
 */
static void *exchange_begin(void *context, const char *uri, struct MHD_Connection *connection)
{
	struct exchange *x = xcalloc(1, sizeof *x);

	(void)context;
	(void)connection;
	x->target = xstrdup(uri);
	return x;
}

static void exchange_end(void *context, struct MHD_Connection *connection, void **state,
	enum MHD_RequestTerminationCode how)
{
	struct http *h = context;
	struct exchange *x = *state;

	(void)connection;
	if (!x)
		return;
	if (x->scraped && how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		sampler_scraped(h->app->sampler, x->scraped);
	free(x->target);
	free(x);
	*state = NULL;
}

static void drop_body(void *body)
{
	shared_drop(&((struct body *)body)->shared);
}

static void add_headers(struct MHD_Response *response, const struct answer *a)
{
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, a->content_type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
		a->etag ? "no-cache" : "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (a->body->gzip)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (a->negotiated)
		MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding");
	if (a->etag)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, a->etag);
	if (a->policy) {
		MHD_add_response_header(response, "Content-Security-Policy", a->policy);
		MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	}
	if (a->allow)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, a->allow);
}

/* ---- streams: a connection that has nothing to send is put aside until there is something ---- */

struct streaming {
	struct live_stream *stream;
	struct MHD_Connection *connection;
};

static void pause_stream(void *streaming)
{
	MHD_suspend_connection(((struct streaming *)streaming)->connection);
}

static void resume_stream(void *streaming)
{
	MHD_resume_connection(((struct streaming *)streaming)->connection);
}

static ssize_t read_stream(void *streaming, uint64_t position, char *out, size_t room)
{
	struct streaming *s = streaming;
	struct live_reader reader = {pause_stream, resume_stream, s};
	ssize_t n = live_read(s->stream, out, room, &reader);

	(void)position;
	return n < 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

static void close_stream(void *streaming)
{
	live_close(((struct streaming *)streaming)->stream);
	free(streaming);
}

static struct MHD_Response *stream_response(struct MHD_Connection *connection,
	struct live_stream *stream)
{
	struct streaming *s = xcalloc(1, sizeof *s);

	*s = (struct streaming){stream, connection};
	struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN,
		STREAM_BLOCK, read_stream, s, close_stream);

	if (!response)
		close_stream(s);
	return response;
}

static struct MHD_Response *body_response(struct body *body)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer_with_free_callback_cls(body->len, body->data,
			drop_body, body);

	if (!response)
		drop_body(body);
	return response;
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, const struct answer *a)
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
	enum MHD_Result queued = MHD_queue_response(connection, (unsigned)a->status, response);

	MHD_destroy_response(response);
	http_count(a->handler, a->status);
	return queued;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result respond(struct http *h, struct MHD_Connection *connection,
	const char *method, struct exchange *x)
{
	struct request r = {
		.method = method,
		.target = x->target,
		.accept = header(connection, MHD_HTTP_HEADER_ACCEPT),
		.accept_encoding = header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING),
		.scrape_timeout = header(connection, "X-Prometheus-Scrape-Timeout-Seconds"),
		.if_none_match = header(connection, MHD_HTTP_HEADER_IF_NONE_MATCH),
		.last_event_id = header(connection, "Last-Event-ID"),
	};
	struct answer a;

	site_answer(h->site, &r, &a);
	x->scraped = a.scraped;
	return send_answer(connection, &a);
}

/*
 * Called when the headers are there, for each piece of a body, and at the end. Methods that may
 * have a body are answered at once, which ends the connection; the body of a GET, which means
 * nothing, is read and dropped.
 */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *body, size_t *body_len, void **state)
{
	struct exchange *x = *state;
	bool first = x && !x->headers_seen;

	(void)url;
	(void)version;
	(void)body;
	if (!x)
		return MHD_NO;
	x->headers_seen = true;
	if (first)
		MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, IDLE_TIMEOUT);
	if (first && (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0))
		return MHD_YES;
	if (*body_len) {
		*body_len = 0;
		return MHD_YES;
	}
	return respond(context, connection, method, x);
}

static int serve(struct http *h, const char *address, struct err *e)
{
	struct server *s = &h->server[h->n];
	uint64_t connections = h->app->options->max_connections;
	int fd, code = listen_open(&fd, address, s->address, e);

	if (code)
		return code;
	s->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC |
					     MHD_ALLOW_SUSPEND_RESUME,
		0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_THREAD_POOL_SIZE, THREADS, MHD_OPTION_THREAD_STACK_SIZE, THREAD_STACK,
		MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)(connections < THREADS ? THREADS : connections),
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, FIRST_TIMEOUT, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_URI_LOG_CALLBACK, exchange_begin, h, MHD_OPTION_NOTIFY_COMPLETED,
		exchange_end, h, MHD_OPTION_END);
	/*
	 * The socket is not closed then: libmicrohttpd may have done it, and the program ends
	 * anyway.
	 */
	if (!s->daemon)
		return err_system(e, errno ? -errno : -EIO, "start the HTTP server on %s", address);
	h->n++;
	return 0;
}

int http_start(struct http **ret, struct app *app, const struct texts *addresses, struct err *e)
{
	static const char *fallback[] = {HTTP_DEFAULT_ADDRESS};
	struct texts wanted = addresses->n ? *addresses : (struct texts){1, fallback};

	if (wanted.n > HTTP_ADDRESSES_MAX)
		return err_set(e, -EINVAL, "%zu listen addresses are too many: give at most %d",
			wanted.n, HTTP_ADDRESSES_MAX);
	struct http *h = xcalloc(1, sizeof *h);

	h->app = app;
	h->site = site_new(app);
	for (size_t i = 0; i < wanted.n; i++) {
		int code = serve(h, wanted.text[i], e);

		if (code) {
			http_stop(h);
			return code;
		}
	}
	for (size_t i = 0; i < h->n; i++)
		log_line(LOG_LEVEL_INFO, "listening", "address", h->server[i].address, NULL);
	*ret = h;
	return 0;
}

const char *http_address(const struct http *h, size_t i)
{
	return i < h->n ? h->server[i].address : NULL;
}

void http_stop(struct http *h)
{
	if (!h)
		return;
	/* libmicrohttpd does not stop while connections are put aside. */
	site_stop(h->site);
	for (size_t i = 0; i < h->n; i++)
		MHD_stop_daemon(h->server[i].daemon);
	site_free(h->site);
	free(h);
}
