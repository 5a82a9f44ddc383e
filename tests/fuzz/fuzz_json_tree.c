/* The input is a JSON text. jansson reads it, too: both must find the same values. json_tree also
 * accepts texts that jansson refuses for one of their values, which it leaves to its caller. */
#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "collectors/base/utf8.h"
#include "exporter/core/json_tree.h"
#include "tests/fuzz/fuzz.h"

static bool same(const struct json_node *v, const json_t *o);

static bool same_text(struct slice s, const char *text, size_t len)
{
	return s.len == len && memcmp(s.data, text, len) == 0;
}

static bool same_members(const struct json_node *v, const json_t *o)
{
	bool is_object = v->kind == NODE_OBJECT;

	if (v->n != (is_object ? json_object_size(o) : json_array_size(o)))
		return false;
	for (size_t i = 0; i < v->n; i++) {
		const struct json_node *m = &v->child[i];
		char name[256];

		/* json_object_get needs a name without NULs; a long or odd name is not compared. */
		if (is_object &&
			(m->name.len >= sizeof name || memchr(m->name.data, 0, m->name.len)))
			continue;
		if (is_object)
			slice_copy(m->name, name, sizeof name);
		if (!same(m, is_object ? json_object_get(o, name) : json_array_get(o, i)) ||
			(is_object && json_node_find(v, name) != m))
			return false;
	}
	return true;
}

static bool same(const struct json_node *v, const json_t *o)
{
	switch (v->kind) {
	case NODE_NULL:
		return json_is_null(o);
	case NODE_FALSE:
		return json_is_false(o);
	case NODE_TRUE:
		return json_is_true(o);
	case NODE_WHOLE:
		return json_is_integer(o) && json_integer_value(o) == v->whole;
	case NODE_NUMBER:
		return json_is_real(o) && memcmp(&v->number, &(double){json_real_value(o)}, 8) == 0;
	case NODE_TEXT:
		return json_is_string(o) &&
		       same_text(v->text, json_string_value(o), json_string_length(o));
	case NODE_ARRAY:
	case NODE_OBJECT:
		return json_typeof(o) == (v->kind == NODE_ARRAY ? JSON_ARRAY : JSON_OBJECT) &&
		       same_members(v, o);
	}
	return false;
}

/* jansson refuses names with a NUL, invalid UTF-8, and numbers that no int64_t or double holds. */
static bool is_plain(const struct json_node *v)
{
	if (memchr(v->name.data ? v->name.data : "-", 0, v->name.data ? v->name.len : 1) ||
		(v->name.data && !utf8_valid(v->name.data, v->name.len)))
		return false;
	if (v->kind == NODE_NUMBER)
		return fabs(v->number) < 9e18;
	if (v->kind == NODE_TEXT)
		return utf8_valid(v->text.data, v->text.len);
	if (v->kind != NODE_ARRAY && v->kind != NODE_OBJECT)
		return true;
	for (size_t i = 0; i < v->n; i++)
		if (!is_plain(&v->child[i]))
			return false;
	return true;
}

static unsigned depth_of(json_t *o)
{
	unsigned most = 0;
	const char *name;
	json_t *v;
	size_t i;

	json_object_foreach(o, name, v) most = most > depth_of(v) ? most : depth_of(v);
	json_array_foreach(o, i, v) most = most > depth_of(v) ? most : depth_of(v);
	return json_is_object(o) || json_is_array(o) ? most + 1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	struct json_node v;
	struct err e = {0};

	/* jansson passes over a NUL behind a number. */
	if (size && memchr(data, 0, size))
		return 0;
	json_t *o =
		json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	int code = json_tree_read(&v, (struct slice){(const char *)data, size}, &arena, &e);

	if (o && code == 0)
		assert(!v.twice && same(&v, o));
	else if (o)
		assert(depth_of(o) > 100);
	else
		assert(code || v.twice || !is_plain(&v));
	json_decref(o);
	arena_done(&arena);
	return 0;
}
