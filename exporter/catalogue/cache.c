/* The cache's file, the catalogue in it, and the answers of a server beside it. */
#include "exporter/catalogue/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>
#include <zlib.h>

#include "collectors/base/utf8.h"
#include "exporter/history/quarantine.h"
#include "exporter/catalogue/scdata.h"
#include "exporter/history/sqlite_hardening.h"
#include "recommender/catalogue/fields.h"

#define BUSY_MS      5000
#define PATH_BUF_MAX 8192

#define CATALOGUE_CACHE_VERSION 1 /* PRAGMA user_version; a file of another one is begun anew */

struct catalogue_cache {
	sqlite3 *db;
	char *path;
	struct buf aside; /* what was there is now called so; empty: it was gone on with */
};

static void cache_finalizep(sqlite3_stmt **s)
{
	sqlite3_finalize(*s);
}

static int cache_error(const struct catalogue_cache *k, struct err *e)
{
	int sql = sqlite3_errcode(k->db) & 0xff;
	int code = sql == SQLITE_FULL                            ? -ENOSPC :
		   sql == SQLITE_CORRUPT || sql == SQLITE_NOTADB ? -EBADMSG :
								   -EIO;

	return err_set(e, code, "%s: %s", k->path, sqlite3_errmsg(k->db));
}

static int cache_run(const struct catalogue_cache *k, const char *sql, struct err *e)
{
	return sqlite3_exec(k->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : cache_error(k, e);
}

static int cache_prepare(const struct catalogue_cache *k, const char *sql, sqlite3_stmt **ret,
	struct err *e)
{
	return sqlite3_prepare_v2(k->db, sql, -1, ret, NULL) == SQLITE_OK ? 0 : cache_error(k, e);
}

static int cache_step(const struct catalogue_cache *k, sqlite3_stmt *s, struct err *e)
{
	int code = sqlite3_step(s) == SQLITE_DONE ? 0 : cache_error(k, e);

	sqlite3_reset(s);
	return code;
}

static void cache_bind_text(sqlite3_stmt *s, int i, const char *text)
{
	if (*text)
		sqlite3_bind_text(s, i, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(s, i);
}

static int cache_version(const struct catalogue_cache *k, int *ret, struct err *e)
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

/* The tables with the fields of a part as columns, and what else they have. */
static const struct kept_table {
	const char *name;
	enum field_part part;
	const char *more; /* columns after the fields */
} kept_tables[] = {
	{"vendor", PART_VENDOR, ", status"},
	{"region", PART_REGION, ", status"},
	{"server", PART_SERVER, ""},
	{"server_price", PART_PRICE, ", operating_system, unit, status"},
};

static const char other_tables[] =
	"CREATE TABLE country (country_id PRIMARY KEY, continent, status);"
	"CREATE TABLE vendor_compliance_link (vendor_id, compliance_framework_id, status);"
	"CREATE TABLE currency (base, quote, rate);"
	"CREATE TABLE benchmark (benchmark_id, name, category, unit, higher_is_better, status);"
	"CREATE TABLE benchmark_score (vendor_id, server_id, benchmark_id, score, status);"
	"CREATE TABLE _metadata (key PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE page (url PRIMARY KEY, etag, fetched_at, max_age_seconds, length, body) "
	"WITHOUT ROWID;";

/* All but page, which saving leaves alone. */
static const char *const saved_tables[] = {"vendor", "region", "server", "server_price", "country",
	"vendor_compliance_link", "currency", "benchmark", "benchmark_score", "_metadata"};

/* A server's prices are rows of their own, so they are not columns of it. */
static bool is_kept(const struct field *f, enum field_part part)
{
	return f->part == part &&
	       !(part == PART_SERVER &&
		       (f->offset == offsetof(struct server, min_price_ondemand) ||
			       f->offset == offsetof(struct server, min_price_spot) ||
			       f->offset == offsetof(struct server, region_id) ||
			       f->offset == offsetof(struct server, currency)));
}

static int create_tables(const struct catalogue_cache *k, struct err *e)
{
	struct buf sql AUTO(buf_done) = BUF_MAX(16384);

	for (size_t i = 0; i < ARRAY_LEN(kept_tables); i++) {
		const char *comma = "";

		buf_addf(&sql, "CREATE TABLE %s (", kept_tables[i].name);
		for (const struct field *f = fields; f->name; f++)
			if (is_kept(f, kept_tables[i].part)) {
				buf_addf(&sql, "%s%s", comma, f->name);
				comma = ", ";
			}
		buf_addf(&sql, "%s);", kept_tables[i].more);
	}
	buf_addf(&sql, "%s PRAGMA user_version = %d;", other_tables, CATALOGUE_CACHE_VERSION);
	return cache_run(k, buf_text(&sql), e);
}

/* Of several who find no tables, all but the first find them here: only now nobody else writes. */
static int cache_create_tables(const struct catalogue_cache *k, struct err *e)
{
	int version = 0, code = cache_run(k, "BEGIN IMMEDIATE", e);

	if (code)
		return code;
	code = cache_version(k, &version, e);
	if (code == 0 && version == 0)
		code = create_tables(k, e);
	if (code == 0)
		code = cache_run(k, "COMMIT", e);
	if (code)
		sqlite3_exec(k->db, "ROLLBACK", NULL, NULL, NULL);
	return code;
}

/*
 * Begins an empty file: all that was in a cache can be fetched again. The file that cannot be gone on with is set aside,
 * for it may have been something else.
 */
static int cache_begin_anew(struct catalogue_cache *k, struct err *e)
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

/* ---- saving a catalogue ---- */

static void bind_number(sqlite3_stmt *s, int i, double v)
{
	if (isnan(v))
		sqlite3_bind_null(s, i);
	else
		sqlite3_bind_double(s, i, v);
}

/* INSERT INTO a table of a part: its fields, then the literals in more. */
static int prepare_insert(const struct catalogue_cache *k, const struct kept_table *t,
	const char *more, sqlite3_stmt **ret, struct err *e)
{
	struct buf sql = BUF_MAX(16384);
	const char *comma = "";

	buf_addf(&sql, "INSERT INTO %s VALUES (", t->name);
	for (const struct field *f = fields; f->name; f++)
		if (is_kept(f, t->part)) {
			buf_addf(&sql, "%s?", comma);
			comma = ", ";
		}
	buf_addf(&sql, "%s)", more);
	int code = cache_prepare(k, buf_text(&sql), ret, e);

	buf_done(&sql);
	return code;
}

static int insert_fields(const struct catalogue_cache *k, sqlite3_stmt *s, enum field_part part,
	const void *object, struct err *e)
{
	int i = 0;

	for (const struct field *f = fields; f->name; f++) {
		if (!is_kept(f, part))
			continue;
		if (f->kind == FIELD_NUMBER)
			bind_number(s, ++i, field_number(f, object));
		else
			cache_bind_text(s, ++i, field_text(f, object));
	}
	return cache_step(k, s, e);
}

static int save_vendors(const struct catalogue_cache *k, const struct catalogue *c, struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL, *link = NULL;
	int code = prepare_insert(k, &kept_tables[0], ", 'active'", &s, e);

	if (code == 0)
		code = cache_prepare(k,
			"INSERT INTO vendor_compliance_link VALUES (?, ?, 'active')", &link, e);
	for (size_t i = 0; code == 0 && i < c->n_vendors; i++) {
		const struct vendor *v = &c->vendor[i];

		code = insert_fields(k, s, PART_VENDOR, v, e);
		for (const char *at = v->compliance; code == 0 && *at;) {
			size_t n = strcspn(at, " ");

			cache_bind_text(link, 1, v->vendor_id);
			sqlite3_bind_text(link, 2, at, (int)n, SQLITE_STATIC);
			code = cache_step(k, link, e);
			at += n + strspn(at + n, " ");
		}
	}
	return code;
}

/* sc-data keeps the aliases as a JSON array, and the continent with the country. */
static int save_regions(const struct catalogue_cache *k, const struct catalogue *c, struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL, *country = NULL;
	int code = prepare_insert(k, &kept_tables[1], ", 'active'", &s, e);

	if (code == 0)
		code = cache_prepare(k, "INSERT OR IGNORE INTO country VALUES (?, ?, 'active')",
			&country, e);
	for (size_t i = 1; code == 0 && i < c->n_regions; i++) {
		const struct region *r = &c->region[i];

		code = insert_fields(k, s, PART_REGION, r, e);
		if (code == 0 && *r->country_id) {
			cache_bind_text(country, 1, r->country_id);
			cache_bind_text(country, 2, r->continent);
			code = cache_step(k, country, e);
		}
	}
	if (code == 0)
		code = cache_run(k,
			"UPDATE region SET aliases = '[' || replace(json_quote(aliases), '|', "
			"'\",\"') || ']'"
			" WHERE aliases IS NOT NULL",
			e);
	return code;
}

static int save_servers(const struct catalogue_cache *k, const struct catalogue *c, struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL, *price = NULL;
	int code = prepare_insert(k, &kept_tables[2], "", &s, e);

	if (code == 0)
		code = prepare_insert(k, &kept_tables[3], ", 'linux', 'hour', 'active'", &price, e);
	for (size_t i = 0; code == 0 && i < c->n; i++) {
		const struct server *server = &c->server[i];

		code = insert_fields(k, s, PART_SERVER, server, e);
		for (uint32_t n = 0; code == 0 && n < server->n_prices; n++) {
			const struct price *p = &c->price[server->first_price + n];
			struct price_row row = {server->vendor_id, server->server_id,
				c->region[p->region].region_id, c->zone[p->zone],
				c->currency[p->currency].code, (enum allocation)p->allocation,
				p->price};

			code = insert_fields(k, price, PART_PRICE, &row, e);
		}
	}
	return code;
}

static int save_benchmarks(const struct catalogue_cache *k, const struct catalogue *c,
	struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL, *score = NULL;
	int code =
		cache_prepare(k, "INSERT INTO benchmark VALUES (?, ?, ?, ?, ?, 'active')", &s, e);

	if (code == 0)
		code = cache_prepare(k, "INSERT INTO benchmark_score VALUES (?, ?, ?, ?, 'active')",
			&score, e);
	for (size_t i = 0; code == 0 && i < c->n_benchmarks; i++) {
		const struct benchmark *b = &c->benchmark[i];

		cache_bind_text(s, 1, b->benchmark_id);
		cache_bind_text(s, 2, b->name);
		cache_bind_text(s, 3, b->category);
		cache_bind_text(s, 4, b->unit);
		sqlite3_bind_int(s, 5, b->higher_is_better);
		code = cache_step(k, s, e);
		for (size_t n = 0; code == 0 && n < c->n; n++) {
			if (isnan(b->score[n]))
				continue;
			cache_bind_text(score, 1, c->server[n].vendor_id);
			cache_bind_text(score, 2, c->server[n].server_id);
			cache_bind_text(score, 3, b->benchmark_id);
			bind_number(score, 4, (double)b->score[n]);
			code = cache_step(k, score, e);
		}
	}
	return code;
}

static int save_rates(const struct catalogue_cache *k, const struct catalogue *c, struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL;
	int code = cache_prepare(k, "INSERT INTO currency VALUES (?, 'USD', ?)", &s, e);

	for (size_t i = 1; code == 0 && i < c->n_currencies; i++) {
		if (isnan(c->currency[i].usd))
			continue;
		cache_bind_text(s, 1, c->currency[i].code);
		bind_number(s, 2, c->currency[i].usd);
		code = cache_step(k, s, e);
	}
	return code;
}

static int save_metadata(const struct catalogue_cache *k, const struct catalogue *c,
	const struct cache_origin *o, struct err *e)
{
	AUTO(cache_finalizep) sqlite3_stmt *s = NULL;
	char saved_at[DOUBLE_TEXT_MAX];
	const char *const pairs[][2] = {{"published_at", c->as_of}, {"published_by", c->note},
		{"source", o->source}, {"hash", o->hash}, {"asked", o->asked},
		{"saved_at", saved_at}};
	int code = cache_prepare(k, "INSERT INTO _metadata VALUES (?, ?)", &s, e);

	double_text(saved_at, wall_seconds(o->at));
	for (size_t i = 0; code == 0 && i < ARRAY_LEN(pairs); i++) {
		cache_bind_text(s, 1, pairs[i][0]);
		cache_bind_text(s, 2, pairs[i][1]);
		code = cache_step(k, s, e);
	}
	return code;
}

static int save_all(const struct catalogue_cache *k, const struct catalogue *c,
	const struct cache_origin *o, struct err *e)
{
	static int (*const parts[])(const struct catalogue_cache *, const struct catalogue *,
		struct err *) = {
		save_vendors, save_regions, save_servers, save_benchmarks, save_rates};
	char sql[64];
	int code = cache_run(k, "BEGIN IMMEDIATE", e);

	if (code)
		return code;
	for (size_t i = 0; code == 0 && i < ARRAY_LEN(saved_tables); i++) {
		snprintf(sql, sizeof sql, "DELETE FROM %s", saved_tables[i]);
		code = cache_run(k, sql, e);
	}
	for (size_t i = 0; code == 0 && i < ARRAY_LEN(parts); i++)
		code = parts[i](k, c, e);
	if (code == 0)
		code = save_metadata(k, c, o, e);
	if (code == 0)
		code = cache_run(k, "COMMIT", e);
	if (code)
		sqlite3_exec(k->db, "ROLLBACK", NULL, NULL, NULL);
	return code;
}

int catalogue_cache_save(struct catalogue_cache *k, const struct catalogue *c,
	const struct cache_origin *o, struct err *e)
{
	int code = save_all(k, c, o, e);

	if (code != -EBADMSG)
		return code;
	code = cache_begin_anew(k, e);
	return code ? code : save_all(k, c, o, e);
}
