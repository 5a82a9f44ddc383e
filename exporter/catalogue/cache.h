/* The cache of the catalogue: one SQLite file. It contains the catalogue that was last fetched or
 * imported, and the answers of the Spare Cores Keeper from which it was built. The tables have the
 * names of sc-data, the database of Spare Cores, so that catalogue_from_scdata can read them.
 *
 * A handle belongs to one thread. Several processes may use the file. A corrupt file is renamed
 * (exporter/history/quarantine.h), and a new file is begun: the data can be fetched or imported
 * again. */
#ifndef EXPORTER_CATALOGUE_CACHE_H
#define EXPORTER_CATALOGUE_CACHE_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "collectors/base/clock.h"
#include "recommender/catalogue/catalogue.h"

struct catalogue_cache;

/* Opens the cache, and creates the file and its directory if missing. -EEXIST: the file belongs to
 * another program and stays unchanged. Such a file does not begin with the magic bytes of SQLite,
 * or it is a database without the tables of a cache. */
int catalogue_cache_open(struct catalogue_cache **ret, const char *path, struct err *e);
void catalogue_cache_close(struct catalogue_cache *cache);

/* Returns true when catalogue_cache_open or catalogue_cache_save has renamed the file, because it
 * was corrupt or written by another version of this program. `*ret` then gets -EUCLEAN and a
 * message with the new name. */
bool catalogue_cache_aside(struct catalogue_cache *cache, struct err *ret);

#define CATALOGUE_SOURCE_TEXT_MAX 512

/* Origin of a saved catalogue. */
struct cache_origin {
	char source[256]; /* URL or path */
	char hash[128];   /* hash of the Keeper's database; "" = unknown */
	/* Settings of the fetch (catalogue_source_text); "" = none. */
	char source_text[CATALOGUE_SOURCE_TEXT_MAX];
	struct wall at; /* time of the fetch, or of the last catalogue_cache_confirm */
};

/* Replaces the saved catalogue in one transaction. */
int catalogue_cache_save(struct catalogue_cache *cache, const struct catalogue *c,
	const struct cache_origin *origin, struct err *e);

/* Records that at the time `at` the Keeper still had the saved catalogue. */
int catalogue_cache_confirm(struct catalogue_cache *cache, struct wall at, struct err *e);

/* Loads the catalogue that was saved last. Returns -ENOENT when there is no file, or when the file
 * contains no catalogue. The call needs no handle, and never creates or changes the file. */
int catalogue_cache_load(struct catalogue **ret, struct cache_origin *origin, const char *path,
	struct err *e);

/* Reads only the origin, which is cheap. Returns the same errors as catalogue_cache_load. */
int catalogue_cache_origin(struct cache_origin *ret, const char *path, struct err *e);

/* A stored HTTP answer, with the values that an HTTP cache needs. */
struct cached_page {
	char etag[256];         /* ETag of the page; "" = it has none */
	struct wall fetched_at; /* time of the fetch or the last confirmation */
	double max_age_seconds; /* seconds for which the page counts as fresh */
};

/* Reads the page of `url`. If `body` is not NULL, it gets the unpacked body. Returns -ENOENT when
 * there is no such page. */
int catalogue_cache_page(struct catalogue_cache *cache, const char *url, struct cached_page *ret,
	struct buf *body, struct err *e);
/* Stores a page. If `body` is NULL, only the members of `page` are stored, and the old body stays.
 * Use NULL after an answer with status 304, which means that the old body is still right. */
int catalogue_cache_keep_page(struct catalogue_cache *cache, const char *url,
	const struct cached_page *page, const struct buf *body, struct err *e);
/* Deletes pages whose last fetch or confirmation is older than `before`. */
int catalogue_cache_forget_pages(struct catalogue_cache *cache, struct wall before, struct err *e);

#define CATALOGUE_PAGE_MAX (64u << 20) /* largest body of a page, bytes */

#endif
