/* recommender/catalogue/json.c: how the JSON of the Keeper and of a user's own file is read. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
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

static void keeper_objects_of_vendor_and_region_are_read(void **state)
{
	struct catalogue *c = json(
		"[{\"vendor_id\":\"hcloud\",\"server_id\":\"96\",\"vcpus\":2,\"memory_amount\":8192,\"storage_type\":\"NVME_SSD\",\"region_id\":\"2\",\"min_price_ondemand\":0.1,\"vendor\":{\"vendor_id\":\"hcloud\",\"name\":\"Hetzner "
		"Cloud\",\"country_id\":\"DE\",\"billing_increment_seconds\":3600,\"minimum_billing_seconds\":null},\"region\":{\"region_id\":\"2\",\"api_reference\":\"nbg1-dc3\",\"country_id\":\"DE\"}}]");

	assert_string_equal(c->vendor[0].name, "Hetzner Cloud");
	assert_true(c->vendor[0].billing_increment_seconds == 3600);
	assert_true(isnan(c->vendor[0].minimum_billing_seconds));
	assert_string_equal(c->server[0].storage_type, "nvme ssd");
	assert_string_equal(c->region[c->price[0].region].api_reference, "nbg1-dc3");
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
		cmocka_unit_test(keeper_objects_of_vendor_and_region_are_read),
		cmocka_unit_test(tables_of_keeper_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
