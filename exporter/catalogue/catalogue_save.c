/* Writes a catalogue as tables with the names of sc-data. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "exporter/catalogue/catalogue_cache_private.h"
#include "recommender/catalogue/fields.h"

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
int cache_create_tables(const struct catalogue_cache *k, struct err *e)
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
