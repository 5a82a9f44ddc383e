#include "exporter/terminal/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"

const char *const output_name[OUTPUTS] = {[OUTPUT_JSON] = "json",
	[OUTPUT_TEXT] = "text",
	[OUTPUT_YAML] = "yaml",
	[OUTPUT_CSV] = "csv"};

bool output_find(const char *name, enum output *ret)
{
	for (unsigned i = 0; i < OUTPUTS; i++)
		if (strcmp(output_name[i], name) == 0) {
			*ret = (enum output)i;
			return true;
		}
	return false;
}

/* Appends a number, a text or another scalar as JSON, which is valid YAML, too. */
static void add_json(struct buf *out, const json_t *v)
{
	AUTO(freep)
	char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));

	if (json_is_real(v))
		buf_add_double(out, json_real_value(v));
	else
		buf_adds(out, text ? text : "null");
}

static void add_yaml(struct buf *out, const json_t *v, int indent);

/* Appends the value of a key or an item: a scalar on the same line, an object or an array on the
 * next lines. */
static void add_yaml_value(struct buf *out, const json_t *v, int indent)
{
	bool empty = json_is_array(v) ? json_array_size(v) == 0 : json_object_size(v) == 0;

	if ((json_is_array(v) || json_is_object(v)) && !empty) {
		buf_addc(out, '\n');
		add_yaml(out, v, indent);
		return;
	}
	buf_addc(out, ' ');
	add_json(out, v);
	buf_addc(out, '\n');
}

/* Appends the members of an object. The first line is not indented if it follows a "- ". */
static void add_yaml_members(struct buf *out, const json_t *v, int indent, bool after_dash)
{
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)(uintptr_t)v, key, member)
	{
		json_t *name = json_string(key);

		buf_addf(out, "%*s", after_dash ? 0 : indent, "");
		after_dash = false;
		add_json(out, name);
		json_decref(name);
		buf_addc(out, ':');
		add_yaml_value(out, member, indent + 2);
	}
}

static void add_yaml(struct buf *out, const json_t *v, int indent)
{
	const json_t *item;
	size_t i;

	if (json_is_object(v)) {
		add_yaml_members(out, v, indent, false);
		return;
	}
	json_array_foreach(v, i, item)
	{
		buf_addf(out, "%*s-", indent, "");
		if (json_is_object(item) && json_object_size(item)) {
			buf_addc(out, ' ');
			add_yaml_members(out, item, indent + 2, true);
		} else {
			add_yaml_value(out, item, indent + 2);
		}
	}
}

void output_yaml(struct buf *out, const json_t *document)
{
	add_yaml(out, document, 0);
}

static void add_csv_cell(struct buf *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		buf_adds(out, text);
		return;
	}
	buf_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_addc(out, '"');
		buf_addc(out, *text);
	}
	buf_addc(out, '"');
}

static void add_csv_value(struct buf *out, const json_t *v)
{
	struct buf text AUTO(buf_done) = BUF_MAX(1u << 20);

	if (!v || json_is_null(v))
		return;
	if (json_is_string(v)) {
		add_csv_cell(out, json_string_value(v));
		return;
	}
	add_json(&text, v);
	add_csv_cell(out, buf_text(&text));
}

void output_csv(struct buf *out, const json_t *array)
{
	json_t *columns = json_object(), *unused;
	const json_t *row;
	const char *key, *before = "";
	size_t i;

	json_array_foreach(array, i, row)
	{
		json_object_update_missing(columns, (json_t *)(uintptr_t)row);
	}
	json_object_foreach(columns, key, unused)
	{
		(void)unused;
		buf_adds(out, before);
		add_csv_cell(out, key);
		before = ",";
	}
	buf_adds(out, "\r\n");
	json_array_foreach(array, i, row)
	{
		before = "";
		json_object_foreach(columns, key, unused)
		{
			buf_adds(out, before);
			add_csv_value(out, json_object_get(row, key));
			before = ",";
		}
		buf_adds(out, "\r\n");
	}
	json_decref(columns);
}
