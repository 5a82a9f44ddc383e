/*
 * The thread that keeps the cached catalogue of the Keeper fresh in the background. Readers take what is in the
 * cache: nobody waits for the network. A catalogue that was imported into the cache by hand stays.
 */
#ifndef EXPORTER_CATALOGUE_FETCHER_H
#define EXPORTER_CATALOGUE_FETCHER_H

#include "exporter/catalogue/update.h"

struct fetcher;

struct fetcher_options {
	struct catalogue_source source;
	struct text_list rates; /* of catalogues that are only in memory: see rates.h */
	double refresh_seconds; /* age at which the catalogue is fetched again */
	/* What a person should read in the log: once when it begins to fail, once when it works again. Own thread. */
	void (*say)(void *context, bool works, const char *text);
	void *say_context;
};

struct fetcher_state {
	struct wall
		fetched_at; /* of the newest catalogue, or when it was found unchanged; 0 = none */
	struct wall tried_at; /* last attempt; 0 = none yet */
	struct wall next_at;  /* of the next one; 0 = it is not known yet, or under way */
	unsigned long fetches, failures;
	char error[256]; /* of the last attempt, "" = it worked */
};

/* options and what it points to must outlive the fetcher. */
int fetcher_start(struct fetcher **ret, const struct fetcher_options *options, struct err *e);
void fetcher_stop(struct fetcher *f); /* ends within seconds; NULL does nothing */

/*
 * The newest catalogue while it could not be written to the cache, held for the caller (catalogue_free lets go); else
 * NULL. Any thread.
 */
struct catalogue *fetcher_catalogue(struct fetcher *f);
void fetcher_state(struct fetcher *f, struct fetcher_state *ret); /* any thread */

#endif
