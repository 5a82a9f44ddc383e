/* exporter/forward/to_exporter.c: which answers mean that a run is not sent again. */
#include "tests/unit/test_main.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/client/download.h"
#include "exporter/forward/to_exporter.h"

#define OURS(code) "{\"error\": {\"code\": \"" code "\", \"message\": \"m\"}}"

static void only_an_exporter_refuses_a_run_for_good(void **state)
{
	static const struct {
		int status;
		const char *body;
		bool refusal;
	} table[] = {
		{400, OURS("bad_body"), true},
		{413, OURS("too_large"), true},
		{400, OURS("bad_host"), false},
		{400, OURS("bad_request"), false},
		{413, OURS("bad_body"), false},
		{503, OURS("bad_body"), false},
		{200, OURS("bad_body"), false},
		{400, "<html>The plain HTTP request was sent to HTTPS port</html>", false},
		{413, "<html>413 Request Entity Too Large</html>", false},
		{422, "{\"detail\": []}", false},
		{400, "", false},
		{400, "[]", false},
		{400, "{\"error\": \"bad_body\"}", false},
		{400, "{\"error\": {\"code\": 1}}", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct http_response a = {.status = table[i].status, .body = BUF_MAX(1024)};

		buf_adds(&a.body, table[i].body);
		if (forward_is_refusal(&a) != table[i].refusal)
			fail_msg("%d %s", table[i].status, table[i].body);
		buf_done(&a.body);
	}
}

static void only_an_exporter_that_names_the_run_has_it(void **state)
{
	static const struct {
		int status;
		const char *body;
		bool accepted;
	} table[] = {
		{201, "{\"run_id\": \"r1\", \"known\": false}", true},
		{200, "{\"run_id\": \"r1\", \"known\": true}", true},
		{200, "{\"run_id\": \"r2\", \"known\": true}", false},
		{202, "{\"run_id\": \"r1\"}", false},
		{500, "{\"run_id\": \"r1\"}", false},
		{200, "{\"run_id\": 1}", false},
		{200, "ok", false},
		{200, "", false},
		{204, "", false},
		{200, "<html>Welcome</html>", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct http_response a = {.status = table[i].status, .body = BUF_MAX(1024)};

		buf_adds(&a.body, table[i].body);
		if (forward_is_accepted(&a, "r1") != table[i].accepted)
			fail_msg("%d %s", table[i].status, table[i].body);
		buf_done(&a.body);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_an_exporter_refuses_a_run_for_good),
		cmocka_unit_test(only_an_exporter_that_names_the_run_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
