/*
 * One connection and one request on its way through libmicrohttpd. For http.c alone.
 */
#ifndef EXPORTER_HTTP_EXCHANGE_H
#define EXPORTER_HTTP_EXCHANGE_H

#include <microhttpd.h>

#include "exporter/http/connections.h"
#include "exporter/http/slow_queue.h"
#include "exporter/site/site.h"
#include "exporter/http/web_version.h"

/* One connection. */
struct visit {
	struct connection connection;
	struct web_version *version; /* of a TLS session */
	struct peer peer;
	bool loopback;
	bool certified; /* by a client certificate without which there is no connection */
};

struct exchange {
	struct site *site;
	struct MHD_Connection *connection;
	char *target;
	bool headers_seen, entry_requested; /* asked: whether it may come in, once at least */
	bool decided;                       /* entry holds; nobody is to be asked again */
	enum web_entry entry;
	uint64_t scraped;
	bool reads_body, keeps_body;
	bool by_token;     /* it shows the token of changes */
	bool body_dropped; /* there was no room for its body */
	struct buf body;
	uint64_t received; /* bytes of a body */
	/* Of an answer that takes long: the desk that it was taken to, and what came of it, which is still to be sent. */
	struct slow_queue *slow_queue;
	struct slow_task slow_task;
	struct http_request request;
	struct http_answer answer;
	size_t weight; /* bytes of its body */
	bool answered;
};

struct visit *exchange_visit(struct MHD_Connection *connection);

/* uri: the target as it came; what libmicrohttpd hands over later is decoded and cut at %00. */
struct exchange *exchange_new(struct site *site, const char *uri,
	struct MHD_Connection *connection);
void exchange_free(struct exchange *x);

struct http_request exchange_request(const struct exchange *x, const char *method);

/* Keeps a piece of its body, while keeps_body. When the bodies of all would be too many (exporter/core/memory_budget.h), it is crowded instead. */
void exchange_keep(struct exchange *x, const char *data, size_t len);

/* Can its headers be read in two ways? exporter/http/framing.h; version: as MHD_HTTP_VERSION_1_1. */
bool exchange_is_ambiguous(const struct exchange *x, const char *version);

/* What Content-Length says; 0 = nothing. */
uint64_t exchange_length(const struct exchange *x);

/*
 * Sets the connection aside and has the request answered at the desk; then x->answered holds, and libmicrohttpd calls
 * for it again. When there is no room, the answer says so.
 */
void exchange_answer_later(struct exchange *x, struct slow_queue *d, const struct http_request *r);

/* The answer that is there, whose body and stream are the caller's now. */
const struct http_answer *exchange_take_answer(struct exchange *x);

#endif
