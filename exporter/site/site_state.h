/* The state of the site and the functions that its files share. */
#ifndef EXPORTER_SITE_SITE_STATE_H
#define EXPORTER_SITE_SITE_STATE_H

#include <stdatomic.h>

#include "collectors/base/clock.h"
#include "exporter/api/route.h"
#include "exporter/site/site.h"
#include "exporter/api/request_target.h"

struct site {
	struct app *app;
	/* array; the first page is "/", and the last element has `about` NULL */
	const struct site_page *pages;
	struct rendered_cache *rendered_cache;
	struct event_streams *event_streams;
	struct mono started;
	/* Time (mono.ns) of the last scrape that timed out and got no recent snapshot; 0 = there
	 * was none. */
	atomic_int_least64_t gave_up;
	/* true = the tokens of --web.namespace-tokens cannot be read, and that was logged */
	atomic_bool tokens_unreadable;
};

struct site_page {
	/* Path, help, parameters and so on. about->answer is NULL, because `answer` below is called
	 * instead. */
	const struct route *about;
	void (*answer)(struct site *s, const struct http_request *r, struct request_target *t,
		struct http_answer *ret);
};

extern const struct route site_metrics_about, site_events_about, site_manual_about,
	site_openapi_about, site_runbook_about;

/* Reads the query of the target into `a`. If it is invalid, writes an error to `r` and returns
 * false. */
bool site_arguments(struct arguments *a, const struct parameter *parameters,
	struct request_target *t, struct reply *r);

/* Compresses a large body when the client accepts gzip. */
void site_compress(struct site *s, const struct http_request *r, struct http_answer *ret);

/* Moves the reply into `ret` and leaves the reply empty. */
void site_reply(struct http_answer *ret, struct reply *r);

void site_metrics(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret);

void site_events(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret);
/* Answers /openapi.json. */
void site_openapi(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret);
/* Answers /manual, /manual/NAME and /runbook. */
void site_manual(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret);
void site_front(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret);

/* Answers with a file of the web page. Returns false when there is no file at the path. */
bool site_file(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret);

#endif
