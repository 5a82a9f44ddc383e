/* The state of one connection (struct visit) and of one request on it (struct exchange), for
 * libmicrohttpd. Only http.c and entry.c use this file. */
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
	struct web_version *version; /* owned reference; NULL = no web configuration */
	struct peer peer;
	bool loopback;
	/* true = TLS required a client certificate, and it identifies a user; see certifies in
	 * http.c */
	bool certified;
};

struct exchange {
	struct site *site;
	struct MHD_Connection *connection;
	char *target;
	/* headers_seen: on_request has checked the headers. entry_requested: the rate limit has
	 * counted the request. */
	bool headers_seen, entry_requested;
	bool decided; /* `entry` is final */
	enum web_entry entry;
	uint64_t scraped;
	bool reads_body, keeps_body;
	/* true = the request has a valid token, so it needs no name and password of
	 * --web.config.file */
	bool by_token;
	char space[JOB_SPACE_MAX]; /* namespace that site_token_space found; "" = none */
	/* true = `body` was dropped, because the bodies of all requests together were too large */
	bool body_dropped;
	struct buf body;
	uint64_t received; /* bytes of the body read so far */
	/* the queue that makes the answer; NULL = none, or slow_queue_leave was called */
	struct slow_queue *slow_queue;
	struct slow_task slow_task;
	struct http_request request;
	struct http_answer answer;
	size_t weight; /* size of the answer's body in bytes */
	bool answered; /* true = `answer` is valid */
};

struct visit *exchange_visit(struct MHD_Connection *connection);

/* `uri` is the target of the request before decoding. It is copied: libmicrohttpd gives later
 * callbacks only a decoded target that is cut off at %00. */
struct exchange *exchange_new(struct site *site, const char *uri,
	struct MHD_Connection *connection);
void exchange_free(struct exchange *x);

struct http_request exchange_request(const struct exchange *x, const char *method);

/* Appends a piece of the body if keeps_body is true. If the bodies of all requests together exceed
 * their memory limit (memory_budget.changes), drops the body of this request and sets
 * body_dropped. */
void exchange_keep(struct exchange *x, const char *data, size_t len);

/* Returns true when a proxy and this server could read the request differently
 * (exporter/http/framing.h). `version` is the HTTP version, such as MHD_HTTP_VERSION_1_1. */
bool exchange_is_ambiguous(const struct exchange *x, const char *version);

/* Returns Content-Length in bytes; 0 = absent or not a number. */
uint64_t exchange_length(const struct exchange *x);

/* Suspends the connection and lets the thread of the queue `q` make the answer. That thread then
 * sets x->answered and resumes the connection, and libmicrohttpd calls on_request again. If the
 * queue is full, the answer is 503. */
void exchange_answer_later(struct exchange *x, struct slow_queue *q, const struct http_request *r);

/* Returns the answer that the queue's thread made. Call it when x->answered is true. The caller
 * then owns the body and the stream of the answer. */
const struct http_answer *exchange_take_answer(struct exchange *x);

#endif
