/*
 * What is served, apart from how: a request in, an answer out. Knows the paths, methods and
 * formats; knows nothing of sockets. Any thread.
 */
#ifndef EXPORTER_SITE_SITE_H
#define EXPORTER_SITE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "exporter/core/app.h"
#include "exporter/api/route.h"
#include "exporter/site/rendered_cache.h"

struct http_request {
	const char *method;
	char *target; /* as it came, edited while it is read */
	/* Headers, NULL when absent. */
	const char *accept, *accept_encoding, *scrape_timeout, *if_none_match, *last_event_id;
	const char *host, *origin, *fetch_site, *content_type, *authorization;
	struct peer peer;
	bool loopback; /* by an address that only this machine reaches */
	bool vouched; /* by TLS or a password, which a page that got here by a rebound name cannot have */
	bool user; /* of --web.config.file: a right password, or a client certificate that is asked for and verified */
	struct slice body; /* of a POST */
	bool body_too_large;
};

struct http_answer {
	int status;
	const char *handler; /* the path that answered; one of a few, lives as long as the site */
	char content_type[128];
	const char *allow;  /* of a 405, else NULL */
	bool negotiated;    /* depends on Accept and Accept-Encoding */
	const char *etag;   /* NULL: not to be kept by anybody */
	const char *policy; /* Content-Security-Policy, or NULL */
	bool is_last;       /* the connection ends after it */
	uint64_t scraped; /* tell sampler_scraped this when the body was sent whole; 0 = nothing to
			      tell */
	struct response_body *body; /* held for the caller */
	/* NULL, or what comes in place of the body, bit by bit; the caller's to close. */
	struct event_stream *stream;
};

/* Most age in seconds of the values at /metrics. */
#define SITE_METRICS_AGE 0.1

struct site;
struct site *site_new(struct app *app);
/*
 * Starts the thread of streams, so that no question needs one. Nobody is to be answered before.
 * -EINVAL: --web.telemetry-path would hide something else.
 */
int site_start(struct site *s, struct err *e);
void site_stop(struct site *s); /* ends all streams; they are closed before site_free */
void site_free(struct site *s);

/* The answer to a request that may not come in: a JSON error (reply_error). */
void site_refusal(struct http_answer *ret, int status, const char *code, const char *message);

/*
 * Is the body of this request worth reading? From its headers alone; the rest of what asks may be refused still, a user who is
 * none as well (user: one is asked for). *by_token:
 * it shows the token of --web.changes-token-file, which says more than the password of a reader.
 */
bool site_takes_body(const struct site *s, const struct http_request *r, bool *by_token);

/*
 * May it take longer than a scrape can wait? Then site_answer is for another thread than those of HTTP, and of samples of
 * whole runs for one of their own. Of changes only what site_takes_body lets in: the rest is refused, which takes no time.
 */
enum site_way { SITE_AT_ONCE, SITE_LATER, SITE_OF_SAMPLES, SITE_WAYS };
enum site_way site_way_of(const struct http_request *r);

/* Fills all of ret, whatever the request. */
void site_answer(struct site *s, const struct http_request *r, struct http_answer *ret);

#endif
