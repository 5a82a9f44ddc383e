/* Chooses the catalogue for answers: --catalogue.path if given, else the cached one (fetched or
 * imported), else the built-in one. It is loaded on first use, and again when its file changed. A
 * replaced catalogue lives until its last reader has finished.
 *
 * With `refresh`, the first call starts the thread that refreshes the cache. A program that never
 * needs a catalogue makes no network calls and uses no memory. If the thread cannot start, the next
 * call tries again, and answers report the problem until then. */
#ifndef EXPORTER_CATALOGUE_CURRENT_H
#define EXPORTER_CATALOGUE_CURRENT_H

#include <stdbool.h>

#include "exporter/catalogue/fetcher.h"
#include "recommender/catalogue/catalogue.h"

struct current_catalogue;

struct current_catalogue_config {
	const char *path; /* NULL = the cached or the built-in one */
	bool refresh;
	/* The rates apply to every catalogue. A cache_path of NULL = no cache. */
	struct fetcher_options fetcher;
};

/* Age and health of the catalogue, for answers. */
struct current_catalogue_state {
	double fetched_at;  /* seconds since 1970 UTC; NaN = not fetched */
	double age_seconds; /* since fetched_at, else since the catalogue's date; NaN = unknown */
	bool stale;
	char problem[256]; /* why the refresh failed; "" = no known problem */
};

/* `config` is copied; the memory it points to must outlive the result. */
struct current_catalogue *current_catalogue_new(const struct current_catalogue_config *config);
void current_catalogue_free(struct current_catalogue *s); /* stops the thread; NULL does nothing */

/* Gives the caller a reference to the catalogue, which catalogue_free drops. Returns a negative
 * errno with a message when --catalogue.path cannot be read; no other catalogue replaces it.
 * `keep` = false: the call leaves no catalogue in memory and does not start the thread. Any
 * thread. */
int current_catalogue_hold(struct current_catalogue *s, bool keep, struct catalogue **ret,
	struct current_catalogue_state *state, struct err *e);

/* Unloads a catalogue that was unused for `seconds`. The next call loads it again. */
void current_catalogue_tidy(struct current_catalogue *s, double seconds);

#endif
