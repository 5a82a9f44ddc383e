/* Samples as CSV: times in milliseconds, unknown values empty, and a size limit. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/history/history.h"
#include "exporter/answers/series_csv.h"

static void times_are_as_printf_has_them(void **state)
{
	static const double at[] = {0, 0.0004, 0.9996, 1, 12.0625, 1795250900, 1795250900.001,
		1795250900.0494, 1795250900.9999, 1795250999.9995117, 253402300799.999, -1.5};
	static const double duration[ARRAY_LEN(at)] = {1};

	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		const struct series s = {.n = 1, .at = at + i, .duration = duration};
		AUTO(buf_done) struct buf b = BUF_MAX(4096);
		char expected[64];

		snprintf(expected, sizeof expected, "%.3f,1\n", at[i]);
		series_csv_rows(&b, &s);
		assert_string_equal(buf_text(&b), expected);
	}
}

static void unknown_values_are_empty(void **state)
{
	static const char *const columns[] = {"a", "b"};
	static const double at[] = {1, 2}, duration[] = {1, 0.5};
	double a[] = {0.1, NAN}, b[] = {INFINITY, 1e300};
	double *const values[] = {a, b};
	const struct series s = {2, 2, columns, at, duration, values};
	AUTO(buf_done) struct buf out = BUF_MAX(4096);

	series_csv_header(&out, &s);
	series_csv_rows(&out, &s);
	assert_string_equal(buf_text(&out), "at,duration,a,b\n1.000,1,0.1,\n2.000,0.5,,1e+300\n");
}

/* Nothing is written beyond the limit, and the missing rest is reported. */
static void the_cap_is_kept(void **state)
{
	static const double at[] = {1795250900.5}, duration[] = {0.25};
	const struct series s = {.n = 1, .at = at, .duration = duration};
	const char *whole = "1795250900.500,0.25\n";

	for (size_t max = 0; max <= strlen(whole); max++) {
		AUTO(buf_done) struct buf b = BUF_MAX(max);

		series_csv_rows(&b, &s);
		assert_true(b.len <= max);
		assert_int_equal(b.full, max < strlen(whole));
		assert_memory_equal(buf_text(&b), whole, b.len < 14 ? b.len : 14);
		assert_int_equal(strlen(buf_text(&b)), b.len);
	}
}

/* A run's last sample may be taken after the run's end, and a thinned sample is an average.
 * "processes - 1" may therefore be negative. */
static void a_run_has_no_fewer_than_no_children(void **state)
{
	static const char *const columns[] = {"processes"};
	static const double at[] = {1, 2, 3, 4, 5, 6}, duration[] = {1, 1, 1, 1, 1, 1};
	double processes[] = {3, 1, 0.25, 2.75, NAN, 0};
	double *const values[] = {processes};
	static const char *const children[] = {"2", "0", "0", "2", "", ""};
	const struct series s = {ARRAY_LEN(at), 1, columns, at, duration, values};
	AUTO(buf_done) struct buf out = BUF_MAX(65536);
	char *next, *line;
	size_t column = 0, row = 0;

	series_csv_peer_header(&out);
	series_csv_peer_rows(&out, &s);
	next = out.data;
	for (char *name = strsep(&next, "\n"), *word; (word = strsep(&name, ",")); column++)
		if (strcmp(word, "\"process_children\"") == 0)
			break;
	while ((line = strsep(&next, "\n")) && *line) {
		for (size_t i = 0; i < column; i++)
			strsep(&line, ",");
		assert_string_equal(strsep(&line, ","), children[row]);
		row++;
	}
	assert_int_equal(row, ARRAY_LEN(children));
}

/* A column name that no table has would always give an empty cell. */
static void what_resource_tracker_is_given_is_what_a_history_keeps(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct columns kept;

	columns_build(&kept);
	for (const char *const *name = series_csv_peer_sources(&arena); *name; name++) {
		size_t i = 0;

		while (i < kept.n && strcmp(kept.metric[i]->column, *name) != 0)
			i++;
		if (i == kept.n)
			fail_msg("no column %s", *name);
	}
	columns_done(&kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_as_printf_has_them),
		cmocka_unit_test(unknown_values_are_empty),
		cmocka_unit_test(the_cap_is_kept),
		cmocka_unit_test(a_run_has_no_fewer_than_no_children),
		cmocka_unit_test(what_resource_tracker_is_given_is_what_a_history_keeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
