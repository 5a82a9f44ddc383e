/* Puts values that no program writes into any column of a database. SQL from random bytes seldom
 * does this. Each change takes three bytes of the input, which choose the column, the value and the
 * rows. */
#ifndef TESTS_FUZZ_VALUES_H
#define TESTS_FUZZ_VALUES_H

#include "tests/fuzz/fuzz_sql.h"

#define FUZZ_COLUMNS_MAX 256
#define FUZZ_VALUES_MAX  64 /* largest number of values in one input */

struct fuzz_columns {
	size_t n;
	char *update[FUZZ_COLUMNS_MAX]; /* start of a statement: UPDATE "table" SET "column" = */
};

static int fuzz_add_column(void *context, int n, char **text, char **name)
{
	struct fuzz_columns *c = context;

	(void)n;
	(void)name;
	if (c->n < FUZZ_COLUMNS_MAX)
		c->update[c->n++] = xstrdup(text[0]);
	return 0;
}

static void fuzz_columns_read(struct fuzz_columns *ret, const char *file)
{
	sqlite3 *db = NULL;

	if (sqlite3_open(file, &db) == SQLITE_OK)
		sqlite3_exec(db,
			"SELECT format('UPDATE \"%w\" SET \"%w\" = ', t.name, c.name)"
			" FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'",
			fuzz_add_column, ret, NULL);
	sqlite3_close(db);
}

static void fuzz_set_values(sqlite3 *db, const uint8_t *data, size_t size,
	const struct fuzz_columns *columns)
{
	static const char *const values[] = {"NULL", "0", "1", "-1", "2", "7", "255", "4294967295",
		"2147483648", "-2147483648", "9223372036854775807", "-9223372036854775807 - 1",
		"0.5", "-0.5", "1e9", "2e9", "1e18", "1e300", "-1e300", "9e999", "-9e999", "1e-300",
		"''", "'x'", "'running'", "'succeeded'", "'delta'", "'boot-1'", "'-1'", "'[1]'",
		"'{'", "'{\"a\":\"b\"}'", "'{\"a\":{\"b\":[1]}}'", "'\"'", "char(10)",
		"char(0, 97)", "char(65279, 55296)", "x'ff'", "x'c080'", "x''", "zeroblob(70000)",
		"printf('%070000d', 1)", "replace(hex(zeroblob(2000)), '0', '[')", "random()",
		"rowid", "rowid << 32", "-rowid"};
	static const char *const rows[] = {
		"", " WHERE rowid = 1", " WHERE rowid = 2", " WHERE rowid = 3", " WHERE rowid & 1"};

	for (size_t i = 0; i + 3 <= size && i < 3 * FUZZ_VALUES_MAX && columns->n; i += 3) {
		char *sql = sqlite3_mprintf("%s%s%s", columns->update[data[i] % columns->n],
			values[data[i + 1] % ARRAY_LEN(values)],
			rows[data[i + 2] % ARRAY_LEN(rows)]);

		/* Rows that a constraint refuses are skipped. */
		sqlite3_exec(db, sql, NULL, NULL, NULL);
		sqlite3_free(sql);
	}
}

/* If the first byte is odd, the column types and NOT NULL are removed first. A damaged page may
 * contain values that violate them. */
static void fuzz_values(const char *file, const uint8_t *data, size_t size,
	const struct fuzz_columns *columns)
{
	static const char loosen[] =
		"PRAGMA writable_schema = 1;"
		"UPDATE sqlite_schema SET sql = replace(replace(replace(sql, ' STRICT,', ''),"
		" ' STRICT', ''), 'NOT NULL', '') WHERE type = 'table';"
		"PRAGMA writable_schema = RESET";
	sqlite3 *db = NULL;
	int steps = 0;

	if (size && sqlite3_open(file, &db) == SQLITE_OK) {
		sqlite3_progress_handler(db, 1000, fuzz_too_long, &steps);
		if (data[0] & 1)
			sqlite3_exec(db, loosen, NULL, NULL, NULL);
		fuzz_set_values(db, data + 1, size - 1, columns);
	}
	sqlite3_close(db);
}

#endif
