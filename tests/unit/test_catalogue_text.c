/* exporter/cli/catalogue_command.c: the text output of `info` and `search`. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "exporter/cli/catalogue_command.h"

static struct catalogue *catalogue(void)
{
	static const char text[] =
		"# as_of: "
		"2026-08\nvendor_id,server_id,display_name,family,vcpus,memory_amount,status,price,currency,region_id,cpu_architecture,score\n"
		"v,1,Big Box,boxes,8,16384,,1.5,USD,r1,arm64,900.5\n"
		"v,2,Small Box,boxes,2,4096,,0.5,USD,,,\n"
		"v,3,Old Box,boxes,2,4096,inactive,0.1,USD,,,\n"
		"w,4,Peso Box,boxes,2,,,0.1,ARS,,,\n"
		"w,5,Crate,crates,2,4096,,0.1,EUR,,,\n";
	struct catalogue *c = NULL;
	struct err e = {0};

	if (catalogue_from_csv(&c, text, strlen(text), "boxes.csv", &e))
		fail_msg("%s", e.text);
	return c;
}

static void info_counts_what_there_is(void **state)
{
	struct catalogue *c = catalogue();
	struct buf out = BUF_MAX(65536);

	catalogue_command_info(&out, c, 7200);
	const char *text = buf_text(&out);

	assert_non_null(strstr(text,
		"source      boxes.csv\nas of       2026-08\nfetched     2 hours ago\n"
		"holds       5 servers, 5 prices, 1 regions, 1 benchmarks in "));
	assert_non_null(strstr(text,
		"currencies  USD, ARS (no rate), EUR at 1.1172 USD (ECB reference rate of 2026-10-30)\n"));
	assert_non_null(strstr(text,
		"\nv                   3        2        3        1         3\n"));
	assert_non_null(strstr(text,
		"\nw                   2        2        2        0         2\n"));
	buf_reset(&out);
	catalogue_command_info(&out, c, NAN);
	assert_null(strstr(buf_text(&out), "fetched"));
	buf_done(&out);
	catalogue_free(c);
}

static void search_lists_the_cheapest_first(void **state)
{
	struct catalogue *c = catalogue();
	struct buf out = BUF_MAX(65536);

	assert_int_equal(catalogue_command_search(&out, c, "BOX", 10), 3);
	const char *small = strstr(buf_text(&out), "Small Box"),
		   *big = strstr(buf_text(&out), "Big Box");
	const char *peso = strstr(buf_text(&out), "Peso Box");

	assert_true(small && big && peso && small < big && big < peso);
	assert_null(strstr(buf_text(&out), "Old Box"));
	assert_non_null(strstr(big, "arm64"));
	buf_reset(&out);
	assert_int_equal(catalogue_command_search(&out, c, "box", 1), 3);
	assert_null(strstr(buf_text(&out), "Big Box"));
	assert_int_equal(catalogue_command_search(&out, c, "crates", 10), 1);
	assert_int_equal(catalogue_command_search(&out, c, "nothing", 10), 0);
	buf_done(&out);
	catalogue_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(info_counts_what_there_is),
		cmocka_unit_test(search_lists_the_cheapest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
