/*
 * The client of the Spare Cores Keeper: fetches its whole catalogue, politely. Page by page, at most 20 calls of
 * /servers a minute, within the credits that its headers tell; pages that are fresh or unchanged are not sent
 * again; what fails for a while is tried again later and later, with jitter.
 *
 * Pure protocol: the network, the clock and waiting are the caller's, so that tests need none of them.
 */
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
	bool (*wait)(void *context, double seconds); /* false: stop */
	struct wall (*now)(void *context);
	double (*random)(void *context); /* 0 <= r < 1 */
};

struct keeper_progress {
	const char *doing;      /* "servers of aws", ... */
	unsigned pages;         /* asked for or found fresh, so far */
	size_t servers;         /* so far */
	double waiting_seconds; /* > 0: how long it waits now, and why */
	const char *why;
};

struct keeper_options {
	const char *url; /* without a slash at the end */
	/*
	 * Regions whose own prices are wanted, by any name ("vendor~name" or name): one more pass each. Without,
	 * the lowest price of all regions is known of each server.
	 */
	struct text_list regions;
	const char *
		home; /* where this machine is, "vendor~name": another one, if the Keeper knows it; "" = unknown */
	struct text_list benchmarks; /* beside SCore: one more pass each */
	/* Of the database that is cached already; NULL = fetch in any case. */
	const char *known_hash;
	/* NULL = nobody listens. */
	void (*progress)(void *context, const struct keeper_progress *p);
	void *progress_context;
};

struct keeper_report {
	bool unchanged; /* the database is the known one: there is no catalogue */
	char hash[128]; /* of the database, "" = not told */
	unsigned calls, pages, unmodified, retries;
	double expected_servers; /* by X-Total-Count; NaN = not told */
};

/*
 * Asks for everything and makes a catalogue of it; *ret is NULL when r->unchanged. cache may be NULL: then nothing
 * is kept between calls. -ECANCELED: wait or get said stop. Any other error: not fetched; the sentence names the
 * URL and what was wrong; pages that did come are in the cache and will not be asked for again while fresh.
 */
int keeper_fetch(const struct keeper_options *o, const struct keeper_transport *t,
	struct catalogue_cache *cache, struct catalogue **ret, struct keeper_report *r,
	struct err *e);

#define KEEPER_PAGE_SIZE 250 /* servers a page */
#define KEEPER_PAGES_MAX                                                                           \
	400 /* of one vendor: more than CATALOGUE_SERVERS_MAX could need is a loop */
#define KEEPER_ATTEMPTS 6

#endif
