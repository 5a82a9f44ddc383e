/* Reads servers from a JSON array of objects, as Keeper's /servers returns it. Parses one object at
 * a time, so a long response needs only the memory of its longest object. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "collectors/base/buf.h"
#include "recommender/catalogue/build.h"
#include "recommender/catalogue/fields.h"

struct json_cursor {
	struct catalogue_builder *b;
	const char *at, *end;
	unsigned long line; /* line number of `at`, from 1 */
	const struct json_reading *how;
	size_t objects;
	/* true = the current object has an invalid allocation, currency, region or zone. A lenient
	 * reader then drops the object's prices. Other readers stop. */
	bool price_unclear;
	/* Text made of a JSON list by joined_list; valid until the object is added. */
	struct buf list;
};

static void skip_to(struct json_cursor *r, const char *at)
{
	for (; r->at < at; r->at++)
		r->line += *r->at == '\n';
}

static void skip_space(struct json_cursor *r)
{
	const char *at = r->at;

	while (at < r->end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	skip_to(r, at);
}

static bool skip_char(struct json_cursor *r, char c)
{
	skip_space(r);
	if (r->at >= r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* Joins ["a", "b"] to "a|b". The Keeper sends aliases as a list, but struct region has one text. */
static const char *joined_list(struct json_cursor *r, const json_t *list)
{
	size_t i;
	const json_t *v;

	buf_reset(&r->list);
	json_array_foreach(list, i, v)
	{
		if (json_is_string(v))
			buf_addf(&r->list, "%s%s", r->list.len ? "|" : "", json_string_value(v));
	}
	return buf_text(&r->list);
}

static int set_field(struct json_cursor *r, const struct field *f, void *object, const json_t *v,
	struct err *e)
{
	int code = -EINVAL;

	switch (json_typeof(v)) {
	case JSON_NULL:
		return 0;
	case JSON_STRING:
		if (f->kind == FIELD_NUMBER)
			err_set(e, code, "must be a number or null");
		else
			code = field_set_text(f, object, json_string_value(v), e);
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		if (f->kind == FIELD_NUMBER)
			code = field_set_number(f, object, json_number_value(v), e);
		else
			err_set(e, code, "must be a text or null");
		break;
	case JSON_ARRAY:
		if (f->part == PART_REGION && f->kind == FIELD_TEXT) {
			code = field_set_text(f, object, joined_list(r, v), e);
			break;
		}
		__attribute__((fallthrough));
	case JSON_TRUE:
	case JSON_FALSE:
	case JSON_OBJECT:
		err_set(e, code, "must be a %s or null",
			f->kind == FIELD_NUMBER ? "number" : "text");
		break;
	}
	if (code)
		err_wrap(e, "%s", f->name);
	return code;
}

/* Returns true for a field without which a price cannot be used: its allocation, currency, region
 * or zone. */
static bool is_of_price(const struct field *f)
{
	return f->kind == FIELD_ALLOCATION || strcmp(f->name, "currency") == 0 ||
	       strcmp(f->name, "region_id") == 0 || strcmp(f->name, "zone_id") == 0;
}

/* Sets the fields of one part (server, vendor, region or price) from an object. `plain`: the object
 * has the fields of several parts. If two parts have a field of the same name, its value is only
 * for the first of them (field_find). */
static int set_part(struct json_cursor *r, const json_t *object, enum field_part part, bool plain,
	struct field_row *row, struct err *e)
{
	for (const struct field *f = fields; f->name; f++) {
		if (f->part != part || (plain && field_find(f->name, strlen(f->name)) != f))
			continue;
		const json_t *v = json_object_get(object, f->name);
		int code = v ? set_field(r, f, field_row_part(row, part), v, e) : 0;

		if (code && !r->how->lenient)
			return code;
		if (code && is_of_price(f))
			r->price_unclear = true;
	}
	return 0;
}

static bool text_is(const json_t *object, const char *key, const char *expected)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && strcasecmp(text, expected) == 0;
}

/* If the row has no price, uses min_price. Then drops each price (NaN) whose allocation or region
 * is uncertain. */
static void settle_prices(const struct json_cursor *r, const json_t *object, struct field_row *row)
{
	static const char *const minima[] = {"min_price", "min_price_ondemand", "min_price_spot"};
	double min_price = json_number_value(json_object_get(object, "min_price"));
	bool lowest = r->how->lenient, all = r->how->prices == PRICES_ALL && !r->price_unclear;

	for (size_t i = 0; i < ARRAY_LEN(minima); i++)
		lowest = lowest || json_object_get(object, minima[i]);
	if (!(row->price.price > 0))
		row->price.price = min_price > 0 ? min_price : (double)NAN;
	if (lowest && !json_is_string(json_object_get(object, "allocation")))
		field_row_price_is_lowest(row);
	if (!all)
		row->price.price = NAN;
	if (!all && (r->price_unclear || r->how->prices != PRICES_ONDEMAND))
		row->server.min_price_ondemand = NAN;
	if (!all && (r->price_unclear || r->how->prices != PRICES_SPOT))
		row->server.min_price_spot = NAN;
}

/* Returns true for a row of sc-data's server_price whose price is not by the hour, is inactive, or
 * includes Windows. */
static bool is_other_price(const json_t *object)
{
	const char *system = json_string_value(json_object_get(object, "operating_system"));

	return json_object_get(object, "unit") &&
	       (!text_is(object, "unit", "hour") || text_is(object, "status", "inactive") ||
		       (system && strcasestr(system, "windows")));
}

static int add_server(struct json_cursor *r, const json_t *object, struct field_row *row,
	struct err *e)
{
	const json_t *vendor = json_object_get(object, "vendor");
	const json_t *region = json_object_get(object, "region");
	const json_t *score = json_object_get(object, "selected_benchmark_score");
	int code = 0;

	if (is_other_price(object))
		return 0;
	r->price_unclear = false;
	for (unsigned part = 0; part < PART_COUNT && code == 0; part++)
		code = set_part(r, object, (enum field_part)part, true, row, e);
	if (code == 0 && json_is_object(vendor))
		code = set_part(r, vendor, PART_VENDOR, false, row, e);
	if (code == 0 && json_is_object(region))
		code = set_part(r, region, PART_REGION, false, row, e);
	if (code == 0)
		settle_prices(r, object, row);
	if (r->how->region_id)
		row->server.region_id = r->how->region_id;
	if (code == 0)
		code = catalogue_add_row(r->b, row, e);
	if (r->how->benchmark_id && json_is_number(score))
		(r->how->single_core ? catalogue_add_single_score : catalogue_add_score)(r->b,
			row->server.vendor_id, row->server.server_id, r->how->benchmark_id,
			json_number_value(score));
	return code;
}

static int add_part(struct json_cursor *r, const json_t *object, struct field_row *row,
	struct err *e)
{
	bool vendors = r->how->kind == READ_VENDORS;
	int code = set_part(r, object, vendors ? PART_VENDOR : PART_REGION, false, row, e);

	if (code)
		return code;
	return vendors ? catalogue_add_vendor(r->b, &row->vendor, e) :
			 catalogue_add_region(r->b, &row->region, e);
}

static int add_country(struct json_cursor *r, const json_t *object)
{
	const char *country = json_string_value(json_object_get(object, "country_id"));
	const char *continent = json_string_value(json_object_get(object, "continent"));

	if (country && continent)
		catalogue_add_country(r->b, country, continent);
	return 0;
}

static int add_object(struct json_cursor *r, const json_t *object, struct err *e)
{
	struct field_row row;
	int code = 0;

	field_row_clear(&row);
	switch (r->how->kind) {
	case READ_SERVERS:
		code = add_server(r, object, &row, e);
		break;
	case READ_VENDORS:
	case READ_REGIONS:
		code = add_part(r, object, &row, e);
		break;
	case READ_COUNTRIES:
		code = add_country(r, object);
		break;
	}
	/* A lenient reader skips an object without an identity (-EINVAL), and an object that was
	 * added before (-EEXIST). If the Keeper's list changes between the requests for two pages,
	 * an object can be on both. */
	return r->how->lenient && (code == -EINVAL || code == -EEXIST) ? 0 : code;
}

/* Parses the JSON value at r->at and moves r->at to its end. On an error, returns NULL and sets
 * `e`. */
static json_t *take_value(struct json_cursor *r, struct err *e)
{
	json_error_t error;
	json_t *v = json_loadb(r->at, (size_t)(r->end - r->at), JSON_DISABLE_EOF_CHECK, &error);

	if (!v) {
		unsigned long line = r->line + (error.line > 0 ? (unsigned long)error.line - 1 : 0);

		err_set(e, -EINVAL, "line %lu, byte %d: %s", line, error.column, error.text);
		return NULL;
	}
	skip_to(r, r->at + error.position);
	return v;
}

static int read_array(struct json_cursor *r, struct err *e)
{
	if (!skip_char(r, '['))
		return err_set(e, -EINVAL, "line %lu: not a JSON array", r->line);
	if (skip_char(r, ']'))
		return 0;
	do {
		skip_space(r);
		unsigned long line = r->line;

		if (r->at >= r->end || *r->at != '{')
			return err_set(e, -EINVAL, "line %lu: a JSON object is expected here",
				line);
		json_t *object = take_value(r, e);
		int code = object ? add_object(r, object, e) : 0;

		if (!object)
			return -EINVAL;
		json_decref(object);
		if (code) {
			err_wrap(e, "line %lu", line);
			return code;
		}
		r->objects++;
	} while (skip_char(r, ','));
	if (!skip_char(r, ']'))
		return err_set(e, -EINVAL, "line %lu: \",\" or \"]\" is expected here", r->line);
	skip_space(r);
	return r->at == r->end ? 0 : err_set(e, -EINVAL, "line %lu: text after the array", r->line);
}

int catalogue_read_json(struct catalogue_builder *b, const char *text, size_t len,
	const struct json_reading *how, size_t *objects, struct err *e)
{
	struct json_cursor r = {.b = b,
		.at = text,
		.end = text + len,
		.line = 1,
		.how = how,
		.list = BUF_MAX(FIELD_TEXT_MAX - 1)};

	if (len > INT_MAX)
		return err_set(e, -E2BIG, "more than %d bytes", INT_MAX);
	int code = read_array(&r, e);

	if (code == 0 && objects)
		*objects = r.objects;
	buf_done(&r.list);
	return code;
}

int catalogue_from_json(struct catalogue **ret, const char *text, size_t len, const char *source,
	struct err *e)
{
	struct catalogue_builder *b = catalogue_builder_new();
	int code = catalogue_read_json(b, text, len, &(struct json_reading){0}, NULL, e);

	if (code)
		err_wrap(e, "%s", source);
	else
		catalogue_finish(b, source, ret);
	catalogue_builder_free(b);
	return code;
}
