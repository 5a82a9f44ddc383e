/* Reads the tables of sc-data into a catalogue builder. Column names are field names
 * (recommender/catalogue/fields.h). */
#include "exporter/catalogue/scdata.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "collectors/base/buf.h"
#include "collectors/base/utf8.h"
#include "exporter/history/sql.h"
#include "recommender/catalogue/benchmark_config.h"
#include "recommender/catalogue/build.h"

#define COLUMNS_MAX 128
#define BUSY_MS     5000
#define PAGE_CACHE  "PRAGMA cache_size = -4096" /* 4096 KiB; limits the memory for a large file */

struct scdata_reader {
	struct sql_file file;
	struct catalogue_builder *b;
};

/* How to read a table of sc-data. Its columns are fields of the catalogue (enum field_part). For
 * each row, the reader sets the fields from the columns, then calls `add`. */
struct scdata_table {
	const char *name;
	enum field_part part;
	const char *where; /* NULL = all rows */
	int (*add)(struct scdata_reader *r, struct field_row *row, struct sql *q, struct err *e);
	const char *more; /* names of columns that `add` itself reads from `q`; NULL = none */
};

/* Returns the text of the next column; NULL becomes "". The text is valid until the next row is
 * read. */
static const char *text_of(struct sql *q)
{
	const char *text = sql_text(q);

	return text ? text : "";
}

/* Sets a text field of `object`, a struct of the kind `part` (enum field_part). After an invalid
 * text, the field stays unknown. `text` must outlive `object`. */
static void set_text(enum field_part part, const char *name, void *object, const char *text)
{
	field_set_text(field_of(part, name), object, text, NULL);
}

static bool has_table(const struct scdata_reader *r, const char *table)
{
	AUTO(sql_done)
	struct sql q = sql_prepare(&r->file,
		"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", NULL);

	sql_put_text(&q, table);
	return sql_row(&q, NULL) > 0;
}

static bool has_column(const struct scdata_reader *r, const char *table, const char *column)
{
	AUTO(sql_done)
	struct sql q =
		sql_prepare(&r->file, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", NULL);

	sql_put_text(&q, table);
	sql_put_text(&q, column);
	return sql_row(&q, NULL) > 0;
}

/* Lists in `ret` the fields that can be read: fields of t->part with a column of the same name in
 * this file. Returns their number. */
static int columns_of(const struct scdata_reader *r, const struct scdata_table *t,
	const struct field *ret[COLUMNS_MAX])
{
	AUTO(sql_done)
	struct sql q = sql_prepare(&r->file, "SELECT name FROM pragma_table_info(?)", NULL);
	int n = 0;

	sql_put_text(&q, t->name);
	while (n < COLUMNS_MAX && sql_row(&q, NULL) > 0) {
		const struct field *f = field_of(t->part, text_of(&q));

		if (f)
			ret[n++] = f;
	}
	return n;
}

/* Sets a field from the next column. If the value is invalid, returns false, and the field stays
 * unknown. This is no error: a later version of sc-data may allow more values. */
static bool set_field(const struct field *f, void *object, struct sql *q)
{
	switch (sql_type(q)) {
	case SQLITE_INTEGER:
	case SQLITE_FLOAT:
		return field_set_number(f, object, sql_double(q), NULL) == 0;
	case SQLITE_TEXT:
		return field_set_text(f, object, text_of(q), NULL) == 0;
	case SQLITE_NULL:
		sql_skip(q);
		return true;
	default:
		sql_skip(q);
		return false;
	}
}

static int read_table(struct scdata_reader *r, const struct scdata_table *t, struct err *e)
{
	const struct field *field[COLUMNS_MAX];
	struct buf text AUTO(buf_done) = BUF_MAX(16384);
	int n = columns_of(r, t, field), code;

	buf_adds(&text, "SELECT ");
	for (int i = 0; i < n; i++)
		buf_addf(&text, "%s%s.%s", i ? ", " : "", t->name, field[i]->name);
	buf_addf(&text, "%s%s FROM %s %s", t->more && n ? ", " : "", t->more ? t->more : "",
		t->name, t->where ? t->where : "");
	AUTO(sql_done) struct sql q = sql_prepare(&r->file, buf_text(&text), e);

	while ((code = sql_row(&q, e)) > 0) {
		struct field_row row;

		bool valid = true;

		field_row_clear(&row);
		for (int i = 0; i < n; i++)
			valid = set_field(field[i], field_row_part(&row, t->part), &q) && valid;
		/* Skip a price with an invalid field. If its allocation or currency stayed unknown,
		 * it would count as on-demand or as dollars. */
		if (!valid && t->part == PART_PRICE)
			continue;
		code = t->add(r, &row, &q, e);
		if (code)
			break;
	}
	return code;
}

/* Decides whether an error in one row ends the reading. Returns -E2BIG (too many rows), which ends
 * it. Returns 0 for every other error: the row is skipped. */
static int tolerate(int code)
{
	return code == -E2BIG ? code : 0;
}

static int add_vendor(struct scdata_reader *r, struct field_row *row, struct sql *q, struct err *e)
{
	set_text(PART_VENDOR, "compliance", &row->vendor, text_of(q));
	row->vendor.compliance_known = sql_int(q) != 0;
	return tolerate(catalogue_add_vendor(r->b, &row->vendor, e));
}

/* Converts ["a", "b"] to "a|b". */
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

static int add_region(struct scdata_reader *r, struct field_row *row, struct sql *q, struct err *e)
{
	struct buf aliases = BUF_MAX(FIELD_TEXT_MAX - 1);

	join_aliases(row->region.aliases, &aliases);
	row->region.aliases = "";
	set_text(PART_REGION, "aliases", &row->region, buf_text(&aliases));
	set_text(PART_REGION, "continent", &row->region, text_of(q));
	row->region.prices_known = sql_int(q) != 0;
	int code = tolerate(catalogue_add_region(r->b, &row->region, e));

	buf_done(&aliases);
	return code;
}

static int add_server(struct scdata_reader *r, struct field_row *row, struct sql *q, struct err *e)
{
	(void)q;
	return tolerate(catalogue_add_server(r->b, &row->server, e));
}

static int add_price(struct scdata_reader *r, struct field_row *row, struct sql *q, struct err *e)
{
	(void)q;
	return tolerate(catalogue_add_price(r->b, &row->price, e));
}

#define ACTIVE(table) "lower(" table ".status) = 'active'"

#define FRAMEWORKS                                                                                 \
	"(SELECT group_concat(compliance_framework_id, ' ') FROM vendor_compliance_link AS l"      \
	" WHERE l.vendor_id = vendor.vendor_id AND " ACTIVE("l") ")"
#define CONTINENT "(SELECT continent FROM country WHERE country.country_id = region.country_id)"

/* Name of an additional column of two tables of the cache: vendor (its value is compliance_known)
 * and region (its value is prices_known). A database of sc-data lacks this column. Its frameworks
 * and prices are complete, so the value is 1. */
#define KNOWN "known"

static const struct scdata_table vendors = {
	"vendor", PART_VENDOR, NULL, add_vendor, FRAMEWORKS ", 1"};
static const struct scdata_table kept_vendors = {
	"vendor", PART_VENDOR, NULL, add_vendor, FRAMEWORKS ", " KNOWN};
static const struct scdata_table regions = {
	"region", PART_REGION, NULL, add_region, CONTINENT ", 1"};
static const struct scdata_table kept_regions = {
	"region", PART_REGION, NULL, add_region, CONTINENT ", " KNOWN};
static const struct scdata_table servers = {"server", PART_SERVER, NULL, add_server, NULL};
static const struct scdata_table prices = {"server_price", PART_PRICE,
	"WHERE " ACTIVE(
		"server_price") " AND lower(unit) = 'hour' AND "
				"lower(coalesce(operating_system, '')) NOT LIKE '%windows%'",
	add_price, NULL};

/* Prices that a vendor charges in addition to the price of a server: storage, traffic, IP
 * addresses. `sql` returns vendor_id, region_id, currency and the lowest price. `field` is the
 * field of the region that gets this price. */
static const struct scdata_extra {
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

static int read_extra(struct scdata_reader *r, const struct scdata_extra *x, struct err *e)
{
	const struct field *f = field_of(PART_REGION, x->field);
	int code;

	if (!has_table(r, x->table))
		return 0;
	AUTO(sql_done) struct sql q = sql_prepare(&r->file, x->sql, e);

	while ((code = sql_row(&q, e)) > 0) {
		struct field_row row;

		field_row_clear(&row);
		set_text(PART_REGION, "vendor_id", &row.region, text_of(&q));
		set_text(PART_REGION, "region_id", &row.region, text_of(&q));
		set_text(PART_REGION, "extras_currency", &row.region, text_of(&q));
		set_field(f, &row.region, &q);
		code = tolerate(catalogue_add_region(r->b, &row.region, e));
		if (code)
			break;
	}
	return code;
}

/* Calls `add` for each row of the query `text`. If `table` is missing, there are no rows. */
static int each_row(struct scdata_reader *r, const char *table, const char *text,
	int (*add)(struct scdata_reader *r, struct sql *q, struct err *e), struct err *e)
{
	int code;

	if (!has_table(r, table))
		return 0;
	AUTO(sql_done) struct sql q = sql_prepare(&r->file, text, e);

	while ((code = sql_row(&q, e)) > 0) {
		code = add(r, &q, e);
		if (code)
			break;
	}
	return code;
}

static void clean_text(struct sql *q, char *ret, size_t size)
{
	const char *text = text_of(q);

	utf8_clean(text, strlen(text), ret, size);
}

static int add_benchmark(struct scdata_reader *r, struct sql *q, struct err *e)
{
	char text[4][FIELD_TEXT_MAX];

	for (int i = 0; i < 4; i++)
		clean_text(q, text[i], sizeof text[i]);
	struct benchmark b = {text[0], text[1], text[2], text[3], sql_int(q) != 0, NULL, NULL};

	return *text[0] ? tolerate(catalogue_add_benchmark(r->b, &b, e)) : 0;
}

/* Adds the two scores of one row: the highest and the lowest score of a server in a benchmark. One
 * of them is the best score, whether higher or lower is better. A row is for all configurations
 * with one core, or for all other configurations. */
static int add_scores(struct scdata_reader *r, struct sql *q, struct err *e)
{
	const char *vendor_id = text_of(q), *server_id = text_of(q), *benchmark_id = text_of(q);
	bool single = sql_int(q) != 0;

	(void)e;
	for (int i = 0; i < 2; i++)
		(single ? catalogue_add_single_score : catalogue_add_score)(r->b, vendor_id,
			server_id, benchmark_id, sql_double(q));
	return 0;
}

/* The SQL function is_single(config): returns 1 if a benchmark's configuration has one core,
 * otherwise 0. */
static void is_single(sqlite3_context *q, int n, sqlite3_value **argument)
{
	const char *text = (const char *)sqlite3_value_text(argument[0]);

	(void)n;
	sqlite3_result_int(q, text && benchmark_config_cores(text, strlen(text)) != CORES_OTHER);
}

static int read_scores(struct scdata_reader *r, struct err *e)
{
	if (!has_column(r, "benchmark_score", "config"))
		return each_row(r, "benchmark_score",
			"SELECT vendor_id, server_id, benchmark_id, 0, max(score), min(score) FROM "
			"benchmark_score WHERE " ACTIVE("benchmark_score") " GROUP BY 1, 2, 3",
			add_scores, e);
	if (sqlite3_create_function(r->file.db, "is_single", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
		    NULL, is_single, NULL, NULL) != SQLITE_OK)
		return err_set(e, -ENOMEM, "%s: %s", r->file.path, sqlite3_errmsg(r->file.db));
	return each_row(r, "benchmark_score",
		"SELECT vendor_id, server_id, benchmark_id, is_single(config), max(score), "
		"min(score) FROM benchmark_score WHERE " ACTIVE(
			"benchmark_score") " GROUP BY 1, 2, 3, 4",
		add_scores, e);
}

static int add_rate(struct scdata_reader *r, struct sql *q, struct err *e)
{
	const char *currency = text_of(q);

	return tolerate(catalogue_set_rate(r->b, currency, sql_double(q), e));
}

/* Sets the catalogue's date from the first ten characters of a date and time. */
static void set_day(struct scdata_reader *r, const char *at)
{
	char day[16];
	size_t n = strlen(at);

	utf8_clean(at, n < 10 ? n : 10, day, sizeof day);
	if (*day)
		catalogue_set_as_of(r->b, day);
}

static int add_metadata(struct scdata_reader *r, struct sql *q, struct err *e)
{
	const char *key = text_of(q);
	char value[FIELD_TEXT_MAX];

	(void)e;
	if (strcmp(key, "published_at") == 0) {
		set_day(r, text_of(q));
	} else if (strcmp(key, "published_by") == 0) {
		clean_text(q, value, sizeof value);
		catalogue_set_note(r->b, value);
	}
	return 0;
}

static int add_observed(struct scdata_reader *r, struct sql *q, struct err *e)
{
	(void)e;
	set_day(r, text_of(q));
	return 0;
}

static int read_all(struct scdata_reader *r, struct err *e)
{
	static const struct scdata_table *const required[] = {&servers, &prices};
	int code = 0;

	/* The first statement that reads the file fails if the file is not a database. */
	code = sql_exec(&r->file, "PRAGMA schema_version", "read", e);
	if (code)
		return code;
	for (size_t i = 0; i < ARRAY_LEN(required); i++)
		if (!has_table(r, required[i]->name))
			return err_set(e, -EINVAL,
				"%s: no table %s: not a database of sc-data nor a cache of servers",
				r->file.path, required[i]->name);
	if (has_table(r, "vendor") && has_table(r, "vendor_compliance_link"))
		code = read_table(r, has_column(r, "vendor", KNOWN) ? &kept_vendors : &vendors, e);
	if (code == 0 && has_table(r, "region") && has_table(r, "country"))
		code = read_table(r, has_column(r, "region", KNOWN) ? &kept_regions : &regions, e);
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
		code = read_scores(r, e);
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
	struct scdata_reader r = {.file = {.path = path, .kind = ""}};
	int code = sql_open(&r.file, path, SQLITE_OPEN_READONLY, BUSY_MS, e);

	if (code == 0) {
		sqlite3_db_config(r.file.db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_exec(r.file.db, PAGE_CACHE, NULL, NULL, NULL);
		r.b = catalogue_builder_new();
		code = read_all(&r, e);
		if (code == 0)
			catalogue_finish(r.b, source, ret);
		catalogue_builder_free(r.b);
	}
	sql_close(&r.file);
	if (code == 0 || code == -ENOENT || code == -E2BIG)
		return code;
	if (e)
		e->code = -EINVAL;
	return -EINVAL;
}

int catalogue_from_scdata(struct catalogue **ret, const char *path, struct err *e)
{
	return catalogue_from_scdata_as(ret, path, path, e);
}
