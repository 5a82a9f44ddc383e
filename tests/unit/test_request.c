/* exporter/api/request_target.c, arguments.c: from the bytes of a request to checked values. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/api/route.h"
#include "exporter/api/request_target.h"

static const char *colour(size_t i)
{
	static const char *const names[] = {"red", "dark green", NULL};

	return names[i];
}

static const struct parameter parameters[] = {
	{.name = "job_name",
		.kind = PARAMETER_TEXT,
		.required = true,
		.least = 1,
		.most = 9,
		.help = "A text"},
	{.name = "runs",
		.kind = PARAMETER_COUNT,
		.fallback = "5",
		.least = 1,
		.most = 100,
		.help = "A count"},
	{.name = "share", .kind = PARAMETER_NUMBER, .least = -1, .most = 1.5, .help = "A number"},
	{.name = "colour", .kind = PARAMETER_CHOICE, .choice = colour, .help = "A choice"},
	{.name = "all", .kind = PARAMETER_FLAG, .help = "A flag"},
	{.name = "vendor",
		.kind = PARAMETER_TEXT,
		.repeats = true,
		.least = 1,
		.most = 20,
		.help = "Texts"},
	{.name = "places",
		.also = {"place"},
		.kind = PARAMETER_COUNT,
		.least = 1,
		.most = 9,
		.help = "A count of two names"},
	{0},
};

/* Reads a query like the server. The texts in `a` point into `raw`. */
static int read_query(struct arguments *a, char *raw, struct err *e)
{
	struct request_target t;
	char *name, *value;
	int code = request_target_split(raw, &t, e);

	arguments_begin(a, parameters);
	while (code == 0 && (code = request_target_next(&t, &name, &value, e)) > 0)
		code = arguments_add(a, name, value, e);
	return code < 0 ? code : arguments_finish(a, e);
}

static void paths_are_decoded_or_refused(void **state)
{
	static const struct {
		const char *raw, *path, *query; /* path: NULL = refused */
	} table[] = {
		{"/metrics", "/metrics", ""},
		{"/metrics?", "/metrics", ""},
		{"/a%20b?x=%20?y", "/a b", "x=%20?y"},
		{"/a+b", "/a+b", ""},
		{"//metrics", "//metrics", ""},
		{"/%2e%2E/x", "/../x", ""},
		{"http://host:9877/metrics?a=b", "/metrics", "a=b"},
		{"HTTP://host", "", ""},
		{"http://host?a", "", "a"},
		{"*", "*", ""},
		{"", "", ""},
		{"/caf%C3%A9", "/caf\xc3\xa9", ""},
		{"/%00", NULL, NULL},
		{"/%", NULL, NULL},
		{"/%4", NULL, NULL},
		{"/%4?1", NULL, NULL},
		{"/%zz", NULL, NULL},
		{"/%c3", NULL, NULL},
		{"/\xff", NULL, NULL},
		{"/%ed%a0%80", NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char raw[100];
		struct request_target t;
		struct err e = {0};

		snprintf(raw, sizeof raw, "%s", table[i].raw);
		if (!table[i].path) {
			assert_int_equal(request_target_split(raw, &t, &e), -EINVAL);
			assert_true(e.text[0] != '\0');
			continue;
		}
		assert_int_equal(request_target_split(raw, &t, &e), 0);
		assert_string_equal(t.path, table[i].path);
		assert_string_equal(t.query, table[i].query);
	}
}

static void queries_fall_into_names_and_values(void **state)
{
	char raw[] = "/?a=1&&b&c=x%26y%3dz&=v&d=a=b&%65=+%2B&";
	static const char *const pairs[][2] = {
		{"a", "1"}, {"b", ""}, {"c", "x&y=z"}, {"", "v"}, {"d", "a=b"}, {"e", " +"}};
	struct request_target t;
	char *name, *value;

	assert_int_equal(request_target_split(raw, &t, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		assert_int_equal(request_target_next(&t, &name, &value, NULL), 1);
		assert_string_equal(name, pairs[i][0]);
		assert_string_equal(value, pairs[i][1]);
	}
	assert_int_equal(request_target_next(&t, &name, &value, NULL), 0);
	assert_int_equal(request_target_next(&t, &name, &value, NULL), 0);
}

static void good_arguments_are_read(void **state)
{
	char raw[] = "/?job_name=etl%2Fload&share=-0.5&colour=Dark+Green&all&vendor[]=aws&vendor="
		     "gcp&vendor%5b%5D=x";
	struct arguments a;
	struct err e = {0};
	const char *const *vendors;

	assert_int_equal(read_query(&a, raw, &e), 0);
	assert_string_equal(argument_text(&a, "job_name"), "etl/load");
	assert_int_equal(argument_count(&a, "runs"), 5);
	assert_true(argument_number(&a, "share") == -0.5);
	assert_string_equal(argument_text(&a, "colour"), "dark green");
	assert_true(argument_flag(&a, "all"));
	assert_int_equal(argument_texts(&a, "vendor", &vendors), 3);
	assert_string_equal(vendors[0], "aws");
	assert_string_equal(vendors[2], "x");
}

static void absent_arguments_are_absent(void **state)
{
	char raw[] = "/?job_name=x&runs=100";
	struct arguments a;
	const char *const *vendors;

	assert_int_equal(read_query(&a, raw, NULL), 0);
	assert_int_equal(argument_count(&a, "runs"), 100);
	assert_true(isnan(argument_number(&a, "share")));
	assert_null(argument_text(&a, "colour"));
	assert_false(argument_flag(&a, "all"));
	assert_int_equal(argument_texts(&a, "vendor", &vendors), 0);
}

static void bad_arguments_are_named_with_what_is_accepted(void **state)
{
	static const struct {
		const char *query, *words[3];
	} table[] = {
		{"", {"job_name", "missing", "1 to 9 bytes"}},
		{"job_name=", {"job_name", "\"\"", "1 to 9 bytes"}},
		{"job_name=0123456789", {"job_name", "0123456789", "1 to 9 bytes"}},
		{"job_name=a%0Ab", {"job_name", "control"}},
		{"job_name=a%7fb", {"job_name", "control"}},
		{"job_name=%ff", {"job_name", "UTF-8"}},
		{"job_name=%00", {"job_name", "%00"}},
		{"job_name=%0", {"job_name", "hexadecimal"}},
		{"job_name=a&job_name=b", {"job_name", "more than once"}},
		{"job_name[]=a", {"\"job_name[]\"", "not a parameter", "job_name"}},
		{"job_name=a&runs=0", {"runs", "\"0\"", "from 1 to 100"}},
		{"job_name=a&runs=101", {"runs", "\"101\"", "from 1 to 100"}},
		{"job_name=a&runs=-1", {"runs", "\"-1\"", "from 1 to 100"}},
		{"job_name=a&runs=5.0", {"runs", "\"5.0\"", "whole"}},
		{"job_name=a&runs=+5", {"runs", "\" 5\"", "whole"}},
		{"job_name=a&runs=18446744073709551616", {"runs", "18446744073709551616"}},
		{"job_name=a&runs=", {"runs", "\"\"", "whole"}},
		{"job_name=a&runs=5&runs=6", {"runs", "more than once"}},
		{"job_name=a&share=nan", {"share", "\"nan\"", "from -1 to 1.5"}},
		{"job_name=a&share=1e308", {"share", "1e308"}},
		{"job_name=a&share=1e999", {"share", "1e999"}},
		{"job_name=a&share=0.5x", {"share", "0.5x"}},
		{"job_name=a&colour=blue", {"colour", "\"blue\"", "red or dark green"}},
		{"job_name=a&colour=rd", {"colour", "\"rd\"", "red or dark green"}},
		{"job_name=a&all=maybe", {"all", "\"maybe\"", "true, false"}},
		{"job_name=a&vendor=", {"vendor", "1 to 20"}},
		{"job_name=a&nothing=1", {"\"nothing\"", "job_name, runs, share"}},
		{"job_name=a&=1", {"\"\"", "job_name, runs, share"}},
		{"job_name=a&%ff=1", {"name", "UTF-8"}},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char raw[200];
		struct arguments a;
		struct err e = {0};

		snprintf(raw, sizeof raw, "/?%s", table[i].query);
		if (read_query(&a, raw, &e) != -EINVAL)
			fail_msg("%s was accepted", table[i].query);
		for (size_t k = 0; k < 3 && table[i].words[k]; k++)
			if (!strstr(e.text, table[i].words[k]))
				fail_msg("%s: \"%s\" lacks \"%s\"", table[i].query, e.text,
					table[i].words[k]);
	}
}

static void values_of_one_parameter_are_bounded(void **state)
{
	struct arguments a;
	struct err e = {0};

	arguments_begin(&a, parameters);
	for (int i = 0; i < PARAMETER_VALUES_MAX; i++)
		assert_int_equal(arguments_add(&a, "vendor", "aws", &e), 0);
	assert_int_equal(arguments_add(&a, "vendor", "aws", &e), -EINVAL);
	assert_non_null(strstr(e.text, "64"));
}

static void flags_are_called_as_they_are_written(void **state)
{
	char called[ARGUMENT_CALLED_MAX];
	struct arguments a;
	struct err e = {0};

	arguments_begin(&a, parameters);
	a.flags = true;
	assert_int_equal(arguments_add(&a, "runs", "many", &e), -EINVAL);
	assert_non_null(strstr(e.text, "--runs: \"many\""));
	assert_int_equal(arguments_finish(&a, &e), -EINVAL);
	assert_non_null(strstr(e.text, "--job-name is missing"));
	assert_int_equal(arguments_add(&a, "job-name", "x", &e), 0);
	assert_int_equal(arguments_finish(&a, &e), 0);
	assert_string_equal(argument_called(&a, "places", called), "--places");
	assert_int_equal(arguments_add(&a, "place", "many", &e), -EINVAL);
	assert_non_null(strstr(e.text, "--place: \"many\""));
	assert_string_equal(argument_called(&a, "places", called), "--place");
	a.flags = false;
	assert_string_equal(argument_called(&a, "places", called), "place");
	assert_string_equal(argument_called(&a, "job_name", called), "job_name");
}

static void hostile_values_are_shown_clean_and_short(void **state)
{
	char value[5000];
	struct arguments a;
	struct err e = {0};

	memset(value, 'x', sizeof value - 1);
	value[sizeof value - 1] = '\0';
	value[0] = '\xff';
	arguments_begin(&a, parameters);
	assert_int_equal(arguments_add(&a, "job_name", value, &e), -EINVAL);
	assert_non_null(strstr(e.text, "\xef\xbf\xbdxxx"));
	assert_non_null(strstr(e.text, "1 to 9 bytes"));
	assert_int_equal(arguments_add(&a, value, "", &e), -EINVAL);
	assert_non_null(strstr(e.text, "known: job_name"));
}

static void a_slip_is_answered_with_what_was_meant(void **state)
{
	static const struct {
		const char *name, *says;
		bool flags;
	} table[] = {
		{"job_nme", "did you mean job_name?", false},
		{"Job_Name", "did you mean job_name?", false},
		{"runz", "did you mean --runs?", true},
		{"job", "did you mean --job-name?", true},
		{"zzzzzz", "known: job_name", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct arguments a;
		struct err e = {0};

		arguments_begin(&a, parameters);
		a.flags = table[i].flags;
		assert_int_equal(arguments_add(&a, table[i].name, "x", &e), -EINVAL);
		if (!strstr(e.text, table[i].says))
			fail_msg("%s: %s", table[i].name, e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_decoded_or_refused),
		cmocka_unit_test(queries_fall_into_names_and_values),
		cmocka_unit_test(good_arguments_are_read),
		cmocka_unit_test(absent_arguments_are_absent),
		cmocka_unit_test(bad_arguments_are_named_with_what_is_accepted),
		cmocka_unit_test(values_of_one_parameter_are_bounded),
		cmocka_unit_test(flags_are_called_as_they_are_written),
		cmocka_unit_test(hostile_values_are_shown_clean_and_short),
		cmocka_unit_test(a_slip_is_answered_with_what_was_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
