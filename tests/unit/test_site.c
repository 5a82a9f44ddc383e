/* exporter/site/site.c and metrics_page.c: from requests to answers, without sockets. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "collectors/base/mem.h"
#include "exporter/api/route.h"
#include "exporter/sampling/sampler.h"
#include "exporter/site/site.h"
#include "tests/support/fake_sampler.h"

#define TEXT "text/plain; version=0.0.4; charset=utf-8"
#define OM_1 "application/openmetrics-text; version=1.0.0"

/* ---- routes of this test, instead of the real ones ---- */

static const struct parameter echo_parameters[] = {{.name = "text",
							   .kind = PARAMETER_TEXT,
							   .required = true,
							   .least = 1,
							   .most = 100,
							   .help = "A text"},
	{0}};

static int echo(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	(void)app;
	(void)e;
	r->content_type = "text/plain; charset=utf-8";
	buf_adds(&r->body, argument_text(a, "text"));
	return 0;
}

static const struct parameter no_parameters[] = {{0}};

static int broken(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	(void)app;
	(void)a;
	buf_adds(&r->body, "half an answer");
	return err_set(e, -EIO, "the disk is on fire");
}

static int flood(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	(void)app;
	(void)a;
	(void)e;
	r->body.max = 100;
	buf_addf(&r->body, "%200d", 1);
	return 0;
}

/* A route that behaves as if the history file was replaced between opening and reading. */
static int replaced(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	static int times;

	(void)app;
	(void)a;
	buf_adds(&r->body, "read");
	return times++ % 2 ? 0 : err_set(e, -ESTALE, "the file was replaced");
}

static const struct route route_replaced = {
	"/replaced", NULL, "Is replaced", no_parameters, replaced};
static const struct route route_echo = {"/echo", NULL, "Says it again", echo_parameters, echo};
static const struct route route_fail = {"/fail", NULL, "Fails", no_parameters, broken};
static const struct route route_flood = {
	"/flood", NULL, "Gives too much & <more>", no_parameters, flood};
static const struct route route_long = {
	"/long", NULL, "Takes long", no_parameters, broken, .takes_long = true};
static const struct route route_longest = {"/longest", NULL, "Takes longest", no_parameters, broken,
	.takes_long = true, .of_samples = true};
const struct route *const all_routes[] = {
	&route_echo, &route_fail, &route_flood, &route_replaced, &route_long, &route_longest, NULL};
const struct route *const all_changes[] = {NULL};

/* ---- a site with a fake sampler ---- */

struct fixture {
	struct options options;
	struct app app;
	struct site *site;
};

static int begin(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);

	f->options.telemetry_path = "/metrics";
	f->options.sample_interval = 1;
	f->app = APP_INIT;
	f->app.options = &f->options;
	f->app.sampler = fake_sampler_new();
	f->site = site_new(&f->app);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	site_free(f->site);
	fake_sampler_free(f->app.sampler);
	free(f);
	return 0;
}

struct asked {
	const char *target, *method, *accept, *accept_encoding, *scrape_timeout;
};

static struct http_answer ask(struct fixture *f, struct asked q)
{
	AUTO(freep) char *target = xstrdup(q.target);
	struct http_request r = {
		q.method ? q.method : "GET", target, q.accept, q.accept_encoding, q.scrape_timeout};
	struct http_answer a;

	site_answer(f->site, &r, &a);
	assert_non_null(a.body);
	return a;
}

static void done(struct http_answer *a)
{
	shared_drop(&a->body->shared);
}

static bool holds(const struct http_answer *a, const char *text)
{
	return memmem(a->body->data, a->body->len, text, strlen(text)) != NULL;
}

static void paths_lead_to_their_pages(void **state)
{
	static const struct {
		struct asked q;
		int status;
		const char *handler, *content_type, *holds;
	} table[] = {
		{{.target = "/"}, 200, "/", "text/html; charset=utf-8",
			"<a id=\"metrics\" href=\"metrics\">"},
		{{.target = "/"}, 200, "/", "text/html; charset=utf-8",
			"too much &#38; &#60;more&#62;"},
		{{.target = "/?x=1"}, 200, "/", "text/html; charset=utf-8", "rightsize-exporter"},
		{{.target = "/-/healthy"}, 200, "/-/healthy", "text/plain", "healthy"},
		{{.target = "/-/ready"}, 200, "/-/ready", "text/plain", "ready"},
		{{.target = "/metrics"}, 200, "/metrics", TEXT, "rightsize_cats{"},
		{{.target = "/metrics", .method = "HEAD"}, 200, "/metrics", TEXT,
			"rightsize_cats{"},
		{{.target = "http://a:1/metrics"}, 200, "/metrics", TEXT, "rightsize_cats{"},
		{{.target = "/echo?text=a%20b"}, 200, "/echo", "text/plain", "a b"},
		{{.target = "/echo"}, 400, "/echo", "application/json", "text is missing"},
		{{.target = "/echo?text=%f"}, 400, "/echo", "application/json", "hexadecimal"},
		{{.target = "/echo?text=a&x=b"}, 400, "/echo", "application/json",
			"not a parameter"},
		{{.target = "/fail"}, 500, "/fail", "application/json", "the disk is on fire"},
		{{.target = "/flood"}, 422, "/flood", "application/json",
			"the answer would be larger than 64 MiB"},
		{{.target = "/metrics/"}, 404, "other", "application/json",
			"/metrics/; known are /metrics, /echo"},
		{{.target = "//metrics"}, 404, "other", "application/json", "not_found"},
		{{.target = "/../metrics"}, 404, "other", "application/json", "not_found"},
		{{.target = "/nothing%0a%22"}, 404, "other", "application/json",
			"/nothing\\u000a\\\""},
		{{.target = ""}, 404, "other", "application/json", "not_found"},
		{{.target = "*"}, 404, "other", "application/json", "not_found"},
		{{.target = "/metrics%00"}, 400, "other", "application/json", "%00"},
		{{.target = "/\xff"}, 400, "other", "application/json", "UTF-8"},
		{{.target = "/metrics", .method = "POST"}, 405, "other", "application/json", "GET"},
		{{.target = "/\xff", .method = "TRACE"}, 405, "other", "application/json", "HEAD"},
		{{.target = "/", .method = "get"}, 405, "other", "application/json", "GET"},
	};
	struct fixture *f = *state;

	fake_sampler_tick(f->app.sampler);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct http_answer a = ask(f, table[i].q);

		if (a.status != table[i].status || !holds(&a, table[i].holds))
			fail_msg("%s: %d %.*s", table[i].q.target, a.status, (int)a.body->len,
				a.body->data);
		assert_string_equal(a.handler, table[i].handler);
		assert_memory_equal(a.content_type, table[i].content_type,
			strlen(table[i].content_type));
		assert_int_equal(a.allow != NULL, a.status == 405);
		done(&a);
	}
}

static void metrics_can_be_moved(void **state)
{
	struct fixture *f = *state;

	f->options.telemetry_path = "/";
	fake_sampler_tick(f->app.sampler);
	struct http_answer a = ask(f, (struct asked){.target = "/"});

	assert_string_equal(a.content_type, TEXT);
	done(&a);
	a = ask(f, (struct asked){.target = "/metrics"});
	assert_int_equal(a.status, 404);
	done(&a);
}

static void metrics_hide_no_other_page(void **state)
{
	static const char *const taken[] = {"/echo", "/-/healthy", "/events", "/web/app.js"};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
		struct err e = {0};

		f->options.telemetry_path = taken[i];
		assert_int_equal(site_check_options(&f->options, &e), -EINVAL);
		assert_non_null(strstr(e.text, "telemetry-path"));
		assert_non_null(strstr(e.text, taken[i]));
		assert_non_null(strstr(e.text, "nothing else"));
	}
	f->options.telemetry_path = "/";
	assert_int_equal(site_check_options(&f->options, NULL), 0);
}

static void metrics_come_in_the_format_that_is_asked_for(void **state)
{
	struct fixture *f = *state;

	fake_sampler_tick(f->app.sampler);
	struct http_answer text = ask(f, (struct asked){.target = "/metrics"});
	struct http_answer om =
		ask(f, (struct asked){.target = "/metrics",
			       .accept = "application/openmetrics-text;version=1.0.0"});

	assert_true(text.negotiated && om.negotiated);
	assert_false(holds(&text, "# EOF\n"));
	assert_memory_equal(om.content_type, OM_1, strlen(OM_1));
	assert_memory_equal(om.body->data + om.body->len - 6, "# EOF\n", 6);
	done(&text);
	done(&om);
}

static void filters_are_checked(void **state)
{
	static const struct {
		const char *target;
		int status;
		const char *holds, *lacks;
	} table[] = {
		{"/metrics?collect[]=dogs", 200, "rightsize_dog_info", "rightsize_cats"},
		{"/metrics?collect%5B%5D=dogs&collect[]=cats", 200, "rightsize_cats", NULL},
		{"/metrics?collect=dogs", 200, "rightsize_dog_info", "rightsize_cats"},
		{"/metrics?exclude[]=dogs", 200, "rightsize_cats", "rightsize_dog"},
		{"/metrics?name[]=rightsize_cats", 200, "rightsize_cats", "rightsize_dog"},
		{"/metrics?name[]=nothing", 200, "", "rightsize"},
		{"/metrics?collect[]=wolves", 400, "collect[]: \\\"wolves\\\"", NULL},
		{"/metrics?collect[]=wolves", 400, "cats, dogs, birds, fish", NULL},
		{"/metrics?collect[]=dogs&exclude[]=wolves", 400, "not both", NULL},
		{"/metrics?exclude[]=wolves", 400, "exclude[]: \\\"wolves\\\"", NULL},
		{"/metrics?collect[]=", 400, "collect", NULL},
		{"/metrics?colect[]=dogs", 400, "colect", NULL},
	};
	struct fixture *f = *state;

	fake_sampler_tick(f->app.sampler);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct http_answer a = ask(f, (struct asked){.target = table[i].target});

		if (a.status != table[i].status || !holds(&a, table[i].holds))
			fail_msg("%s: %d %.*s", table[i].target, a.status, (int)a.body->len,
				a.body->data);
		assert_false(table[i].lacks && holds(&a, table[i].lacks));
		done(&a);
	}
}

static void scrapes_of_one_snapshot_share_a_body(void **state)
{
	struct fixture *f = *state;

	fake_sampler_tick(f->app.sampler);
	fake_sampler_hang(f->app.sampler, 0);
	struct http_answer first = ask(f, (struct asked){.target = "/metrics"});
	struct http_answer second = ask(f, (struct asked){.target = "/metrics", .accept = "*/*"});
	struct http_answer filtered = ask(f, (struct asked){.target = "/metrics?exclude[]=fish"});

	assert_ptr_equal(first.body, second.body);
	assert_ptr_not_equal(first.body, filtered.body);
	fake_sampler_tick(f->app.sampler);
	struct http_answer later = ask(f, (struct asked){.target = "/metrics"});

	assert_ptr_not_equal(first.body, later.body);
	assert_true(later.body->generation > first.body->generation);
	/* The old body stays valid for connections that still send it. */
	assert_true(holds(&first, "rightsize_cats{"));
	done(&first);
	done(&second);
	done(&filtered);
	done(&later);
}

static void assert_unzips_to(const struct response_body *small, const struct response_body *plain)
{
	AUTO(freep) char *out = xmalloc(plain->len);
	z_stream z = {.next_in = (Bytef *)small->data,
		.avail_in = (uInt)small->len,
		.next_out = (Bytef *)out,
		.avail_out = (uInt)plain->len};

	assert_int_equal(inflateInit2(&z, 31), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, plain->len);
	assert_memory_equal(out, plain->data, plain->len);
	inflateEnd(&z);
}

static void large_bodies_are_compressed_and_small_ones_not(void **state)
{
	struct buf text = BUF_MAX(1 << 20);

	for (int i = 0; i < 4096; i++)
		buf_addc(&text, (char)('a' + i % 20));
	struct response_body *large = response_body_new(&text);

	buf_adds(&text, "short");
	struct response_body *small = response_body_new(&text), *zipped = response_body_gzip(large);

	assert_non_null(zipped);
	assert_true(zipped->gzip && !large->gzip);
	assert_true(zipped->len < large->len / 10);
	assert_unzips_to(zipped, large);
	assert_null(response_body_gzip(small));
	shared_drop(&zipped->shared);
	shared_drop(&small->shared);
	shared_drop(&large->shared);
}

static void readiness_needs_a_sample(void **state)
{
	struct fixture *f = *state;
	struct http_answer a = ask(f, (struct asked){.target = "/-/ready"});

	assert_int_equal(a.status, 503);
	done(&a);
	a = ask(f, (struct asked){.target = "/metrics"});
	assert_int_equal(a.status, 503);
	assert_true(holds(&a, "no_sample"));
	done(&a);
	/* The sampler has just started, which is not a fault. */
	a = ask(f, (struct asked){.target = "/-/healthy"});
	assert_int_equal(a.status, 200);
	done(&a);
	fake_sampler_tick(f->app.sampler);
	a = ask(f, (struct asked){.target = "/-/ready"});
	assert_int_equal(a.status, 200);
	done(&a);
}

static void health_ends_after_ten_intervals(void **state)
{
	static const struct {
		double interval, age;
		int status;
	} table[] = {{1, 9.9, 200}, {1, 10.1, 503}, {60, 599, 200}, {60, 601, 503}, {0.1, 9.9, 200},
		{0.1, 10.1, 503}};
	struct fixture *f = *state;

	fake_sampler_tick(f->app.sampler);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		f->options.sample_interval = table[i].interval;
		fake_sampler_hang(f->app.sampler, table[i].age);
		struct http_answer a = ask(f, (struct asked){.target = "/-/healthy"});

		assert_int_equal(a.status, table[i].status);
		assert_true(a.status == 200 || holds(&a, "seconds old"));
		done(&a);
	}
}

static void scrapes_wait_as_long_as_the_scraper_does(void **state)
{
	static const struct {
		const char *timeout;
		double wait;
	} table[] = {{NULL, 5}, {"10", 5}, {"3", 2.5}, {"0.2", 0.1}, {"1e9", 5}, {"-1", 5},
		{"nan", 5}, {"", 5}};
	struct fixture *f = *state;

	fake_sampler_tick(f->app.sampler);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct http_answer a = ask(f,
			(struct asked){.target = "/metrics", .scrape_timeout = table[i].timeout});

		assert_true(fake_sampler_wait(f->app.sampler) == table[i].wait);
		assert_int_equal(a.status, 200);
		done(&a);
	}
}

static void a_sampler_that_hangs_delays_only_the_first(void **state)
{
	struct fixture *f = *state;

	fake_sampler_tick(f->app.sampler);
	fake_sampler_hang(f->app.sampler, 60);
	struct http_answer a = ask(f, (struct asked){.target = "/metrics"});

	/* Old values are better than none, and /-/healthy reports the problem. */
	assert_int_equal(a.status, 200);
	assert_true(fake_sampler_wait(f->app.sampler) == 5);
	done(&a);
	a = ask(f, (struct asked){.target = "/metrics"});
	assert_true(fake_sampler_wait(f->app.sampler) < 0.2);
	done(&a);
	/* The sampler ticks again. */
	fake_sampler_hang(f->app.sampler, 0);
	a = ask(f, (struct asked){.target = "/metrics"});
	assert_true(fake_sampler_wait(f->app.sampler) == 5);
	done(&a);
}

static void only_whole_scrapes_by_scrapers_are_reported(void **state)
{
	static const struct {
		struct asked q;
		bool reported;
	} table[] = {
		{{.target = "/metrics", .scrape_timeout = "10"}, true},
		{{.target = "/metrics"}, false}, /* a request by curl is not a scrape */
		{{.target = "/metrics", .scrape_timeout = "10", .method = "HEAD"}, false},
		{{.target = "/metrics?collect[]=cats", .scrape_timeout = "10"}, false},
		{{.target = "/metrics?collect[]=wolves", .scrape_timeout = "10"}, false},
		{{.target = "/", .scrape_timeout = "10"}, false},
	};
	struct fixture *f = *state;

	fake_sampler_tick(f->app.sampler);
	fake_sampler_hang(f->app.sampler, 0);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct http_answer a = ask(f, table[i].q);

		assert_int_equal(a.scraped,
			table[i].reported ? fake_sampler_generation(f->app.sampler) : 0);
		done(&a);
	}
}

#define SITE_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

static void a_history_that_was_replaced_is_read_again(void **state)
{
	struct http_answer a = ask(*state, (struct asked){.target = "/replaced"});

	assert_int_equal(a.status, 200);
	assert_int_equal(a.body->len, 4);
	shared_drop(&a.body->shared);
}

static void what_may_wait_for_the_history_is_for_another_thread(void **state)
{
	static const struct {
		const char *target;
		enum site_way way;
	} table[] = {
		{"/echo?text=a", SITE_AT_ONCE},
		{"/metrics", SITE_AT_ONCE},
		{"/-/healthy", SITE_AT_ONCE},
		{"/nothing", SITE_AT_ONCE},
		{"/long?x", SITE_LATER},
		{"/events?run=x", SITE_LATER},
		{"/longest", SITE_OF_SAMPLES},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(freep) char *target = xstrdup(table[i].target);
		struct http_request r = {"GET", target};

		assert_int_equal(site_way_of(&r), table[i].way);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SITE_TEST(paths_lead_to_their_pages),
		SITE_TEST(metrics_can_be_moved),
		SITE_TEST(metrics_hide_no_other_page),
		SITE_TEST(metrics_come_in_the_format_that_is_asked_for),
		SITE_TEST(filters_are_checked),
		SITE_TEST(scrapes_of_one_snapshot_share_a_body),
		cmocka_unit_test(large_bodies_are_compressed_and_small_ones_not),
		SITE_TEST(readiness_needs_a_sample),
		SITE_TEST(health_ends_after_ten_intervals),
		SITE_TEST(scrapes_wait_as_long_as_the_scraper_does),
		SITE_TEST(a_sampler_that_hangs_delays_only_the_first),
		SITE_TEST(only_whole_scrapes_by_scrapers_are_reported),
		SITE_TEST(a_history_that_was_replaced_is_read_again),
		cmocka_unit_test(what_may_wait_for_the_history_is_for_another_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
