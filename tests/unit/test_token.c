/* exporter/client/bearer_token.c: secrets in files. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/client/bearer_token.h"

static char path[] = "/tmp/test_token_XXXXXX";

static void put(const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int make(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int drop(void **state)
{
	return unlink(path);
}

/* A prefix, a repetition or an appended text does not match. */
static void only_the_whole_token_matches(void **state)
{
	static const struct {
		const char *header;
		int code;
	} table[] = {
		{"Bearer secret", 0},
		{"bearer secret", 0},
		{"Bearer secre", -EACCES},
		{"Bearer s", -EACCES},
		{"Bearer ", -EACCES},
		{"Bearer", -EACCES},
		{"", -EACCES},
		{NULL, -EACCES},
		{"secret", -EACCES},
		{"Basic secret", -EACCES},
		{"Bearer secretx", -EACCES},
		{"Bearer secretsecret", -EACCES},
		{"Bearer  secret", -EACCES},
		{"Bearer Secret", -EACCES},
		{"Bearer secres", -EACCES},
	};

	put("secret\nof nobody\n");
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct err e = {0};

		if (bearer_token_matches(path, table[i].header, &e) != table[i].code)
			fail_msg("\"%s\": %s", table[i].header ? table[i].header : "(none)",
				e.text);
		assert_null(strstr(e.text, "secret"));
	}
}

/* An empty token does not match an empty file. */
static void an_empty_file_lets_nobody_in(void **state)
{
	static const char *const texts[] = {"", "\n", "\r\nsecret\n"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err e = {0};

		put(texts[i]);
		assert_int_equal(bearer_token_matches(path, "Bearer ", &e), -EINVAL);
		assert_int_equal(bearer_token_matches(path, "Bearer secret", &e), -EINVAL);
		assert_non_null(strstr(e.text, path));
	}
}

static void a_file_that_is_not_there_lets_nobody_in(void **state)
{
	struct err e = {0};

	assert_int_equal(bearer_token_matches("/nonexistent/token", "Bearer ", &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent/token"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_whole_token_matches),
		cmocka_unit_test(an_empty_file_lets_nobody_in),
		cmocka_unit_test(a_file_that_is_not_there_lets_nobody_in),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
