/* Answering HTTP requests: paths, methods and formats, but no sockets. Any thread. */
#ifndef EXPORTER_SITE_SITE_H
#define EXPORTER_SITE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "exporter/core/app.h"
#include "exporter/api/route.h"
#include "exporter/site/rendered_cache.h"

struct http_request {
	const char *method;
	char *target; /* as received; edited while it is read */
	/* Headers, NULL when absent. */
	const char *accept, *accept_encoding, *scrape_timeout, *if_none_match, *last_event_id;
	const char *host, *origin, *fetch_site, *content_type, *authorization;
	struct peer peer;
	bool loopback; /* received at an address that only this machine reaches */
	bool vouched;  /* uses TLS or a password, which a page with DNS rebinding cannot have */
	bool user;     /* a user of --web.config.file, by password or verified client certificate */
	struct slice body; /* only with POST */
	bool body_too_large;
};

struct http_answer {
	int status;
	const char *handler; /* the path that answered, for counters; lives as long as the site */
	char content_type[128];
	const char *allow;  /* only with 405, else NULL */
	bool negotiated;    /* depends on Accept and Accept-Encoding */
	const char *etag;   /* NULL: must not be cached */
	const char *policy; /* Content-Security-Policy, or NULL */
	bool is_last;       /* the connection ends after it */
	uint64_t scraped;   /* for sampler_scraped, once the whole body was sent; 0 = no call */
	struct response_body *body;  /* held for the caller */
	struct event_stream *stream; /* in place of the body, for the caller to close; or NULL */
};

/* Seconds: values at /metrics are at most this old. */
#define SITE_METRICS_AGE 0.1

struct site;
struct site *site_new(struct app *app);
/* -EINVAL: --web.telemetry-path would hide a route, a page or a change. */
int site_check_options(const struct options *o, struct err *e);
/* Starts the thread of event streams. Call it before the first request. */
int site_start(struct site *s, struct err *e);
void site_stop(struct site *s); /* ends all streams; they are closed before site_free */
void site_free(struct site *s);

/* Fills ret with a JSON error (reply_error). */
void site_refusal(struct http_answer *ret, int status, const char *code, const char *message);

/*
 * Decides from the headers whether to read the body: true for a change that this client may make.
 * The request may still be refused later. *by_token: it has the token of --web.changes-token-file,
 * and so needs no user of --web.config.file.
 */
bool site_takes_body(const struct site *s, const struct http_request *r, bool *by_token);

/*
 * Which thread calls site_answer: SITE_AT_ONCE, an HTTP thread; SITE_LATER, another one, because a
 * scrape cannot wait so long; SITE_OF_SAMPLES, the thread for samples of whole runs. Changes: only
 * call this after site_takes_body returned true; refusing one takes no time.
 */
enum site_way { SITE_AT_ONCE, SITE_LATER, SITE_OF_SAMPLES, SITE_WAYS };
enum site_way site_way_of(const struct http_request *r);

/* Fills all of ret for any request. */
void site_answer(struct site *s, const struct http_request *r, struct http_answer *ret);

#endif
