/*
 * What the two files of the cache share: cache.c opens, loads and keeps pages, catalogue_save.c writes
 * the tables.
 */
#ifndef EXPORTER_CATALOGUE_CACHE_PRIVATE_H
#define EXPORTER_CATALOGUE_CACHE_PRIVATE_H

#include <sqlite3.h>

#include "exporter/catalogue/cache.h"

#define CATALOGUE_CACHE_VERSION 1 /* PRAGMA user_version; a file of another one is begun anew */

struct catalogue_cache {
	sqlite3 *db;
	char *path;
	struct buf aside; /* what was there is now called so; empty: it was gone on with */
};

/* Of the last call of SQLite; -EBADMSG: the file is corrupt. */
int cache_error(const struct catalogue_cache *k, struct err *e);

int cache_run(const struct catalogue_cache *k, const char *sql, struct err *e);
int cache_prepare(const struct catalogue_cache *k, const char *sql, sqlite3_stmt **ret,
	struct err *e);
/* To the end, and resets. */
int cache_step(const struct catalogue_cache *k, sqlite3_stmt *s, struct err *e);
/* "" becomes NULL; text must outlive the step. */
void cache_bind_text(sqlite3_stmt *s, int i, const char *text);
void cache_finalizep(sqlite3_stmt **s);

/*
 * Begins an empty file: all that was in a cache can be fetched again. The file that cannot be gone on with is set aside,
 * for it may have been something else.
 */
int cache_begin_anew(struct catalogue_cache *k, struct err *e);

int cache_version(const struct catalogue_cache *k, int *ret, struct err *e);
/* Unless another process was faster. */
int cache_create_tables(const struct catalogue_cache *k, struct err *e);

#endif
