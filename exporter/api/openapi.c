#include "exporter/api/openapi.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/core/json.h"
#include "exporter/core/json_key.h"
#include "exporter/core/version.h"

#define TEXT_MAX     4096
#define STATUSES_MAX 32

/* Regular expressions of ECMA-262. */
#define PATTERN_PLAIN "^[^\\u0000-\\u001f\\u007f]*$" /* no control characters */
#define PATTERN_CORES "^[0-9]+([.][0-9]+)?m?$"
#define PATTERN_TIME                                                                               \
	"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]*)?(Z|[+-][0-9:]+)$"
#define PATTERN_SIZE "^[0-9]+([.][0-9]+)? ?([kKMGTPE]i?)?B?$"

/* A route_error.code for replies that libmicrohttpd sends itself, before this program sees the
 * request: a URL or a header is too long. These replies have no content type. */
#define NO_CONTENT ""

/* Errors that a request to any route may get: from exporter/site/site.c and change.c, and from
 * exporter/http before a route is called. */
static const struct common_error {
	struct route_error error;
	const char *method; /* NULL = any */
} common_errors[] = {
	{{400, "bad_path"}, NULL},
	{{400, "bad_parameter"}, NULL},
	{{400, "bad_request"}, NULL},
	{{401, "unauthorized"}, NULL},
	{{401, "not_allowed"}, NULL},
	{{403, "bad_host"}, NULL},
	{{403, "not_allowed"}, NULL},
	{{403, "cross_origin"}, "post"},
	{{413, "too_large"}, NULL},
	{{414, NO_CONTENT}, NULL},
	{{415, "unsupported_media_type"}, "post"},
	{{422, "too_large"}, NULL},
	{{429, "too_many_requests"}, NULL},
	{{431, NO_CONTENT}, NULL},
	{{500, "internal"}, NULL},
	{{500, "bad_web_config"}, NULL},
	{{503, "overloaded"}, NULL},
	{{503, "too_many_failures"}, NULL},
	{{503, "not_allowed"}, "post"},
};

static const struct {
	int status;
	const char *words;
} status_words[] = {
	{200, "The answer"},
	{201, "The answer, for something new"},
	{400, "The request is wrong; the message says what is accepted"},
	{401, "A password, or the token for changes, is missing or wrong"},
	{403, "This client may not do this"},
	{404, "There is no such thing"},
	{409, "Something else has this already"},
	{413, "The body is too large"},
	{414, "The path with its parameters is too long"},
	{415, "The body is not JSON"},
	{422, "The answer would be too large"},
	{429, "Too many requests"},
	{431, "The headers are too large"},
	{500, "The exporter failed"},
	{503, "Not possible at the moment; try again"},
};

static const char *words_of(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(status_words); i++)
		if (status_words[i].status == status)
			return status_words[i].words;
	return "An error";
}

/* ---- schemas ---- */

static json_t *typed(const char *type, bool or_null)
{
	json_t *o = json_object();

	if (or_null)
		json_put(o, "type", json_pack("[s,s]", type, "null"));
	else
		json_put(o, "type", json_text(type));
	return o;
}

static void put_range(json_t *o, double least, double most)
{
	if (isfinite(least))
		json_put(o, "minimum", json_num(least));
	if (isfinite(most))
		json_put(o, "maximum", json_num(most));
}

/* Makes the schema of a text of `least` to `most` bytes; `most` 0 = no maximum. OpenAPI counts
 * characters, which may have several bytes, so the schema has a minimum of 0 or 1. It accepts some
 * texts that the route refuses as too short or too long. */
static json_t *text_schema(double least, double most, bool or_null)
{
	json_t *o = typed("string", or_null);

	if (least > 0)
		json_put(o, "minLength", json_num(1));
	if (most > 0) {
		json_put(o, "maxLength", json_num(most));
		json_put(o, "pattern", json_text(PATTERN_PLAIN));
	}
	return o;
}

static json_t *number_schema(const char *type, double least, double most, bool or_null)
{
	json_t *o = typed(type, or_null);

	put_range(o, least, most);
	return o;
}

/* Makes the schema of a number, or of a text with a unit. */
static json_t *quantity_schema(const char *type, double least, double most, const char *pattern,
	bool or_null)
{
	json_t *o = json_object(), *any = json_array(), *text = typed("string", false);

	json_put(text, "pattern", json_text(pattern));
	json_push(any, number_schema(type, least, most, false));
	json_push(any, text);
	if (or_null)
		json_push(any, typed("null", false));
	json_put(o, "anyOf", any);
	return o;
}

static json_t *time_schema(bool or_null)
{
	json_t *o = typed("string", or_null);

	json_put(o, "format", json_text("date-time"));
	return o;
}

static json_t *choice_schema(const char *(*choice)(size_t i), bool or_null)
{
	json_t *o = typed("string", or_null), *words = json_array();

	for (size_t i = 0; choice(i); i++)
		json_push(words, json_text(choice(i)));
	if (or_null)
		json_push(words, json_null());
	json_put(o, "enum", words);
	return o;
}

static json_t *value_schema(const struct parameter *p)
{
	switch (p->kind) {
	case PARAMETER_TEXT:
		return text_schema(p->least, p->most, false);
	case PARAMETER_COUNT:
		return number_schema("integer", p->least, p->most, false);
	case PARAMETER_NUMBER:
		return number_schema("number", p->least, p->most, false);
	case PARAMETER_CORES:
		return quantity_schema("number", p->least, p->most, PATTERN_CORES, false);
	case PARAMETER_SIZE:
		return quantity_schema("number", p->least, p->most, PATTERN_SIZE, false);
	case PARAMETER_CHOICE:
		return choice_schema(p->choice, false);
	case PARAMETER_FLAG:
		return typed("boolean", false);
	}
	return json_object();
}

static json_t *fallback_json(const struct parameter *p)
{
	if (p->kind == PARAMETER_TEXT || p->kind == PARAMETER_CHOICE)
		return json_text(p->fallback);
	if (p->kind == PARAMETER_FLAG)
		return json_boolean(strcmp(p->fallback, "true") == 0 ||
				    strcmp(p->fallback, "1") == 0);
	return json_num(strtod(p->fallback, NULL));
}

static json_t *parameter_schema(const struct parameter *p)
{
	json_t *schema = value_schema(p), *list;

	if (p->fallback)
		json_put(schema, "default", fallback_json(p));
	if (!p->repeats)
		return schema;
	list = typed("array", false);
	json_put(list, "items", schema);
	json_put(list, "maxItems", json_num(PARAMETER_VALUES_MAX));
	return list;
}

static json_t *keys_schema(const struct json_key *keys, bool of_body, bool or_null);

/* Makes the schema of one key. A value that is not required may be null, because null counts as an
 * absent key. */
static json_t *bare_key_schema(const struct json_key *k, bool of_body)
{
	double least = of_body ? k->least : -INFINITY, most = of_body ? k->most : INFINITY;
	bool or_null = !k->required;

	switch (k->kind) {
	case KEY_TEXT:
		return text_schema(k->least, k->most, or_null);
	case KEY_WHOLE:
	case KEY_COUNT:
		return number_schema("integer", least, most, or_null);
	case KEY_NUMBER:
		return number_schema("number", least, most, or_null);
	case KEY_CORES:
		return quantity_schema("number", k->least, k->most, PATTERN_CORES, or_null);
	case KEY_BYTES:
		return quantity_schema("integer", k->least, k->most, PATTERN_SIZE, or_null);
	case KEY_FLAG:
		return typed("boolean", or_null);
	case KEY_CHOICE:
		return choice_schema(k->choice, or_null);
	case KEY_OBJECT:
		return k->members ? keys_schema(k->members, of_body, or_null) :
				    typed("object", or_null);
	case KEY_LIST:
		return typed("array", or_null);
	case KEY_TIME:
		return of_body ? quantity_schema("number", least, most, PATTERN_TIME, or_null) :
				 time_schema(or_null);
	case KEY_UNREAD:
		break;
	}
	return json_object();
}

static json_t *key_schema(const struct json_key *k, bool of_body)
{
	struct buf text AUTO(buf_done) = BUF_MAX(TEXT_MAX);
	json_t *o = bare_key_schema(k, of_body);

	buf_adds(&text, k->help);
	if (of_body && k->kind != KEY_UNREAD) {
		buf_adds(&text, ": ");
		json_key_accepts(k, &text);
	} else if (k->unit) {
		buf_addf(&text, ", in %s", k->unit);
	}
	json_put(o, "description", json_text(buf_text(&text)));
	return o;
}

static json_t *keys_schema(const struct json_key *keys, bool of_body, bool or_null)
{
	json_t *o = typed("object", or_null), *properties = json_object(), *required = json_array();
	json_t *others = of_body ? json_false() : NULL;

	for (const struct json_key *k = keys; k->name; k++) {
		if (strcmp(k->name, KEY_ANY) == 0) {
			json_decref(others);
			others = key_schema(k, of_body);
			continue;
		}
		json_put(properties, k->name, key_schema(k, of_body));
		if (k->required)
			json_push(required, json_text(k->name));
	}
	json_put(o, "properties", properties);
	if (json_array_size(required))
		json_put(o, "required", required);
	else
		json_decref(required);
	if (others)
		json_put(o, "additionalProperties", others);
	return o;
}

/* ---- parameters ---- */

static bool is_in_path(const char *path, const char *name)
{
	char part[128];

	snprintf(part, sizeof part, "{%s}", name);
	return strstr(path, part) != NULL;
}

static json_t *parameter_json(const char *path, const struct parameter *p)
{
	struct buf text AUTO(buf_done) = BUF_MAX(TEXT_MAX);
	bool in_path = is_in_path(path, p->name);
	json_t *o = json_object();

	buf_addf(&text, "%s: ", p->help);
	route_parameter_accepts(p, &text);
	if (p->repeats)
		buf_addf(&text, "; may be given several times, also as %s[]", p->name);
	for (size_t i = 0; i < ARRAY_LEN(p->also); i++)
		if (p->also[i])
			buf_addf(&text, "%s%s", i ? ", " : "; other names: ", p->also[i]);
	json_put(o, "name", json_text(p->name));
	json_put(o, "in", json_text(in_path ? "path" : "query"));
	if (in_path || p->required)
		json_put(o, "required", json_true());
	json_put(o, "description", json_text(buf_text(&text)));
	json_put(o, "schema", parameter_schema(p));
	return o;
}

static json_t *parameters_json(const char *path, const struct route *route)
{
	json_t *list = json_array();

	for (const struct parameter *p = route->parameters; p && p->name; p++)
		json_push(list, parameter_json(path, p));
	return list;
}

/* ---- answers ---- */

static void put_media(json_t *content, const char *content_type, json_t *take)
{
	char bare[128];
	json_t *media = json_object();

	snprintf(bare, sizeof bare, "%.*s", (int)strcspn(content_type, ";"), content_type);
	json_put(media, "schema", take);
	json_put(content, bare, media);
}

/* OpenAPI 3.1 cannot describe the events of a stream, so their schema allows everything. */
static void put_text(json_t *content, const char *content_type)
{
	bool stream = strcmp(content_type, "text/event-stream") == 0;

	put_media(content, content_type, stream ? json_object() : typed("string", false));
}

static json_t *json_answer_schema(const struct route *route)
{
	json_t *keys = keys_schema(route->gives, false, false);

	if (!route->other_json)
		return keys;
	return json_pack("{s:[o,o],s:s}", "anyOf", keys, typed("object", false), "description",
		"The keys are those of the default format");
}

static json_t *content_json(const struct route *route)
{
	json_t *content = json_object();

	if (route->content_type)
		put_text(content, route->content_type);
	for (size_t i = 0; route->content_types && route->content_types(i); i++)
		put_text(content, route->content_types(i));
	if (route->gives)
		put_media(content, "application/json", json_answer_schema(route));
	return content;
}

static void put_answer(json_t *responses, int status, const struct route *route)
{
	json_t *o = json_object();
	char key[16];

	snprintf(key, sizeof key, "%d", status);
	json_put(o, "description", json_text(words_of(status)));
	json_put(o, "content", content_json(route));
	json_put(responses, key, o);
}

/* Returns the list of error codes in `content`, the description of an error response. If there is
 * none yet, adds an empty list. */
static json_t *error_codes(json_t *content)
{
	json_t *media = json_object_get(content, "application/json"), *codes = json_array();

	if (media) {
		json_decref(codes);
		json_unpack(media, "{s:{s:{s:{s:{s:{s:o}}}}}}", "schema", "properties", "error",
			"properties", "code", "enum", &codes);
		return codes;
	}
	put_media(content, "application/json",
		json_pack("{s:s,s:{s:{s:{s:{s:o}}}}}", "$ref", "#/components/schemas/error",
			"properties", "error", "properties", "code", "enum", codes));
	return codes;
}

static void put_error(json_t *responses, const struct route_error *error)
{
	json_t *o, *content;
	char key[16];

	snprintf(key, sizeof key, "%d", error->status);
	o = json_object_get(responses, key);
	if (!o) {
		o = json_object();
		json_put(o, "description", json_text(words_of(error->status)));
		json_put(responses, key, o);
	}
	if (strcmp(error->code, NO_CONTENT) == 0)
		return;
	content = json_object_get(o, "content");
	if (!content) {
		content = json_object();
		json_put(o, "content", content);
	}
	if (strchr(error->code, '/'))
		put_text(content, error->code);
	else
		json_push(error_codes(content), json_text(error->code));
}

static json_t *body_schema(const struct route *route)
{
	json_t *one = keys_schema(route->body, true, false);

	if (!route->bodies)
		return one;
	return json_pack("{s:[o,{s:s,s:i,s:{s:[O,{s:s}]}}]}", "oneOf", one, "type", "array",
		"minItems", 1, "items", "anyOf", one, "description",
		"Another value: its place in the answer has an error");
}

static json_t *responses_json(const char *method, const struct route *route)
{
	json_t *o = json_object();

	put_answer(o, 200, route);
	if (route->creates)
		put_answer(o, 201, route);
	for (const struct route_error *e = route->errors; e && e->code; e++)
		put_error(o, e);
	for (size_t i = 0; i < ARRAY_LEN(common_errors); i++)
		if (!common_errors[i].method || strcmp(common_errors[i].method, method) == 0)
			put_error(o, &common_errors[i].error);
	return o;
}

/* ---- the document ---- */

/* Makes the id of an operation: "get_series_csv" for GET /series.csv. */
static json_t *operation_id(const char *method, const char *path)
{
	struct buf id AUTO(buf_done) = BUF_MAX(TEXT_MAX);

	buf_adds(&id, method);
	for (const char *c = path; *c; c++)
		if (isalnum((unsigned char)*c))
			buf_addc(&id, *c);
		else if (id.data[id.len - 1] != '_')
			buf_addc(&id, '_');
	return json_text(buf_text(&id));
}

/* Lists the accepted proofs of identity: a password or a token. The empty object stands for
 * requests that need none. Examples: a change by root over the Unix socket, and any change with
 * --web.allow-changes and no token file. */
static json_t *security_json(void)
{
	return json_pack("[{},{s:[]},{s:[]}]", "password", "token");
}

json_t *openapi_new(void)
{
	return json_pack(
		"{s:s,s:{s:s,s:s,s:s,s:{s:s,s:s}},s:{},s:{s:{s:{s:s,s:s},s:{s:s,s:s}},s:{s:{s:s,s:[s],s:{s:{s:s,"
		"s:[s,s],s:{s:{s:s},s:{s:s}},s:{s:s,s:{s:s}}}}}}}}",
		"openapi", "3.1.0", "info", "title", "rightsize-exporter", "version",
		version.version, "description",
		"What batch jobs use, and what to request for them next time. HEAD is answered like "
		"GET, without a body. A route refuses parameters that it does not know.",
		"license", "name", "Apache-2.0", "identifier", "Apache-2.0", "paths", "components",
		"securitySchemes", "password", "type", "http", "scheme", "basic", "token", "type",
		"http", "scheme", "bearer", "schemas", "error", "type", "object", "required",
		"error", "properties", "error", "type", "object", "required", "code", "message",
		"properties", "code", "type", "string", "message", "type", "string",
		"additionalProperties", "type", "array", "items", "type", "string");
}

void openapi_add(json_t *document, const char *method, const char *path, const struct route *route)
{
	json_t *paths = json_object_get(document, "paths"), *item = json_object_get(paths, path);
	json_t *o = json_object(), *parameters = parameters_json(path, route);

	if (!item) {
		item = json_object();
		json_put(paths, path, item);
	}
	json_put(o, "operationId", operation_id(method, path));
	json_put(o, "summary", json_text(route->help));
	if (json_array_size(parameters))
		json_put(o, "parameters", parameters);
	else
		json_decref(parameters);
	if (route->body) {
		json_t *content = json_object(), *body = json_object();

		put_media(content, "application/json", body_schema(route));
		json_put(body, "required", json_true());
		json_put(body, "content", content);
		json_put(o, "requestBody", body);
	}
	json_put(o, "responses", responses_json(method, route));
	json_put(o, "security", security_json());
	json_put(item, method, o);
}
