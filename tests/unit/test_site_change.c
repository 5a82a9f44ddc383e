/* exporter/site/change.c, exporter/api/json_body.c: who may change something, and which bodies are
 * accepted. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/api/json_body.h"
#include "exporter/core/json.h"
#include "exporter/site/site.h"

/* ---- changes of this test, instead of the real ones ---- */

static const struct parameter no_parameters[] = {{0}};
static const struct parameter id_parameters[] = {
	{.name = "id",
		.kind = PARAMETER_TEXT,
		.required = true,
		.least = 1,
		.most = 5,
		.help = "An id"},
	{0},
};

struct wanted {
	const char *name, *colour;
	double number, whole, size;
	const json_t *object;
};

static const char *colour(size_t i)
{
	static const char *const words[] = {"red", "blue", NULL};

	return words[i];
}

static const struct json_key keys[] = {
	{"name", KEY_TEXT, true, 1, 5, offsetof(struct wanted, name)},
	{"number", KEY_CORES, false, 0.5, 2, offsetof(struct wanted, number)},
	{"whole", KEY_WHOLE, false, 1, 9, offsetof(struct wanted, whole)},
	{"size", KEY_BYTES, false, 0, 1e10, offsetof(struct wanted, size)},
	{"colour", KEY_CHOICE, .offset = offsetof(struct wanted, colour), .choice = colour},
	{"object", KEY_OBJECT, false, 0, 0, offsetof(struct wanted, object)},
	{0},
};

static int set(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	struct wanted w = {.number = -1, .size = -1};
	json_t *body = json_body_parse(a->body, r);

	(void)app;
	(void)e;
	if (body && json_body_read(body, "the body", keys, &w, r))
		buf_addf(&r->body, "%s %g %.0f%s%s", w.name, w.number, w.size, w.colour ? " " : "",
			w.colour ? w.colour : "");
	json_decref(body);
	return 0;
}

static int end(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	(void)app;
	(void)e;
	buf_addf(&r->body, "ended %s", argument_text(a, "id"));
	return 0;
}

static const struct route route_set = {
	"/set", NULL, "Sets", no_parameters, set, .takes_long = true};
static const struct route route_end = {"/runs/{id}/end", NULL, "Ends", id_parameters, end};
static const struct route route_both = {"/both", NULL, "Reads or sets", no_parameters, set};
const struct route *const all_routes[] = {&route_both, NULL};
const struct route *const all_changes[] = {&route_set, &route_end, &route_both, NULL};

struct fixture {
	struct options options;
	struct app app;
	struct site *site;
};

static int begin(void **state)
{
	static const char *names[] = {"batch.example"};
	struct fixture *f = xcalloc(1, sizeof *f);

	f->options.telemetry_path = "/metrics";
	f->options.allow_changes = true;
	f->options.allowed_hosts = (struct text_list){.n = 1, .text = names};
	f->app = APP_INIT;
	f->app.options = &f->options;
	f->site = site_new(&f->app);
	*state = f;
	return 0;
}

static int finish(void **state)
{
	struct fixture *f = *state;

	site_free(f->site);
	free(f);
	return 0;
}

static void check(struct fixture *f, const char *target, struct http_request r, int status,
	const char *holds)
{
	AUTO(freep) char *copy = xstrdup(target);
	struct http_answer a;

	r.target = copy;
	if (!r.method)
		r.method = "POST";
	site_answer(f->site, &r, &a);
	if (a.status != status || !memmem(a.body->data, a.body->len, holds, strlen(holds)))
		fail_msg("%s %s: %d %.*s", r.method, target, a.status, (int)a.body->len,
			a.body->data);
	assert_int_equal(a.allow != NULL, status == 405);
	shared_drop(&a.body->shared);
}

#define JSON(text) .content_type = "application/json", .body = {text, sizeof(text) - 1}
#define GOOD       JSON("{\"name\":\"a\"}")

static void metrics_hide_no_change(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};

	f->options.telemetry_path = route_both.path;
	assert_int_equal(site_check_options(&f->options, &e), -EINVAL);
	assert_non_null(strstr(e.text, "nothing else"));
}

static void only_whom_we_trust_may_change(void **state)
{
	static const struct {
		struct http_request r;
		bool closed; /* without --web.allow-changes */
		int status;
		const char *holds;
	} table[] = {
		{{.host = "127.0.0.1:9877", GOOD}, false, 200, "a -1"},
		{{.host = "[::1]:9877", GOOD}, false, 200, "a -1"},
		{{.host = "localhost", GOOD}, false, 200, "a -1"},
		{{.host = "Batch.example:80", GOOD}, false, 200, "a -1"},
		{{.host = "127.0.0.1:9877", GOOD}, true, 403, "not_allowed"},
		{{.host = NULL, GOOD}, false, 403, "bad_host"},
		{{.host = "", GOOD}, false, 403, "bad_host"},
		{{.host = "rebound.example:9877", GOOD}, false, 403, "bad_host"},
		{{.host = "127.0.0.1.rebound.example", GOOD}, false, 403, "bad_host"},
		{{.host = "localhost", .origin = "http://localhost", GOOD}, false, 200, "a -1"},
		{{.host = "localhost", .origin = "http://elsewhere.example", GOOD}, false, 403,
			"cross_origin"},
		{{.host = "localhost", .origin = "null", GOOD}, false, 403, "cross_origin"},
		{{.host = "localhost", .fetch_site = "same-origin", GOOD}, false, 200, "a -1"},
		{{.host = "localhost", .fetch_site = "cross-site", GOOD}, false, 403,
			"cross_origin"},
		{{.host = "localhost", .body = {"{\"name\":\"a\"}", 12}}, false, 415,
			"application/json"},
		{{.host = "localhost", .content_type = "text/plain", .body = {"{}", 2}}, false, 415,
			"application/json"},
		{{.host = "localhost", .body_too_large = true, GOOD}, false, 413, "too_large"},
		{{.host = "127.0.0.1:9877", .user = true, GOOD}, true, 200, "a -1"},
		{{.host = "exporter.example", .user = true, GOOD}, true, 200, "a -1"},
		{{.host = "exporter.example",
			 .user = true,
			 .origin = "http://elsewhere.example",
			 GOOD},
			true, 403, "cross_origin"},
		{{.host = "exporter.example", .user = true, .fetch_site = "cross-site", GOOD}, true,
			403, "cross_origin"},
		{{.peer = {.local = true, .uid = 4711}, .user = true, GOOD}, true, 403,
			"not_allowed"},
		{{.peer = {.local = true, .uid = 0}, GOOD}, true, 200, "a -1"},
		{{.peer = {.local = true, .uid = 4711}, GOOD}, false, 403, "not_allowed"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		f->options.allow_changes = !table[i].closed;
		check(f, "/set", table[i].r, table[i].status, table[i].holds);
	}
	f->options.allow_changes = false;
	check(f, "/set", (struct http_request){.peer = {.local = true, .uid = geteuid()}, GOOD},
		200, "a -1");
}

static void other_methods_are_told_which_there_are(void **state)
{
	static const struct {
		const char *target, *method, *holds;
	} table[] = {
		{"/both", "DELETE", "only GET, HEAD, POST are answered here"},
		{"/both?x=1", "PUT", "only GET, HEAD, POST are answered here"},
		{"/set", "PUT", "only POST is answered here"},
		{"/set", "GET", "only POST is answered here"},
		{"/runs/7/end", "PATCH", "only POST is answered here"},
		{"/metrics", "POST", "only GET, HEAD are answered here"},
		{"/%zz", "PUT", "only GET, HEAD are answered here"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		check(f, table[i].target,
			(struct http_request){.method = table[i].method, .host = "localhost", GOOD},
			405, table[i].holds);
}

static void body_is_only_read_of_whom_it_helps(void **state)
{
	struct fixture *f = *state;
	char set_path[] = "/set?x=1", other[] = "/other";
	struct http_request r = {.method = "POST", .target = set_path, .host = "localhost"};
	bool by_token;

	char escaped[] = "/%73et", absolute[] = "http://localhost/set", bad[] = "/set%zz";

	assert_true(site_takes_body(f->site, &r, &by_token));
	r.target = escaped;
	assert_true(site_takes_body(f->site, &r, &by_token));
	r.target = absolute;
	assert_true(site_takes_body(f->site, &r, &by_token));
	r.target = bad;
	assert_false(site_takes_body(f->site, &r, &by_token));
	r.target = other;
	assert_false(site_takes_body(f->site, &r, &by_token));
	r.target = set_path;
	r.host = "rebound.example";
	assert_false(site_takes_body(f->site, &r, &by_token));
	r.host = "localhost";
	r.method = "PUT";
	assert_false(site_takes_body(f->site, &r, &by_token));
	r.method = "POST";
	f->options.allow_changes = false;
	assert_false(site_takes_body(f->site, &r, &by_token));
	assert_false(by_token);
}

static void path_names_what_is_changed(void **state)
{
	static const struct {
		const char *target, *method;
		int status;
		const char *holds;
	} table[] = {
		{"/runs/abc/end", NULL, 200, "ended abc"},
		{"/runs/a%20b/end", NULL, 200, "ended a b"},
		{"/runs/abcdef/end", NULL, 400, "bad_parameter"},
		{"/runs/abc/end?id=x", NULL, 400, "bad_parameter"},
		{"/runs/abc/end?y=x", NULL, 400, "bad_parameter"},
		{"/runs//end", NULL, 405, "GET, HEAD"},
		{"/runs/abc/end/", NULL, 405, "GET, HEAD"},
		{"/runs/abc", NULL, 405, "GET, HEAD"},
		{"/runs/abc/end", "GET", 405, "only POST"},
		{"/runs/abc/end", "DELETE", 405, "only POST"},
		{"/set", "GET", 405, "only POST"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		check(*state, table[i].target,
			(struct http_request){.host = "localhost", .method = table[i].method},
			table[i].status, table[i].holds);
}

static void body_says_what_is_wrong_with_it(void **state)
{
#define BODY(text)                                                                                 \
	{                                                                                          \
		.host = "localhost", JSON(text)                                                    \
	}
	static const struct {
		struct http_request r;
		int status;
		const char *holds;
	} table[] = {
		{BODY("{\"name\":\"abc\",\"number\":1.5}"), 200, "abc 1.5"},
		{BODY("{\"name\":\"abc\",\"number\":null}"), 200, "abc -1"},
		{BODY(""), 400, "it is empty"},
		{BODY("[]"), 400, "must be a JSON object"},
		{BODY("{\n\n\"name\":}"), 400, "line 3"},
		{BODY("{\"name\":\"a\",\"name\":\"b\"}"), 400, "bad_body"},
		{BODY("{}"), 400, "needs name: a text of 1 to 5 bytes"},
		{BODY("{\"name\":\"\"}"), 400, "name of the body: accepted is a text"},
		{BODY("{\"name\":\"abcdef\"}"), 400, "accepted is a text"},
		{BODY("{\"name\":\"a\\u0000b\"}"), 400, "bad_body"},
		{BODY("{\"name\":\"a\\nb\"}"), 400, "without control characters"},
		{BODY("{\"name\":1}"), 400, "accepted is a text"},
		{BODY("{\"name\":\"a\",\"number\":\"1\"}"), 200, "a 1 -1"},
		{BODY("{\"name\":\"a\",\"number\":\"500m\"}"), 200, "a 0.5 -1"},
		{BODY("{\"name\":\"a\",\"number\":\"499m\"}"), 400, "from 0.5 to 2"},
		{BODY("{\"name\":\"a\",\"number\":\"1\\u0000\"}"), 400, "bad_body"},
		{BODY("{\"name\":\"a\",\"number\":3}"), 400,
			"a number of cores, or a text such as \\\"500m\\\", from 0.5 to 2"},
		{BODY("{\"name\":\"a\",\"size\":\"4Gi\"}"), 200, "a -1 4294967296"},
		{BODY("{\"name\":\"a\",\"size\":\"8GB\"}"), 200, "a -1 8000000000"},
		{BODY("{\"name\":\"a\",\"size\":4096}"), 200, "a -1 4096"},
		{BODY("{\"name\":\"a\",\"size\":0}"), 200, "a -1 0"},
		{BODY("{\"name\":\"a\",\"colour\":\"blue\"}"), 200, "a -1 -1 blue"},
		{BODY("{\"name\":\"a\",\"colour\":null}"), 200, "a -1 -1"},
		{BODY("{\"name\":\"a\",\"colour\":\"Blue\"}"), 400, "red or blue"},
		{BODY("{\"name\":\"a\",\"colour\":1}"), 400, "red or blue"},
		{BODY("{\"name\":\"a\",\"size\":null}"), 200, "a -1 -1"},
		{BODY("{\"name\":\"a\",\"size\":1.5}"), 400, "a whole number of bytes"},
		{BODY("{\"name\":\"a\",\"size\":\"\"}"), 400, "a whole number of bytes"},
		{BODY("{\"name\":\"a\",\"size\":\"8XB\"}"), 400,
			"a whole number of bytes, or a text such as \\\"512M\\\", \\\"4Gi\\\" "
			"or \\\"8GB\\\", from 0 to 10000000000"},
		{BODY("{\"name\":\"a\",\"size\":\"10Gi\"}"), 400, "from 0 to 10000000000"},
		{BODY("{\"name\":\"a\",\"whole\":1.5}"), 400, "a whole number from 1 to 9"},
		{BODY("{\"name\":\"a\",\"object\":[]}"), 400, "an object"},
		{BODY("{\"name\":\"a\",\"nme\":1}"), 400,
			"no key \\\"nme\\\"; there are: name, number"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		check(*state, "/set", table[i].r, table[i].status, table[i].holds);
}

static void change_that_takes_long_is_for_another_thread(void **state)
{
	static const struct {
		const char *method, *target;
		bool takes_long;
	} table[] = {
		{"POST", "/set", true},
		{"POST", "/set?a=b", true},
		{"POST", "/runs/1/end", false},
		{"POST", "/elsewhere", false},
		{"GET", "/set", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(freep) char *target = xstrdup(table[i].target);

		assert_int_equal(site_way_of(&(struct http_request){
					 .method = table[i].method, .target = target}),
			table[i].takes_long ? SITE_LATER : SITE_AT_ONCE);
	}
}

/* The nesting is as deep as the longest body allows, deeper than any stack. */
static void a_deep_body_is_refused(void **state)
{
	static const char *const pieces[] = {"[", "{\"name\":", "{\"object\":[", "[{},"};
	static char text[CHANGE_BODY_MAX];

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		size_t n = strlen(pieces[i]), len = 0;

		for (; len + n <= sizeof text; len += n)
			memcpy(text + len, pieces[i], n);
		check(*state, "/set",
			(struct http_request){.host = "localhost",
				.method = "POST",
				.content_type = "application/json",
				.body = {text, len}},
			400, "bad_body");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_whom_we_trust_may_change, begin, finish),
		cmocka_unit_test_setup_teardown(other_methods_are_told_which_there_are, begin,
			finish),
		cmocka_unit_test_setup_teardown(metrics_hide_no_change, begin, finish),
		cmocka_unit_test_setup_teardown(body_is_only_read_of_whom_it_helps, begin, finish),
		cmocka_unit_test_setup_teardown(path_names_what_is_changed, begin, finish),
		cmocka_unit_test_setup_teardown(body_says_what_is_wrong_with_it, begin, finish),
		cmocka_unit_test(change_that_takes_long_is_for_another_thread),
		cmocka_unit_test_setup_teardown(a_deep_body_is_refused, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
