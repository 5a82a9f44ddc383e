/* Reads the tables of sc-data into a catalogue builder, column by column as recommender/catalogue/fields.h
 * names them. */
#include "exporter/catalogue/scdata.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>
#include <sqlite3.h>

#include "collectors/base/buf.h"
#include "collectors/base/utf8.h"
#include "exporter/history/sqlite_hardening.h"
#include "recommender/catalogue/build.h"

#define COLUMNS_MAX 128
#define PAGE_CACHE                                                                                 \
	"PRAGMA cache_size = -4096" /* KiB: the file may be large, this process must not be */

struct reader {
	sqlite3 *db;
	struct catalogue_builder *b;
	const char *path;
};

/* One row of a query whose columns are fields: sets them, then hands the row over. */
struct table {
	const char *name;
	enum field_part part;
	const char *where; /* NULL = all rows */
	int (*add)(struct reader *r, struct row *row, sqlite3_stmt *s, int n_fields, struct err *e);
	const char *more; /* further columns of the query, after the fields; NULL = none */
};

static int sql_error(const struct reader *r, const char *what, struct err *e)
{
	return err_set(e, -EINVAL, "%s: %s: %s", r->path, what, sqlite3_errmsg(r->db));
}

static int prepare(const struct reader *r, const char *sql, sqlite3_stmt **ret, struct err *e)
{
	if (sqlite3_prepare_v2(r->db, sql, -1, ret, NULL) != SQLITE_OK)
		return sql_error(r, "query", e);
	return 0;
}

static void finalizep(sqlite3_stmt **s)
{
	sqlite3_finalize(*s);
}

/* The text of a column, "" when NULL; valid until the next row. */
static const char *text_of(sqlite3_stmt *s, int i)
{
	const unsigned char *text = sqlite3_column_text(s, i);

	return text ? (const char *)text : "";
}

/* Sets a text of a part; what is no decent text stays unknown. The text must outlive object. */
static void set_text(enum field_part part, const char *name, void *object, const char *text)
{
	field_set_text(field_of(part, name), object, text, NULL);
}

static bool has_table(const struct reader *r, const char *table)
{
	AUTO(finalizep) sqlite3_stmt *s = NULL;

	if (prepare(r, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", &s, NULL))
		return false;
	sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	return sqlite3_step(s) == SQLITE_ROW;
}

static bool has_column(const struct reader *r, const char *table, const char *column)
{
	AUTO(finalizep) sqlite3_stmt *s = NULL;

	if (prepare(r, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", &s, NULL))
		return false;
	sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, column, -1, SQLITE_STATIC);
	return sqlite3_step(s) == SQLITE_ROW;
}

/* The fields of a part that are columns of a table. */
static int columns_of(const struct reader *r, const struct table *t,
	const struct field *ret[COLUMNS_MAX])
{
	AUTO(finalizep) sqlite3_stmt *s = NULL;
	int n = 0;

	if (prepare(r, "SELECT name FROM pragma_table_info(?)", &s, NULL))
		return 0;
	sqlite3_bind_text(s, 1, t->name, -1, SQLITE_STATIC);
	while (sqlite3_step(s) == SQLITE_ROW && n < COLUMNS_MAX) {
		const struct field *f = field_of(t->part, text_of(s, 0));

		if (f)
			ret[n++] = f;
	}
	return n;
}

/* A value that does not fit its field stays unknown: the file may be of a later version. */
static void set_field(const struct field *f, void *object, sqlite3_stmt *s, int i)
{
	switch (sqlite3_column_type(s, i)) {
	case SQLITE_INTEGER:
	case SQLITE_FLOAT:
		field_set_number(f, object, sqlite3_column_double(s, i), NULL);
		break;
	case SQLITE_TEXT:
		field_set_text(f, object, text_of(s, i), NULL);
		break;
	default:
		break;
	}
}

static int read_table(struct reader *r, const struct table *t, struct err *e)
{
	const struct field *field[COLUMNS_MAX];
	int n = columns_of(r, t, field), step, code = 0;
	struct buf sql = BUF_MAX(16384);
	sqlite3_stmt *s = NULL;

	buf_adds(&sql, "SELECT ");
	for (int i = 0; i < n; i++)
		buf_addf(&sql, "%s%s.%s", i ? ", " : "", t->name, field[i]->name);
	buf_addf(&sql, "%s%s FROM %s %s", t->more && n ? ", " : "", t->more ? t->more : "", t->name,
		t->where ? t->where : "");
	code = prepare(r, buf_text(&sql), &s, e);
	buf_done(&sql);
	if (code)
		return code;
	while ((step = sqlite3_step(s)) == SQLITE_ROW && code == 0) {
		struct row row;

		row_clear(&row);
		for (int i = 0; i < n; i++)
			set_field(field[i], row_part(&row, t->part), s, i);
		code = t->add(r, &row, s, n, e);
	}
	if (code == 0 && step != SQLITE_DONE)
		code = sql_error(r, t->name, e);
	sqlite3_finalize(s);
	return code;
}

/* What one bad row says is not said; too many of anything ends the reading. */
static int tolerate(int code)
{
	return code == -E2BIG ? code : 0;
}

static int add_vendor(struct reader *r, struct row *row, sqlite3_stmt *s, int n, struct err *e)
{
	set_text(PART_VENDOR, "compliance", &row->vendor, text_of(s, n));
	return tolerate(catalogue_add_vendor(r->b, &row->vendor, e));
}

/* ["a", "b"] as "a|b". */
static void join_aliases(const char *json, struct buf *out)
{
	json_t *list = json_loads(json, 0, NULL);
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v)
	{
		if (json_is_string(v))
			buf_addf(out, "%s%s", out->len ? "|" : "", json_string_value(v));
	}
	json_decref(list);
}

static int add_region(struct reader *r, struct row *row, sqlite3_stmt *s, int n, struct err *e)
{
	struct buf aliases = BUF_MAX(FIELD_TEXT_MAX - 1);

	join_aliases(row->region.aliases, &aliases);
	row->region.aliases = "";
	set_text(PART_REGION, "aliases", &row->region, buf_text(&aliases));
	set_text(PART_REGION, "continent", &row->region, text_of(s, n));
	int code = tolerate(catalogue_add_region(r->b, &row->region, e));

	buf_done(&aliases);
	return code;
}

static int add_server(struct reader *r, struct row *row, sqlite3_stmt *s, int n, struct err *e)
{
	(void)s;
	(void)n;
	return tolerate(catalogue_add_server(r->b, &row->server, e));
}

static int add_price(struct reader *r, struct row *row, sqlite3_stmt *s, int n, struct err *e)
{
	(void)s;
	(void)n;
	return tolerate(catalogue_add_price(r->b, &row->price, e));
}

#define ACTIVE(table) "lower(" table ".status) = 'active'"

static const struct table vendors = {"vendor", PART_VENDOR, NULL, add_vendor,
	"(SELECT group_concat(compliance_framework_id, ' ') FROM vendor_compliance_link AS l"
	" WHERE l.vendor_id = vendor.vendor_id AND " ACTIVE("l") ")"};
static const struct table regions = {"region", PART_REGION, NULL, add_region,
	"(SELECT continent FROM country WHERE country.country_id = region.country_id)"};
static const struct table servers = {"server", PART_SERVER, NULL, add_server, NULL};
static const struct table prices = {"server_price", PART_PRICE,
	"WHERE " ACTIVE("server_price") " AND lower(unit) = 'hour'"
					" AND lower(coalesce(operating_system, '')) NOT LIKE "
					"'%windows%'",
	add_price, NULL};

/* What is paid beside a server: one query each, of vendor_id, region_id, currency and the lowest
 * price. */
static const struct extra {
	const char *table, *field;
	const char *sql;
} extras[] = {
	{"storage_price", "storage_price_gb_month",
		"SELECT vendor_id, region_id, currency, min(price) FROM storage_price "
		"WHERE " ACTIVE("storage_price") " AND upper(replace(unit, '/', '_')) = 'GB_MONTH' "
						 "GROUP BY 1, 2, 3"},
	{"traffic_price", "outbound_price_gb",
		"SELECT vendor_id, region_id, currency, min(price) FROM traffic_price "
		"WHERE " ACTIVE("traffic_price") " AND lower(direction) IN ('out', 'outbound') AND"
						 " upper(replace(unit, '/', '_')) IN ('GB', "
						 "'GB_MONTH') GROUP BY 1, 2, 3"},
	{"ipv4_price", "ipv4_price_hour",
		"SELECT vendor_id, region_id, currency, min(CASE lower(unit) WHEN 'hour' THEN price"
		" WHEN 'month' THEN price / 730 END) FROM ipv4_price WHERE " ACTIVE(
			"ipv4_price") " GROUP BY 1, 2, 3"},
};

static int read_extra(struct reader *r, const struct extra *x, struct err *e)
{
	AUTO(finalizep) sqlite3_stmt *s = NULL;
	const struct field *f = field_of(PART_REGION, x->field);
	int step, code = has_table(r, x->table) ? prepare(r, x->sql, &s, e) : -ENOENT;

	if (code)
		return code == -ENOENT ? 0 : code;
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		struct row row;

		row_clear(&row);
		set_text(PART_REGION, "vendor_id", &row.region, text_of(s, 0));
		set_text(PART_REGION, "region_id", &row.region, text_of(s, 1));
		set_text(PART_REGION, "extras_currency", &row.region, text_of(s, 2));
		set_field(f, &row.region, s, 3);
		code = tolerate(catalogue_add_region(r->b, &row.region, e));
		if (code)
			return code;
	}
	return step == SQLITE_DONE ? 0 : sql_error(r, x->table, e);
}

/* Calls add for each row of a query; a file without such a table has none. */
static int each_row(struct reader *r, const char *table, const char *sql,
	int (*add)(struct reader *r, sqlite3_stmt *s, struct err *e), struct err *e)
{
	AUTO(finalizep) sqlite3_stmt *s = NULL;
	int step, code;

	if (!has_table(r, table))
		return 0;
	code = prepare(r, sql, &s, e);
	while (code == 0 && (step = sqlite3_step(s)) != SQLITE_DONE)
		code = step == SQLITE_ROW ? add(r, s, e) : sql_error(r, table, e);
	return code;
}

static int add_benchmark(struct reader *r, sqlite3_stmt *s, struct err *e)
{
	char text[4][FIELD_TEXT_MAX];

	for (int i = 0; i < 4; i++)
		utf8_clean(text_of(s, i), strlen(text_of(s, i)), text[i], sizeof text[i]);
	struct benchmark b = {
		text[0], text[1], text[2], text[3], sqlite3_column_int(s, 4) != 0, NULL};

	return *text[0] ? tolerate(catalogue_add_benchmark(r->b, &b, e)) : 0;
}

/* The best of all configurations is among the highest and the lowest. */
static int add_scores(struct reader *r, sqlite3_stmt *s, struct err *e)
{
	(void)e;
	for (int i = 3; i <= 4; i++)
		catalogue_add_score(r->b, text_of(s, 0), text_of(s, 1), text_of(s, 2),
			sqlite3_column_double(s, i));
	return 0;
}

static int add_rate(struct reader *r, sqlite3_stmt *s, struct err *e)
{
	return tolerate(catalogue_set_rate(r->b, text_of(s, 0), sqlite3_column_double(s, 1), e));
}

/* The first ten characters of a date and time. */
static void set_day(struct reader *r, const char *at)
{
	char day[16];
	size_t n = strlen(at);

	utf8_clean(at, n < 10 ? n : 10, day, sizeof day);
	if (*day)
		catalogue_set_as_of(r->b, day);
}

static int add_metadata(struct reader *r, sqlite3_stmt *s, struct err *e)
{
	char value[FIELD_TEXT_MAX];

	(void)e;
	if (strcmp(text_of(s, 0), "published_at") == 0) {
		set_day(r, text_of(s, 1));
	} else if (strcmp(text_of(s, 0), "published_by") == 0) {
		utf8_clean(text_of(s, 1), strlen(text_of(s, 1)), value, sizeof value);
		catalogue_set_note(r->b, value);
	}
	return 0;
}

static int add_observed(struct reader *r, sqlite3_stmt *s, struct err *e)
{
	(void)e;
	set_day(r, text_of(s, 0));
	return 0;
}

static int read_all(struct reader *r, struct err *e)
{
	static const struct table *const required[] = {&servers, &prices};
	int code = 0;

	/* Reads the header of the file: the first that fails when it is no database. */
	if (sqlite3_exec(r->db, "PRAGMA schema_version", NULL, NULL, NULL) != SQLITE_OK)
		return err_set(e, -EINVAL, "%s: %s", r->path, sqlite3_errmsg(r->db));
	for (size_t i = 0; i < ARRAY_LEN(required); i++)
		if (!has_table(r, required[i]->name))
			return err_set(e, -EINVAL,
				"%s: no table %s: not a database of sc-data nor a cache of servers",
				r->path, required[i]->name);
	if (has_table(r, "vendor") && has_table(r, "vendor_compliance_link"))
		code = read_table(r, &vendors, e);
	if (code == 0 && has_table(r, "region") && has_table(r, "country"))
		code = read_table(r, &regions, e);
	for (size_t i = 0; code == 0 && i < ARRAY_LEN(extras); i++)
		code = read_extra(r, &extras[i], e);
	if (code == 0)
		code = each_row(r, "currency",
			"SELECT base, rate FROM currency WHERE quote = 'USD'", add_rate, e);
	if (code == 0)
		code = read_table(r, &servers, e);
	if (code == 0)
		code = read_table(r, &prices, e);
	if (code == 0)
		code = each_row(r, "benchmark",
			"SELECT benchmark_id, name, category, unit, higher_is_better FROM "
			"benchmark",
			add_benchmark, e);
	if (code == 0)
		code = each_row(r, "benchmark_score",
			"SELECT vendor_id, server_id, benchmark_id, max(score), min(score) FROM "
			"benchmark_score"
			" WHERE " ACTIVE("benchmark_score") " GROUP BY vendor_id, server_id, "
							    "benchmark_id",
			add_scores, e);
	if (code == 0 && has_column(r, "server", "observed_at"))
		code = each_row(r, "server", "SELECT max(observed_at) FROM server", add_observed,
			e);
	if (code == 0)
		code = each_row(r, "_metadata", "SELECT key, value FROM _metadata", add_metadata,
			e);
	return code;
}

int catalogue_from_scdata_as(struct catalogue **ret, const char *path, const char *source,
	struct err *e)
{
	struct reader r = {.path = path};
	int opened = sqlite3_open_v2(path, &r.db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL),
	    code;

	if (opened != SQLITE_OK) {
		code = sqlite3_system_errno(r.db) == ENOENT ? -ENOENT : -EINVAL;
		err_set(e, code, "%s: %s", path, sqlite3_errmsg(r.db));
		sqlite3_close(r.db);
		return code;
	}
	untrusted(r.db);
	sqlite3_db_config(r.db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_busy_timeout(r.db, 5000);
	sqlite3_exec(r.db, PAGE_CACHE, NULL, NULL, NULL);
	r.b = catalogue_builder_new();
	code = read_all(&r, e);
	if (code == 0)
		catalogue_finish(r.b, source, ret);
	catalogue_builder_free(r.b);
	sqlite3_close(r.db);
	return code;
}

int catalogue_from_scdata(struct catalogue **ret, const char *path, struct err *e)
{
	return catalogue_from_scdata_as(ret, path, path, e);
}
