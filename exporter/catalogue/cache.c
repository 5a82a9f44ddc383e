/* The SQLite file of the cache. It contains the saved catalogue, and the Keeper's answers from
 * which the catalogue was built. */
#include "exporter/catalogue/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "collectors/base/utf8.h"
#include "exporter/history/quarantine.h"
#include "exporter/catalogue/scdata.h"
#include "exporter/history/sql.h"
#include "recommender/catalogue/fields.h"
#include "recommender/catalogue/reference_rates.h"

#define BUSY_MS      5000
#define PATH_BUF_MAX 8192

/* Version of the tables, stored as PRAGMA user_version. A file with another version is renamed, and
 * a new file is begun. This is needed for version 1, whose files may have a spot price as the
 * on-demand price of a server. */
#define CATALOGUE_CACHE_VERSION 2

struct catalogue_cache {
	struct sql_file file;
	char *path;
	struct buf aside; /* new name of a corrupt file that was renamed; empty = none */
};

/* Sets the next parameter of the statement to a text. The empty text becomes SQL NULL. */
static void put_text(struct sql *q, const char *text)
{
	sql_put_text(q, *text ? text : NULL);
}

static int cache_version(const struct sql_file *f, int64_t *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_prepare(f, "PRAGMA user_version", e);
	int code = sql_row(&q, e);

	if (code > 0)
		*ret = sql_int(&q);
	return code < 0 ? code : 0;
}

/* Returns true when another version of this program wrote the file. */
static bool is_other_version(const struct sql_file *f)
{
	int64_t version = CATALOGUE_CACHE_VERSION;

	return cache_version(f, &version, NULL) == 0 && version != CATALOGUE_CACHE_VERSION;
}

/* Creates the directories above `path`. Errors are ignored, because opening the file reports
 * them. */
static void make_directories(const char *path)
{
	AUTO(freep) char *part = xstrdup(path);

	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(part, 0755);
		*slash = '/';
	}
}

static int open_file(struct catalogue_cache *k, struct err *e)
{
	int code = sql_check_place(&k->file, e);

	return code ? code :
		      sql_open(&k->file, k->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
			      BUSY_MS, e);
}

/* The tables of the cache whose columns are fields of the catalogue: each field for which is_kept
 * returns true. Each table is for one kind of row (enum field_part). */
static const struct kept_table {
	const char *name;
	enum field_part part;
	const char *more; /* names of additional columns, after those of the fields */
} kept_tables[] = {
	{"vendor", PART_VENDOR, ", known, status"},
	{"region", PART_REGION, ", known, status"},
	{"server", PART_SERVER, ""},
	{"server_price", PART_PRICE, ", operating_system, unit, status"},
};

static const char other_tables[] =
	"CREATE TABLE country (country_id PRIMARY KEY, continent, status);"
	"CREATE TABLE vendor_compliance_link (vendor_id, compliance_framework_id, status);"
	"CREATE TABLE currency (base, quote, rate);"
	"CREATE TABLE benchmark (benchmark_id, name, category, unit, higher_is_better, status);"
	"CREATE TABLE benchmark_score (vendor_id, server_id, benchmark_id, config, score, status);"
	"CREATE TABLE _metadata (key PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE page (url PRIMARY KEY, etag, fetched_at, max_age_seconds, length, body) "
	"WITHOUT ROWID;";

/* The tables that saving a catalogue replaces: all except `page`. */
static const char *const saved_tables[] = {"vendor", "region", "server", "server_price", "country",
	"vendor_compliance_link", "currency", "benchmark", "benchmark_score", "_metadata"};

/* Returns true when the field `f` has a column in the cache's table for `part`. The table of
 * servers has no price columns, because each price is a row of the table server_price. */
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
	return sql_exec(&k->file, buf_text(&sql), "write", e);
}

/* Creates the tables if no other process has just created them. Checks this (version 0 = no tables)
 * inside a transaction, during which no other process can write. */
static int catalogue_cache_create_tables(const struct catalogue_cache *k, struct err *e)
{
	int64_t version = 0;
	int code = sql_exec(&k->file, "BEGIN IMMEDIATE", "write", e);

	if (code)
		return code;
	code = cache_version(&k->file, &version, e);
	if (code == 0 && version == 0)
		code = create_tables(k, e);
	if (code == 0)
		code = sql_exec(&k->file, "COMMIT", "write", e);
	if (code)
		sql_rollback(&k->file);
	return code;
}

/* Renames an unusable file and begins an empty one: the data of a cache can be fetched or imported
 * again. Does not delete the file, because it may belong to another program. */
static int cache_begin_anew(struct catalogue_cache *k, struct err *e)
{
	/* Another process may have found the same damage and renamed the file. The path then leads
	 * to a new file or to no file, so do not rename it. */
	bool moved = sql_moved(&k->file);

	sql_close(&k->file);
	buf_done(&k->aside);
	k->aside = (struct buf)BUF_MAX(PATH_BUF_MAX);
	int code = moved ? 0 : quarantine_file(&k->aside, k->path, e);

	if (code == 0)
		code = open_file(k, e);
	return code ? code : catalogue_cache_create_tables(k, e);
}

/* Returns true when the file is a database of another program: it has tables, but lacks `page` or
 * `_metadata`, which every cache has. */
static bool is_of_others(const struct catalogue_cache *k)
{
	AUTO(sql_done)
	struct sql q = sql_prepare(&k->file,
		"SELECT count(*), total(name IN ('page', '_metadata')) FROM sqlite_schema", NULL);

	return sql_row(&q, NULL) > 0 && sql_int(&q) > 0 && sql_int(&q) < 2;
}

/* Refuses a file of another program: a wrong path in the options must not destroy that file.
 * `readable` true = SQLite could read the file. */
static int check_owner(const struct catalogue_cache *k, bool readable, struct err *e)
{
	if (readable ? !is_of_others(k) : !sql_is_no_database(k->path))
		return 0;
	return err_set(e, -EEXIST, "%s: it is not a cache of the catalogue, so it stays as it is",
		k->path);
}

static int open_or_begin(struct catalogue_cache *k, struct err *e)
{
	struct err why = {0};
	int64_t version = 0;
	int code = open_file(k, e);

	if (code)
		return code;
	int damage = cache_version(&k->file, &version, &why);

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
	return version ? 0 : catalogue_cache_create_tables(k, e);
}

int catalogue_cache_open(struct catalogue_cache **ret, const char *path, struct err *e)
{
	struct catalogue_cache *k = xcalloc(1, sizeof *k);

	k->path = xstrdup(path);
	k->file = (struct sql_file){.path = k->path, .kind = "", .writes = true};
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
	sql_close(&k->file);
	buf_done(&k->aside);
	free(k->path);
	free(k);
}

bool catalogue_cache_aside(struct catalogue_cache *k, struct err *ret)
{
	if (k->aside.len)
		err_set(ret, -EUCLEAN,
			"the cache cannot be used: it is now %s, and a new cache begins",
			buf_text(&k->aside));
	return k->aside.len > 0;
}

int catalogue_cache_confirm(struct catalogue_cache *k, struct wall at, struct err *e)
{
	AUTO(sql_done)
	struct sql q =
		sql_prepare(&k->file, "UPDATE _metadata SET value = ? WHERE key = 'saved_at'", e);

	sql_put_double(&q, wall_seconds(at));
	return sql_run(&q, e);
}

/* Reads the origin of the saved catalogue. -ENOENT: no catalogue was saved. */
static int read_origin(const struct sql_file *f, struct cache_origin *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_prepare(f, "SELECT key, value, value FROM _metadata", e);
	bool found = false;
	int code;

	*ret = (struct cache_origin){0};
	while ((code = sql_row(&q, e)) > 0) {
		const char *key = sql_text(&q), *value = sql_text(&q);

		if (!key || !value)
			continue;
		if (strcmp(key, "source") == 0)
			utf8_clean(value, strlen(value), ret->source, sizeof ret->source);
		if (strcmp(key, "hash") == 0)
			utf8_clean(value, strlen(value), ret->hash, sizeof ret->hash);
		if (strcmp(key, "asked") == 0)
			utf8_clean(value, strlen(value), ret->source_text, sizeof ret->source_text);
		double at = sql_double(&q);

		/* Without a valid time, treat the catalogue as missing. */
		if (strcmp(key, "saved_at") == 0 && at >= 0 &&
			at < (double)(INT64_MAX / NS_PER_S)) {
			ret->at = wall_from_seconds(at);
			found = true;
		}
	}
	/* -EPROTO means that the table does not exist. */
	return code == -EPROTO || (code == 0 && !found) ? -ENOENT : code;
}

int catalogue_cache_origin(struct cache_origin *ret, const char *path, struct err *e)
{
	struct sql_file file = {.path = path, .kind = ""};
	struct cache_origin o;
	int code = sql_check_place(&file, e);

	/* Any other error, such as a missing directory, means that no catalogue was saved there. */
	if (code == -EINVAL || code == -EISDIR)
		return code;
	code = sql_open(&file, path, SQLITE_OPEN_READONLY, BUSY_MS, NULL) ? -ENOENT :
	       is_other_version(&file)                                    ? -ENOENT :
									    read_origin(&file, &o, e);
	sql_close(&file);
	if (code == -ENOENT)
		return err_set(e, code, "%s: no catalogue was saved there", path);
	if (code == 0)
		*ret = o;
	return code;
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
	AUTO(sql_done)
	struct sql q = sql_prepare(&k->file,
		body ? "SELECT etag, fetched_at, max_age_seconds, length, body FROM page WHERE url "
		       "= ?" :
		       "SELECT etag, fetched_at, max_age_seconds FROM page WHERE url = ?",
		e);

	sql_put_text(&q, url);
	int code = sql_row(&q, e);

	if (code <= 0)
		return q.code ? q.code : -ENOENT;
	const char *etag = sql_text(&q);
	struct cached_page page = {0};

	snprintf(page.etag, sizeof page.etag, "%s", etag ? etag : "");
	page.fetched_at.ns = sql_int(&q);
	page.max_age_seconds = sql_double(&q);
	/* A negative time comes from a damaged file. The age of such a page is unknown, so treat
	 * the page as missing. */
	if (page.fetched_at.ns < 0)
		return -ENOENT;
	if (body) {
		int64_t length = sql_int(&q);
		size_t n;
		const void *packed = sql_blob(&q, &n);

		if (length < 0 || length > CATALOGUE_PAGE_MAX || !packed ||
			unpack(packed, n, (size_t)length, body))
			return -ENOENT;
	}
	*ret = page;
	return 0;
}

static int update_page(struct catalogue_cache *k, const char *url, const struct cached_page *page,
	struct err *e)
{
	AUTO(sql_done)
	struct sql q = sql_prepare(&k->file,
		"UPDATE page SET fetched_at = ?, max_age_seconds = ? WHERE url = ?", e);

	sql_put_int(&q, page->fetched_at.ns);
	sql_put_double(&q, page->max_age_seconds);
	sql_put_text(&q, url);
	return sql_run(&q, e);
}

int catalogue_cache_keep_page(struct catalogue_cache *k, const char *url,
	const struct cached_page *page, const struct buf *body, struct err *e)
{
	if (!body)
		return update_page(k, url, page, e);
	uLongf packed = compressBound(body->len);
	AUTO(freep) void *out = xmalloc(packed);

	if (compress2(out, &packed, (const Bytef *)buf_text(body), body->len, Z_BEST_SPEED) != Z_OK)
		return err_set(e, -EIO, "%s: cannot be packed", url);
	AUTO(sql_done)
	struct sql q =
		sql_prepare(&k->file, "INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?)", e);

	sql_put_text(&q, url);
	put_text(&q, page->etag);
	sql_put_int(&q, page->fetched_at.ns);
	sql_put_double(&q, page->max_age_seconds);
	sql_put_int(&q, (int64_t)body->len);
	sql_put_blob(&q, out, packed);
	return sql_run(&q, e);
}

int catalogue_cache_forget_pages(struct catalogue_cache *k, struct wall before, struct err *e)
{
	AUTO(sql_done)
	struct sql q = sql_prepare(&k->file, "DELETE FROM page WHERE fetched_at < ?", e);

	sql_put_int(&q, before.ns);
	return sql_run(&q, e);
}

/* ---- saving a catalogue ---- */

/* Prepares an INSERT statement for the table `t`. It has a parameter for each field. `more` is SQL
 * for the values of the additional columns (t->more), such as ", ?, 'active'". */
static struct sql prepare_insert(const struct catalogue_cache *k, const struct kept_table *t,
	const char *more, struct err *e)
{
	struct buf sql AUTO(buf_done) = BUF_MAX(16384);
	const char *comma = "";

	buf_addf(&sql, "INSERT INTO %s VALUES (", t->name);
	for (const struct field *f = fields; f->name; f++)
		if (is_kept(f, t->part)) {
			buf_addf(&sql, "%s?", comma);
			comma = ", ";
		}
	buf_addf(&sql, "%s)", more);
	return sql_prepare(&k->file, buf_text(&sql), e);
}

static void put_fields(struct sql *q, enum field_part part, const void *object)
{
	for (const struct field *f = fields; f->name; f++) {
		if (!is_kept(f, part))
			continue;
		if (f->kind == FIELD_NUMBER)
			sql_put_double(q, field_number(f, object));
		else
			put_text(q, field_text(f, object));
	}
}

static int save_vendors(const struct catalogue_cache *k, const struct catalogue *c, struct err *e)
{
	AUTO(sql_done) struct sql q = prepare_insert(k, &kept_tables[0], ", ?, 'active'", e);
	AUTO(sql_done)
	struct sql link = sql_prepare(&k->file,
		"INSERT INTO vendor_compliance_link VALUES (?, ?, 'active')", e);
	int code = 0;

	for (size_t i = 0; code == 0 && i < c->n_vendors; i++) {
		const struct vendor *v = &c->vendor[i];

		put_fields(&q, PART_VENDOR, v);
		sql_put_int(&q, v->compliance_known);
		code = sql_run(&q, e);
		for (const char *at = v->compliance; code == 0 && *at;) {
			size_t n = strcspn(at, " ");

			put_text(&link, v->vendor_id);
			sql_put_slice(&link, (struct slice){at, n});
			code = sql_run(&link, e);
			at += n + strspn(at + n, " ");
		}
	}
	return code;
}

/* Saves regions in the format of sc-data. Aliases are a JSON array. The continent is saved with the
 * country. */
static int save_regions(const struct catalogue_cache *k, const struct catalogue *c, struct err *e)
{
	AUTO(sql_done) struct sql q = prepare_insert(k, &kept_tables[1], ", ?, 'active'", e);
	AUTO(sql_done)
	struct sql country =
		sql_prepare(&k->file, "INSERT OR IGNORE INTO country VALUES (?, ?, 'active')", e);
	int code = 0;

	for (size_t i = 1; code == 0 && i < c->n_regions; i++) {
		const struct region *r = &c->region[i];

		put_fields(&q, PART_REGION, r);
		sql_put_int(&q, r->prices_known);
		code = sql_run(&q, e);
		if (code == 0 && *r->country_id) {
			put_text(&country, r->country_id);
			put_text(&country, r->continent);
			code = sql_run(&country, e);
		}
	}
	if (code)
		return code;
	return sql_exec(&k->file,
		"UPDATE region SET aliases = '[' || replace(json_quote(aliases), '|', '\",\"') || "
		"']' WHERE aliases IS NOT NULL",
		"write", e);
}

static int save_servers(const struct catalogue_cache *k, const struct catalogue *c, struct err *e)
{
	AUTO(sql_done) struct sql q = prepare_insert(k, &kept_tables[2], "", e);
	AUTO(sql_done)
	struct sql price = prepare_insert(k, &kept_tables[3], ", 'linux', 'hour', 'active'", e);
	int code = 0;

	for (size_t i = 0; code == 0 && i < c->n; i++) {
		const struct server *server = &c->server[i];

		put_fields(&q, PART_SERVER, server);
		code = sql_run(&q, e);
		for (uint32_t n = 0; code == 0 && n < server->n_prices; n++) {
			const struct price *p = &c->price[server->first_price + n];
			struct price_row row = {server->vendor_id, server->server_id,
				c->region[p->region].region_id, c->zone[p->zone],
				c->currency[p->currency].code, (enum allocation)p->allocation,
				p->price, p->estimated};

			put_fields(&price, PART_PRICE, &row);
			code = sql_run(&price, e);
		}
	}
	return code;
}

/* Saves the scores of a benchmark in one configuration. score[i] is the score of server i. `config`
 * is the configuration as JSON, or "". */
static int save_scores(struct sql *q, const struct catalogue *c, const struct benchmark *b,
	const float *score, const char *config, struct err *e)
{
	int code = 0;

	for (size_t i = 0; code == 0 && score && i < c->n; i++) {
		if (isnan(score[i]))
			continue;
		put_text(q, c->server[i].vendor_id);
		put_text(q, c->server[i].server_id);
		put_text(q, b->benchmark_id);
		put_text(q, config);
		sql_put_double(q, (double)score[i]);
		code = sql_run(q, e);
	}
	return code;
}

static int save_benchmarks(const struct catalogue_cache *k, const struct catalogue *c,
	struct err *e)
{
	AUTO(sql_done)
	struct sql q =
		sql_prepare(&k->file, "INSERT INTO benchmark VALUES (?, ?, ?, ?, ?, 'active')", e);
	AUTO(sql_done)
	struct sql score = sql_prepare(&k->file,
		"INSERT INTO benchmark_score VALUES (?, ?, ?, ?, ?, 'active')", e);
	int code = 0;

	for (size_t i = 0; code == 0 && i < c->n_benchmarks; i++) {
		const struct benchmark *b = &c->benchmark[i];

		put_text(&q, b->benchmark_id);
		put_text(&q, b->name);
		put_text(&q, b->category);
		put_text(&q, b->unit);
		sql_put_int(&q, b->higher_is_better);
		code = sql_run(&q, e);
		if (code == 0)
			code = save_scores(&score, c, b, b->score, "", e);
		if (code == 0)
			code = save_scores(&score, c, b, b->single_score, "{\"cores\":1}", e);
	}
	return code;
}

static int save_rates(const struct catalogue_cache *k, const struct catalogue *c, struct err *e)
{
	AUTO(sql_done)
	struct sql q = sql_prepare(&k->file, "INSERT INTO currency VALUES (?, 'USD', ?)", e);
	int code = 0;

	for (size_t i = 1; code == 0 && i < c->n_currencies; i++) {
		if (isnan(c->currency[i].usd) || currency_is_reference(&c->currency[i]))
			continue;
		put_text(&q, c->currency[i].code);
		sql_put_double(&q, c->currency[i].usd);
		code = sql_run(&q, e);
	}
	return code;
}

static int save_metadata(const struct catalogue_cache *k, const struct catalogue *c,
	const struct cache_origin *o, struct err *e)
{
	AUTO(sql_done)
	struct sql q = sql_prepare(&k->file, "INSERT INTO _metadata VALUES (?, ?)", e);
	char saved_at[DOUBLE_TEXT_MAX];
	const char *const pairs[][2] = {{"published_at", c->as_of}, {"published_by", c->note},
		{"source", o->source}, {"hash", o->hash}, {"asked", o->source_text},
		{"saved_at", saved_at}};
	int code = 0;

	double_text(saved_at, wall_seconds(o->at));
	for (size_t i = 0; code == 0 && i < ARRAY_LEN(pairs); i++) {
		put_text(&q, pairs[i][0]);
		put_text(&q, pairs[i][1]);
		code = sql_run(&q, e);
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
	int code = sql_exec(&k->file, "BEGIN IMMEDIATE", "write", e);

	if (code)
		return code;
	for (size_t i = 0; code == 0 && i < ARRAY_LEN(saved_tables); i++) {
		snprintf(sql, sizeof sql, "DELETE FROM %s", saved_tables[i]);
		code = sql_exec(&k->file, sql, "write", e);
	}
	for (size_t i = 0; code == 0 && i < ARRAY_LEN(parts); i++)
		code = parts[i](k, c, e);
	if (code == 0)
		code = save_metadata(k, c, o, e);
	if (code == 0)
		code = sql_exec(&k->file, "COMMIT", "write", e);
	if (code)
		sql_rollback(&k->file);
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
