/* exporter/http/http.c: the site on real sockets, with clients that behave badly. */
#include "tests/unit/test_main.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/http/http.h"
#include "exporter/api/route.h"
#include "tests/support/fake_log.h"
#include "tests/support/fake_sampler.h"
#include "tests/support/http_world.h"

#define OM_1_ACCEPT "Accept: application/openmetrics-text;version=1.0.0\r\n"

/* These tests need no routes. */
const struct route *const all_routes[] = {NULL};
const struct route *const all_changes[] = {NULL};

static size_t times(const struct buf *b, const char *text)
{
	size_t n = 0;

	for (const char *p = buf_text(b); (p = strstr(p, text)); p += strlen(text))
		n++;
	return n;
}

static const char *body_of(const struct buf *reply)
{
	const char *blank = strstr(buf_text(reply), "\r\n\r\n");

	return blank ? blank + 4 : "";
}

static void answers_have_their_headers(void **state)
{
	static const struct {
		const char *method, *target, *headers;
		int status;
		const char *has[4], *lacks[3];
	} table[] = {
		{"GET", "/metrics", "", 200,
			{"Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n",
				"Vary: Accept, Accept-Encoding\r\n",
				"X-Content-Type-Options: nosniff\r\n", "rightsize_cats{"},
			{"Content-Encoding", "Allow", "\n# EOF"}},
		{"GET", "/metrics", OM_1_ACCEPT, 200,
			{"Content-Type: application/openmetrics-text; version=1.0.0; "
			 "charset=utf-8\r\n",
				"\n# EOF\n"},
			{NULL}},
		{"GET", "/metrics", "Accept: junk;;q=\x01,\xff\r\n", 200, {"version=0.0.4"},
			{NULL}},
		/* the body is too small to be compressed */
		{"GET", "/metrics", "Accept-Encoding: gzip\r\n", 200, {"rightsize_cats{"},
			{"Content-Encoding"}},
		{"HEAD", "/metrics", "", 200, {"Content-Length: "}, {"rightsize_cats"}},
		{"GET", "/", "", 200, {"Content-Type: text/html", "Cache-Control: no-store\r\n"},
			{"Vary"}},
		{"GET", "/nothing", "", 404,
			{"Content-Type: application/json; charset=utf-8\r\n", "not_found"},
			{"Vary"}},
		{"GET", "/metrics%00x", "", 400, {"bad_path"}, {NULL}},
		{"GET", "/metrics?collect[]=wolves", "", 400, {"wolves"}, {NULL}},
		{"POST", "/metrics", "", 405, {"Allow: GET, HEAD\r\n", "method_not_allowed"},
			{NULL}},
		{"DELETE", "/", "", 405, {"Allow: GET, HEAD\r\n"}, {NULL}},
		{"BREW", "/", "", 405, {"Allow: GET, HEAD\r\n"}, {NULL}},
	};
	struct http_world *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(buf_done)
		struct buf reply = http_get(f, table[i].method, table[i].target, table[i].headers);

		if (http_status_of(&reply) != table[i].status)
			fail_msg("%s %s: %s", table[i].method, table[i].target, buf_text(&reply));
		for (size_t k = 0; k < 4 && table[i].has[k]; k++)
			if (!strstr(buf_text(&reply), table[i].has[k]))
				fail_msg("%s lacks %s: %s", table[i].target, table[i].has[k],
					buf_text(&reply));
		for (size_t k = 0; k < 3 && table[i].lacks[k]; k++)
			if (strstr(buf_text(&reply), table[i].lacks[k]))
				fail_msg("%s has %s: %s", table[i].target, table[i].lacks[k],
					buf_text(&reply));
	}
}

static void head_has_no_body(void **state)
{
	AUTO(buf_done) struct buf reply = http_get(*state, "HEAD", "/metrics", "");

	assert_string_equal(body_of(&reply), "");
}

static void old_and_hasty_clients_are_answered(void **state)
{
	static const struct {
		const char *request;
		size_t answers;
	} table[] = {
		{"GET /-/ready HTTP/1.0\r\n\r\n", 1},
		{"GET http://localhost/-/ready HTTP/1.1\r\nHost: localhost\r\nConnection: "
		 "close\r\n\r\n",
			1},
		/* three requests at once on one connection */
		{"GET /-/ready HTTP/1.1\r\nHost: localhost\r\n\r\nHEAD /-/ready HTTP/1.1\r\nHost: "
		 "localhost\r\n\r\n"
		 "GET /-/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
			3},
		/* the body of a GET is ignored, and the next request is still understood */
		{"GET /-/ready HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
		 "GET /-/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
			2},
		{"GET /-/ready HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
		 "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
		 "GET /-/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
			2},
	};
	struct http_world *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf reply = http_talk(f, table[i].request, strlen(table[i].request));

		if (times(&reply, " 200 OK\r\n") != table[i].answers)
			fail_msg("%s: %s", table[i].request, buf_text(&reply));
		buf_done(&reply);
	}
}

static void assert_serves(struct http_world *f)
{
	AUTO(buf_done) struct buf reply = http_get(f, "GET", "/metrics", "");

	assert_int_equal(http_status_of(&reply), 200);
}

static void bad_requests_get_an_error_and_harm_nobody(void **state)
{
#define BYTES(text) text, sizeof(text) - 1
	static const struct {
		const char *request;
		size_t len;
		int status; /* 0 = the client closes without waiting for an answer */
	} table[] = {
		{BYTES(""), 0},
		{BYTES("\r\n\r\n"), 0},
		{BYTES("GET"), 0},
		{BYTES("GET\r\n\r\n"), 0},
		{BYTES("GET /metrics HTTP/1.1\r\nHo"), 0},
		{BYTES("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), 0},
		{BYTES("\0\0\0\0\0\0\0\0\r\n\r\n"), 0},
		{BYTES("GET /metrics HTTP/9.9\r\nHost: localhost\r\n\r\n"), 505},
		{BYTES("GET /metrics HTTP/1.1\r\n\r\n"), 400},
		{BYTES("GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"),
			400},
		{BYTES("POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
		       "99999999999\r\n\r\nx"),
			405},
		{BYTES("POST /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
		       "chunked\r\n\r\nZZ\r\n"),
			405},
	};
	struct http_world *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf reply = BUF_MAX(HTTP_WORLD_REPLY_MAX);
		int fd = http_connect(f->port);

		http_send_all(fd, table[i].request, table[i].len);
		if (table[i].status)
			http_receive_all(fd, &reply);
		close(fd);
		if (http_status_of(&reply) != table[i].status)
			fail_msg("row %zu: %s", i, buf_text(&reply));
		buf_done(&reply);
		assert_serves(f);
	}
}

static void what_is_too_large_is_refused(void **state)
{
	static const char *const formats[] = {"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /metrics?name[]=%s HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n"};
	struct http_world *f = *state;
	AUTO(freep) char *large = xmalloc(100001);

	memset(large, 'y', 100000);
	large[100000] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		struct buf request = BUF_MAX(HTTP_WORLD_REPLY_MAX);
		char piece[100];
		const char *gap = strstr(formats[i], "%s");

		snprintf(piece, sizeof piece, "%.*s", (int)(gap - formats[i]), formats[i]);
		buf_adds(&request, piece);
		buf_adds(&request, large);
		buf_adds(&request, gap + 2);
		struct buf reply = http_talk(f, buf_text(&request), request.len);

		/* The connection may be reset before the reply was read. */
		assert_true(http_status_of(&reply) == 0 || http_status_of(&reply) >= 400);
		buf_done(&reply);
		buf_done(&request);
		assert_serves(f);
	}
}

static void many_parameters_are_refused(void **state)
{
	AUTO(buf_done) struct buf target = BUF_MAX(HTTP_WORLD_REPLY_MAX);

	buf_adds(&target, "/metrics?name[]=a");
	for (int i = 0; i < 200; i++)
		buf_adds(&target, "&name[]=a");
	struct buf reply = http_get(*state, "GET", buf_text(&target), "");

	assert_int_equal(http_status_of(&reply), 400);
	assert_non_null(strstr(buf_text(&reply), "more than 64 times"));
	buf_done(&reply);
}

static void slow_clients_do_not_stop_the_others(void **state)
{
	struct http_world *f = *state;
	int slow[100];

	for (size_t i = 0; i < ARRAY_LEN(slow); i++) {
		slow[i] = http_connect(f->port);
		http_send_all(slow[i], "GET /metr", i % 10);
	}
	assert_serves(f);
	for (size_t i = 0; i < ARRAY_LEN(slow); i++)
		close(slow[i]);
	assert_serves(f);
}

/* ---- several clients at once ---- */

struct scraper {
	pthread_t thread;
	struct http_world *f;
	bool openmetrics;
	int bad;
};

static void *scrape(void *context)
{
	struct scraper *s = context;

	for (int i = 0; i < 20; i++) {
		struct buf reply = http_get(s->f, "GET", "/metrics",
			s->openmetrics ? OM_1_ACCEPT "X-Prometheus-Scrape-Timeout-Seconds: 10\r\n" :
					 "");
		bool whole = strstr(body_of(&reply), "collector=\"birds\"} 2\n") != NULL;
		bool ended = strstr(body_of(&reply), "\n# EOF\n") != NULL;

		s->bad += http_status_of(&reply) != 200 || !whole || ended != s->openmetrics;
		buf_done(&reply);
	}
	return NULL;
}

static void scrapers_at_once_all_get_whole_answers(void **state)
{
	struct scraper scrapers[64];

	for (size_t i = 0; i < ARRAY_LEN(scrapers); i++) {
		scrapers[i] = (struct scraper){.f = *state, .openmetrics = i % 2};
		assert_int_equal(pthread_create(&scrapers[i].thread, NULL, scrape, &scrapers[i]),
			0);
	}
	for (size_t i = 0; i < ARRAY_LEN(scrapers); i++) {
		pthread_join(scrapers[i].thread, NULL);
		assert_int_equal(scrapers[i].bad, 0);
	}
	struct http_world *f = *state;

	/* `http_stop` waits until the last scrape has ended. Each scrape reports which snapshot it
	 * sent. */
	http_stop(f->http);
	f->http = NULL;
	assert_true(fake_sampler_scraped(f->app.sampler) > 0);
	assert_true(fake_sampler_scraped(f->app.sampler) <=
		    fake_sampler_generation(f->app.sampler));
}

static void a_client_that_leaves_was_not_served(void **state)
{
	struct http_world *f = *state;
	struct linger reset = {1, 0};
	static const char request[] =
		"GET /metrics HTTP/1.1\r\nX-Prometheus-Scrape-Timeout-Seconds: 10\r\n";
	int fd = http_connect(f->port);

	/* The client sends an incomplete request and resets the connection. */
	http_send_all(fd, request, sizeof request - 1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	close(fd);
	assert_serves(f);
	http_stop(f->http);
	f->http = NULL;
	assert_int_equal(fake_sampler_scraped(f->app.sampler), 0);
}

/* ---- addresses ---- */

static void an_address_in_use_is_named(void **state)
{
	struct http_world *f = *state;
	const char *mine[] = {"127.0.0.1:0", http_address(f->http, 0)};
	struct text_list addresses = {2, mine};
	struct http *second = NULL;
	struct err e = {0};

	assert_int_equal(http_start(&second, &f->app, &addresses, &e), -EADDRINUSE);
	assert_null(second);
	assert_non_null(strstr(e.text, mine[1]));
	assert_non_null(strstr(e.text, "in use"));
}

static void several_addresses_are_served(void **state)
{
	struct http_world *f = *state;
	const char *two[] = {"127.0.0.1:0", "127.0.0.1:0"};
	struct text_list addresses = {2, two};
	struct http *second;

	fake_log_clear();
	assert_int_equal(http_start(&second, &f->app, &addresses, NULL), 0);
	assert_null(http_address(second, 2));
	uint16_t own = f->port;

	for (size_t i = 0; i < 2; i++) {
		char line[200];

		snprintf(line, sizeof line, "listening address=%s\n", http_address(second, i));
		assert_non_null(strstr(fake_log(), line));
		f->port = http_port_of(http_address(second, i));
		assert_serves(f);
	}
	f->port = own;
	http_stop(second);
}

static void the_page_of_every_address_is_one_that_a_browser_opens(void **state)
{
	static const struct {
		const char *listen, *page;
	} cases[] = {{"127.0.0.1:0", "http://127.0.0.1:"}, {"0.0.0.0:0", "http://localhost:"},
		{"[::]:0", "http://localhost:"}, {"[::1]:0", "http://[::1]:"}};
	struct http_world *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct text_list one = {1, (const char *[]){cases[i].listen}};
		const char *address = NULL, *url;
		struct http *second;
		char text[100];

		assert_int_equal(http_start(&second, &f->app, &one, NULL), 0);
		url = http_page_url(second, &address);
		assert_ptr_equal(address, http_address(second, 0));
		snprintf(text, sizeof text, "%s%s/", cases[i].page, strrchr(address, ':') + 1);
		assert_string_equal(url, text);
		http_stop(second);
	}
}

#define HTTP_TEST(f) cmocka_unit_test_setup_teardown(f, http_world_begin, http_world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HTTP_TEST(answers_have_their_headers),
		HTTP_TEST(head_has_no_body),
		HTTP_TEST(old_and_hasty_clients_are_answered),
		HTTP_TEST(bad_requests_get_an_error_and_harm_nobody),
		HTTP_TEST(what_is_too_large_is_refused),
		HTTP_TEST(many_parameters_are_refused),
		HTTP_TEST(slow_clients_do_not_stop_the_others),
		HTTP_TEST(scrapers_at_once_all_get_whole_answers),
		HTTP_TEST(a_client_that_leaves_was_not_served),
		HTTP_TEST(an_address_in_use_is_named),
		HTTP_TEST(several_addresses_are_served),
		HTTP_TEST(the_page_of_every_address_is_one_that_a_browser_opens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
