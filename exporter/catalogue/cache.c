/* The cache's file, the catalogue in it, and the answers of a server beside it. */
#include "exporter/catalogue/catalogue_cache_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "collectors/base/utf8.h"
#include "exporter/history/quarantine.h"
#include "exporter/catalogue/scdata.h"
#include "exporter/history/sqlite_hardening.h"

#define BUSY_MS      5000
#define PATH_BUF_MAX 8192

void cache_finalizep(sqlite3_stmt **s)
{
	sqlite3_finalize(*s);
}

int cache_error(const struct catalogue_cache *k, struct err *e)
{
	int sql = sqlite3_errcode(k->db) & 0xff;
	int code = sql == SQLITE_FULL                            ? -ENOSPC :
		   sql == SQLITE_CORRUPT || sql == SQLITE_NOTADB ? -EBADMSG :
								   -EIO;

	return err_set(e, code, "%s: %s", k->path, sqlite3_errmsg(k->db));
}

int cache_run(const struct catalogue_cache *k, const char *sql, struct err *e)
{
	return sqlite3_exec(k->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : cache_error(k, e);
}

int cache_prepare(const struct catalogue_cache *k, const char *sql, sqlite3_stmt **ret,
	struct err *e)
{
	return sqlite3_prepare_v2(k->db, sql, -1, ret, NULL) == SQLITE_OK ? 0 : cache_error(k, e);
}

int cache_step(const struct catalogue_cache *k, sqlite3_stmt *s, struct err *e)
{
	int code = sqlite3_step(s) == SQLITE_DONE ? 0 : cache_error(k, e);

	sqlite3_reset(s);
	return code;
}

void cache_bind_text(sqlite3_stmt *s, int i, const char *text)
{
	if (*text)
		sqlite3_bind_text(s, i, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(s, i);
}

int cache_version(const struct catalogue_cache *k, int *ret, struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL;
	int code = cache_prepare(k, "PRAGMA user_version", &s, e);

	if (code)
		return code;
	if (sqlite3_step(s) != SQLITE_ROW)
		return cache_error(k, e);
	*ret = sqlite3_column_int(s, 0);
	return 0;
}

/* The directories above path; what cannot be made shows when the file is opened. */
static void make_directories(const char *path)
{
	AUTO(freep) char *part = xstrdup(path);

	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(part, 0755);
		*slash = '/';
	}
}

/* SQLite would open a FIFO, and wait there for ever. What is not there yet is no error. */
static int check_place(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "%s: it is not a regular file", path);
	return 0;
}

static int open_file(struct catalogue_cache *k, struct err *e)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	int wrong = check_place(k->path, e);

	if (wrong)
		return wrong;
	if (sqlite3_open_v2(k->path, &k->db, flags, NULL) != SQLITE_OK) {
		int code = cache_error(k, e);

		sqlite3_close(k->db);
		k->db = NULL;
		return code;
	}
	untrusted(k->db);
	sqlite3_busy_timeout(k->db, BUSY_MS);
	return 0;
}

/* Another process that found the same damage has begun anew: its file is no longer the one that is open here. */
static bool has_moved(const struct catalogue_cache *k)
{
	int moved = 0;

	return sqlite3_file_control(k->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
	       moved;
}

int cache_begin_anew(struct catalogue_cache *k, struct err *e)
{
	bool moved = has_moved(k);

	sqlite3_close(k->db);
	k->db = NULL;
	buf_done(&k->aside);
	k->aside = (struct buf)BUF_MAX(PATH_BUF_MAX);
	int code = moved ? 0 : aside_move(&k->aside, k->path, e);

	if (code == 0)
		code = open_file(k, e);
	return code ? code : cache_create_tables(k, e);
}

/* A database of something else has tables, but not ours. */
static bool is_of_others(const struct catalogue_cache *k)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL;

	return cache_prepare(k,
		       "SELECT count(*), total(name IN ('page', '_metadata')) FROM sqlite_schema",
		       &s, NULL) == 0 &&
	       sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) > 0 &&
	       sqlite3_column_double(s, 1) < 2;
}

/* What is left of a database still begins as one. A tar or the image of a disk has whole pages, too. */
static bool is_no_database(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof magic];
	AUTO(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 || read(fd, head, sizeof head) != sizeof head ||
	       memcmp(head, magic, sizeof magic) != 0;
}

/* Whoever names another file by mistake does not lose it. */
static int check_owner(const struct catalogue_cache *k, bool readable, struct err *e)
{
	if (readable ? !is_of_others(k) : !is_no_database(k->path))
		return 0;
	return err_set(e, -EEXIST, "%s: it is no catalogue's cache, and stays as it is", k->path);
}

static int open_or_begin(struct catalogue_cache *k, struct err *e)
{
	struct err why = {0};
	int version = 0, code = open_file(k, e);

	if (code)
		return code;
	int damage = cache_version(k, &version, &why);

	if (damage && damage != -EBADMSG) {
		if (e)
			*e = why;
		return damage;
	}
	code = check_owner(k, damage == 0, e);
	if (code)
		return code;
	if (damage || (version && version != CATALOGUE_CACHE_VERSION))
		return cache_begin_anew(k, e);
	return version ? 0 : cache_create_tables(k, e);
}

int catalogue_cache_open(struct catalogue_cache **ret, const char *path, struct err *e)
{
	struct catalogue_cache *k = xcalloc(1, sizeof *k);

	k->path = xstrdup(path);
	make_directories(path);
	int code = open_or_begin(k, e);

	if (code) {
		catalogue_cache_close(k);
		return code;
	}
	*ret = k;
	return 0;
}

void catalogue_cache_close(struct catalogue_cache *k)
{
	if (!k)
		return;
	sqlite3_close(k->db);
	buf_done(&k->aside);
	free(k->path);
	free(k);
}

bool catalogue_cache_aside(struct catalogue_cache *k, struct err *ret)
{
	if (k->aside.len)
		err_set(ret, -EUCLEAN,
			"the cache could not be gone on with: it is now %s, and was begun anew",
			buf_text(&k->aside));
	return k->aside.len > 0;
}

int catalogue_cache_confirm(struct catalogue_cache *k, struct wall at, struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL;
	int code = cache_prepare(k, "UPDATE _metadata SET value = ? WHERE key = 'saved_at'", &s, e);

	if (code)
		return code;
	sqlite3_bind_double(s, 1, wall_seconds(at));
	return cache_step(k, s, e);
}

/* Of what was saved; -ENOENT when nothing was, and what else is wrong when that cannot be told. */
static int read_origin(const struct catalogue_cache *k, struct cache_origin *ret, struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL;
	bool found = false;
	int step, code = cache_prepare(k, "SELECT key, value FROM _metadata", &s, e);

	*ret = (struct cache_origin){0};
	if (code)
		return sqlite3_errcode(k->db) == SQLITE_ERROR ? -ENOENT : code; /* no such table */
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		const char *key = (const char *)sqlite3_column_text(s, 0);
		const char *value = (const char *)sqlite3_column_text(s, 1);

		if (!key || !value)
			continue;
		if (strcmp(key, "source") == 0)
			utf8_clean(value, strlen(value), ret->source, sizeof ret->source);
		if (strcmp(key, "hash") == 0)
			utf8_clean(value, strlen(value), ret->hash, sizeof ret->hash);
		if (strcmp(key, "asked") == 0)
			utf8_clean(value, strlen(value), ret->asked, sizeof ret->asked);
		double at = sqlite3_column_double(s, 1);

		/* A catalogue that was saved at no time was not saved. */
		if (strcmp(key, "saved_at") == 0 && at >= 0 &&
			at < (double)(INT64_MAX / NS_PER_S)) {
			ret->at = wall_from_seconds(at);
			found = true;
		}
	}
	if (step != SQLITE_DONE)
		return cache_error(k, e);
	return found ? 0 : -ENOENT;
}

int catalogue_cache_origin(struct cache_origin *ret, const char *path, struct err *e)
{
	AUTO(freep) char *own_path = xstrdup(path);
	struct catalogue_cache k = {.path = own_path};
	struct cache_origin o;
	int code = -ENOENT, wrong = check_place(path, e);

	if (wrong)
		return wrong;
	if (sqlite3_open_v2(path, &k.db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) ==
		SQLITE_OK) {
		untrusted(k.db);
		sqlite3_busy_timeout(k.db, BUSY_MS);
		code = read_origin(&k, &o, e);
	}
	sqlite3_close(k.db);
	if (code && code != -ENOENT)
		return code;
	if (code)
		return err_set(e, code, "%s: no catalogue was saved there", path);
	*ret = o;
	return 0;
}

int catalogue_cache_load(struct catalogue **ret, struct cache_origin *origin, const char *path,
	struct err *e)
{
	struct cache_origin o = {0};
	int code = catalogue_cache_origin(&o, path, e);

	if (code)
		return code;
	code = catalogue_from_scdata_as(ret, path, *o.source ? o.source : path, e);
	if (code == 0)
		*origin = o;
	return code;
}

static int unpack(const void *packed, size_t n, size_t length, struct buf *body)
{
	uLongf got = length;
	AUTO(freep) char *text = xmalloc(length);

	if (uncompress((Bytef *)text, &got, packed, n) != Z_OK || got != length)
		return -EIO;
	buf_reset(body);
	buf_add(body, text, length);
	return body->full ? -E2BIG : 0;
}

int catalogue_cache_page(struct catalogue_cache *k, const char *url, struct cached_page *ret,
	struct buf *body, struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL;
	const char *sql = body ? "SELECT etag, fetched_at, max_age_seconds, length, body FROM page "
				 "WHERE url = ?" :
				 "SELECT etag, fetched_at, max_age_seconds FROM page WHERE url = ?";
	int code = cache_prepare(k, sql, &s, e);

	if (code)
		return code;
	sqlite3_bind_text(s, 1, url, -1, SQLITE_STATIC);
	if (sqlite3_step(s) != SQLITE_ROW)
		return -ENOENT;
	const char *etag = (const char *)sqlite3_column_text(s, 0);
	struct cached_page page = {.fetched_at.ns = sqlite3_column_int64(s, 1),
		.max_age_seconds = sqlite3_column_double(s, 2)};

	snprintf(page.etag, sizeof page.etag, "%s", etag ? etag : "");
	/* Of a damaged file: neither an age nor the time until it is due can be reckoned with it. */
	if (page.fetched_at.ns < 0)
		return -ENOENT;
	if (body) {
		sqlite3_int64 length = sqlite3_column_int64(s, 3);
		const void *packed = sqlite3_column_blob(s, 4);

		if (length < 0 || length > CATALOGUE_PAGE_MAX || !packed ||
			unpack(packed, (size_t)sqlite3_column_bytes(s, 4), (size_t)length, body))
			return -ENOENT;
	}
	*ret = page;
	return 0;
}

static int update_page(struct catalogue_cache *k, const char *url, const struct cached_page *page,
	struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL;
	int code = cache_prepare(k,
		"UPDATE page SET fetched_at = ?2, max_age_seconds = ?3 WHERE url = ?1", &s, e);

	if (code)
		return code;
	sqlite3_bind_text(s, 1, url, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 2, page->fetched_at.ns);
	sqlite3_bind_double(s, 3, page->max_age_seconds);
	return cache_step(k, s, e);
}

int catalogue_cache_keep_page(struct catalogue_cache *k, const char *url,
	const struct cached_page *page, const struct buf *body, struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL;
	int code;

	if (!body)
		return update_page(k, url, page, e);
	uLongf packed = compressBound(body->len);
	AUTO(freep) void *out = xmalloc(packed);

	if (compress2(out, &packed, (const Bytef *)buf_text(body), body->len, Z_BEST_SPEED) != Z_OK)
		return err_set(e, -EIO, "%s: cannot be packed", url);
	code = cache_prepare(k, "INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?)", &s, e);
	if (code)
		return code;
	sqlite3_bind_text(s, 1, url, -1, SQLITE_STATIC);
	cache_bind_text(s, 2, page->etag);
	sqlite3_bind_int64(s, 3, page->fetched_at.ns);
	sqlite3_bind_double(s, 4, page->max_age_seconds);
	sqlite3_bind_int64(s, 5, (sqlite3_int64)body->len);
	sqlite3_bind_blob64(s, 6, out, packed, SQLITE_STATIC);
	return cache_step(k, s, e);
}

int catalogue_cache_forget_pages(struct catalogue_cache *k, struct wall before, struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL;
	int code = cache_prepare(k, "DELETE FROM page WHERE fetched_at < ?", &s, e);

	if (code)
		return code;
	sqlite3_bind_int64(s, 1, before.ns);
	return cache_step(k, s, e);
}
