#include "tests/unit/test_main.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/base/job_key.h"

#define US "\x1f"

static void the_key_of_a_job_without_a_place_is_its_name(void **state)
{
	char key[JOB_KEY_MAX], text[JOB_TEXT_MAX];

	job_key_write("load", NULL, "", key);
	assert_string_equal(key, "load");
	assert_string_equal(job_key_place(key), "");
	assert_string_equal(job_key_text(key, text), "load");
}

static void the_parts_come_back(void **state)
{
	static const struct {
		const char *name, *space, *cluster, *key, *text;
	} rows[] = {
		{"load", "etl", "", "load" US "etl", "load (namespace etl)"},
		{"load", "", "eu", "load" US US "eu", "load (cluster eu)"},
		{"a/b", "etl", "eu", "a/b" US "etl" US "eu", "a/b (namespace etl, cluster eu)"},
	};
	char key[JOB_KEY_MAX], text[JOB_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		job_key_write(rows[i].name, rows[i].space, rows[i].cluster, key);
		struct job_parts p = job_key_parts(key);

		assert_string_equal(key, rows[i].key);
		assert_string_equal(p.name, rows[i].name);
		assert_string_equal(p.space, rows[i].space);
		assert_string_equal(p.cluster, rows[i].cluster);
		assert_string_equal(job_key_place(key), key + strlen(rows[i].name));
		assert_string_equal(job_key_text(key, text), rows[i].text);
	}
}

static void long_parts_fit(void **state)
{
	char name[300], key[JOB_KEY_MAX], text[JOB_TEXT_MAX];

	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	job_key_write(name, name, name, key);
	struct job_parts p = job_key_parts(key);

	assert_int_equal(strlen(p.name), JOB_NAME_MAX - 1);
	assert_int_equal(strlen(p.space), JOB_SPACE_MAX - 1);
	assert_int_equal(strlen(p.cluster), JOB_SPACE_MAX - 1);
	assert_int_equal(strlen(key), JOB_KEY_MAX - 1);
	assert_int_equal(strlen(job_key_text(key, text)),
		JOB_KEY_MAX - 1 - 2 + strlen(" (namespace , cluster )"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_key_of_a_job_without_a_place_is_its_name),
		cmocka_unit_test(the_parts_come_back),
		cmocka_unit_test(long_parts_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
