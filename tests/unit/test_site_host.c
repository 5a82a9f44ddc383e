/* exporter/site: under which Host names the site answers. */
#include "tests/unit/test_main.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/site/site.h"

static const struct parameter no_parameters[] = {{0}};

static int echo(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	(void)app;
	(void)a;
	(void)e;
	buf_adds(&r->body, "usage of jobs");
	return 0;
}

static const struct route route_echo = {"/echo", NULL, "Says something", no_parameters, echo};
const struct route *const all_routes[] = {&route_echo, NULL};
const struct route *const all_changes[] = {NULL};

static bool holds(const struct http_answer *a, const char *text)
{
	return memmem(a->body->data, a->body->len, text, strlen(text)) != NULL;
}

static void a_page_that_got_here_by_a_rebound_name_reads_nothing(void **state)
{
	static const char *names[] = {"usage.example"};
	static const struct {
		const char *host;
		bool loopback, vouched, unix_socket;
		int status, with_names; /* status without --web.allowed-host, and with it */
	} table[] = {
		{"rebound.example", true, false, false, 403, 403},
		{"rebound.example", false, false, false, 200, 403},
		{"rebound.example", true, true, false, 200, 200},
		{"rebound.example", true, false, true, 200, 200},
		{"", true, false, false, 403, 403},
		{"rebound.\"\xff", true, false, false, 403, 403},
		{"usage.example:80", true, false, false, 403, 200},
		{"usage.example:80", false, false, false, 200, 200},
		{"127.0.0.1:9877", true, false, false, 200, 200},
		{"192.0.2.1", false, false, false, 200, 200},
		{NULL, true, false, false, 200, 200},
	};
	static const char *const targets[] = {"/", "/echo", "/web/app.js"};
	struct options options = {.telemetry_path = "/metrics"};
	struct app app = APP_INIT;

	app.options = &options;
	struct site *site = site_new(&app);

	for (size_t i = 0; i < 2 * ARRAY_LEN(table) * ARRAY_LEN(targets); i++) {
		size_t row = i / 2 % ARRAY_LEN(table);
		AUTO(freep) char *target = xstrdup(targets[i / 2 / ARRAY_LEN(table)]);
		struct http_request r = {.method = "GET",
			.target = target,
			.host = table[row].host,
			.loopback = table[row].loopback,
			.vouched = table[row].vouched,
			.peer.local = table[row].unix_socket};
		int status = i % 2 ? table[row].with_names : table[row].status;
		struct http_answer a;

		options.allowed_hosts = (struct text_list){i % 2, names};
		site_answer(site, &r, &a);
		if (a.status != status ||
			(status == 403 &&
				!(holds(&a, "bad_host") && holds(&a, "--web.allowed-host"))))
			fail_msg("row %zu %s: %d", row, target, a.status);
		shared_drop(&a.body->shared);
	}
	site_free(site);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_that_got_here_by_a_rebound_name_reads_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
