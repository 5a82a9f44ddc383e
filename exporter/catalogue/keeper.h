/* Fetches the whole catalogue page by page from the Spare Cores Keeper, the server that publishes
 * it.
 *
 * Each call costs credits. The Keeper's headers say how many credits it grants a minute. The
 * default is 60, which is enough for 20 calls of /servers. A private Keeper may grant more, but at
 * most 6,000 a minute are used. Pages that are fresh in the cache, or unchanged in the Keeper, are
 * not downloaded again.
 *
 * A call whose failure may be temporary is retried, with growing, random delays. Only a failed call
 * of /healthcheck is not retried. It returns the hash of the database, which saves calls if the
 * database is unchanged. Without the hash, the whole catalogue is fetched.
 *
 * The caller supplies functions for the network, the clock and the waiting, so that tests can
 * replace them. */
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
	double (*random)(void *context); /* returns a number from 0 to below 1 */
};

struct keeper_progress {
	const char *doing;      /* the part that is fetched now, such as "servers of aws" */
	const char *host;       /* host of the Keeper's URL, with its port */
	bool answered;          /* the Keeper has answered a call, whatever the status */
	unsigned pages;         /* pages read so far, from the network or the cache */
	size_t servers;         /* servers read so far */
	double waiting_seconds; /* if above 0, a wait of this length begins; `why`: the reason */
	const char *why;
};

struct keeper_options {
	const char *url; /* URL of the Keeper, without a slash at the end */
	/* Regions to fetch prices for, as "vendor~name" or any name of the region. For each region,
	 * the fetch lists all its servers twice more: once for on-demand prices, once for spot
	 * prices. In a single list for both, the Keeper would fill gaps with prices of other
	 * regions. If `regions` is empty, each server has only its lowest price over all
	 * regions. */
	struct text_list regions;
	/* Region of this machine, "vendor~name". Its prices are fetched, too, if the Keeper has the
	 * region. NULL = unknown. */
	const char *home;
	/* Benchmarks to fetch in addition to SCore. For each benchmark, the fetch lists all servers
	 * once more. It lists them twice if the benchmark has a configuration with one core. */
	struct text_list benchmarks;
	/* Hash of the database from which the cached catalogue was made. If the Keeper still has
	 * this database, nothing is fetched. NULL = always fetch. */
	const char *known_hash;
	/* true = a person waits for the result, so calls are retried less often. The fetch fails if
	 * the Keeper answers neither the first call nor the second one. After the first answer,
	 * each call has KEEPER_ATTEMPTS_ATTENDED attempts, but KEEPER_ATTEMPTS if the Keeper
	 * answers 429 (too many calls). */
	bool attended;
	/* Called whenever the progress changes. May be NULL. */
	void (*progress)(void *context, const struct keeper_progress *p);
	void *progress_context;
};

struct keeper_report {
	bool unchanged; /* the Keeper's database has known_hash, so no catalogue is made */
	char hash[128]; /* hash of the Keeper's database; "" = unknown */
	unsigned calls, pages, unmodified, retries;
	/* Sum of the headers X-Total-Count over all vendors: number of servers; NaN = unknown. */
	double expected_servers;
};

/* Fetches all pages and builds a catalogue. If r->unchanged is true, *ret is NULL. If `cache` is
 * NULL, no page is stored between calls. Returns -ECANCELED when `wait` returned false, or when
 * `get` was stopped. After any other error, `e` names the URL and the problem. The pages that were
 * received before an error stay in the cache. The next call does not request them again while they
 * are fresh. */
int keeper_fetch(const struct keeper_options *o, const struct keeper_transport *t,
	struct catalogue_cache *cache, struct catalogue **ret, struct keeper_report *r,
	struct err *e);

#define KEEPER_PAGE_SIZE 250 /* servers per page */
/* Most pages of a vendor or a region. More pages are an error: the Keeper seems to ignore the page
 * number. */
#define KEEPER_PAGES_MAX 400
#define KEEPER_ATTEMPTS  6 /* most attempts of a call whose failure may be temporary */
/* Most attempts of a call while a person waits. The two waits between three attempts take 3 to 9 s
 * in total. */
#define KEEPER_ATTEMPTS_ATTENDED 3

#endif
