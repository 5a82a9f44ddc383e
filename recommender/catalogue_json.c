/*
 * Servers from a JSON array of objects, as Keeper's /servers answers it. One object at a time is
 * parsed, so that a long answer needs no more memory than its longest object.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include <jansson.h>

#include "recommender/catalogue_build.h"
#include "recommender/fields.h"

struct reading {
	const char *at, *end;
	unsigned long line; /* of at, from 1 */
	enum read_how how;
};

static void skip_to(struct reading *r, const char *at)
{
	for (; r->at < at; r->at++)
		r->line += *r->at == '\n';
}

static void skip_space(struct reading *r)
{
	const char *at = r->at;

	while (at < r->end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	skip_to(r, at);
}

static bool take(struct reading *r, char c)
{
	skip_space(r);
	if (r->at >= r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static int set_field(const struct field *f, void *object, const json_t *v, struct err *e)
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
	case JSON_TRUE:
	case JSON_FALSE:
	case JSON_OBJECT:
	case JSON_ARRAY:
		err_set(e, code, "must be a %s or null",
			f->kind == FIELD_NUMBER ? "number" : "text");
		break;
	}
	if (code)
		err_wrap(e, "%s", f->name);
	return code;
}

/* Sets the fields of one part from the members of an object; those found by their plain name only,
 * or all. */
static int set_part(const json_t *object, enum field_part part, bool plain, struct row *row,
	enum read_how how, struct err *e)
{
	for (const struct field *f = fields; f->name; f++) {
		if (f->part != part || (plain && field_find(f->name, strlen(f->name)) != f))
			continue;
		const json_t *v = json_object_get(object, f->name);
		int code = v ? set_field(f, row_part(row, part), v, e) : 0;

		if (code && how == READ_STRICT)
			return code;
	}
	return 0;
}

static int add_object(
	struct catalogue_builder *b, const struct reading *r, const json_t *object, struct err *e)
{
	const json_t *vendor = json_object_get(object, "vendor");
	const json_t *region = json_object_get(object, "region");
	struct row row;
	int code = 0;

	row_clear(&row);
	for (unsigned part = 0; part < PART_COUNT && code == 0; part++)
		code = set_part(object, (enum field_part)part, true, &row, r->how, e);
	if (code == 0 && json_is_object(vendor))
		code = set_part(vendor, PART_VENDOR, false, &row, r->how, e);
	if (code == 0 && json_is_object(region))
		code = set_part(region, PART_REGION, false, &row, r->how, e);
	if (code == 0)
		code = catalogue_add_row(b, &row, e);
	/* A server without an identity; or pages that overlap when the list changes between two of
	 * them. */
	return r->how == READ_LENIENT && (code == -EINVAL || code == -EEXIST) ? 0 : code;
}

/* Parses the value at r->at, which is taken; NULL with e. */
static json_t *take_value(struct reading *r, struct err *e)
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

static int read_array(struct catalogue_builder *b, struct reading *r, struct err *e)
{
	if (!take(r, '['))
		return err_set(e, -EINVAL, "line %lu: not a JSON array of servers", r->line);
	if (take(r, ']'))
		return 0;
	do {
		skip_space(r);
		unsigned long line = r->line;

		if (r->at >= r->end || *r->at != '{')
			return err_set(
				e, -EINVAL, "line %lu: a JSON object is expected here", line);
		json_t *object = take_value(r, e);
		int code = object ? add_object(b, r, object, e) : 0;

		if (!object)
			return -EINVAL;
		json_decref(object);
		if (code) {
			err_wrap(e, "line %lu", line);
			return code;
		}
	} while (take(r, ','));
	if (!take(r, ']'))
		return err_set(e, -EINVAL, "line %lu: \",\" or \"]\" is expected here", r->line);
	return 0;
}

int catalogue_read_json(
	struct catalogue_builder *b, const char *text, size_t len, enum read_how how, struct err *e)
{
	struct reading r = {text, text + len, 1, how};

	if (len > INT_MAX)
		return err_set(e, -E2BIG, "more than %d bytes", INT_MAX);
	int code = read_array(b, &r, e);

	skip_space(&r);
	if (code == 0 && r.at != r.end)
		return err_set(e, -EINVAL, "line %lu: text after the array", r.line);
	return code;
}

int catalogue_from_json(
	struct catalogue **ret, const char *text, size_t len, const char *source, struct err *e)
{
	struct catalogue_builder *b = catalogue_builder_new();
	int code = catalogue_read_json(b, text, len, READ_STRICT, e);

	if (code)
		err_wrap(e, "%s", source);
	else
		catalogue_finish(b, source, ret);
	catalogue_builder_free(b);
	return code;
}
