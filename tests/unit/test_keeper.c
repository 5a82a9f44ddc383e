/* exporter/catalogue/keeper.c against a Keeper simulated here: pages, pace, cache, and every fault
 * at every call. The clock moves only when the client waits. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/keeper_world.h"

#define URL WORLD_URL
#define DAY 86400.0
/* Calls that ask which of two vendors meets which of two frameworks. */
#define FRAMEWORK_CALLS 4

static int fetch_with(struct world *w, struct keeper_options o, struct catalogue_cache *cache,
	struct catalogue **ret, struct keeper_report *r, struct err *e)
{
	struct keeper_transport t = {w, world_get, world_wait, world_now, world_random};

	o.url = URL;
	*ret = NULL;
	return keeper_fetch(&o, &t, cache, ret, r, e);
}

static void assert_complete(const struct catalogue *c, const struct world *w)
{
	assert_non_null(c);
	assert_int_equal(c->n, w->aws_servers + w->hcloud_servers);
	assert_string_equal(c->source, URL);
	const struct server *s = catalogue_find(c, "aws", "s00007");

	assert_non_null(s);
	assert_true(s->vcpus == 8 && s->min_price_ondemand == 1.5 && s->score == 100 &&
		    s->score1 == 50);
	assert_non_null(catalogue_find(c, "hcloud", "s00009"));
}

/* Expects at most 60 credits and 20 calls of /servers in any minute. */
static void assert_polite(const struct world *w)
{
	for (unsigned i = 0; i < w->calls; i++) {
		double credits = 0;
		unsigned heavy = 0;

		for (unsigned k = i; k < w->calls && w->call_at[k] < w->call_at[i] + 59.9; k++) {
			credits += w->call_credits[k];
			heavy += w->call_credits[k] > 2;
		}
		assert_true(credits <= 60 && heavy <= 20);
	}
}

static void the_whole_catalogue_comes_page_by_page(void **state)
{
	struct world w = new_world();
	struct catalogue *c;
	struct keeper_report r;
	struct err e = {0};

	if (fetch_with(&w, (struct keeper_options){0}, NULL, &c, &r, &e))
		fail_msg("%s", e.text);
	assert_complete(c, &w);
	assert_string_equal(c->as_of, "2026-08-16");
	assert_string_equal(r.hash, "h1");
	assert_true(r.expected_servers == 850);
	/* 600 servers fill 3 pages. 250 fill one page exactly, so a second page shows the end. The
	 * vendor without servers takes one page. */
	assert_int_equal(w.servers_calls, 3 + 2 + 1 + FRAMEWORK_CALLS);
	assert_int_equal(r.calls, 5 + 6 + 1 + FRAMEWORK_CALLS);
	assert_int_equal(r.retries, 0);
	assert_string_equal(c->vendor[0].name, "A");
	assert_string_equal(catalogue_benchmark(c, "stress_ng:best1")->name, "one");
	assert_null(catalogue_benchmark(c, "latency"));
	/* The lowest price of all allocations, 0.5, is the spot price. */
	const struct server *s = catalogue_find(c, "aws", "s00008");

	assert_true(s->min_price_ondemand == 1.5 && s->min_price_spot == 0.5 && s->n_prices == 2);
	assert_string_equal(c->vendor[0].compliance, "hipaa");
	assert_string_equal(c->vendor[1].compliance, "");
	assert_true(c->vendor[0].compliance_known && c->vendor[1].compliance_known);
	assert_false(c->region[1].prices_known || c->region[2].prices_known);
	assert_polite(&w);
	catalogue_free(c);
}

static void regions_and_benchmarks_are_further_passes(void **state)
{
	static const char *const regions[] = {"us-east-1", "hcloud~nbg1"}, *const benchmarks[] = {
										   "latency"};
	static const char *const nowhere[] = {"mars"};
	struct world w = new_world();
	struct catalogue *c;
	struct keeper_report r;
	struct err e = {0};

	if (fetch_with(&w,
		    (struct keeper_options){.regions = {2, regions}, .benchmarks = {1, benchmarks}},
		    NULL, &c, &r, &e))
		fail_msg("%s", e.text);
	assert_complete(c, &w);
	const struct server *s = catalogue_find(c, "hcloud", "s00004");
	bool anywhere = false, nuremberg = false, spot = false;

	for (uint32_t i = 0; i < s->n_prices; i++) {
		const struct price *p = &c->price[s->first_price + i];

		anywhere = anywhere || (p->region == 0 && p->price == 1.5);
		nuremberg = nuremberg || (strcmp(c->region[p->region].api_reference, "nbg1") == 0 &&
						 p->price == 2.5);
		spot = spot || (p->region && p->allocation == ALLOCATION_SPOT && p->price == 0.75);
	}
	assert_true(anywhere && nuremberg && spot && s->n_prices == 4);
	assert_int_equal(catalogue_find(c, "hcloud", "s00003")->n_prices, 2);
	assert_true(c->region[1].prices_known && c->region[2].prices_known);
	assert_string_equal(c->region[2].continent, "Europe");
	assert_true(catalogue_benchmark(c, "latency")->score[s - c->server] == 7);
	assert_true(catalogue_benchmark(c, "latency")->single_score[s - c->server] == 3);
	assert_null(catalogue_benchmark(c, "stress_ng:best1")->single_score);
	assert_false(catalogue_benchmark(c, "latency")->higher_is_better);
	assert_polite(&w);
	catalogue_free(c);

	w = new_world();
	assert_int_equal(fetch_with(&w, (struct keeper_options){.regions = {1, nowhere}}, NULL, &c,
				 &r, &e),
		-ENOENT);
	assert_string_equal(e.text, URL " knows no region \"mars\"");
	assert_null(c);
}

/* The prices of the machine's region are always fetched, even if no option names the region. It is
 * no error if the Keeper does not know the region. */
static void home_is_a_further_pass_where_it_is_known(void **state)
{
	static const struct {
		const char *home;
		bool known;
	} table[] = {{"hcloud~nbg1", true}, {"hcloud~mars", false}, {"rack~nbg1", false}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct world w = new_world();
		struct catalogue *c;
		struct keeper_report r;
		struct err e = {0};

		if (fetch_with(&w, (struct keeper_options){.home = table[i].home}, NULL, &c, &r,
			    &e))
			fail_msg("%s: %s", table[i].home, e.text);
		assert_complete(c, &w);
		assert_int_equal(catalogue_find(c, "hcloud", "s00003")->n_prices,
			table[i].known ? 2 : 1);
		assert_int_equal(c->region[2].prices_known, table[i].known);
		assert_polite(&w);
		catalogue_free(c);
	}
}

static void a_known_database_is_not_fetched_again(void **state)
{
	struct world w = new_world();
	struct catalogue *c;
	struct keeper_report r;
	struct err e = {0};

	assert_int_equal(fetch_with(&w, (struct keeper_options){.known_hash = "h1"}, NULL, &c, &r,
				 &e),
		0);
	assert_true(r.unchanged && !c);
	assert_int_equal(w.calls, 1);
	assert_int_equal(fetch_with(&w, (struct keeper_options){.known_hash = "h0"}, NULL, &c, &r,
				 &e),
		0);
	assert_false(r.unchanged);
	assert_complete(c, &w);
	catalogue_free(c);
}

/* If the call for the Keeper's state fails, the fetch goes on. Only the hash is missing from its
 * result. */
static void a_broken_state_costs_one_call(void **state)
{
	for (enum fault fault = FAULT_NO_ANSWER; fault < FAULTS; fault++) {
		struct world w = small_world();
		struct catalogue *c;
		struct keeper_report r;
		struct err e = {0};

		w.fault = fault;
		w.fail_call = 1;
		w.fail_times = 1;
		if (fetch_with(&w, (struct keeper_options){.known_hash = "h1"}, NULL, &c, &r, &e))
			fail_msg("fault %d: %s", (int)fault, e.text);
		assert_complete(c, &w);
		assert_int_equal(r.retries, 0);
		assert_string_equal(r.hash, "");
		assert_true(w.call_at[1] - w.call_at[0] < 61);
		catalogue_free(c);
	}
}

/* Prices are useful without frameworks. The catalogue records that the frameworks are unknown. */
static void frameworks_that_are_refused_are_unknown(void **state)
{
	struct world w = small_world();
	struct catalogue *c;
	struct keeper_report r;
	struct err e = {0};

	w.fault = FAULT_UNAUTHORIZED;
	w.fail_call = 5 + 4 + 1;
	w.fail_times = 1000;
	assert_int_equal(fetch_with(&w, (struct keeper_options){0}, NULL, &c, &r, &e), 0);
	assert_complete(c, &w);
	assert_false(c->vendor[0].compliance_known || c->vendor[1].compliance_known);
	catalogue_free(c);
}

static void pages_that_do_not_end_are_noticed(void **state)
{
	struct world w = new_world();
	struct catalogue *c;
	struct keeper_report r;
	struct err e = {0};

	w.endless = true;
	assert_int_equal(fetch_with(&w, (struct keeper_options){0}, NULL, &c, &r, &e), -EPROTO);
	assert_string_equal(e.text,
		URL "/servers: its pages of aws do not end. Check --catalogue.url");
	assert_int_equal(w.servers_calls, 2);
	assert_null(c);
}

static void what_passes_is_waited_out(void **state)
{
	for (enum fault fault = FAULT_NO_ANSWER; fault < FAULT_UNPROCESSABLE; fault++) {
		for (unsigned call = 2; call <= 9; call++) { /* call 1 is not repeated */
			struct world w = small_world();
			struct catalogue *c;
			struct keeper_report r;
			struct err e = {0};

			w.fault = fault;
			w.fail_call = call;
			w.fail_times = 1 + call % 3;
			if (fetch_with(&w, (struct keeper_options){0}, NULL, &c, &r, &e))
				fail_msg("fault %d at call %u: %s", (int)fault, call, e.text);
			assert_complete(c, &w);
			assert_int_equal(r.retries, w.fail_times);
			if (fault == FAULT_TOO_MANY)
				assert_true(w.call_at[call] - w.call_at[call - 1] >= 60);
			if (fault == FAULT_TOO_MANY_TOLD)
				assert_true(w.call_at[call] - w.call_at[call - 1] >= 42);
			assert_polite(&w);
			catalogue_free(c);
		}
	}
}

static void what_stays_is_given_up_and_named(void **state)
{
	static const struct {
		enum fault fault;
		unsigned times, calls;
		const char *says;
	} table[] = {
		{FAULT_NO_ANSWER, 1000, KEEPER_ATTEMPTS, "connection refused"},
		{FAULT_BUSY, 1000, KEEPER_ATTEMPTS, "status 503"},
		{FAULT_HTML, 1000, KEEPER_ATTEMPTS, "not a JSON array"},
		{FAULT_CUT, 1000, KEEPER_ATTEMPTS, URL "/table/country"},
		{FAULT_UNPROCESSABLE, 1, 1,
			URL "/table/country: status 422: {\"detail\":\"vcpus_min\"}"},
		{FAULT_CERTIFICATE, 1, 1, "not trusted"},
		{FAULT_UNAUTHORIZED, 1, 1, "status 401"},
		{FAULT_TOO_LONG, 1, 1, "more than 1 bytes"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct world w = new_world();
		struct catalogue *c;
		struct keeper_report r;
		struct err e = {0};

		w.fault = table[i].fault;
		w.fail_call = 2; /* call 1 reads the Keeper's state, call 2 its countries */
		w.fail_times = table[i].times;
		assert_true(fetch_with(&w, (struct keeper_options){0}, NULL, &c, &r, &e) < 0);
		if (!strstr(e.text, table[i].says) || strchr(e.text, '\n'))
			fail_msg("%s", e.text);
		assert_int_equal(w.calls, 1 + table[i].calls);
		assert_null(c);
		assert_polite(&w);
	}
}

/* A person who waits learns within seconds that there is no Keeper. A Keeper that asks the client
 * to wait gets the time. */
static void a_person_does_not_wait_for_a_dead_keeper(void **state)
{
	static const struct {
		enum fault fault;
		unsigned from, times, calls; /* `calls`: all calls until the fetch ends */
		double least, most;          /* seconds */
		int code;
	} table[] = {
		/* No answer ever: the state of the Keeper and its countries are asked for once each. */
		{FAULT_NO_ANSWER, 1, 1000, 2, 1, 1, -EIO},
		{FAULT_TIMEOUT, 1, 1000, 2, 61, 61, -ETIMEDOUT}, /* 30 s each */
		/* Only the first call fails. */
		{FAULT_NO_ANSWER, 1, 1, 0, 0, 600, 0},
		/* The Keeper has answered, and then dies. */
		{FAULT_NO_ANSWER, 2, 1000, 4, 3, 10, -EIO},
		{FAULT_BUSY, 3, 1000, 5, 3, 11, -EPROTO},
		{FAULT_BUSY, 3, 2, 0, 3, 600, 0},
		{FAULT_TOO_MANY, 2, 5, 0, 300, 1200, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct world w = small_world();
		struct catalogue *c;
		struct keeper_report r;
		struct err e = {0};

		w.fault = table[i].fault;
		w.fail_call = table[i].from;
		w.fail_times = table[i].times;
		int code =
			fetch_with(&w, (struct keeper_options){.attended = true}, NULL, &c, &r, &e);

		if (code != table[i].code)
			fail_msg("row %zu: %d: %s", i, code, e.text);
		if (w.seconds < table[i].least || w.seconds > table[i].most)
			fail_msg("row %zu: %g s", i, w.seconds);
		if (table[i].calls)
			assert_int_equal(w.calls, table[i].calls);
		else
			assert_complete(c, &w);
		assert_polite(&w);
		catalogue_free(c);
	}
}

static void lists_that_are_too_short_are_refused(void **state)
{
	struct world w = new_world();
	struct catalogue *c;
	struct keeper_report r;
	struct err e = {0};

	w.claimed = 200;
	assert_int_equal(fetch_with(&w, (struct keeper_options){0}, NULL, &c, &r, &e), -EPROTO);
	assert_string_equal(e.text, URL "/servers: only 850 of 1450 servers came");
	assert_null(c);
	/* A small difference is only a change between two pages. */
	w = new_world();
	w.claimed = 20;
	assert_int_equal(fetch_with(&w, (struct keeper_options){0}, NULL, &c, &r, &e), 0);
	catalogue_free(c);
	w = new_world();
	w.claimed = 200;
	w.no_header = true;
	assert_int_equal(fetch_with(&w, (struct keeper_options){0}, NULL, &c, &r, &e), 0);
	assert_true(isnan(r.expected_servers));
	catalogue_free(c);
	w = new_world();
	w.aws_servers = w.hcloud_servers = 0;
	assert_int_equal(fetch_with(&w, (struct keeper_options){0}, NULL, &c, &r, &e), -EPROTO);
	assert_string_equal(e.text, URL "/servers: has no server");
}

/* An absurdly low limit makes the calls slow, but the calls do not stop. */
static void a_limit_that_is_absurd_holds_up_no_call_for_hours(void **state)
{
	struct world w = small_world();
	struct catalogue *c;
	struct keeper_report r;
	struct err e = {0};

	w.rate_limit = 1e-300;
	assert_int_equal(fetch_with(&w, (struct keeper_options){0}, NULL, &c, &r, &e), 0);
	assert_true(w.seconds > 60 && w.seconds <= 300.0 * w.calls);
	catalogue_free(c);
}

/* A private Keeper that grants more credits is called faster, up to a limit. */
static void a_limit_that_is_generous_is_used_in_part(void **state)
{
	static const double limits[] = {60, 600, 6000, 1e9};
	double seconds[ARRAY_LEN(limits)];

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		struct world w = small_world();
		struct catalogue *c;
		struct keeper_report r;
		struct err e = {0};

		w.rate_limit = limits[i];
		assert_int_equal(fetch_with(&w, (struct keeper_options){0}, NULL, &c, &r, &e), 0);
		seconds[i] = w.seconds;
		catalogue_free(c);
	}
	assert_true(seconds[1] < seconds[0] / 5);
	assert_true(seconds[2] < seconds[1]);
	assert_true(fabs(seconds[3] - seconds[2]) < 1e-6);
}

static void stopping_works_at_every_wait(void **state)
{
	for (int waits = 0; waits < 8; waits++) {
		struct world w = small_world();
		struct catalogue *c;
		struct keeper_report r;
		struct err e = {0};

		w.stop_after_waits = waits;
		assert_int_equal(fetch_with(&w, (struct keeper_options){0}, NULL, &c, &r, &e),
			-ECANCELED);
		assert_null(c);
	}
}

static void fresh_pages_are_not_asked_for_and_old_ones_confirmed(void **state)
{
	char path[] = "/tmp/test_keeper_XXXXXX";
	int fd = mkstemp(path);
	struct world w = new_world();
	struct catalogue_cache *cache = NULL;
	struct catalogue *c;
	struct keeper_report r;
	struct err e = {0};

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(catalogue_cache_open(&cache, path, &e), 0);

	/* The fetch fails in the middle, with a permanent error. */
	w.fault = FAULT_UNAUTHORIZED;
	w.fail_call = 9;
	w.fail_times = 1;
	assert_true(fetch_with(&w, (struct keeper_options){0}, cache, &c, &r, &e) < 0);
	/* The next fetch continues at the call that failed. Only the Keeper's state is read
	 * again. */
	w.fail_call = 0;
	unsigned before = w.calls;

	assert_int_equal(fetch_with(&w, (struct keeper_options){0}, cache, &c, &r, &e), 0);
	assert_complete(c, &w);
	assert_int_equal(w.calls - before, 1 + 12 + FRAMEWORK_CALLS - 8);
	catalogue_free(c);

	/* An immediate fetch finds all pages fresh. */
	before = w.calls;
	assert_int_equal(fetch_with(&w, (struct keeper_options){0}, cache, &c, &r, &e), 0);
	assert_complete(c, &w);
	assert_int_equal(w.calls - before, 1);
	catalogue_free(c);

	/* Nothing has changed a day later. */
	w.seconds += DAY;
	assert_int_equal(fetch_with(&w, (struct keeper_options){0}, cache, &c, &r, &e), 0);
	assert_complete(c, &w);
	assert_int_equal(r.unmodified, 11 + FRAMEWORK_CALLS);
	catalogue_free(c);

	/* Everything has changed another day later. */
	w.seconds += DAY;
	w.changed = true;
	w.aws_servers = 700;
	assert_int_equal(fetch_with(&w, (struct keeper_options){0}, cache, &c, &r, &e), 0);
	assert_complete(c, &w);
	assert_int_equal(r.unmodified, 0);
	assert_polite(&w);
	catalogue_free(c);
	catalogue_cache_close(cache);
	unlink(path);
}

static void headers_are_read(void **state)
{
	static const struct {
		const char *line;
		size_t offset;
		double expected;
	} table[] = {
		{"X-RateLimit-Remaining: 57\r\n", offsetof(struct http_response, rate_remaining),
			57},
		{"x-ratelimit-limit:60\r\n", offsetof(struct http_response, rate_limit), 60},
		{"X-RateLimit-Cost: 3", offsetof(struct http_response, rate_cost), 3},
		{"X-Total-Count: 1400\r\n", offsetof(struct http_response, total_count), 1400},
		{"Retry-After: 120\r\n", offsetof(struct http_response, retry_after_seconds), 120},
		{"Retry-After: 533333333333333333\r\n",
			offsetof(struct http_response, retry_after_seconds), 86400},
		{"Retry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n",
			offsetof(struct http_response, retry_after_seconds), NAN},
		{"Retry-After: -5\r\n", offsetof(struct http_response, retry_after_seconds), NAN},
		{"Cache-Control: public, max-age=3600, stale-while-revalidate=900\r\n",
			offsetof(struct http_response, max_age_seconds), 3600},
		{"Cache-Control: private, no-store\r\n",
			offsetof(struct http_response, max_age_seconds), 0},
		{"Cache-Control: max-age=9, no-cache\r\n",
			offsetof(struct http_response, max_age_seconds), 0},
		{"Cache-Control: public\r\n", offsetof(struct http_response, max_age_seconds), NAN},
		{"Cache-Control:\r\n", offsetof(struct http_response, max_age_seconds), NAN},
		{"X-Total-Count\r\n", offsetof(struct http_response, total_count), NAN},
		{"", offsetof(struct http_response, total_count), NAN},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct http_response a = {0};

		response_headers_clear(&a);
		response_headers_read(&a, table[i].line, strlen(table[i].line));
		double v = *(const double *)(const void *)((const char *)&a + table[i].offset);

		if (!(v == table[i].expected || (isnan(v) && isnan(table[i].expected))))
			fail_msg("%s: %g", table[i].line, v);
	}
	struct http_response a = {0};
	char line[600];

	response_headers_read(&a, "ETag: W/\"abc\"\r\n", 15);
	assert_string_equal(a.etag, "W/\"abc\"");
	response_headers_clear(&a);
	snprintf(line, sizeof line, "ETag: \"%0500d\"\r\n", 1);
	response_headers_read(&a, line, strlen(line));
	assert_string_equal(a.etag, "");
	response_headers_read(&a, "ETag: a\rX: b\r\n", 14);
	assert_string_equal(a.etag, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_read),
		cmocka_unit_test(the_whole_catalogue_comes_page_by_page),
		cmocka_unit_test(regions_and_benchmarks_are_further_passes),
		cmocka_unit_test(home_is_a_further_pass_where_it_is_known),
		cmocka_unit_test(a_known_database_is_not_fetched_again),
		cmocka_unit_test(a_broken_state_costs_one_call),
		cmocka_unit_test(frameworks_that_are_refused_are_unknown),
		cmocka_unit_test(pages_that_do_not_end_are_noticed),
		cmocka_unit_test(what_passes_is_waited_out),
		cmocka_unit_test(what_stays_is_given_up_and_named),
		cmocka_unit_test(a_person_does_not_wait_for_a_dead_keeper),
		cmocka_unit_test(lists_that_are_too_short_are_refused),
		cmocka_unit_test(a_limit_that_is_absurd_holds_up_no_call_for_hours),
		cmocka_unit_test(a_limit_that_is_generous_is_used_in_part),
		cmocka_unit_test(stopping_works_at_every_wait),
		cmocka_unit_test(fresh_pages_are_not_asked_for_and_old_ones_confirmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
