/* Chooses the catalogue for answers:
 * 1. the file of --catalogue.path, if this option is set
 * 2. the catalogue in the cache, which was fetched or imported
 * 3. the built-in catalogue, if the cache is empty
 *
 * The catalogue is loaded on first use, and again when its file has changed. A replaced catalogue
 * lives until its last reader has finished.
 *
 * If `refresh` is true, the first current_catalogue_hold with `keep` starts the thread that
 * refreshes the cache (fetcher.h). A program that never needs a catalogue therefore makes no
 * network calls and uses no memory. If the thread cannot start, the next call tries again, and
 * answers report the problem until then. */
#ifndef EXPORTER_CATALOGUE_CURRENT_H
#define EXPORTER_CATALOGUE_CURRENT_H

#include <stdbool.h>

#include "exporter/catalogue/fetcher.h"
#include "recommender/catalogue/catalogue.h"

struct current_catalogue;

struct current_catalogue_config {
	const char *path; /* NULL = use the cached or the built-in catalogue */
	bool refresh;
	/* fetcher.rates are set in every catalogue. If fetcher.source.cache_path is NULL, no cache
	 * is used. */
	struct fetcher_options fetcher;
	/* Called once when the cache exists but cannot be read, and once more whenever the file
	 * changes and still cannot be read. `text` is valid during the call. Any thread may make
	 * the call, but never two threads at once. NULL = no warning. */
	void (*warn)(const char *text);
};

/* Age and health of the catalogue, for answers. */
struct current_catalogue_state {
	double fetched_at; /* seconds since 1970 UTC; NaN = not fetched */
	/* Time since fetched_at, at least 0. If fetched_at is NaN, time since the date of the
	 * catalogue. NaN = both are unknown, or the catalogue is from more than a day in the
	 * future. */
	double age_seconds;
	bool stale;
	char problem[ERR_TEXT_MAX]; /* why the last refresh failed; "" = it succeeded */
};

/* Copies the struct `config`. The texts and other data to which its members point are not copied:
 * they must outlive the result. */
struct current_catalogue *current_catalogue_new(const struct current_catalogue_config *config);
void current_catalogue_free(struct current_catalogue *s); /* stops the thread; NULL does nothing */

/* Writes a reference to the catalogue to *ret. The caller drops it with catalogue_free. If the file
 * of --catalogue.path cannot be read, no other catalogue is used: the call returns a negative errno
 * with a message. Any thread.
 *
 * `keep` true: more calls are expected. The call starts the thread that refreshes the cache, and
 * the catalogue stays in memory. `keep` false: the call does not start the thread. A catalogue that
 * it loads is freed when the caller drops it, unless it came from a pipe. */
int current_catalogue_hold(struct current_catalogue *s, bool keep, struct catalogue **ret,
	struct current_catalogue_state *state, struct err *e);

/* Frees the catalogue if no call with `keep` has used it for `seconds`. The next call loads it
 * again. A catalogue from a pipe stays, because a pipe can be read only once. */
void current_catalogue_tidy(struct current_catalogue *s, double seconds);

#endif
