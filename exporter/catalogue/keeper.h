/* The client of the Spare Cores Keeper, which fetches the whole catalogue page by page. It makes at
 * most 20 calls of /servers a minute and stays within the credits in the Keeper's headers. Pages
 * that are fresh or unchanged are not sent again. Failed calls are retried with growing delays and
 * jitter.
 *
 * The caller supplies the network, the clock and the waiting, so that tests need none of them. */
#ifndef EXPORTER_CATALOGUE_KEEPER_H
#define EXPORTER_CATALOGUE_KEEPER_H

#include "collectors/base/clock.h"
#include "exporter/catalogue/cache.h"
#include "exporter/client/download.h"
#include "recommender/catalogue/regions.h"

struct keeper_transport {
	void *context;
	int (*get)(void *context, const char *url, const char *etag, struct http_response *ret,
		struct err *e);
	bool (*wait)(void *context, double seconds); /* false = stop */
	struct wall (*now)(void *context);
	double (*random)(void *context); /* 0 <= r < 1 */
};

struct keeper_progress {
	const char *doing;      /* such as "servers of aws" */
	unsigned pages;         /* so far, from the network or the cache */
	size_t servers;         /* so far */
	double waiting_seconds; /* > 0: a wait of that length begins; `why` is its reason */
	const char *why;
};

struct keeper_options {
	const char *url; /* without a slash at the end */
	/* Regions to fetch prices for, as "vendor~name" or any name of the region. Each region
	 * costs one more pass over its servers. If the list is empty, each server has only its
	 * lowest price over all regions. */
	struct text_list regions;
	/* This machine's region, "vendor~name", fetched too if the Keeper has it; NULL = unknown. */
	const char *home;
	struct text_list benchmarks; /* besides SCore; each costs one more pass */
	/* Hash of the database in the cache; NULL = fetch in any case. */
	const char *known_hash;
	/* Called with each change of the progress; may be NULL. */
	void (*progress)(void *context, const struct keeper_progress *p);
	void *progress_context;
};

struct keeper_report {
	bool unchanged; /* the database has the known hash; no catalogue is made */
	char hash[128]; /* of the database; "" = unknown */
	unsigned calls, pages, unmodified, retries;
	double expected_servers; /* from X-Total-Count; NaN = unknown */
};

/* Fetches all pages and builds a catalogue. *ret is NULL when r->unchanged. `cache` may be NULL:
 * then no page is stored between calls.
 * -ECANCELED: `wait` returned false or `get` was stopped. After any other error the message names
 * the URL and the problem. Pages that did arrive stay in the cache and are not requested again
 * while fresh. */
int keeper_fetch(const struct keeper_options *o, const struct keeper_transport *t,
	struct catalogue_cache *cache, struct catalogue **ret, struct keeper_report *r,
	struct err *e);

#define KEEPER_PAGE_SIZE 250 /* servers per page */
#define KEEPER_PAGES_MAX 400 /* maximum per vendor; more pages mean an endless loop */
#define KEEPER_ATTEMPTS  6

#endif
