/* A thread that refreshes the cached catalogue of the Keeper in the background. Readers use the
 * cache, so they never wait for the network. A catalogue that a user imported into the cache is
 * never replaced. */
#ifndef EXPORTER_CATALOGUE_FETCHER_H
#define EXPORTER_CATALOGUE_FETCHER_H

#include "exporter/catalogue/update.h"

struct fetcher;

struct fetcher_options {
	struct catalogue_source source;
	/* Exchange rates that the user gave (rates.h). The fetcher sets them in a catalogue that it
	 * cannot write to the cache. */
	struct text_list rates;
	double refresh_seconds; /* age at which the catalogue is fetched again */
	/* Called with a message for the log: when an attempt fails after a success, when an attempt
	 * succeeds after a failure, and when the cache file was damaged. Runs on the fetcher's
	 * thread. May be NULL. */
	void (*say)(void *context, bool works, const char *text);
	void *say_context;
};

struct fetcher_state {
	struct wall fetched_at; /* last fetch or confirmation of the catalogue; 0 = never */
	struct wall tried_at;   /* last attempt; 0 = no attempt yet */
	struct wall next_at;    /* next attempt; 0 = unknown, or in progress */
	unsigned long fetches, failures; /* number of attempts; number of failed ones */
	char error[ERR_TEXT_MAX];        /* error of the last attempt; "" = success */
};

/* Starts the thread. `options` and everything it points to must outlive the fetcher. */
int fetcher_start(struct fetcher **ret, const struct fetcher_options *options, struct err *e);
void fetcher_stop(struct fetcher *f); /* ends within seconds; NULL does nothing */

/* Returns the newest catalogue if it could not be written to the cache, else NULL. The caller drops
 * the returned reference with catalogue_free. Any thread. */
struct catalogue *fetcher_catalogue(struct fetcher *f);
void fetcher_state(struct fetcher *f, struct fetcher_state *ret); /* any thread */

#endif
