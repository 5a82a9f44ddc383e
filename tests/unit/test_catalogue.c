/* recommender/catalogue: how CSV and JSON are read, and how bad input is refused. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "recommender/catalogue/build.h"
#include "recommender/catalogue/fields.h"

FREEP(catalogue)

#define HEAD "vendor_id,server_id,vcpus,memory_amount"

static struct catalogue *csv(const char *text)
{
	struct catalogue *c = NULL;
	struct err e = {0};

	if (catalogue_from_csv(&c, text, strlen(text), "own.csv", &e))
		fail_msg("%s", e.text);
	return c;
}

static struct catalogue *json(const char *text)
{
	struct catalogue *c = NULL;
	struct err e = {0};

	if (catalogue_from_json(&c, text, strlen(text), "own.json", &e))
		fail_msg("%s", e.text);
	return c;
}

static void csv_columns_come_in_any_order(void **state)
{
	struct catalogue *c = csv(
		"\xef\xbb\xbf# as_of: 2026-08-22\r\n#source: price list\n# a remark: with a "
		"colon\n"
		"gpu_model,memory_amount,vendor_id,colour,server_id,vcpus,min_price_ondemand\r\n"
		"\"A \"\"big\"\" one, new\", 16384 ,zoo,red,b,4,0.5\r\n"
		"\n"
		",2048,zoo,\"blue\nand green\",a,0.5,");

	assert_int_equal(c->n, 2);
	assert_string_equal(c->source, "own.csv");
	assert_string_equal(c->as_of, "2026-08-22");
	assert_string_equal(c->note, "price list");
	const struct server *a = &c->server[0], *b = &c->server[1];

	assert_string_equal(a->server_id, "a");
	assert_true(a->vcpus == 0.5 && a->memory_amount == 2048);
	assert_string_equal(a->gpu_model, "");
	assert_true(isnan(a->min_price_ondemand) && a->n_prices == 0);
	assert_string_equal(b->gpu_model, "A \"big\" one, new");
	assert_true(b->memory_amount == 16384 && b->min_price_ondemand == 0.5);
	assert_string_equal(b->currency, "USD");
	assert_int_equal(c->price[b->first_price].allocation, ALLOCATION_ONDEMAND);
	catalogue_free(c);
}

static void what_is_not_said_is_unknown(void **state)
{
	struct catalogue *from[] = {
		csv(HEAD ",status,cpu_architecture\nv,s,,,,\n"),
		json("[{\"vendor_id\":\"v\",\"server_id\":\"s\"}]"),
		json("[{\"vendor_id\":\"v\",\"server_id\":\"s\",\"vcpus\":null,\"memory_amount\":null,\"status\":null,\"cpu_architecture\":null,\"gpu_count\":null,\"score\":null,\"family\":null,\"display_name\":null,\"min_price_ondemand\":null,\"currency\":null,\"gpus\":[{}]}]"),
	};

	for (size_t i = 0; i < ARRAY_LEN(from); i++) {
		const struct server *s = from[i]->server;

		assert_int_equal(from[i]->n, 1);
		for (const struct field *f = fields; f->name; f++)
			if (f->kind == FIELD_NUMBER && f->part == PART_SERVER)
				assert_true(isnan(field_number(f, s)));
		assert_true(s->active);
		assert_int_equal(s->cpu_architecture, ARCHITECTURE_UNKNOWN);
		assert_int_equal(s->cpu_allocation, CPU_ALLOCATION_UNKNOWN);
		assert_string_equal(s->family, "");
		assert_string_equal(s->api_reference, "s");
		assert_string_equal(s->display_name, "s");
		catalogue_free(from[i]);
	}
}

static void both_spellings_of_an_enum_are_read(void **state)
{
	struct catalogue *c =
		csv(HEAD ",cpu_architecture,cpu_allocation,status,storage_type,price\n"
			 "v,a,1,1,X86_64,BURSTABLE,ACTIVE,NVME_SSD,1\n"
			 "v,a,1,1,X86_64,BURSTABLE,ACTIVE,NVME_SSD,2\n"
			 "v,b,1,1,arm64,Dedicated,inactive,nvme ssd,1\n");

	assert_int_equal(c->server[0].cpu_architecture, ARCHITECTURE_X86_64);
	assert_int_equal(c->server[0].cpu_allocation, CPU_BURSTABLE);
	assert_true(c->server[0].active);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(c->server[i].storage_type, "nvme ssd");
	assert_int_equal(c->server[1].cpu_architecture, ARCHITECTURE_ARM64);
	assert_int_equal(c->server[1].cpu_allocation, CPU_DEDICATED);
	assert_false(c->server[1].active);
	catalogue_free(c);
}

static void csv_errors_name_line_and_column(void **state)
{
	static const struct {
		const char *text, *error;
	} table[] = {
		{"", "own.csv: no table: the first line must name the columns"},
		{"# only a remark\n\n", "own.csv: no table: the first line must name the columns"},
		{"vendor_id,server_id,vcpus\n", "own.csv: line 1: no column memory_amount; the "
						"first line must name vendor_id, server_id, "
						"vcpus and memory_amount, separated by commas"},
		{HEAD ",vcpus\n", "own.csv: line 1: column vcpus is there twice"},
		{"#\n" HEAD "\nv,s,1\n", "own.csv: line 3: 3 cells, where the first line has 4"},
		{HEAD "\nv,s,1,2,3\n", "own.csv: line 2: 5 cells, where the first line has 4"},
		{HEAD "\nv,a,1,2\nv,b,four,2\n",
			"own.csv: line 3: column vcpus: \"four\" is not a number"},
		{HEAD "\nv,a,1e999,2\n",
			"own.csv: line 2: column vcpus: \"1e999\" is not a number"},
		{HEAD "\nv,a,nan,2\n", "own.csv: line 2: column vcpus: \"nan\" is not a number"},
		{HEAD "\nv,a,1,-2\n", "own.csv: line 2: column memory_amount: -2 is negative"},
		{HEAD "\nv,a,1,16GB\n",
			"own.csv: line 2: column memory_amount: \"16GB\" is not a number"},
		{HEAD "\n,a,1,2\n", "own.csv: line 2: a server without vendor_id"},
		{HEAD "\nv,,1,2\n", "own.csv: line 2: a server without server_id"},
		{HEAD "\nv,a,1,2\n\nv,a,1,2\n",
			"own.csv: line 4: v/a is there twice, and this line has no price"},
		{HEAD ",status\nv,a,1,2,gone\n",
			"own.csv: line 2: column status: \"gone\" is unknown; accepted: active "
			"or inactive (no longer rented out); active when empty"},
		{HEAD ",price\nv,a,1,2,3\nv,a,2,2,4\n",
			"own.csv: line 3: vcpus: differs from an earlier line of v/a"},
		{HEAD ",currency\nv,a,1,2,euro\n", "own.csv: line 2: currency: \"euro\" is not a "
						   "code of three capitals, as USD or EUR"},
		{HEAD ",price\nv,a,1,2,1000000\nv,b,1,2,1000001\n",
			"own.csv: line 3: price: 1000001 USD an hour is more than 1000000 USD"},
		{HEAD ",min_price_spot\nv,a,1,2,1e300\n",
			"own.csv: line 2: price: 1e+300 USD an hour is more than 1000000 USD"},
		{"# rate: KRW 0.001\n" HEAD ",price,currency\nv,a,1,2,1e9,KRW\nv,b,1,2,1.1e9,KRW\n",
			"own.csv: line 4: price: 1100000000 KRW an hour is more than 1000000 USD"},
		{HEAD ",price,currency\nv,a,1,2,1e11,IRR\nv,b,1,2,2e11,IRR\n",
			"own.csv: line 3: price: 2e+11 IRR an hour is more than 1e+11 IRR"},
		{HEAD "\n\"v,a,1,2\n", "own.csv: line 2: a quote that does not close"},
		{HEAD "\n\"v\" x,a,1,2\n", "own.csv: line 2: text after a closing quote"},
		{HEAD "\nv,\xff,1,2\n", "own.csv: line 2: column server_id: not valid UTF-8"},
		{HEAD "\nv,\"a\nb\",1,2\n",
			"own.csv: line 2: column server_id: has a control character"},
		{HEAD "\nv,a\rb,1,2\n", "own.csv: line 2: a carriage return within a row"},
		{"# rate: EUR\n" HEAD "\n", "own.csv: line 1: rate: \"EUR\" is not a currency and "
					    "its price in US dollars"},
		{"# rate: EUR -1\n" HEAD "\n",
			"own.csv: line 1: rate: -1 US dollars for one EUR is not a valid rate"},
		{"# rate: USD 2\n" HEAD "\n",
			"own.csv: line 1: rate: 2 US dollars for one USD is not a valid rate"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct catalogue *c = NULL;
		struct err e = {0};

		assert_true(catalogue_from_csv(&c, table[i].text, strlen(table[i].text), "own.csv",
				    &e) < 0);
		assert_string_equal(e.text, table[i].error);
		assert_null(c);
		assert_true(catalogue_from_csv(&c, table[i].text, strlen(table[i].text), "own.csv",
				    NULL) < 0);
	}
	struct catalogue *c = NULL;
	struct err e = {0};

	assert_int_equal(catalogue_from_csv(&c, HEAD "\nv,a\0b,1,2\n",
				 sizeof HEAD "\nv,a\0b,1,2\n" - 1, "own.csv", &e),
		-EINVAL);
	assert_string_equal(e.text, "own.csv: line 2: has a NUL byte");
}

static void prices_are_grouped_and_summarised(void **state)
{
	AUTO(catalogue_freep) struct catalogue *c = NULL;
	struct catalogue_builder *b = catalogue_builder_new();
	struct field_row r;
	struct err e;
	static const struct price_row rows[] = {
		{"v", "b", "r1", "z1", "EUR", ALLOCATION_ONDEMAND, 1.0},
		{"v", "a", "r1", "", "USD", ALLOCATION_ONDEMAND, 1.0},
		{"v", "b", "r2", "", "USD", ALLOCATION_ONDEMAND, 1.05},
		{"v", "b", "r2", "", "USD", ALLOCATION_SPOT, 0.3},
		{"v", "a", "r2", "", "USD", ALLOCATION_ONDEMAND, 0.9},
		{"v", "b", "r3", "", "ARS", ALLOCATION_ONDEMAND, 0.1},
	};

	field_row_clear(&r);
	r.server.vendor_id = "v";
	r.server.server_id = "b";
	assert_int_equal(catalogue_add_server(b, &r.server, &e), 0);
	r.server.server_id = "a";
	assert_int_equal(catalogue_add_server(b, &r.server, &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(catalogue_add_price(b, &rows[i], &e), 0);
	assert_int_equal(catalogue_set_rate(b, "EUR", 1.1, &e), 0);
	assert_int_equal(catalogue_add_price(b,
				 &(struct price_row){"v", "c", "", "", "USD", ALLOCATION_SPOT, 1},
				 &e),
		-ENOENT);
	assert_int_equal(catalogue_add_price(b,
				 &(struct price_row){"v", "a", "", "", "USD", ALLOCATION_SPOT, NAN},
				 &e),
		-EINVAL);
	catalogue_finish(b, "rows", &c);
	catalogue_builder_free(b);

	assert_int_equal(c->n_prices, 6);
	assert_string_equal(c->server[0].server_id, "a");
	assert_true(c->server[0].min_price_ondemand == 0.9 && isnan(c->server[0].min_price_spot));
	assert_string_equal(c->server[0].region_id, "r2");
	/* The price of 1 EUR is 1.1 USD, which is more than 1.05 USD. Pesos have no rate, so a price
	 * in pesos cannot be the lowest. */
	assert_true(c->server[1].min_price_ondemand == 1.05 && c->server[1].min_price_spot == 0.3);
	assert_string_equal(c->server[1].currency, "USD");
	assert_int_equal(c->server[0].n_prices, 2);
	assert_int_equal(c->server[1].n_prices, 4);
	for (uint32_t k = 0; k < 2; k++)
		assert_true(c->price[c->server[0].first_price + k].price >= 0.9);
	for (uint32_t k = 0; k < 4; k++)
		assert_true(c->price[c->server[1].first_price + k].price != 0.9);
}

static void a_refused_server_leaves_no_price_behind(void **state)
{
	struct catalogue_builder *b = catalogue_builder_new();
	struct catalogue *c = NULL;
	struct field_row r;
	struct err e;

	field_row_clear(&r);
	r.server.vendor_id = "v";
	r.server.server_id = "a";
	r.server.min_price_ondemand = 1;
	r.server.min_price_spot = INFINITY;
	assert_int_equal(catalogue_add_server(b, &r.server, &e), -EINVAL);
	r.server.min_price_spot = NAN;
	r.server.server_id = "b";
	assert_int_equal(catalogue_add_server(b, &r.server, &e), 0);
	catalogue_finish(b, "x", &c);
	assert_int_equal(c->n, 1);
	assert_int_equal(c->n_prices, 1);
	catalogue_free(c);
	/* The builder is empty again. */
	catalogue_finish(b, "y", &c);
	assert_int_equal(c->n, 0);
	catalogue_free(c);
	catalogue_builder_free(b);
}

static void the_last_holder_frees_it(void **state)
{
	struct catalogue *c = csv(HEAD "\nv,a,1,2\n");

	catalogue_hold(c);
	catalogue_free(c);
	assert_string_equal(c->server[0].server_id, "a");
	catalogue_free(c);
	catalogue_free(NULL);
}

static void the_built_in_catalogue_is_plausible(void **state)
{
	AUTO(catalogue_freep) struct catalogue *c = NULL;
	struct err e = {0};
	size_t arm = 0, gpus = 0, dedicated = 0, priced = 0;

	if (catalogue_built_in(&c, &e))
		fail_msg("%s", e.text);
	assert_string_equal(c->source, "built-in");
	assert_string_not_equal(c->as_of, "");
	assert_string_not_equal(c->note, "");
	for (size_t i = 0; i < c->n; i++) {
		const struct server *s = &c->server[i];

		/* The largest servers are x2-megamem and u7inh-32tb. */
		assert_true(s->vcpus >= 1 && s->vcpus <= 1920);
		assert_true(s->memory_amount >= 256 && s->memory_amount <= 32 * 1024 * 1024);
		/* If no price is known, min_price_ondemand is NaN, and both comparisons are false. */
		assert_false(s->min_price_ondemand < 0.001 || s->min_price_ondemand > 500);
		priced += isnan(s->min_price_ondemand) ? 0 : 1;
		assert_true(s->cpu_architecture == ARCHITECTURE_X86_64 ||
			    s->cpu_architecture == ARCHITECTURE_ARM64);
		assert_int_not_equal(s->cpu_allocation, CPU_ALLOCATION_UNKNOWN);
		assert_false(s->gpu_memory_total < s->gpu_memory_min);
		arm += s->cpu_architecture == ARCHITECTURE_ARM64;
		gpus += s->gpu_count > 0;
		dedicated += s->cpu_allocation == CPU_DEDICATED;
	}
	assert_true(arm > 20 && gpus > 20 && dedicated > 100 && priced > c->n * 3 / 4);
	for (size_t i = 0; i < 6; i++) {
		static const char *const vendors[] = {
			"aws", "gcp", "azure", "hcloud", "upcloud", "ovh"};
		size_t n = 0;

		for (size_t k = 0; k < c->n; k++)
			n += strcmp(c->server[k].vendor_id, vendors[i]) == 0;
		assert_true(n >= 20);
	}
}

static void field_rows_are_well_formed(void **state)
{
	static const size_t sizes[PART_COUNT] = {[PART_SERVER] = sizeof(struct server),
		[PART_VENDOR] = sizeof(struct vendor),
		[PART_REGION] = sizeof(struct region),
		[PART_PRICE] = sizeof(struct price_row)};

	for (const struct field *f = fields; f->name; f++) {
		assert_non_null(f->help);
		assert_int_not_equal(f->help[strlen(f->help) - 1], '.');
		assert_ptr_equal(field_of(f->part, f->name), f);
		assert_non_null(field_find(f->name, strlen(f->name)));
		assert_true(f->offset < sizes[f->part]);
		for (const struct field *g = fields; g != f; g++)
			assert_true(f->part != g->part || f->offset != g->offset);
	}
	assert_null(field_find("vcpu", 4));
	assert_null(field_find("vcpus_", 6));
}

static void a_table_of_columns_can_be_printed(void **state)
{
	AUTO(buf_done) struct buf out = BUF_MAX(65536);

	fields_markdown(&out);
	assert_non_null(strstr(buf_text(&out), "\n| `vendor_id` (required) |  | "));
	assert_non_null(strstr(buf_text(&out),
		"\n| `memory_amount` (required) | MiB | Memory as sold |\n"));
	const char *first = strstr(buf_text(&out), "`country_id`");

	assert_non_null(first);
	assert_null(strstr(first + 1, "`country_id`"));
}

static void more_lines_of_a_server_are_more_prices(void **state)
{
	struct catalogue *c = csv(
		"vendor_id,server_id,vcpus,memory_amount,region_id,country_id,currency,allocation,price,min_price_ondemand,billing_increment_seconds\n"
		"v,a,4,8192,r1,DE,EUR,,,1.5,3600\n"
		"v,a,,,r1,,,spot,0.5,,\n"
		"v,a,4,8192,r2,FI,USD,ondemand,1.25,,\n"
		"v,a,,,r2,,USD,,1.75,,\n"
		"w,a,1,1024,r1,US,,,2,,\n");
	const struct server *a = catalogue_find(c, "v", "a");

	assert_int_equal(c->n, 2);
	assert_int_equal(c->n_vendors, 2);
	assert_int_equal(c->n_regions, 4); /* "nowhere"; r1, r2 of vendor v; r1 of vendor w */
	assert_int_equal(a->n_prices, 3);  /* of two prices in one region the lower one stays */
	assert_true(c->vendor[a->vendor].billing_increment_seconds == 3600);
	for (uint32_t k = 0; k < a->n_prices; k++) {
		const struct price *p = &c->price[a->first_price + k];
		const struct region *r = &c->region[p->region];

		assert_string_equal(r->country_id, strcmp(r->region_id, "r1") == 0 ? "DE" : "FI");
		if (p->allocation == ALLOCATION_SPOT)
			assert_true(p->price == 0.5 && p->currency != 0);
		else
			assert_true(p->price == (p->currency == 0 ? 1.25 : 1.5));
	}
	catalogue_free(c);
}

static void zones_that_cost_the_same_are_one_price(void **state)
{
	struct catalogue *c =
		csv("vendor_id,server_id,vcpus,memory_amount,region_id,zone_id,allocation,price\n"
		    "v,a,1,1,r1,z1,ondemand,2\nv,a,,,r1,z2,ondemand,2\nv,a,,,r1,z3,ondemand,2\n"
		    "v,a,,,r1,z1,spot,1\nv,a,,,r1,z2,spot,0.5\nv,a,,,r1,z2,spot,0.75\n"
		    "v,a,,,r2,z9,ondemand,2\n");
	static const struct {
		const char *region, *zone;
		double price;
	} expected[] = {{"r1", "", 2}, {"r2", "z9", 2}, {"r1", "z1", 1}, {"r1", "z2", 0.5}};

	assert_int_equal(c->n_prices, ARRAY_LEN(expected));
	for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
		assert_string_equal(c->region[c->price[i].region].region_id, expected[i].region);
		assert_string_equal(c->zone[c->price[i].zone], expected[i].zone);
		assert_true(c->price[i].price == expected[i].price);
	}
	assert_true(c->server[0].min_price_ondemand == 2 && c->server[0].min_price_spot == 0.5);
	catalogue_free(c);
}

static void the_best_score_of_a_server_counts(void **state)
{
	struct catalogue_builder *b = catalogue_builder_new();
	AUTO(catalogue_freep) struct catalogue *c = NULL;
	struct err e = {0};
	const char text[] = HEAD "\nv,b,1,1\nv,a,1,1\nv,c,1,1\n";
	const struct benchmark more = {.benchmark_id = "speed",
		.name = "",
		.category = "",
		.unit = "",
		.higher_is_better = true};
	const struct benchmark less = {
		.benchmark_id = "delay", .name = "", .category = "", .unit = ""};

	assert_int_equal(catalogue_read_csv(b, text, sizeof text - 1, &e), 0);
	assert_int_equal(catalogue_add_benchmark(b, &more, &e), 0);
	assert_int_equal(catalogue_add_benchmark(b, &less, &e), 0);
	assert_int_equal(catalogue_add_benchmark(b, &less, &e), -EEXIST);
	static const double scores[] = {2, -1, 3, 1e300, (double)INFINITY, (double)NAN, 1};

	for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) {
		catalogue_add_score(b, "v", "b", "speed", scores[i]);
		catalogue_add_score(b, "v", "b", "delay", scores[i]);
		catalogue_add_score(b, "v", "nobody", "speed", scores[i]);
		catalogue_add_score(b, "v", "b", "nothing", scores[i]);
	}
	catalogue_finish(b, "x", &c);
	catalogue_builder_free(b);
	const struct benchmark *speed = catalogue_benchmark(c, "speed"),
			       *delay = catalogue_benchmark(c, "delay");

	assert_non_null(speed);
	assert_string_equal(c->server[1].server_id, "b");
	assert_true(speed->score[1] == 3 && delay->score[1] == 1);
	assert_true(isnan(speed->score[0]) && isnan(speed->score[2]));
	assert_null(catalogue_benchmark(c, "nothing"));
}

/* An estimated price does not replace a real price of the same region and allocation, and is never
 * a server's lowest price. */
static void estimates_are_marked(void **state)
{
	AUTO(catalogue_freep)
	struct catalogue *c = csv(HEAD ",price,allocation,region_id,estimated\n"
				       "v,a,1,1024,1,ondemand,r,\nv,a,1,1024,0.5,spot,r,false\n"
				       "v,a,1,1024,0.2,spot,r,true\nv,b,1,1024,0.1,spot,r,true\n");
	const struct price *of_a = &c->price[c->server[0].first_price];

	assert_int_equal(c->server[0].n_prices, 3);
	assert_true(!of_a[0].estimated && !of_a[1].estimated && of_a[2].estimated);
	assert_true(of_a[2].price == 0.2);
	assert_true(c->server[0].min_price_spot == 0.5);
	assert_true(isnan(c->server[1].min_price_spot));
	assert_int_equal(c->server[1].n_prices, 1);

	static const char wrong[] = HEAD ",price,estimated\nv,a,1,1024,1,maybe";
	struct catalogue *none = NULL;
	struct err e = {0};

	assert_int_equal(catalogue_from_csv(&none, wrong, sizeof wrong - 1, "own.csv", &e),
		-EINVAL);
	assert_non_null(strstr(e.text, "column estimated: \"maybe\" is unknown"));
}

static void a_rate_of_a_currency_without_prices_adds_it(void **state)
{
	AUTO(catalogue_freep) struct catalogue *c = csv(HEAD ",price,currency\nv,a,1,1024,3,CHF");
	struct err e = {0};

	assert_null(catalogue_currency(c, "ARS"));
	assert_int_equal(catalogue_set_usd(c, "ARS", 1.5, "test", &e), 0);
	assert_int_equal(catalogue_set_usd(c, "ARS", 2, "test", &e), 0);
	assert_int_equal(catalogue_set_usd(c, "chf", 3, "test", &e), 0);
	assert_int_equal(catalogue_set_usd(c, "USD", 4, "test", &e), 0);
	assert_int_equal(c->n_currencies, 3);
	assert_true(catalogue_currency(c, "ARS")->usd == 2);
	assert_true(catalogue_currency(c, "CHF")->usd == 3);
	assert_string_equal(catalogue_currency(c, "CHF")->source, "test");
	assert_string_equal(catalogue_currency(c, "CHF")->as_of, "");
	assert_true(catalogue_currency(c, "USD")->usd == 1);
	/* A price stores the index of its currency. */
	assert_string_equal(c->currency[c->price[0].currency].code, "CHF");
	assert_int_equal(catalogue_set_usd(c, "eur=", 1, "test", &e), -EINVAL);
	assert_non_null(strstr(e.text, "three capitals"));
	for (char code[] = "AAA"; c->n_currencies <= UINT8_MAX;
		code[2] == 'Z' ? code[1]++, code[2] = 'A' : code[2]++)
		assert_int_equal(catalogue_set_usd(c, code, 1, "test", &e), 0);
	assert_int_equal(catalogue_set_usd(c, "ZZZ", 1, "test", &e), -E2BIG);
}

/* A rate of the catalogue comes before a compiled-in rate. Every rate says its date and source. */
static void a_currency_without_a_rate_gets_the_compiled_in_rate(void **state)
{
	AUTO(catalogue_freep)
	struct catalogue *c = csv("# as_of: 2026-08\n# rate: GBP 1.3\n" HEAD
				  ",price,currency\nv,a,1,1024,3,EUR\nv,b,1,1024,3,GBP\n"
				  "v,c,1,1024,3,ARS\nv,d,1,1024,3,USD");
	const struct currency *euro = catalogue_currency(c, "EUR");
	const struct currency *pound = catalogue_currency(c, "GBP");

	/* European Central Bank, 30 October 2026: a euro is 1.1172 dollars or 0.9194 francs. */
	assert_true(euro->usd == 1.1172);
	assert_string_equal(euro->as_of, "2026-10-30");
	assert_string_equal(euro->source, "ECB reference rate");
	assert_true(pound->usd == 1.3);
	assert_string_equal(pound->as_of, "2026-08");
	assert_string_equal(pound->source, "own.csv");
	assert_true(isnan(catalogue_currency(c, "ARS")->usd));
	assert_true(catalogue_currency(c, "USD")->usd == 1);
	assert_string_equal(catalogue_currency(c, "USD")->source, "");
	assert_int_equal(c->n_currencies, 4);
	/* A currency without prices can be asked for, too. */
	assert_true(fabs(catalogue_currency_rate(catalogue_currency(c, "CHF"), euro) * 0.9194 - 1) <
		    1e-12);
	assert_null(catalogue_currency(c, "ZZZ"));
}

/* Without the column allocation, "price" beside the Keeper's minima is the lowest price of all
 * allocations. */
static void a_csv_of_the_keepers_columns_has_no_minimum_on_demand(void **state)
{
	static const char text[] =
		"vendor_id,server_id,vcpus,memory_amount,price,min_price_ondemand,min_price_spot\n"
		"v,a,1,1,0.5,2,0.5\nv,b,1,1,0.5,,0.5\nv,c,1,1,0.5,,\nv,d,1,1,0,0,0\n";
	struct catalogue *c = NULL;
	struct err e = {0};

	assert_int_equal(catalogue_from_csv(&c, text, sizeof text - 1, "t", &e), 0);
	assert_int_equal(c->n_prices, 4);
	assert_true(c->server[0].min_price_ondemand == 2 && c->server[0].min_price_spot == 0.5);
	assert_true(isnan(c->server[1].min_price_ondemand) && c->server[1].min_price_spot == 0.5);
	assert_true(isnan(c->server[2].min_price_ondemand) && isnan(c->server[2].min_price_spot));
	assert_int_equal(c->price[c->server[2].first_price].allocation, ALLOCATION_ANY);
	assert_int_equal(c->server[3].n_prices, 0);
	catalogue_free(c);
}

static void a_price_of_a_month_is_not_one_of_an_hour(void **state)
{
	static const char text[] = "vendor_id,server_id,vcpus,memory_amount,price,unit\n"
				   "v,a,1,1,2,hour\nv,a,,,1,month\nv,a,,,1.5,\nv,b,1,1,9,YEAR\n";
	struct catalogue *c = NULL;
	struct err e = {0};

	assert_int_equal(catalogue_from_csv(&c, text, sizeof text - 1, "t", &e), 0);
	assert_int_equal(c->n, 1);
	assert_true(c->server[0].min_price_ondemand == 1.5);
	catalogue_free(c);
}

/* A price of an unknown allocation is ignored if the server has an on-demand price, even in another
 * region. */
static void a_price_of_any_allocation_is_the_last_resort(void **state)
{
	static const char text[] =
		"vendor_id,server_id,vcpus,memory_amount,region_id,allocation,price\n"
		"v,a,1,1,,any,0.5\nv,a,,,r,ondemand,2\nv,b,1,1,,any,0.5\nv,b,,,r,spot,0.7\n";
	struct catalogue *c = NULL;
	struct err e = {0};

	assert_int_equal(catalogue_from_csv(&c, text, sizeof text - 1, "t", &e), 0);
	assert_int_equal(c->server[0].n_prices, 1);
	assert_true(c->server[0].min_price_ondemand == 2);
	assert_int_equal(c->server[1].n_prices, 2);
	assert_true(isnan(c->server[1].min_price_ondemand) && c->server[1].min_price_spot == 0.7);
	catalogue_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_csv_of_the_keepers_columns_has_no_minimum_on_demand),
		cmocka_unit_test(a_price_of_any_allocation_is_the_last_resort),
		cmocka_unit_test(estimates_are_marked),
		cmocka_unit_test(a_currency_without_a_rate_gets_the_compiled_in_rate),
		cmocka_unit_test(a_price_of_a_month_is_not_one_of_an_hour),
		cmocka_unit_test(a_rate_of_a_currency_without_prices_adds_it),
		cmocka_unit_test(csv_columns_come_in_any_order),
		cmocka_unit_test(what_is_not_said_is_unknown),
		cmocka_unit_test(both_spellings_of_an_enum_are_read),
		cmocka_unit_test(csv_errors_name_line_and_column),
		cmocka_unit_test(prices_are_grouped_and_summarised),
		cmocka_unit_test(a_refused_server_leaves_no_price_behind),
		cmocka_unit_test(the_last_holder_frees_it),
		cmocka_unit_test(the_built_in_catalogue_is_plausible),
		cmocka_unit_test(field_rows_are_well_formed),
		cmocka_unit_test(a_table_of_columns_can_be_printed),
		cmocka_unit_test(more_lines_of_a_server_are_more_prices),
		cmocka_unit_test(zones_that_cost_the_same_are_one_price),
		cmocka_unit_test(the_best_score_of_a_server_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
