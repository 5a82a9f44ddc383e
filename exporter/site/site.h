/* Answers HTTP requests: handles paths, methods and formats. Sockets and connections are in
 * exporter/http/. Any thread. */
#ifndef EXPORTER_SITE_SITE_H
#define EXPORTER_SITE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "exporter/core/app.h"
#include "exporter/core/json.h"
#include "exporter/api/route.h"
#include "exporter/site/rendered_cache.h"

struct http_request {
	const char *method;
	char *target; /* path and query as received; parsing modifies it */
	/* Request headers; NULL = absent. */
	const char *accept, *accept_encoding, *scrape_timeout, *if_none_match, *last_event_id;
	const char *host, *origin, *fetch_site, *content_type, *authorization;
	struct peer peer;
	/* true = the request came to an address that only this machine can reach, such as
	 * 127.0.0.1 */
	bool loopback;
	/* true = the request came over TLS, with a password or with a token, so it is not an attack
	 * by DNS rebinding (host_header.h) */
	bool vouched;
	/* true = the client proved by a password or a certificate that it is a user of
	 * --web.config.file */
	bool user;
	/* namespace whose token the request has (site_token_space); NULL = it has no such token */
	const char *space;
	struct slice body; /* only with POST */
	bool body_too_large;
};

struct http_answer {
	int status;
	/* path of the route, for the counters of requests; valid as long as the site */
	const char *handler;
	char content_type[128];
	const char *allow;  /* value of Allow with status 405, else NULL */
	bool negotiated;    /* the answer depends on Accept or Accept-Encoding */
	const char *etag;   /* value of ETag; NULL = the answer must not be cached */
	const char *policy; /* Content-Security-Policy, or NULL */
	bool is_last;       /* true = close the connection after this answer */
	/* generation to pass to sampler_scraped after the body was sent; 0 = do not call
	 * sampler_scraped */
	uint64_t scraped;
	struct response_body *body;  /* the caller owns one reference */
	struct event_stream *stream; /* sent instead of `body`; the caller closes it; NULL = none */
};

/* Seconds. Values at /metrics are at most this old. */
#define SITE_METRICS_AGE 0.1

struct site;
struct site *site_new(struct app *app);
/* Checks the options of the site. Returns -EINVAL when --web.telemetry-path is also the path of a
 * route or a page, which clients could then not reach. */
int site_check_options(const struct options *o, struct err *e);
/* Starts the thread of event streams. Call it before the first request. */
int site_start(struct site *s, struct err *e);
void site_stop(struct site *s); /* ends all streams; stop libmicrohttpd before site_free */
void site_free(struct site *s);

/* Describes all routes and pages as OpenAPI 3.1. `metrics_path` is the path of the metrics
 * (--web.telemetry-path). The caller calls json_decref for the result. */
json_t *site_description(const char *metrics_path);

/* Returns true when site_answer may never return, because another machine or another program serves
 * the disk of the history. */
bool site_disk_may_hang(const struct site *s);
/* Fills `ret` with the answer to a request that cannot be answered because the disk does not
 * respond. */
void site_no_answer(struct site *s, struct http_answer *ret);

/* Fills `ret` with a JSON error (reply_error). */
void site_refusal(struct http_answer *ret, int status, const char *code, const char *message);

/* Finds the namespace whose token (--web.namespace-tokens) the request has, and writes it to `ret`.
 * Returns false if the request has no such token, or came over the Unix socket. While the tokens
 * cannot be read, returns false for every request, and logs the error once.
 *
 * Call it only once for each request, and pass the result in r->space. The files with the tokens
 * may change at any time. If the token was removed after the first call, a second call would return
 * false. The client would then no longer be restricted to its namespace. */
bool site_token_space(struct site *s, const struct http_request *r, char ret[static JOB_SPACE_MAX]);

/* Decides by the headers whether the body of a request is read. Returns true for a change that this
 * client may make. The change may still be refused later.
 *
 * Sets `*by_token` to true when a token of the request allows the change, or allows the client to
 * read the answer (--web.namespace-tokens.read). The client then needs no name and password of
 * --web.config.file. */
bool site_takes_body(const struct site *s, const struct http_request *r, bool *by_token);

/* Returns which thread must call site_answer for this request:
 * - SITE_AT_ONCE: an HTTP thread.
 * - SITE_LATER: the thread of a slow queue (slow_queue.h), because the answer may be slow and a
 *   scrape must not wait for it.
 * - SITE_OF_SAMPLES: the thread of another slow queue, which reads the samples of whole runs.
 *
 * For a POST that site_takes_body refused, do not call this function, but use SITE_AT_ONCE: a
 * refusal takes no time. */
enum site_way { SITE_AT_ONCE, SITE_LATER, SITE_OF_SAMPLES, SITE_WAYS };
enum site_way site_way_of(const struct http_request *r);

/* Answers any request and fills all members of `ret`. */
void site_answer(struct site *s, const struct http_request *r, struct http_answer *ret);

#endif
