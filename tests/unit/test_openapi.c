/* exporter/api/openapi.c: the description that is made from a route's tables.
 * tests/e2e/test_openapi.py checks the document of the real routes. */
#include "tests/unit/test_main.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/api/openapi.h"
#include "exporter/core/json.h"
#include "exporter/core/json_key.h"

static const char *colour(size_t i)
{
	static const char *const words[] = {"red", "blue", NULL};

	return words[i];
}

static const char *content_types(size_t i)
{
	static const char *const types[] = {"text/plain; charset=utf-8", "application/yaml", NULL};

	return types[i];
}

static const struct parameter parameters[] = {
	{.name = "id",
		.kind = PARAMETER_TEXT,
		.required = true,
		.least = 1,
		.most = 9,
		.help = "Id"},
	{.name = "count",
		.kind = PARAMETER_COUNT,
		.fallback = "5",
		.least = 1,
		.most = 10,
		.help = "N"},
	{.name = "share", .kind = PARAMETER_NUMBER, .least = 0.5, .most = 1, .help = "S"},
	{.name = "cores",
		.kind = PARAMETER_CORES,
		.least = 0,
		.most = 8,
		.unit = "cores",
		.help = "C"},
	{.name = "colour",
		.kind = PARAMETER_CHOICE,
		.choice = colour,
		.fallback = "red",
		.help = "W"},
	{.name = "flag", .kind = PARAMETER_FLAG, .fallback = "0", .help = "F"},
	{.name = "tag",
		.also = {"label"},
		.kind = PARAMETER_TEXT,
		.repeats = true,
		.least = 0,
		.most = 4,
		.help = "T"},
	{0},
};

static const struct json_key inner[] = {
	{KEY_ANY, KEY_TEXT, .required = true, .most = 3, .help = "Any"},
	{0},
};

static const struct json_key body[] = {
	{"name", KEY_TEXT, .required = true, .least = 1, .most = 7, .help = "Name"},
	{"whole", KEY_WHOLE, .least = 1, .most = 3, .help = "Whole"},
	{"colour", KEY_CHOICE, .choice = colour, .help = "Colour"},
	{"inner", KEY_OBJECT, .members = inner, .help = "Inner"},
	{0},
};

static const struct json_key answer_keys[] = {
	{"at", KEY_TIME, .required = true, .help = "At"},
	{"many", KEY_LIST, .help = "Many"},
	{0},
};

static const struct route route = {
	.path = "/things/{id}",
	.help = "A thing",
	.parameters = parameters,
	.body = body,
	.gives = answer_keys,
	.content_types = content_types,
	.errors = (const struct route_error[]){{404, "no_thing"}, {404, "no_other"},
		{503, ROUTE_ERROR_TEXT}, {0}},
	.creates = true,
};

/* Checks the value at `path`, which consists of keys with blanks between them. `expected` is
 * JSON. */
static void holds(const json_t *document, const char *path, const char *expected)
{
	const json_t *at = document;
	char key[64];

	for (const char *p = path; *p;) {
		size_t n = strcspn(p, " ");

		slice_copy((struct slice){p, n}, key, sizeof key);
		at = json_is_array(at) ? json_array_get(at, (size_t)(*key - '0')) :
					 json_object_get(at, key);
		p += n + (p[n] == ' ');
	}
	char *text = at ? json_dumps(at, JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_COMPACT) : NULL;

	if (!text || strcmp(text, expected) != 0)
		fail_msg("%s is %s, not %s", path, text ? text : "absent", expected);
	free(text);
}

static json_t *of_route(const char *method)
{
	json_t *document = openapi_new();

	assert_non_null(document);
	openapi_add(document, method, "/things/{id}", &route);
	json_t *ret =
		json_incref(json_object_get(json_object_get(json_object_get(document, "paths"),
						    "/things/{id}"),
			method));

	json_decref(document);
	assert_non_null(ret);
	return ret;
}

#define PLAIN "\"pattern\":\"^[^\\\\u0000-\\\\u001f\\\\u007f]*$\","

static void parameters_have_kind_range_and_default(void **state)
{
	json_t *o = of_route("get");

	(void)state;
	holds(o, "operationId", "\"get_things_id_\"");
	holds(o, "parameters 0 in", "\"path\"");
	holds(o, "parameters 0 required", "true");
	holds(o, "parameters 0 schema",
		"{\"maxLength\":9,\"minLength\":1," PLAIN "\"type\":\"string\"}");
	holds(o, "parameters 1 in", "\"query\"");
	holds(o, "parameters 1 schema",
		"{\"default\":5,\"maximum\":10,\"minimum\":1,\"type\":\"integer\"}");
	holds(o, "parameters 1 description", "\"N: a whole number from 1 to 10\"");
	holds(o, "parameters 2 schema", "{\"maximum\":1,\"minimum\":0.5,\"type\":\"number\"}");
	holds(o, "parameters 3 schema anyOf 0",
		"{\"maximum\":8,\"minimum\":0,\"type\":\"number\"}");
	holds(o, "parameters 3 schema anyOf 1 type", "\"string\"");
	holds(o, "parameters 4 schema",
		"{\"default\":\"red\",\"enum\":[\"red\",\"blue\"],\"type\":\"string\"}");
	holds(o, "parameters 5 schema", "{\"default\":false,\"type\":\"boolean\"}");
	holds(o, "parameters 6 schema",
		"{\"items\":{\"maxLength\":4," PLAIN "\"type\":\"string\"},\"maxItems\":64,"
		"\"type\":\"array\"}");
	holds(o, "parameters 6 description",
		"\"T: text of 0 to 4 bytes, UTF-8 without control characters; may be given several "
		"times, also as tag[]; other names: label\"");
	json_decref(o);
}

static void bodies_say_which_keys_are_needed(void **state)
{
	json_t *o = of_route("post");
	json_t *schema =
		json_object_get(json_object_get(json_object_get(json_object_get(o, "requestBody"),
							"content"),
					"application/json"),
			"schema");

	(void)state;
	holds(schema, "required", "[\"name\"]");
	holds(schema, "additionalProperties", "false");
	holds(schema, "properties name minLength", "1");
	holds(schema, "properties name description",
		"\"Name: a text of 1 to 7 bytes without control characters\"");
	holds(schema, "properties whole type", "[\"integer\",\"null\"]");
	holds(schema, "properties colour enum", "[\"red\",\"blue\",null]");
	holds(schema, "properties inner type", "[\"object\",\"null\"]");
	holds(schema, "properties inner additionalProperties type", "\"string\"");
	json_decref(o);
}

static void answers_and_errors_have_their_content_types(void **state)
{
	json_t *o = of_route("post");

	(void)state;
	holds(o, "responses 200 content application/json schema required", "[\"at\"]");
	holds(o, "responses 201 content application/json schema properties many type",
		"[\"array\",\"null\"]");
	holds(o, "responses 200 content text/plain schema", "{\"type\":\"string\"}");
	holds(o, "responses 200 content application/yaml schema", "{\"type\":\"string\"}");
	holds(o,
		"responses 404 content application/json schema properties error properties code enum",
		"[\"no_thing\",\"no_other\"]");
	holds(o, "responses 431", "{\"description\":\"The headers are too large\"}");
	holds(o, "responses 503 content text/plain schema", "{\"type\":\"string\"}");
	holds(o, "responses 415 content application/json schema $ref",
		"\"#/components/schemas/error\"");
	json_decref(o);
	o = of_route("get");
	assert_null(json_object_get(json_object_get(o, "responses"), "415"));
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_have_kind_range_and_default),
		cmocka_unit_test(bodies_say_which_keys_are_needed),
		cmocka_unit_test(answers_and_errors_have_their_content_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
