/* One connection and one request of libmicrohttpd. For http.c alone. */
#ifndef EXPORTER_HTTP_EXCHANGE_H
#define EXPORTER_HTTP_EXCHANGE_H

#include <microhttpd.h>

#include "exporter/http/connections.h"
#include "exporter/http/slow_queue.h"
#include "exporter/site/site.h"
#include "exporter/http/web_access.h"

/* One connection, from accept(2) to close(2). */
struct visit {
	struct connection connection;
	struct web_version *version; /* held until the end; NULL: no web configuration */
	struct peer peer;
	bool loopback;
	bool certified; /* TLS required and verified a client certificate */
};

struct exchange {
	struct site *site;
	struct MHD_Connection *connection;
	char *target;
	bool headers_seen, entry_requested; /* entry_requested: the rate limit has counted it */
	bool decided;                       /* entry is final */
	enum web_entry entry;
	uint64_t scraped;
	bool reads_body, keeps_body;
	bool by_token;     /* it carries the token of --web.changes-token-file */
	bool body_dropped; /* the bodies of all requests took too much memory */
	struct buf body;
	uint64_t received; /* bytes of a body */
	/* slow_queue: NULL after slow_queue_leave. answer: valid while answered. */
	struct slow_queue *slow_queue;
	struct slow_task slow_task;
	struct http_request request;
	struct http_answer answer;
	size_t weight; /* bytes of the answer's body */
	bool answered;
};

struct visit *exchange_visit(struct MHD_Connection *connection);

/* uri: the undecoded target. libmicrohttpd's later callbacks get it decoded and cut at %00. */
struct exchange *exchange_new(struct site *site, const char *uri,
	struct MHD_Connection *connection);
void exchange_free(struct exchange *x);

struct http_request exchange_request(const struct exchange *x, const char *method);

/*
 * Appends a piece of the body while keeps_body. If the bodies of all requests exceed their memory
 * limit (exporter/core/memory_budget.h), drops this body and sets body_dropped.
 */
void exchange_keep(struct exchange *x, const char *data, size_t len);

/* See exporter/http/framing.h. version: as MHD_HTTP_VERSION_1_1. */
bool exchange_is_ambiguous(const struct exchange *x, const char *version);

/* Content-Length in bytes; 0: absent. */
uint64_t exchange_length(const struct exchange *x);

/*
 * Suspends the connection until the queue's thread has answered the request; then sets x->answered,
 * and libmicrohttpd calls back. A full queue answers with 503.
 */
void exchange_answer_later(struct exchange *x, struct slow_queue *q, const struct http_request *r);

/* Call when x->answered. The caller owns the body and the stream of the answer. */
const struct http_answer *exchange_take_answer(struct exchange *x);

#endif
