/*
 * Which catalogue answers: --catalogue.path; else what was last fetched from the Keeper, or imported, into the cache;
 * else the built-in one. Loaded when somebody asks, and again when its file changed. A catalogue that is replaced
 * lives until its readers are done.
 *
 * With refresh, the first question starts the thread that keeps the cache fresh: who never asks makes no
 * network calls and holds no catalogue. Where no thread can be had the next question tries again, and until then answers
 * say so.
 */
#ifndef EXPORTER_CATALOGUE_CURRENT_H
#define EXPORTER_CATALOGUE_CURRENT_H

#include <stdbool.h>

#include "exporter/catalogue/fetcher.h"
#include "recommender/catalogue/catalogue.h"

struct current_catalogue;

struct current_catalogue_config {
	const char *path; /* NULL = the cache or the built-in one */
	bool refresh;
	struct fetcher_options
		fetcher; /* with the cache's path, NULL = there is none, and the rates of all */
};

/* What an answer says of the catalogue beside what stands in it. */
struct current_catalogue_state {
	double fetched_at;  /* seconds since 1970 UTC; NaN = it was not fetched */
	double age_seconds; /* since then, or since its as_of; NaN = unknown */
	bool stale;
	char problem[256]; /* why it could not be refreshed, "" = nothing is known to be wrong */
};

/* config is copied, what it points to must outlive the shelf. */
struct current_catalogue *current_catalogue_new(const struct current_catalogue_config *config);
void current_catalogue_free(struct current_catalogue *s); /* stops the thread; NULL does nothing */

/*
 * The catalogue, held for the caller (catalogue_free lets go). A negative errno with a sentence when --catalogue.path
 * cannot be read: nothing else answers in its place. Without keep it is not kept for the next question, and is not
 * the question that starts the thread. Any thread.
 */
int current_catalogue_hold(struct current_catalogue *s, bool keep, struct catalogue **ret,
	struct current_catalogue_state *state, struct err *e);

/* Lets go of a catalogue that was not asked for in that many seconds; the next question loads it again. */
void current_catalogue_tidy(struct current_catalogue *s, double seconds);

#endif
