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
	const struct site_page *pages; /* the first is "/"; ends with `about` NULL */
	struct rendered_cache *rendered_cache;
	struct event_streams *event_streams;
	struct mono started;
	/* Time (struct mono) of the last scrape that timed out without a recent snapshot; 0 =
	 * never. */
	atomic_int_least64_t gave_up;
	/* the tokens of --web.namespace-tokens cannot be read, and this was logged */
	atomic_bool tokens_unreadable;
};

struct site_page {
	/* Path, help, parameters and the like; its `answer` is NULL. */
	const struct route *about;
	void (*answer)(struct site *s, const struct http_request *r, struct request_target *t,
		struct http_answer *ret);
};

extern const struct route site_metrics_about, site_events_about, site_manual_about,
	site_openapi_about, site_runbook_about;

/* Reads the query of the target into `a`. Returns false with an error in `r`. */
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
