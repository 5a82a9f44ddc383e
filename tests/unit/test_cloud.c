/* Tests how the answers of cloud metadata services and the texts of DMI are read, and how
 * implausible ones are refused. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/core/app.h"
#include "exporter/this_server/vendors.h"
#include "exporter/client/link_local_http.h"
#include "exporter/answers/current_cost.h"

/* ---- HTTP answers ---- */

static void an_answer_is_whole_or_needs_more_or_is_none(void **state)
{
	static const struct {
		const char *text;
		bool ended;
		int code;
		int status;
		const char *body;
	} cases[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, 1, 200, "hello"},
		{"HTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\nhello, more", false, 1, 200, "hello"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", false, 0, 0, NULL},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", true, -EBADMSG, 0, NULL},
		{"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", false, 1, 404, ""},
		{"HTTP/1.0 200 OK\r\n\r\nto the end", true, 1, 200, "to the end"},
		{"HTTP/1.0 200 OK\r\n\r\nto the end", false, 0, 0, NULL},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: "
		 "chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n",
			false, 1, 200, "abc0123456789"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", false, 0, 0,
			NULL},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", true,
			-EBADMSG, 0, NULL},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
			false, -EBADMSG, 0, NULL},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n", false,
			-EBADMSG, 0, NULL},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
			false, -EBADMSG, 0, NULL},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", false, -EBADMSG, 0, NULL},
		{"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", false, -EBADMSG, 0,
			NULL},
		{"HTTP/2 200\r\n\r\n", false, -EBADMSG, 0, NULL},
		{"SSH-2.0-OpenSSH_9.2\r\n\r\n", false, -EBADMSG, 0, NULL},
		{"HTTP/1.1 20", false, 0, 0, NULL},
		{"", true, -EBADMSG, 0, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(freep) char *data = xstrdup(cases[i].text);
		struct link_local_answer a = {0};
		int code = link_local_http_read(data, strlen(data), cases[i].ended, &a);

		if (code != cases[i].code || (code == 1 && a.status != cases[i].status))
			fail_msg("case %zu: code %d, status %d", i, code, a.status);
		if (code != 1)
			continue;
		assert_int_equal(a.len, strlen(cases[i].body));
		assert_memory_equal(a.body, cases[i].body, a.len);
	}
}

/* ---- answers of each vendor ---- */

static const struct cloud_vendor *vendor(const char *id)
{
	for (size_t i = 0; i < vendor_count; i++)
		if (strcmp(vendor_table[i].vendor_id, id) == 0)
			return &vendor_table[i];
	fail_msg("no vendor %s", id);
	return NULL;
}

struct answer_case {
	const char *vendor;
	size_t question;
	const char *body;
	bool taken;
	struct machine machine;
};

static void answers_are_read_as_their_vendors_write_them(void **state)
{
	static const struct answer_case cases[] = {
		{"aws", 1, "on-demand\n", true, {.allocation = MACHINE_ONDEMAND}},
		{"aws", 1, "scheduled", true, {.allocation = MACHINE_ALLOCATION_UNKNOWN}},
		{"aws", 0, "{\"instanceType\": \"t3.micro\", \"region\": \"us-east-1\"}", true,
			{.instance_type = "t3.micro", .region = "us-east-1"}},
		{"aws", 0, "{\"region\": \"us-east-1\"}", false, {.region = ""}},
		{"aws", 0, "{\"instanceType\": 5, \"region\": \"us-east-1\"}", false,
			{.region = ""}},
		{"aws", 0, "<html>captive portal</html>", false, {.region = ""}},
		{"aws", 0, "[]", false, {.region = ""}},
		{"gcp", 0, "projects/1/machineTypes/e2-medium", true,
			{.instance_type = "e2-medium"}},
		{"gcp", 0, "e2-medium", false, {.region = ""}},
		{"gcp", 1, "projects/1/zones/us-central1-f", true,
			{.region = "us-central1", .zone = "us-central1-f"}},
		{"gcp", 1, "nowhere", false, {.region = ""}},
		{"gcp", 2, "TRUE", true, {.allocation = MACHINE_SPOT}},
		{"azure", 0,
			"{\"vmSize\":\"Standard_B1s\",\"location\":\"eastus\",\"priority\":\"\","
			"\"zone\":\"\"}",
			true,
			{.instance_type = "Standard_B1s",
				.region = "eastus",
				.allocation = MACHINE_ONDEMAND}},
		{"azure", 0, "{\"vmSize\":\"Standard_B1s\",\"location\":\"eastus\"}", true,
			{.instance_type = "Standard_B1s", .region = "eastus"}},
		{"hcloud", 0, "region: eu-central\ninstance-id: 5\n", false, {.region = ""}},
		{"hcloud", 0, "instance-id: 5\navailability-zone: fsn1-dc14\n", true,
			{.region = "fsn1-dc14", .zone = "fsn1-dc14"}},
		{"upcloud", 0, "{\"cloud_name\": \"other\", \"region\": \"x\"}", false,
			{.region = ""}},
		{"ovh", 0, "{\"services\": [1, null, {\"address\": \"213.186.33.99\"}]}", true,
			{.region = ""}},
		{"ovh", 0, "{\"services\": {\"address\": \"213.186.33.99\"}}", false,
			{.region = ""}},
		{"ovh", 2, "{\"availability_zone\": \"nova\"}", true, {.region = ""}},
		{"alicloud", 0, "ecs.g7.large", true, {.instance_type = "ecs.g7.large"}},
		{"alicloud", 0, "ecs.g7.large\"}", false, {.region = ""}},
		{"alicloud", 0, "", false, {.region = ""}},
		{"vultr", 0, "{\"instanceid\": \"1\", \"region\": {\"regioncode\": \"FRA\"}}", true,
			{.region = "fra"}},
		{"vultr", 0, "{\"region\": {\"regioncode\": \"FRA\"}}", false, {.region = ""}},
		{"vultr", 0, "{\"instanceid\": \"1\", \"region\": \"FRA\"}", false, {.region = ""}},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct answer_case *c = &cases[i];
		struct machine m = {0};
		bool taken =
			vendor(c->vendor)->question[c->question].take(c->body, strlen(c->body), &m);

		if (taken != c->taken)
			fail_msg("%s: %s", c->vendor, c->body);
		if (!taken)
			continue;
		assert_string_equal(m.instance_type, c->machine.instance_type);
		assert_string_equal(m.region, c->machine.region);
		assert_string_equal(m.zone, c->machine.zone);
		assert_int_equal(m.allocation, c->machine.allocation);
	}
}

static void a_word_too_long_is_not_cut_but_refused(void **state)
{
	struct machine m = {0};
	char body[200];

	memset(body, 'a', sizeof body);
	assert_false(vendor("alicloud")->question[0].take(body, sizeof m.instance_type, &m));
	assert_true(vendor("alicloud")->question[0].take(body, sizeof m.instance_type - 1, &m));
}

/* ---- DMI ---- */

static void dmi_names_one_vendor_and_rules_out_the_others(void **state)
{
	static const struct {
		struct dmi dmi;
		const char *vendor, *told, *type; /* vendor: NULL = none, "any" = unknown */
	} cases[] = {
		{{.sys_vendor = "Amazon EC2", .product_name = "c7g.xlarge"}, "aws", "aws",
			"c7g.xlarge"},
		{{.sys_vendor = "Xen", .product_name = "HVM domU", .bios_version = "4.11.amazon"},
			"aws", "aws", ""},
		{{.sys_vendor = "Xen", .product_name = "HVM domU", .bios_version = "4.17"}, NULL,
			"", ""},
		{{.sys_vendor = "Google", .product_name = "Google Compute Engine"}, "gcp", "gcp",
			""},
		{{.sys_vendor = "Microsoft Corporation",
			 .product_name = "Virtual Machine",
			 .chassis_asset_tag = "7783-7084-3265-9085-8269-3286-77"},
			"azure", "azure", ""},
		{{.sys_vendor = "Microsoft Corporation", .product_name = "Virtual Machine"}, NULL,
			"", ""},
		{{.sys_vendor = "Hetzner", .product_name = "vServer"}, "hcloud", "hcloud", ""},
		{{.sys_vendor = "UpCloud"}, "upcloud", "upcloud", ""},
		{{.sys_vendor = "OpenStack Foundation", .product_name = "OpenStack Nova"}, "ovh",
			"", ""},
		{{.sys_vendor = "Alibaba Cloud", .product_name = "Alibaba Cloud ECS"}, "alicloud",
			"alicloud", ""},
		{{.sys_vendor = "Vultr"}, "vultr", "vultr", ""},
		{{.sys_vendor = "Dell Inc.", .product_name = "PowerEdge"}, NULL, "", ""},
		{{.sys_vendor = ""}, "any", "", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct machine m = {0};

		for (size_t k = 0; k < vendor_count; k++) {
			const char *id = vendor_table[k].vendor_id;
			enum dmi_verdict expected = DMI_RULES_OUT;

			if (cases[i].vendor && strcmp(cases[i].vendor, "any") == 0)
				expected = DMI_SILENT;
			else if (cases[i].vendor && strcmp(cases[i].vendor, id) == 0)
				expected = DMI_MATCHES;
			assert_int_equal(vendor_judge_dmi(&cases[i].dmi, &vendor_table[k]),
				expected);
		}
		vendor_by_dmi(&cases[i].dmi, &m);
		assert_string_equal(m.vendor_id, cases[i].told);
		assert_string_equal(m.instance_type, cases[i].type);
	}
}

static void options_say_which_server_it_is_where_nobody_looks(void **state)
{
	static const struct {
		struct options options;
		struct machine machine;
		bool known;
	} table[] = {
		{{.server_vendor = NULL}, {.source = ""}, false},
		{{.server_allocation = "unknown"}, {.source = ""}, false},
		{{.server_vendor = "aws",
			 .server_type = "m7i.large",
			 .server_region = "us-east-1",
			 .server_allocation = "spot"},
			{"aws", "m7i.large", "us-east-1", "", MACHINE_SPOT, "option"}, true},
		{{.server_type = "cx32", .server_allocation = "ondemand"},
			{"", "cx32", "", "", MACHINE_ONDEMAND, "option"}, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct app app = APP_INIT;
		struct machine m = {.vendor_id = "other", .region = "other"};

		app.options = &table[i].options;
		assert_int_equal(this_server_now(&app, &m), table[i].known);
		assert_true(current_cost_same_terms(&m, &table[i].machine));
		assert_string_equal(m.source, table[i].machine.source);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_whole_or_needs_more_or_is_none),
		cmocka_unit_test(answers_are_read_as_their_vendors_write_them),
		cmocka_unit_test(a_word_too_long_is_not_cut_but_refused),
		cmocka_unit_test(dmi_names_one_vendor_and_rules_out_the_others),
		cmocka_unit_test(options_say_which_server_it_is_where_nobody_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
