/*
 * Fetches the Keeper's catalogue over the network into the cache: what the fetcher thread does now and then, and
 * the command "catalogue update" once.
 */
#ifndef EXPORTER_CATALOGUE_UPDATE_H
#define EXPORTER_CATALOGUE_UPDATE_H

#include "exporter/catalogue/keeper.h"
#include "exporter/core/worker.h"

struct catalogue_source {
	const char *url;        /* of the Keeper; a slash at the end does no harm */
	const char *cache_path; /* of the cache */
	/* Certificates to trust instead of the system's; NULL = the system's. */
	const char *ca_file;
	struct text_list regions, benchmarks; /* as in struct keeper_options */
	const char *home;                     /* likewise; NULL = unknown */
	bool force;                           /* fetch even what is known to be unchanged */
	/* NULL = nobody listens. */
	void (*progress)(void *context, const struct keeper_progress *p);
	void *progress_context;
};

/*
 * Takes minutes: the Keeper allows 20 calls a minute. *ret is NULL when the cached catalogue is still the newest;
 * then its age is renewed. A cache that cannot be written is told in *notice, and no error; so is one that was set aside
 * and begun anew, by -EUCLEAN, also beside an error.
 */
int catalogue_update(const struct catalogue_source *s, struct worker *worker,
	struct catalogue **ret, struct keeper_report *report, struct err *notice, struct err *e);

/* Is that the source of a catalogue that was fetched? */
bool catalogue_is_url(const char *source);

/* The regions and benchmarks as one text; a long one is cut, and ends in a hash of all of it (utf8_clean). */
void catalogue_source_text(const struct catalogue_source *s, char ret[CATALOGUE_SOURCE_TEXT_MAX]);

/* Is that what s would fetch? */
bool catalogue_is_from(const struct catalogue_source *s, const struct cache_origin *o);

/* "aws~us-east-1" in out; NULL = one of the two is not known (""). */
#define CATALOGUE_HOME_MAX 100
const char *catalogue_home(const char *vendor_id, const char *region, char out[CATALOGUE_HOME_MAX]);

#endif
