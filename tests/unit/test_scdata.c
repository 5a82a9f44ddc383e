/* exporter/catalogue/scdata.c: the schema of sc-data, its enums, and files that are not sc-data. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "collectors/base/mem.h"
#include "exporter/catalogue/scdata.h"

FREEP(catalogue)

static char path[64];

static int new_path(void **state)
{
	snprintf(path, sizeof path, "/tmp/test_scdata_XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	return 0;
}

static int remove_path(void **state)
{
	unlink(path);
	return 0;
}

static void run(const char *sql)
{
	sqlite3 *db;
	char *message = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s", message);
	sqlite3_close(db);
}

/* The tables of sc-data 0.8, with the columns that are read and some that are not. */
static const char schema[] =
	"CREATE TABLE country (country_id, continent, status, observed_at);"
	"CREATE TABLE vendor (vendor_id, name, country_id, billing_increment_seconds, "
	"minimum_billing_seconds, status, observed_at);"
	"CREATE TABLE vendor_compliance_link (vendor_id, compliance_framework_id, comment, "
	"status, observed_at);"
	"CREATE TABLE region (vendor_id, region_id, name, api_reference, display_name, aliases "
	"JSON, country_id, status, observed_at);"
	"CREATE TABLE server (vendor_id, server_id, name, api_reference, display_name, "
	"description, family, vcpus, cpu_allocation, cpu_cores, cpu_architecture, "
	"cpu_manufacturer, cpu_flags JSON, memory_amount, memory_amount_actual, gpu_count, "
	"gpu_memory_min, gpu_memory_total, gpu_manufacturer, gpu_family, gpu_model, storage_size, "
	"storage_type, network_speed_baseline, average_time_to_start, status, observed_at, "
	"PRIMARY KEY (vendor_id, server_id));"
	"CREATE TABLE server_price (vendor_id, region_id, zone_id, server_id, operating_system, "
	"allocation, unit, price, price_upfront, price_tiered JSON, currency, status, observed_at);"
	"CREATE TABLE storage_price (vendor_id, region_id, storage_id, unit, price, currency, "
	"status);"
	"CREATE TABLE traffic_price (vendor_id, region_id, direction, unit, price, currency, "
	"status);CREATE TABLE ipv4_price (vendor_id, region_id, unit, price, currency, status);"
	"CREATE TABLE benchmark (benchmark_id, category, name, unit, higher_is_better, status);"
	"CREATE TABLE benchmark_score (vendor_id, server_id, benchmark_id, config JSON, score, "
	"status);CREATE TABLE currency (base, quote, rate);CREATE TABLE _metadata (key, value);";

static const char data[] =
	"INSERT INTO _metadata VALUES ('published_at', '2026-08-22T04:05:06'), ('license', 'x');"
	"INSERT INTO country VALUES ('US', 'North America', 'ACTIVE', ''), ('DE', 'Europe', "
	"'ACTIVE', '');"
	"INSERT INTO vendor VALUES ('aws', 'Amazon Web Services', 'US', 1, 60, 'ACTIVE', ''), "
	"('hcloud', 'Hetzner Cloud', 'DE', 3600, NULL, 'ACTIVE', '');"
	"INSERT INTO vendor_compliance_link VALUES ('aws', 'hipaa', NULL, 'ACTIVE', ''), ('aws', "
	"'soc2t2', NULL, 'ACTIVE', ''), ('aws', 'old', NULL, 'INACTIVE', '');"
	"INSERT INTO region VALUES ('aws', 'us-east-1', 'N. Virginia', 'us-east-1', 'N. Virginia "
	"(US)', '[\"use1\", \"US East\"]', 'US', 'ACTIVE', ''), ('hcloud', '2', 'nbg1-dc3', "
	"'nbg1-dc3', 'Nuremberg', '[]', 'DE', 'ACTIVE', '');"
	"INSERT INTO server VALUES ('aws', 't3.micro', 't3.micro', 't3.micro', 't3.micro', '', "
	"'t3', 2, 'BURSTABLE', 1, 'X86_64', 'Intel',  '[]', 1024, 965, 0, NULL, NULL, NULL, NULL, "
	"NULL, 0, NULL, 0.064, NULL, 'ACTIVE', '2026-08-21'), ('hcloud', '96', 'ccx13', 'ccx13', "
	"'ccx13', '', 'ccx', 2, 'DEDICATED', 1, 'X86_64', 'AMD',  '[]', 8192, NULL, 0.5, 4096, "
	"8192, 'NVIDIA', 'Ampere', 'A10', 80, 'NVME_SSD', NULL, 12.5, 'ACTIVE', ''), ('hcloud', "
	"'1', 'cx11', 'cx11', 'cx11', '', 'cx', 1, 'SHARED', NULL, 'ARM64', NULL,  '[]', 2048, "
	"NULL, 0, NULL, NULL, NULL, NULL, NULL, 20, 'SSD', NULL, NULL, 'INACTIVE', '');INSERT "
	"INTO server_price VALUES ('aws', 'us-east-1', 'use1-az1', 't3.micro', 'Linux', "
	"'ONDEMAND', 'HOUR', 0.0104, 0, '[]', 'USD', 'ACTIVE', ''), ('aws', 'us-east-1', "
	"'use1-az2', 't3.micro', 'Linux', 'ONDEMAND', 'HOUR', 0.0104, 0, '[]', 'USD', 'ACTIVE', "
	"''), ('aws', 'us-east-1', 'use1-az1', 't3.micro', 'Linux', 'SPOT', 'HOUR', 0.003, 0, "
	"'[]', 'USD', 'ACTIVE', ''), ('aws', 'us-east-1', 'use1-az2', 't3.micro', 'Linux', "
	"'SPOT', 'HOUR', 0.004, 0, '[]', 'USD', 'ACTIVE', ''), ('aws', 'us-east-1', 'use1-az3', "
	"'t3.micro', 'Windows', 'ONDEMAND', 'HOUR', 0.002, 0, '[]', 'USD', 'ACTIVE', ''), ('aws', "
	"'us-east-1', 'use1-az4', 't3.micro', 'Linux', 'ONDEMAND', 'HOUR', 0.001, 0, '[]', 'USD', "
	"'INACTIVE', ''), ('aws', 'us-east-1', 'use1-az4', 't3.micro', 'Linux', 'SAVINGS', "
	"'HOUR', 0.001, 0, '[]', 'USD', 'ACTIVE', ''), ('aws', 'us-east-1', 'use1-az4', "
	"'t3.micro', 'Linux', 'ONDEMAND', 'HOUR', 0, 0, '[]', 'USD', 'ACTIVE', ''), ('aws', "
	"'us-east-1', 'use1-az4', 't3.micro', 'Linux', 'ONDEMAND', 'HOUR', 0.001, 0, '[]', x'00', "
	"'ACTIVE', ''), ('aws', 'us-east-1', 'use1-az4', 't3.micro', 'Linux', 'ONDEMAND', 'YEAR', "
	"0.001, 0, '[]', 'USD', 'ACTIVE', ''), ('aws', 'us-east-1', 'use1-az5', 't3.micro', 'Linux', 'ONDEMAND', "
	"'MONTH', 5, 0, '[]', 'USD', 'ACTIVE', ''), ('aws', 'us-east-1', 'use1-az5', 'gone', "
	"'Linux', 'ONDEMAND', 'HOUR', 5, 0, '[]', 'USD', 'ACTIVE', ''), ('hcloud', '2', '2', "
	"'96', 'Linux', 'ONDEMAND', 'HOUR', 0.0689, 0, '[]', 'EUR', 'ACTIVE', '');"
	"INSERT INTO storage_price VALUES ('aws', 'us-east-1', 'gp3', 'GB_MONTH', 0.08, 'USD', "
	"'ACTIVE'), ('aws', 'us-east-1', 'sc1', 'GB_MONTH', 0.015, 'USD', 'ACTIVE');"
	"INSERT INTO traffic_price VALUES ('aws', 'us-east-1', 'OUT', 'GB_MONTH', 0.09, 'USD', "
	"'ACTIVE'), ('aws', 'us-east-1', 'IN', 'GB_MONTH', 0.01, 'USD', 'ACTIVE');"
	"INSERT INTO ipv4_price VALUES ('aws', 'us-east-1', 'HOUR', 0.005, 'USD', 'ACTIVE'), "
	"('hcloud', '2', 'MONTH', 0.73, 'EUR', 'ACTIVE');"
	"INSERT INTO benchmark VALUES ('stress_ng:bestn', 'stress-ng', 'SCore', 'ops', 1, "
	"'ACTIVE'), ('membench:latency', 'Memory latency', 'Latency', 'ns', 0, 'ACTIVE');"
	"INSERT INTO benchmark_score VALUES ('aws', 't3.micro', 'stress_ng:bestn', '{\"cores\": "
	"1}', 1000, 'ACTIVE'), ('aws', 't3.micro', 'stress_ng:bestn', '{\"cores\": 2}', 1350.5, "
	"'ACTIVE'), ('aws', 't3.micro', 'stress_ng:bestn', '{\"cores\": 3}', 9999, 'INACTIVE'), "
	"('aws', 't3.micro', 'membench:latency', '{\"size\": 1}', 90, 'ACTIVE'), ('aws', "
	"'t3.micro', 'membench:latency', '{\"size\": 2}', 120, 'ACTIVE'), ('aws', 't3.micro', "
	"'unknown', '{}', 1, 'ACTIVE');";

static struct catalogue *load(void)
{
	struct catalogue *c = NULL;
	struct err e = {0};

	if (catalogue_from_scdata(&c, path, &e))
		fail_msg("%s", e.text);
	return c;
}

static void the_schema_of_sc_data_is_read(void **state)
{
	run(schema);
	run(data);
	AUTO(catalogue_freep) struct catalogue *c = load();
	const struct server *micro = catalogue_find(c, "aws", "t3.micro"),
			    *ccx = catalogue_find(c, "hcloud", "ccx13");

	assert_int_equal(c->n, 3);
	assert_string_equal(c->as_of, "2026-08-22");
	assert_string_equal(c->source, path);
	assert_non_null(micro);
	assert_int_equal(micro->cpu_allocation, CPU_BURSTABLE);
	assert_int_equal(micro->cpu_architecture, ARCHITECTURE_X86_64);
	assert_true(micro->memory_amount == 1024 && micro->memory_amount_actual == 965);
	assert_true(micro->score == 1350.5 && isnan(micro->score1));
	assert_true(micro->network_speed_baseline == 0.064);
	assert_true(isnan(micro->gpu_memory_total));
	assert_string_equal(micro->gpu_model, "");
	assert_int_equal(micro->n_prices, 3); /* 1 on demand for all zones, 1 spot for each zone */
	assert_true(micro->min_price_ondemand == 0.0104 && micro->min_price_spot == 0.003);
	assert_false(catalogue_find(c, "hcloud", "cx11")->active);

	assert_non_null(ccx);
	assert_string_equal(ccx->server_id, "96");
	assert_string_equal(ccx->storage_type, "nvme ssd");
	assert_string_equal(ccx->gpu_model, "A10");
	assert_true(ccx->gpu_count == 0.5 && ccx->average_time_to_start == 12.5);
	assert_string_equal(ccx->currency, "EUR");
	assert_string_equal(catalogue_currency(c, "EUR")->source, "ECB reference rate");

	assert_string_equal(c->vendor[micro->vendor].compliance, "hipaa soc2t2");
	assert_true(c->vendor[ccx->vendor].billing_increment_seconds == 3600);
	assert_true(isnan(c->vendor[ccx->vendor].minimum_billing_seconds));

	const struct region *virginia = &c->region[c->price[micro->first_price].region];
	const struct region *nuremberg = &c->region[c->price[ccx->first_price].region];

	assert_string_equal(virginia->aliases, "use1|US East");
	assert_string_equal(virginia->continent, "North America");
	assert_true(virginia->storage_price_gb_month == 0.015 &&
		    virginia->outbound_price_gb == 0.09 && virginia->ipv4_price_hour == 0.005);
	assert_string_equal(nuremberg->api_reference, "nbg1");
	assert_string_equal(nuremberg->aliases, "nbg1-dc3");
	assert_string_equal(nuremberg->extras_currency, "EUR");
	assert_true(fabs(nuremberg->ipv4_price_hour - 0.001) < 1e-12);

	const struct benchmark *latency = catalogue_benchmark(c, "membench:latency");

	assert_true(latency && !latency->higher_is_better &&
		    latency->score[micro - c->server] == 90);
	assert_string_equal(latency->unit, "ns");
	assert_null(latency->single_score);

	const struct benchmark *score = catalogue_benchmark(c, "stress_ng:bestn");

	assert_true(score->score[micro - c->server] == 1350.5F &&
		    score->single_score[micro - c->server] == 1000);
	assert_true(isnan(score->single_score[ccx - c->server]));
}

static void a_whole_database_has_all_frameworks_and_prices(void **state)
{
	run(schema);
	run(data);
	AUTO(catalogue_freep) struct catalogue *c = load();

	for (size_t i = 0; i < c->n_vendors; i++)
		assert_true(c->vendor[i].compliance_known);
	for (size_t i = 1; i < c->n_regions; i++)
		assert_true(c->region[i].prices_known);
}

/* The names are those that the benchmarks of sc-data have used. */
static void scores_of_one_core_are_told_apart(void **state)
{
	static const struct {
		const char *config;
		bool single;
	} table[] = {
		{"{\"cores\": 1}", true},
		{"{\"cores\": 1.0}", true},
		{"{\"cores\": \"single\"}", true},
		{"{\"cores\": \"Single-Core Performance\"}", true},
		{"{\"algo\": \"zstd\", \"cores\": \"single\"}", true},
		{"{\"cores\": 2}", false},
		{"{\"cores\": \"multi\"}", false},
		{"{\"cores\": \"Multi-Core Performance\"}", false},
		{"{\"cores\": null}", false},
		{"{\"cores\": [1]}", false},
		{"{\"threads\": 1}", false},
		{"{}", false},
		{"[1]", false},
		{"cores: 1", false},
		{"", false},
	};

	run(schema);
	run(data);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char *sql =
			sqlite3_mprintf("DELETE FROM benchmark_score; INSERT INTO benchmark_score "
					"VALUES ('aws', 't3.micro', 'stress_ng:bestn', %Q, 5, "
					"'ACTIVE'), ('hcloud', '96', 'stress_ng:bestn', NULL, 7, "
					"'ACTIVE')",
				table[i].config);

		run(sql);
		sqlite3_free(sql);
		AUTO(catalogue_freep) struct catalogue *c = load();
		const struct benchmark *b = catalogue_benchmark(c, "stress_ng:bestn");
		ptrdiff_t micro = catalogue_find(c, "aws", "t3.micro") - c->server;

		if ((b->single_score != NULL) != table[i].single)
			fail_msg("%s", table[i].config);
		assert_true(b->score[micro] == 5);
		assert_true(b->score[catalogue_find(c, "hcloud", "96") - c->server] == 7);
		if (b->single_score)
			assert_true(b->single_score[micro] == 5);
	}
}

static void rates_of_a_keeper_database_are_read(void **state)
{
	run(schema);
	run(data);
	run("INSERT INTO currency VALUES ('EUR', 'USD', 1.25), ('EUR', 'HUF', 400), ('USD', 'USD', "
	    "1)");
	AUTO(catalogue_freep) struct catalogue *c = load();

	assert_true(catalogue_currency(c, "EUR")->usd == 1.25);
}

/* Only servers and prices are required. Columns that an older version lacks are unknown. */
static void a_smaller_schema_is_read(void **state)
{
	run("CREATE TABLE server (vendor_id, server_id, vcpus, memory_amount, status);"
	    "CREATE TABLE server_price (vendor_id, region_id, server_id, allocation, unit, price, "
	    "operating_system, status);"
	    "INSERT INTO server VALUES ('v', 's', 2, 'lots', 'active'), ('v', NULL, 2, 2, "
	    "'active'), (NULL, NULL, NULL, NULL, NULL), (x'ff', 's', 1, 1, 'active'), ('w', 's', "
	    "-1, 2, 'active');"
	    "INSERT INTO server_price VALUES ('v', 'r', 's', 'ondemand', 'hour', 2.5, 'linux', "
	    "'active'), ('v', 'r', 's', 'ondemand', 'hour', 'free', 'linux', 'active'), ('v', "
	    "'r', 's', 'spot', 'hour', -1, NULL, 'active'), (NULL, NULL, NULL, NULL, NULL, NULL, "
	    "NULL, NULL)");
	AUTO(catalogue_freep) struct catalogue *c = load();

	assert_int_equal(c->n, 2);
	assert_true(c->server[0].vcpus == 2 && isnan(c->server[0].memory_amount));
	assert_true(c->server[0].n_prices == 1 && c->server[0].min_price_ondemand == 2.5);
	assert_true(isnan(c->server[1].vcpus));
	assert_string_equal(c->as_of, "");
}

static void assert_refused(int code, const char *expected)
{
	struct catalogue *c = NULL;
	struct err e = {0};

	assert_int_equal(catalogue_from_scdata(&c, path, &e), code);
	if (!strstr(e.text, expected))
		fail_msg("%s", e.text);
	assert_null(c);
}

static void other_files_are_refused(void **state)
{
	assert_refused(-EINVAL, "no table server: not a database of sc-data");
	run("CREATE TABLE server (vendor_id, server_id)");
	assert_refused(-EINVAL, "no table server_price");
	run("CREATE TABLE server_price (vendor_id)");
	assert_refused(-EINVAL, "no such column");
	run("DROP TABLE server_price");
	run("CREATE VIEW server_price AS WITH RECURSIVE endless (vendor_id) AS "
	    "(SELECT 'v' UNION ALL SELECT vendor_id FROM endless) SELECT vendor_id, 's' AS "
	    "server_id, 's' AS region_id, 1 AS price, 'hour' AS unit, 'ondemand' AS allocation, "
	    "'USD' AS currency, 'active' AS status FROM endless");
	assert_refused(-EINVAL, "no table server_price");

	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (int i = 0; i < 200; i++)
		fputs("vendor_id,server_id,vcpus,memory_amount\n", f);
	fclose(f);
	assert_refused(-EINVAL, "file is not a database");
	unlink(path);
	assert_refused(-ENOENT, "No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_schema_of_sc_data_is_read, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(a_whole_database_has_all_frameworks_and_prices,
			new_path, remove_path),
		cmocka_unit_test_setup_teardown(scores_of_one_core_are_told_apart, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(rates_of_a_keeper_database_are_read, new_path,
			remove_path),
		cmocka_unit_test_setup_teardown(a_smaller_schema_is_read, new_path, remove_path),
		cmocka_unit_test_setup_teardown(other_files_are_refused, new_path, remove_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
