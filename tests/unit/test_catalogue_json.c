/* recommender/catalogue/json.c: how the JSON of the Keeper and of a user's own file is read. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/catalogue/build.h"

static struct catalogue *json(const char *text)
{
	struct catalogue *c = NULL;
	struct err e = {0};

	if (catalogue_from_json(&c, text, strlen(text), "own.json", &e))
		fail_msg("%s", e.text);
	return c;
}

static void json_errors_name_line_and_field(void **state)
{
	static const struct {
		const char *text, *error;
	} table[] = {
		{"", "own.json: line 1: not a JSON array"},
		{"{\"detail\":\"no\"}", "own.json: line 1: not a JSON array"},
		{"[", "own.json: line 1: a JSON object is expected here"},
		{"[1]", "own.json: line 1: a JSON object is expected here"},
		{"[\n{}]", "own.json: line 2: a server without vendor_id"},
		{"[{\"vendor_id\":\"v\",\"server_id\":\"a\"},\n "
		 "{\"vendor_id\":\"v\",\"server_id\":\"b\",\"vcpus\":\"4\"}]",
			"own.json: line 2: vcpus: must be a number or null"},
		{"[{\"vendor_id\":1,\"server_id\":\"a\"}]",
			"own.json: line 1: vendor_id: must be a text or null"},
		{"[{\"vendor_id\":\"v\",\"server_id\":\"a\",\"vcpus\":-1}]",
			"own.json: line 1: vcpus: -1 is negative"},
		{"[{\"vendor_id\":\"v\",\"server_id\":\"a\"} {}]",
			"own.json: line 1: \",\" or \"]\" is expected here"},
		{"[{\"vendor_id\":\"v\",\"server_id\":\"a\"}",
			"own.json: line 1: \",\" or \"]\" is expected here"},
		{"[{\"vendor_id\":\"v\",\"server_id\":\"a\"}] x",
			"own.json: line 1: text after the array"},
		{"[{\"vendor_id\":\"v\",\"server_id\":\"a\"},\n{\"vendor_id\":\"v\",\"server_id\":"
		 "\"a\"}]",
			"own.json: line 2: v/a is there twice, and this line has no price"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct catalogue *c = NULL;
		struct err e = {0};

		assert_true(catalogue_from_json(&c, table[i].text, strlen(table[i].text),
				    "own.json", &e) < 0);
		assert_string_equal(e.text, table[i].error);
		assert_null(c);
	}
	struct catalogue *c = NULL;
	struct err e = {0};
	const char *cut = "[\n{\"vendor_id\":\"v\",\n\"server_id\":";

	assert_int_equal(catalogue_from_json(&c, cut, strlen(cut), "own.json", &e), -EINVAL);
	assert_non_null(strstr(e.text, "own.json: line 3, byte "));
}

/* The values are nested as deeply as the input limit allows: in place of a server, in a known
 * member, and in an unknown member. */
static void depth_is_no_way_to_the_end_of_the_stack(void **state)
{
	static const struct {
		const char *begin, *piece;
	} table[] = {
		{"", "["},
		{"[", "{\"vendor_id\":"},
		{"[{\"vendor_id\":\"v\",\"server_id\":\"a\",\"colour\":", "["},
		{"[{\"vendor_id\":\"v\",\"server_id\":\"a\",\"colour\":", "{\"a\":[{},"},
		{"[{\"server_id\":\"a\",\"vendor\":", "{\"vendor\":"},
	};
	const size_t size = 1 << 22;
	AUTO(freep) char *text = xmalloc(size);

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		size_t len = strlen(table[i].begin), n = strlen(table[i].piece);
		struct catalogue *c = NULL;
		struct err e = {0};

		memcpy(text, table[i].begin, len);
		for (; len + n <= size; len += n)
			memcpy(text + len, table[i].piece, n);
		assert_int_equal(catalogue_from_json(&c, text, len, "own.json", &e), -EINVAL);
		assert_memory_equal(e.text, "own.json: line 1", 16);
	}
}

static void a_lenient_reading_takes_what_it_can(void **state)
{
	static const char page[] =
		"[{\"vendor_id\":\"v\",\"server_id\":\"a\",\"vcpus\":\"four\",\"memory_amount\":-1,\"cpu_architecture\":\"riscv64\",\"family\":{},\"gpu_count\":0.5},{\"server_id\":\"nobody's\"}, "
		"{\"vendor_id\":\"v\",\"server_id\":\"a\",\"vcpus\":9}, "
		"{\"vendor_id\":\"v\",\"server_id\":\"b\"}]";
	struct catalogue_builder *b = catalogue_builder_new();
	struct catalogue *c;
	struct err e = {0};

	assert_int_equal(catalogue_read_json(b, page, sizeof page - 1,
				 &(struct json_reading){.lenient = true}, NULL, &e),
		0);
	catalogue_finish(b, "page", &c);
	catalogue_builder_free(b);
	assert_int_equal(c->n, 2);
	assert_true(isnan(c->server[0].vcpus) && isnan(c->server[0].memory_amount));
	assert_true(c->server[0].gpu_count == 0.5);
	assert_int_equal(c->server[0].cpu_architecture, ARCHITECTURE_UNKNOWN);
	assert_string_equal(c->server[0].family, "");
	catalogue_free(c);
}

static void a_whole_keeper_item_is_read(void **state)
{
	struct catalogue *c = json(
		"[{\"vendor_id\":\"aws\",\"server_id\":\"t3.micro\",\"name\":\"t3.micro\",\"api_reference\":\"t3.micro\",\"family\":\"t3\",\"vcpus\":2,\"cpu_allocation\":\"Burstable\",\"cpu_architecture\":\"x86_64\",\"memory_amount\":1024,\"gpu_count\":0.0,\"gpu_memory_min\":null,\"gpus\":[],\"status\":\"active\",\"score\":1350.29,\"min_price\":0.0032,\"min_price_spot\":0.0032,\"min_price_ondemand\":0.0104,\"vendor\":{\"vendor_id\":\"aws\"},\"price_breakdown\":{\"compute_min_price\":0.0032}}]");
	const struct server *s = catalogue_find(c, "aws", "t3.micro");

	assert_non_null(s);
	assert_true(s->vcpus == 2 && s->memory_amount == 1024 && s->gpu_count == 0 &&
		    s->score == 1350.29);
	assert_true(s->min_price_ondemand == 0.0104 && s->min_price_spot == 0.0032 &&
		    s->n_prices == 2);
	assert_int_equal(s->cpu_allocation, CPU_BURSTABLE);
	assert_null(catalogue_find(c, "gcp", "t3.micro"));
	catalogue_free(c);
}

/* Prices of one object. NaN = the server has no such price. */
static void an_on_demand_price_is_no_minimum(void **state)
{
	static const struct {
		const char *members;
		double ondemand, spot, any;
	} table[] = {
		{"\"price\":5.8,\"min_price\":5.8,\"min_price_spot\":5.8,\"min_price_ondemand\":20",
			20, 5.8, NAN},
		{"\"price\":5.8,\"min_price\":5.8,\"min_price_spot\":5.8,\"min_price_ondemand\":null",
			NAN, 5.8, NAN},
		{"\"price\":5.8,\"min_price_spot\":5.8", NAN, 5.8, NAN},
		{"\"price\":5.8,\"min_price_spot\":5.9", NAN, 5.9, 5.8},
		{"\"price\":5.8,\"min_price_spot\":5.7", NAN, 5.7, NAN},
		{"\"price\":5.8,\"min_price_spot\":0", NAN, NAN, 5.8},
		{"\"price\":5.8,\"min_price_spot\":null,\"min_price_ondemand\":0", NAN, NAN, 5.8},
		{"\"min_price\":5.8", NAN, NAN, 5.8},
		{"\"price\":null,\"min_price\":5.8,\"min_price_ondemand\":null", NAN, NAN, 5.8},
		{"\"price\":0,\"min_price\":0,\"min_price_spot\":0,\"min_price_ondemand\":0", NAN,
			NAN, NAN},
		{"\"min_price_spot\":30,\"min_price_ondemand\":20,\"price\":20", 20, 30, NAN},
		/* In a user's own file, the price has an allocation or is the only price. */
		{"\"price\":5.8", 5.8, NAN, NAN},
		{"\"price\":5.8,\"allocation\":\"spot\"", NAN, 5.8, NAN},
		{"\"price\":5.8,\"allocation\":\"any\"", NAN, NAN, 5.8},
		{"\"price\":5.8,\"min_price_spot\":2,\"allocation\":\"ondemand\"", 5.8, 2, NAN},
		/* Rows of sc-data's server_price. */
		{"\"price\":5.8,\"unit\":\"hour\",\"allocation\":\"ondemand\"", 5.8, NAN, NAN},
		{"\"price\":5.8,\"unit\":\"HOUR\",\"allocation\":\"SPOT\",\"status\":\"active\"",
			NAN, 5.8, NAN},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char text[512];

		snprintf(text, sizeof text, "[{\"vendor_id\":\"v\",\"server_id\":\"s\",%s}]",
			table[i].members);
		struct catalogue *c = json(text);
		double found[ALLOCATION_COUNT] = {NAN, NAN, NAN, NAN};
		const double expected[ALLOCATION_COUNT] = {
			table[i].ondemand, table[i].spot, NAN, table[i].any};

		for (size_t k = 0; k < c->n_prices; k++)
			found[c->price[k].allocation] = c->price[k].price;
		for (size_t k = 0; k < ALLOCATION_COUNT; k++)
			if (!(found[k] == expected[k] || (isnan(found[k]) && isnan(expected[k]))))
				fail_msg("%s: %s is %g", table[i].members,
					catalogue_allocation_name[k], found[k]);
		catalogue_free(c);
	}
}

static void other_rows_of_server_price_are_no_prices(void **state)
{
	static const char *const members[] = {"\"unit\":\"month\"", "\"unit\":\"year\"",
		"\"unit\":1", "\"unit\":\"hour\",\"status\":\"inactive\"",
		"\"unit\":\"hour\",\"operating_system\":\"Windows Server\""};

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		char text[512];

		snprintf(text, sizeof text,
			"[{\"vendor_id\":\"v\",\"server_id\":\"s\",\"price\":2},"
			"{\"vendor_id\":\"v\",\"server_id\":\"s\",\"price\":1,%s}]",
			members[i]);
		struct catalogue *c = json(text);

		assert_true(c->n_prices == 1 && c->price[0].price == 2 && c->server[0].active);
		catalogue_free(c);
	}
}

/* A lenient reading that does not understand what a price is must not make it an on-demand price in
 * dollars. */
static void a_price_that_is_not_understood_is_no_price(void **state)
{
	static const char *const members[] = {
		"\"price\":1,\"min_price_ondemand\":1,\"allocation\":\"savings\"",
		"\"price\":1,\"min_price_ondemand\":1,\"currency\":7",
		"\"price\":1,\"min_price_ondemand\":1,\"region_id\":{}",
		"\"price\":\"1\",\"min_price_ondemand\":\"1\",\"min_price_spot\":\"1\"",
		"\"price\":-1,\"min_price_ondemand\":-1", "\"min_price\":true"};

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		char text[512];
		struct catalogue_builder *b = catalogue_builder_new();
		struct catalogue *c;
		struct err e = {0};

		snprintf(text, sizeof text, "[{\"vendor_id\":\"v\",\"server_id\":\"s\",%s}]",
			members[i]);
		assert_int_equal(catalogue_read_json(b, text, strlen(text),
					 &(struct json_reading){.lenient = true}, NULL, &e),
			0);
		catalogue_finish(b, "page", &c);
		catalogue_builder_free(b);
		if (c->n != 1 || c->n_prices)
			fail_msg("%s: %zu prices", members[i], c->n_prices);
		catalogue_free(c);
	}
}

/* A Keeper may answer a request for one region with the lowest price of all regions. Only the price
 * of the requested allocation is certain to be from the region. */
static void only_the_allocation_that_was_asked_for_is_of_the_region(void **state)
{
	static const char page[] = "[{\"vendor_id\":\"v\",\"server_id\":\"s\",\"price\":2,"
				   "\"min_price_spot\":1,\"min_price_ondemand\":2}]";
	static const struct {
		struct json_reading how;
		size_t n;
		enum allocation allocation;
	} table[] = {
		{{.lenient = true, .region_id = "r", .prices = PRICES_ONDEMAND}, 1,
			ALLOCATION_ONDEMAND},
		{{.lenient = true, .region_id = "r", .prices = PRICES_SPOT}, 1, ALLOCATION_SPOT},
		{{.lenient = true, .prices = PRICES_NONE}, 0, ALLOCATION_COUNT},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct catalogue_builder *b = catalogue_builder_new();
		struct catalogue *c;
		struct err e = {0};

		assert_int_equal(catalogue_read_json(b, page, sizeof page - 1, &table[i].how, NULL,
					 &e),
			0);
		catalogue_finish(b, "page", &c);
		catalogue_builder_free(b);
		assert_int_equal(c->n_prices, table[i].n);
		if (c->n_prices) {
			assert_int_equal(c->price[0].allocation, table[i].allocation);
			assert_true(c->region[c->price[0].region].prices_known);
		}
		catalogue_free(c);
	}
}

static void keeper_objects_of_vendor_and_region_are_read(void **state)
{
	struct catalogue *c = json(
		"[{\"vendor_id\":\"hcloud\",\"server_id\":\"96\",\"vcpus\":2,\"memory_amount\":8192,\"storage_type\":\"NVME_SSD\",\"region_id\":\"2\",\"min_price_ondemand\":0.1,\"vendor\":{\"vendor_id\":\"hcloud\",\"name\":\"Hetzner "
		"Cloud\",\"country_id\":\"DE\",\"billing_increment_seconds\":3600,\"minimum_billing_seconds\":null},\"region\":{\"region_id\":\"2\",\"api_reference\":\"nbg1-dc3\",\"country_id\":\"DE\"}}]");

	assert_string_equal(c->vendor[0].name, "Hetzner Cloud");
	assert_true(c->vendor[0].billing_increment_seconds == 3600);
	assert_true(isnan(c->vendor[0].minimum_billing_seconds));
	assert_string_equal(c->server[0].storage_type, "nvme ssd");
	assert_string_equal(c->region[c->price[0].region].api_reference, "nbg1");
	assert_string_equal(c->region[c->price[0].region].aliases, "nbg1-dc3");
	catalogue_free(c);
}

static void tables_of_keeper_are_read(void **state)
{
	static const char vendors[] = "[{\"vendor_id\":\"v\",\"name\":\"V\",\"billing_increment_"
				      "seconds\":60}, {\"name\":\"?\"}]";
	static const char countries[] =
		"[{\"country_id\":\"DE\",\"continent\":\"Europe\"},{\"country_id\":\"US\"},{}]";
	static const char regions[] =
		"[{\"vendor_id\":\"v\",\"region_id\":\"2\",\"api_reference\":\"nbg1\",\"aliases\":[\"a\",\"b\",1],\"country_id\":\"DE\"},{\"vendor_id\":\"v\",\"region_id\":\"3\",\"country_id\":\"US\"}]";
	static const char servers[] =
		"[{\"vendor_id\":\"v\",\"server_id\":\"s\",\"min_price_ondemand\":2,"
		"\"selected_benchmark_score\":5.5}]";
	struct catalogue_builder *b = catalogue_builder_new();
	struct json_reading how = {
		.lenient = true, .region_id = "2", .benchmark_id = "stress_ng:best1"};
	const struct benchmark benchmark = {.benchmark_id = "stress_ng:best1",
		.name = "",
		.category = "",
		.unit = "",
		.higher_is_better = true};
	struct catalogue *c = NULL;
	struct err e = {0};
	size_t n = 0;

	assert_int_equal(catalogue_add_benchmark(b, &benchmark, &e), 0);
	how.kind = READ_COUNTRIES;
	assert_int_equal(catalogue_read_json(b, countries, strlen(countries), &how, &n, &e), 0);
	assert_int_equal(n, 3);
	how.kind = READ_VENDORS;
	assert_int_equal(catalogue_read_json(b, vendors, strlen(vendors), &how, &n, &e), 0);
	how.kind = READ_REGIONS;
	assert_int_equal(catalogue_read_json(b, regions, strlen(regions), &how, &n, &e), 0);
	how.kind = READ_SERVERS;
	assert_int_equal(catalogue_read_json(b, servers, strlen(servers), &how, &n, &e), 0);
	assert_int_equal(n, 1);
	catalogue_finish(b, "keeper", &c);
	catalogue_builder_free(b);

	const struct region *r = &c->region[c->price[0].region];

	assert_int_equal(c->n_vendors, 1);
	assert_true(c->vendor[0].billing_increment_seconds == 60);
	assert_string_equal(r->api_reference, "nbg1");
	assert_string_equal(r->aliases, "a|b");
	assert_string_equal(r->continent, "Europe");
	assert_string_equal(c->region[2].continent, "");
	assert_true(c->server[0].score1 == 5.5 && isnan(c->server[0].score));
	catalogue_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depth_is_no_way_to_the_end_of_the_stack),
		cmocka_unit_test(json_errors_name_line_and_field),
		cmocka_unit_test(a_lenient_reading_takes_what_it_can),
		cmocka_unit_test(a_whole_keeper_item_is_read),
		cmocka_unit_test(an_on_demand_price_is_no_minimum),
		cmocka_unit_test(other_rows_of_server_price_are_no_prices),
		cmocka_unit_test(a_price_that_is_not_understood_is_no_price),
		cmocka_unit_test(only_the_allocation_that_was_asked_for_is_of_the_region),
		cmocka_unit_test(keeper_objects_of_vendor_and_region_are_read),
		cmocka_unit_test(tables_of_keeper_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
