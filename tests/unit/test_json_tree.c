/* exporter/core/json_tree.c reads the same values from the same texts as jansson. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/utf8.h"
#include "exporter/core/json.h"
#include "exporter/core/json_tree.h"

static bool same(const struct json_node *v, const json_t *o);

static bool same_members(const struct json_node *v, const json_t *o)
{
	if (v->n != (json_is_object(o) ? json_object_size(o) : json_array_size(o)))
		return false;
	for (size_t i = 0; i < v->n; i++) {
		char name[64];

		slice_copy(v->child[i].name, name, sizeof name);
		const json_t *member =
			json_is_object(o) ? json_object_get(o, name) : json_array_get(o, i);

		if (!member || !same(&v->child[i], member) ||
			(json_is_object(o) && json_node_find(v, name) != &v->child[i]))
			return false;
	}
	return true;
}

static bool same(const struct json_node *v, const json_t *o)
{
	switch (json_typeof(o)) {
	case JSON_NULL:
		return v->kind == NODE_NULL;
	case JSON_FALSE:
		return v->kind == NODE_FALSE;
	case JSON_TRUE:
		return v->kind == NODE_TRUE;
	case JSON_INTEGER:
		return v->kind == NODE_WHOLE && v->whole == json_integer_value(o);
	case JSON_REAL:
		return v->kind == NODE_NUMBER && v->number == json_real_value(o);
	case JSON_STRING:
		return v->kind == NODE_TEXT && v->text.len == json_string_length(o) &&
		       memcmp(v->text.data, json_string_value(o), v->text.len) == 0;
	case JSON_ARRAY:
		return v->kind == NODE_ARRAY && same_members(v, o);
	case JSON_OBJECT:
		return v->kind == NODE_OBJECT && same_members(v, o);
	}
	return false;
}

/* jansson refuses the whole text for these errors, which are errors of one value here. */
static bool is_of_one_value(const json_error_t *error)
{
	switch (json_error_code(error)) {
	case json_error_duplicate_key:
	case json_error_null_byte_in_key:
	case json_error_null_character:
	case json_error_numeric_overflow:
	case json_error_invalid_utf8:
		return true;
	default:
		return false;
	}
}

static void assert_same(const char *text, size_t len)
{
	AUTO(arena_done) struct arena arena = {0};
	struct json_node v = {0};
	struct err e = {0};
	json_error_t error;
	int code = json_tree_read(&v, (struct slice){text, len}, &arena, &e);
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);

	if (o && (code || v.twice || !same(&v, o)))
		fail_msg("%.*s: %s", (int)len, text, code ? e.text : "other values");
	if (!o && code == 0 && !is_of_one_value(&error))
		fail_msg("%.*s is accepted: %s", (int)len, text, error.text);
	if (code && (code != -EINVAL || !strstr(e.text, " expected ")))
		fail_msg("%.*s: %d %s", (int)len, text, code, e.text);
	json_decref(o);
}

/* clang-format off */
static const char *const texts[] = {
	"", " ", "7", "null", "\"a\"", "[]", "{}", " [ ] ", "[]]", "[] x", "{", "[", "[1", "[1,", "[1,]", "[,1]", "{,}",
	"[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{'a':1}", "{\"a\" : 1 , \"b\":[ ] }", "[true,false,null]", "[tru]",
	"[truex]", "[True]", "[nan]", "[Infinity]", "[-]", "[+1]", "[.5]", "[5.]", "[01]", "[-01]", "[0]", "[-0]", "[-0.0]", "[1e]",
	"[1e+]", "[1e5]", "[1E-5]", "[0x1]", "[0e0]", "[1.5e300]", "[4.9e-324]", "[1e-400]", "[1e400]", "[-1e400]", "[123456789012345.5]",
	"[999999999999999]", "[0.1]", "[0.30000000000000004]", "[2.5,1.25,1.7976931348623157e308]", "[9007199254740993]",
	"[9007199254740993.0]", "[9223372036854775807]", "[-9223372036854775808]", "[9223372036854775808]", "[18446744073709551615]",
	"[1795763419.4937685]", "[00]", "[1.0000000000000001]", "[0.000001]", "[123456.789012345]", "[1234567.8901234567]",
	"[\"\"]", "[\"a]", "[\"\\\"]", "[\"\\\"\"]", "[\"\\\\\"]", "[\"\\/\\b\\f\\n\\r\\t\"]", "[\"\\x\"]", "[\"\\u12\"]",
	"[\"\\u00e9\\u20AC\\ud83d\\ude00\"]", "[\"\\u0041\"]", "[\"\\uD83D\\uDE00x\"]", "[\"\\u0000\"]", "[\"a\nb\"]", "[\"\t\"]", "[\"\x7f\"]",
	"[\"\xc3\xa9\"]", "[\"\xc3\"]", "[\"\xff\"]", "{\"\\u0061\":1}", "{\"a\":1,\"\\u0061\":2}", "{\"\":1}", "{\"\":1,\"\":1}",
	"{\"b\":1,\"a\":{\"c\":[{\"d\":2,\"d\":3}]}}", "[[[[[[[[[[1]]]]]]]]]]", "[[[[[[[[[[1]]]]]]]]]", "{\"aa\":1,\"b\":2,\"ab\":3,\"c\":[]}",
	"\xef\xbb\xbf[]", "[1]\n", "[1]\v", "[1]/**/", "[\"\\", "[\"\\u", "{\"a\\", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]",
};
/* clang-format on */

static void texts_mean_what_they_mean_to_jansson(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_same(texts[i], strlen(texts[i]));
	assert_same("[\"a\0b\"]", 7);
	assert_same("[1]\0", 4);
}

static void half_a_pair_is_no_utf8(void **state)
{
	static const char *const halves[] = {
		"[\"\\ud83d\"]", "[\"\\ude00\\ud83d\"]", "[\"\\ud83d\\u0041\"]", "[\"\\ud83dA\"]"};

	for (size_t i = 0; i < ARRAY_LEN(halves); i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct json_node v;

		assert_int_equal(json_tree_read(&v, (struct slice){halves[i], strlen(halves[i])},
					 &arena, NULL),
			0);
		assert_false(utf8_valid(v.child->text.data, v.child->text.len));
	}
}

/* Returns the next of a fixed row of numbers. */
static uint64_t next(void)
{
	static uint64_t v = 1;

	v = v * 6364136223846793005u + 1442695040888963407u;
	return v >> 33;
}

static void changed_texts_mean_what_they_mean_to_jansson(void **state)
{
	static const char like[] =
		"{\"run_id\": \"20261126T0-ab\", \"started_at\": 1795763419.4937685, \"exit_code\": -1.5e-3,"
		"\"host\": null, \"x\": [true, false, {\"y\\n\": 0.25}], \"columns\": {\"cpu\": {\"n\": 3, \"max\": 1}}}";
	static const char with[] = "{}[],:\"\\ \n0123456789-+.eEnulltruefalse\x01\xc3\xa9/b";
	char text[sizeof like];

	for (int i = 0; i < 200000; i++) {
		size_t len = sizeof like - 1;

		memcpy(text, like, sizeof like);
		for (uint64_t k = next() % 3; k < 3; k++)
			text[next() % len] = with[next() % (sizeof with - 1)];
		if (next() % 8 == 0)
			len = next() % len;
		assert_same(text, len);
	}
}

static void numbers_are_rounded_as_jansson_rounds(void **state)
{
	for (int i = 0; i < 200000; i++) {
		char text[64];
		double share = (double)next() / (double)((next() % 100000) + 1);

		snprintf(text, sizeof text, "[%.*f,%.*g,%llu.%llu]", (int)(next() % 12), share,
			(int)(next() % 20) + 1, share * 1e-3, (unsigned long long)next() % 1000,
			(unsigned long long)next());
		assert_same(text, strlen(text));
	}
}

static void a_text_may_not_nest_without_end(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	static char text[200000];
	struct json_node v;
	struct err e = {0};

	memset(text, '[', sizeof text);
	assert_int_equal(json_tree_read(&v, (struct slice){text, sizeof text}, &arena, &e),
		-EINVAL);
	assert_non_null(strstr(e.text, "nested less deeply expected near '[[["));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_mean_what_they_mean_to_jansson),
		cmocka_unit_test(half_a_pair_is_no_utf8),
		cmocka_unit_test(changed_texts_mean_what_they_mean_to_jansson),
		cmocka_unit_test(numbers_are_rounded_as_jansson_rounds),
		cmocka_unit_test(a_text_may_not_nest_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
