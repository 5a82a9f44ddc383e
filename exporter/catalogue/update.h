/* Fetches the Keeper's catalogue over the network into the cache. Two callers use this: the fetcher
 * thread, at intervals, and the command "catalogue update", once. */
#ifndef EXPORTER_CATALOGUE_UPDATE_H
#define EXPORTER_CATALOGUE_UPDATE_H

#include "exporter/catalogue/keeper.h"
#include "exporter/core/worker.h"

struct catalogue_source {
	const char *url;        /* URL of the Keeper, with or without a final slash */
	const char *cache_path; /* path of the cache file */
	/* File with the certificates to trust; NULL = those of the operating system. */
	const char *ca_file;
	struct text_list regions, benchmarks; /* as in struct keeper_options */
	const char *home;                     /* as in struct keeper_options; NULL = unknown */
	/* Fetch even when the Keeper's database is unchanged. */
	bool force;
	bool attended; /* as in struct keeper_options */
	/* Called with the progress of the fetch; may be NULL. */
	void (*progress)(void *context, const struct keeper_progress *p);
	void *progress_context;
};

/* Fetches the catalogue. This takes minutes, because the Keeper allows 20 calls a minute. If the
 * cached catalogue was made from the Keeper's current database, *ret is NULL, and the cached
 * catalogue counts as fetched now.
 *
 * The call succeeds even if the cache cannot be written; *notice then describes the problem. If the
 * cache file is damaged, the call renames it and begins a new one. *notice then has the code
 * -EUCLEAN, even if the call fails. */
int catalogue_update(const struct catalogue_source *s, struct worker *worker,
	struct catalogue **ret, struct keeper_report *report, struct err *notice, struct err *e);

/* Like catalogue_update, but with the caller's functions for the network and the clock (`t`)
 * instead of a worker. s->url must have no final slash. */
int catalogue_update_over(const struct catalogue_source *s, const struct keeper_transport *t,
	struct catalogue **ret, struct keeper_report *report, struct err *notice, struct err *e);

/* Returns true when `source` (struct cache_origin) is a URL: the catalogue was fetched, not
 * imported. */
bool catalogue_is_url(const char *source);

/* Writes the regions, the home and the benchmarks of `s` as one text. A changed text shows that the
 * catalogue must be fetched again. A long text is cut and ends in a hash of the whole text
 * (utf8_clean). */
void catalogue_source_text(const struct catalogue_source *s, char ret[CATALOGUE_SOURCE_TEXT_MAX]);

/* Returns true when the catalogue with the origin `o` was fetched with the URL, the regions, the
 * home and the benchmarks of `s`. */
bool catalogue_is_from(const struct catalogue_source *s, const struct cache_origin *o);

/* Writes "VENDOR~REGION", such as "aws~us-east-1", to `out`, and returns `out`. Returns NULL when
 * `vendor_id` or `region` is "". */
#define CATALOGUE_HOME_MAX 100
const char *catalogue_home(const char *vendor_id, const char *region, char out[CATALOGUE_HOME_MAX]);

#endif
