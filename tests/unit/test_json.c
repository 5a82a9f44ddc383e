/* exporter/core/json.c, the replies and exporter/text/suggest.h: values, layout, error bodies, "did
 * you mean". */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/text/suggest.h"
#include "exporter/core/json.h"
#include "exporter/api/route.h"

static void assert_json(json_t *take, const char *expected)
{
	struct buf b = BUF_MAX(1 << 20);

	json_write(&b, take);
	assert_string_equal(buf_text(&b), expected);
	buf_done(&b);
	json_decref(take);
}

static void numbers_are_short_and_never_nan(void **state)
{
	static const struct {
		double v;
		const char *text;
	} table[] = {
		{0.1, "0.1\n"},
		{1, "1\n"},
		{-0.0, "0\n"},
		{-2.5, "-2.5\n"},
		{1e15, "1000000000000000\n"},
		{9007199254740992.0, "9007199254740992\n"},
		{1e300, "1e+300\n"},
		{1.0 / 3, "0.3333333333333333\n"},
		{NAN, "null\n"},
		{INFINITY, "null\n"},
		{-INFINITY, "null\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_json(json_num(table[i].v), table[i].text);
}

static void texts_are_valid_whatever_they_hold(void **state)
{
	assert_json(json_text(NULL), "null\n");
	assert_json(json_text(""), "\"\"\n");
	assert_json(json_text("a\"b\\c/d\n\x01\x7f"), "\"a\\\"b\\\\c/d\\u000a\\u0001\\u007f\"\n");
	assert_json(json_text("caf\xc3"), "\"caf\xef\xbf\xbd\"\n");
	assert_json(json_text("Zo\xc3\xab"), "\"Zo\xc3\xab\"\n");
}

static void times_are_rfc3339(void **state)
{
	assert_json(json_time(1795250712.123), "\"2026-11-21T08:45:12.123Z\"\n");
	assert_json(json_time(1795250712.9996), "\"2026-11-21T08:45:13.000Z\"\n");
	assert_json(json_time(0), "\"1970-01-01T00:00:00.000Z\"\n");
	assert_json(json_time(NAN), "null\n");
	assert_json(json_time(INFINITY), "null\n");
	assert_json(json_time(1e300), "null\n");
	assert_json(json_time(-9.1e9), "\"1681-08-18T22:13:20.000Z\"\n");
	assert_json(json_time(-8.1e10), "null\n"); /* does not fit into 64 bits of nanoseconds */
}

/* Each row has a value, and the value as each unit writes it. */
static void numbers_have_the_digits_of_their_unit(void **state)
{
	static const struct {
		double v;
		const char *bytes, *seconds, *cores, *money, *ratio;
	} table[] = {
		{442700624.0618951, "442700624", "442700624.062", "442700624.062", "442700624",
			"442700624"},
		{588.3914999, "588", "588.391", "588.391", "588.391", "588.4"},
		{1.0 / 3, "0", "0.3333", "0.333", "0.333333", "0.3333"},
		{0.00001234567, "0", "1.235e-05", "1.23e-05", "1.23457e-05", "1.235e-05"},
		{-0.8866698748021236, "-1", "-0.8867", "-0.887", "-0.88667", "-0.8867"},
		{1.5, "2", "1.5", "1.5", "1.5", "1.5"},
		{1e300, "1e+300", "1e+300", "1e+300", "1e+300", "1e+300"},
		{0, "0", "0", "0", "0", "0"},
		{NAN, "null", "null", "null", "null", "null"},
		{INFINITY, "null", "null", "null", "null", "null"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		json_t *const written[] = {json_bytes(table[i].v), json_seconds(table[i].v),
			json_cores(table[i].v), json_money(table[i].v), json_ratio(table[i].v)};
		const char *const expected[] = {table[i].bytes, table[i].seconds, table[i].cores,
			table[i].money, table[i].ratio};

		for (size_t k = 0; k < ARRAY_LEN(written); k++) {
			char line[64];

			snprintf(line, sizeof line, "%s\n", expected[k]);
			assert_json(written[k], line);
		}
	}
	assert_json(json_by_key("memory_bytes", 1.5), "2\n");
	assert_json(json_by_key("disk_read_bytes_per_second", 1.5), "2\n");
	assert_json(json_by_key("cpu_seconds", 1.23456), "1.235\n");
	assert_json(json_by_key("cpu_cores_mean", 1.23456), "1.235\n");
	assert_json(json_by_key("gpu_usage_mean", 1.23456), "1.235\n");
	assert_json(json_by_key("page_faults_minor", 123456), "123456\n");
}

static void what_fits_stands_on_a_line(void **state)
{
	json_t *o = json_object(), *inner = json_object(), *list = json_array();

	json_put(inner, "mean", json_num(1.5));
	json_put(inner, "max", json_num(2));
	json_put(o, "cpu_cores", inner);
	for (int i = 0; i < 40; i++)
		json_push(list, json_num(i * 100));
	json_put(o, "empty", json_array());
	json_put(o, "list", list);

	AUTO(buf_done) struct buf b = BUF_MAX(1 << 20);

	json_write(&b, o);
	const char *expected =
		"{\n"
		"  \"cpu_cores\": {\"mean\": 1.5, \"max\": 2},\n"
		"  \"empty\": [],\n"
		"  \"list\": [\n"
		"    0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300, "
		"1400, 1500, 1600, 1700,\n";
	assert_memory_equal(buf_text(&b), expected, strlen(expected));
	assert_non_null(strstr(buf_text(&b), ", 3900\n  ]\n}\n"));
	for (const char *line = buf_text(&b); *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= JSON_LINE);
	json_error_t error;
	json_t *back = json_loads(buf_text(&b), 0, &error);

	assert_true(json_equal(back, o));
	json_decref(back);
	json_decref(o);
}

static void a_document_that_is_too_large_is_seen(void **state)
{
	json_t *list = json_array();
	struct buf b = BUF_MAX(1000);

	for (int i = 0; i < 1000; i++)
		json_push(list, json_text("something"));
	json_write(&b, list);
	assert_true(b.full);
	buf_done(&b);
	json_decref(list);
}

static void errors_have_code_message_and_names(void **state)
{
	static const char *const names[] = {"etl/load", "etl/store", NULL};
	struct reply r = {0};

	assert_int_equal(reply_error_list(&r, 404, "unknown_job", "did_you_mean", names,
				 "no job \"x\""),
		0);
	assert_int_equal(r.status, 404);
	assert_string_equal(r.content_type, "application/json; charset=utf-8");
	assert_string_equal(buf_text(&r.body),
		"{\n"
		"  \"error\": {\"code\": \"unknown_job\", \"message\": \"no job \\\"x\\\"\","
		" \"did_you_mean\": [\"etl/load\", \"etl/store\"]}\n"
		"}\n");
	/* A second error replaces the first. */
	reply_error(&r, 500, "internal", "why");
	assert_string_equal(buf_text(&r.body),
		"{\"error\": {\"code\": \"internal\", \"message\": \"why\"}}\n");
	buf_done(&r.body);
}

static void names_that_are_like_it_come_and_the_closest_first(void **state)
{
	static const struct {
		const char *word, *first, *second;
		size_t n;
	} table[] = {
		{"traning", "training", NULL, 1},
		{"etl/laod", "etl/load", "etl/store", 2},
		{"TRAINING", "training", NULL, 1},
		{"fit", "TrainFlow/fit", NULL, 1}, /* the word is a part of the name */
		{"etl/load-2026-11-21", "etl/load", NULL, 1},
		{"e", NULL, NULL, 0}, /* the word is too short: many names have it */
		{"a backup, zzzzzzz", "backup", NULL, 1}, /* "up" is a part of too many words */
		{"zzzzzzzzz", NULL, NULL, 0},
		{"", NULL, NULL, 0},
	};
	static const char *const names[] = {"etl/store", "TrainFlow/fit", "etl/load", "training",
		"report", "nightly", "backup", "up"};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const char *found[CLOSEST_MAX + 1];

		suggest_closest(table[i].word, names, ARRAY_LEN(names), found);
		for (size_t k = 0; k < table[i].n; k++)
			assert_string_equal(found[k], k ? table[i].second : table[i].first);
		assert_null(found[table[i].n]);
	}
}

static void the_most_alike_of_many_are_named(void **state)
{
	static const char *const names[] = {
		"job-17", "job-1", "job-123", "job-12", "job-2", "job-11", "job-12-b"};
	const char *found[CLOSEST_MAX + 1];

	suggest_closest("job-12", names, ARRAY_LEN(names), found);
	assert_string_equal(found[0], "job-12");
	assert_non_null(found[CLOSEST_MAX - 1]);
	assert_null(found[CLOSEST_MAX]);
	suggest_closest("job-12", names, 0, found);
	assert_null(found[0]);
	/* Names that differ only in case are found once. */
	suggest_closest("the job-1", (const char *const[]){"job-1", "JOB-1", "x", "job-1"}, 4,
		found);
	assert_string_equal(found[0], "job-1");
	assert_null(found[1]);
}

static void every_second_letter_is_right_at_least(void **state)
{
	char word[101], name[101];
	const char *const names[] = {name}, *found[CLOSEST_MAX + 1];

	/* Only the first 64 bytes of a long word count. */
	memset(word, 'a', 100);
	memset(name, 'b', 100);
	word[100] = name[100] = '\0';
	memset(name, 'a', 31);
	suggest_closest(word, names, 1, found);
	assert_string_equal(found[0], name);
	name[0] = 'b';
	suggest_closest(word, names, 1, found);
	assert_null(found[0]);
	name[31] = '\0';
	suggest_closest(word, names, 1, found);
	assert_null(found[0]);
}

static void integers_are_compared_as_such(void **state)
{
	static const struct {
		const char *text;
		double least, most;
		bool in;
	} cases[] = {
		{"1000000000000000000", 0, 1e18, true},
		{"1000000000000000001", 0, 1e18, false},
		{"9223372036854775807", 0, 0x1p63, true},
		{"9223372036854775807", 0, INFINITY, true},
		{"5", 5, 5, true},
		{"6", 5, 5.5, false},
		{"5.5", 5, 5.5, true},
		{"4.9", 5, 5.5, false},
		{"-9223372036854775808", -0x1p63, 0, true},
		{"-1", 0, 1, false},
		{"\"1\"", 0, 1, false},
		{"null", 0, 1, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		json_t *v = json_loads(cases[i].text, JSON_DECODE_ANY, NULL);

		assert_non_null(v);
		if (json_is_in_range(v, cases[i].least, cases[i].most) != cases[i].in)
			fail_msg("%s from %g to %g", cases[i].text, cases[i].least, cases[i].most);
		json_decref(v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_short_and_never_nan),
		cmocka_unit_test(integers_are_compared_as_such),
		cmocka_unit_test(texts_are_valid_whatever_they_hold),
		cmocka_unit_test(times_are_rfc3339),
		cmocka_unit_test(numbers_have_the_digits_of_their_unit),
		cmocka_unit_test(what_fits_stands_on_a_line),
		cmocka_unit_test(a_document_that_is_too_large_is_seen),
		cmocka_unit_test(errors_have_code_message_and_names),
		cmocka_unit_test(names_that_are_like_it_come_and_the_closest_first),
		cmocka_unit_test(the_most_alike_of_many_are_named),
		cmocka_unit_test(every_second_letter_is_right_at_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
