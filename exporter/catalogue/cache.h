/*
 * The catalogue that was last fetched or imported, and the answers it was made of, in one SQLite file of our own.
 * The catalogue's tables have sc-data's names, so that catalogue_from_scdata reads them.
 *
 * A handle belongs to one thread; several processes may use the file. Everything in it can be had again: a corrupt file
 * is set aside (exporter/history/quarantine.h) and begun anew.
 */
#ifndef EXPORTER_CATALOGUE_CACHE_H
#define EXPORTER_CATALOGUE_CACHE_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "collectors/base/clock.h"
#include "recommender/catalogue/catalogue.h"

struct catalogue_cache;

/*
 * Creates the file and its directory when they are missing. -EEXIST: something else has that name, and stays as it is;
 * what does not begin as a database is something else.
 */
int catalogue_cache_open(struct catalogue_cache **ret, const char *path, struct err *e);
void catalogue_cache_close(struct catalogue_cache *cache);

/* Was what was there set aside? Then *ret says so: -EUCLEAN. */
bool catalogue_cache_aside(struct catalogue_cache *cache, struct err *ret);

#define CATALOGUE_SOURCE_TEXT_MAX 512

/* Where a saved catalogue came from. */
struct cache_origin {
	char source[256]; /* URL or path */
	char hash[128];   /* of the Keeper's database, "" = not known */
	char source_text
		[CATALOGUE_SOURCE_TEXT_MAX]; /* for which regions and benchmarks, "" = for none in particular */
	struct wall at;                      /* when it was fetched, or last found unchanged */
};

/* Puts a catalogue in the place of the one before, at once or not at all. */
int catalogue_cache_save(struct catalogue_cache *cache, const struct catalogue *c,
	const struct cache_origin *origin, struct err *e);

/* The catalogue that was saved is still the newest. */
int catalogue_cache_confirm(struct catalogue_cache *cache, struct wall at, struct err *e);

/*
 * The catalogue that was saved last. -ENOENT: no such file, or nothing was saved yet. Needs no handle; never
 * creates or changes the file.
 */
int catalogue_cache_load(struct catalogue **ret, struct cache_origin *origin, const char *path,
	struct err *e);

/* Only where it came from: cheap. The same codes; others when the file is there and cannot be read. */
int catalogue_cache_origin(struct cache_origin *ret, const char *path, struct err *e);

/* An answer of a server, as HTTP caches keep it. */
struct cached_page {
	char etag[256];         /* "" = none */
	struct wall fetched_at; /* or last confirmed */
	double max_age_seconds; /* until then it need not be asked for again */
};

/* The page of a URL, its body unpacked to *body when that is not NULL. -ENOENT: not there. */
int catalogue_cache_page(struct catalogue_cache *cache, const char *url, struct cached_page *ret,
	struct buf *body, struct err *e);
/* Keeps a page; body NULL leaves the body as it was (it was confirmed, not sent). */
int catalogue_cache_keep_page(struct catalogue_cache *cache, const char *url,
	const struct cached_page *page, const struct buf *body, struct err *e);
/* Forgets pages that were neither fetched nor confirmed since. */
int catalogue_cache_forget_pages(struct catalogue_cache *cache, struct wall before, struct err *e);

#define CATALOGUE_PAGE_MAX (64u << 20) /* bytes of a body */

#endif
