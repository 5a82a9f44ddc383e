/* Answers HTTP requests. Handles paths, methods and formats; the sockets are in exporter/http/. Any
 * thread. */
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
	char *target; /* as received; modified by parsing */
	/* Request headers; NULL = absent. */
	const char *accept, *accept_encoding, *scrape_timeout, *if_none_match, *last_event_id;
	const char *host, *origin, *fetch_site, *content_type, *authorization;
	struct peer peer;
	bool loopback; /* received at an address that only this machine can reach */
	/* the request came with TLS, a password or a token, so it is no DNS rebinding */
	bool vouched;
	bool user;         /* authenticated by password or client certificate (--web.config.file) */
	const char *space; /* result of site_token_space; NULL = the token of no namespace */
	struct slice body; /* only with POST */
	bool body_too_large;
};

struct http_answer {
	int status;
	const char *handler; /* path that labels the request counters; lives as long as the site */
	char content_type[128];
	const char *allow;  /* value of Allow with status 405, else NULL */
	bool negotiated;    /* the answer depends on Accept or Accept-Encoding */
	const char *etag;   /* NULL = must not be cached */
	const char *policy; /* Content-Security-Policy, or NULL */
	bool is_last;       /* close the connection after this answer */
	uint64_t scraped;   /* pass to sampler_scraped after the body was sent; 0 = do not call */
	struct response_body *body;  /* the caller owns one reference */
	struct event_stream *stream; /* sent instead of `body`; the caller closes it; NULL = none */
};

/* Seconds. Values at /metrics are at most this old. */
#define SITE_METRICS_AGE 0.1

struct site;
struct site *site_new(struct app *app);
/* Checks the options. -EINVAL: --web.telemetry-path would hide a route, a page or a change. */
int site_check_options(const struct options *o, struct err *e);
/* Starts the thread of event streams. Call it before the first request. */
int site_start(struct site *s, struct err *e);
void site_stop(struct site *s); /* ends all streams; stop libmicrohttpd before site_free */
void site_free(struct site *s);

/* Describes all routes and pages as OpenAPI 3.1. `metrics_path`: --web.telemetry-path. The caller
 * calls json_decref. */
json_t *site_description(const char *metrics_path);

/* Returns true when site_answer may never return, because another machine or another program serves
 * the disk of the history. */
bool site_disk_may_hang(const struct site *s);
/* Fills `ret` with the refusal of a request whose answer the disk does not give. */
void site_no_answer(struct site *s, struct http_answer *ret);

/* Fills `ret` with a JSON error (reply_error). */
void site_refusal(struct http_answer *ret, int status, const char *code, const char *message);

/* Finds the namespace whose token (--web.namespace-tokens) the request has. Returns false if the
 * request has no such token. If the tokens cannot be read, also returns false for every request,
 * and logs the error once.
 *
 * Call it once for each request and pass the result in r->space. The files may change at any time,
 * and a second call could then say that a restricted client is not restricted. */
bool site_token_space(struct site *s, const struct http_request *r, char ret[static JOB_SPACE_MAX]);

/* Decides from the headers whether to read the body. Returns true for a change that this client may
 * make. The request may still be refused later. `*by_token` becomes true when the request has a
 * token that allows it. The client then does not need to be a user of --web.config.file. */
bool site_takes_body(const struct site *s, const struct http_request *r, bool *by_token);

/* Returns which thread must call site_answer:
 * - SITE_AT_ONCE: an HTTP thread.
 * - SITE_LATER: a thread of the slow queue, because a scrape cannot wait for a slow answer.
 * - SITE_OF_SAMPLES: the thread that reads the samples of whole runs.
 * Call this function for a POST only after site_takes_body returned true. If site_takes_body
 * returned false, the refusal takes no time and needs no other thread. */
enum site_way { SITE_AT_ONCE, SITE_LATER, SITE_OF_SAMPLES, SITE_WAYS };
enum site_way site_way_of(const struct http_request *r);

/* Answers any request and fills all members of `ret`. */
void site_answer(struct site *s, const struct http_request *r, struct http_answer *ret);

#endif
