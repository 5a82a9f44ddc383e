/* exporter/sql_end: statements end where SQLite says, however the text comes. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "exporter/catalogue/sql_end.h"

static bool ends(const char *text)
{
	struct sql_end s = {0};

	sql_end_read(&s, text, strlen(text));
	return sql_end_is_here(&s);
}

static void ends_and_what_only_looks_like_them(void **state)
{
	static const char *const whole[] = {"", " \n", "-- a", "/* ; */", "SELECT 1;", ";;",
		"a; -- b", "INSERT INTO t VALUES('it''s;\n');\n", "CREATE TABLE \"a;b\" (c);",
		"CREATE TRIGGER t BEGIN DELETE FROM u; END;",
		"create temporary trigger t begin delete from u; /* ; */ end ;"};
	static const char *const parts[] = {"a", "SELECT 1", "'", "';", "a; '", "/* ;", "/*/ ;",
		"a -- b;\n", "[a;", "`a;", "a - ", "CREATE TRIGGER t BEGIN DELETE FROM u;",
		"CREATE TRIGGER t BEGIN DELETE FROM u; ENDS;", "CREATE TRIGGER t END;"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(whole); i++)
		if (!ends(whole[i]))
			fail_msg("%s", whole[i]);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (ends(parts[i]))
			fail_msg("%s", parts[i]);
}

/* After each piece of texts made of what matters. The semicolon in front is why nothing at all is whole for SQLite, too. */
static void sqlite_agrees(void **state)
{
	static const char *const pieces[] = {";", ";", " ", "\n", "'", "\"", "`", "[", "]", "-",
		"--", "/", "/*", "*/", "*", "(", "create ", "CREATE", "TEMP ", "temporary ",
		"temporaryx", "Trigger ", "explain ", "end", "END", "_", "\xc3\xa9", "7"};
	uint32_t random = 1;

	(void)state;
	for (int text = 0; text < 5000; text++) {
		struct buf all AUTO(buf_done) = BUF_MAX(1000);
		struct sql_end s = {0};

		buf_adds(&all, ";");
		for (int i = 0; i < 40; i++) {
			random = random * 1664525 + 1013904223;
			const char *piece = pieces[(random >> 16) % ARRAY_LEN(pieces)];

			buf_adds(&all, piece);
			sql_end_read(&s, piece, strlen(piece));
			if (sql_end_is_here(&s) != (sqlite3_complete(buf_text(&all)) == 1))
				fail_msg("%s", buf_text(&all));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_and_what_only_looks_like_them),
		cmocka_unit_test(sqlite_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
