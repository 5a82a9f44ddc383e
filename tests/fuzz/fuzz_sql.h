/* SQL from an attacker with write access to one of our files. It is run on the file before the file
 * is read. Statements that could change another file are refused, and statements that run too long
 * are stopped. */
#ifndef TESTS_FUZZ_SQL_H
#define TESTS_FUZZ_SQL_H

#include <stdint.h>
#include <string.h>

#include <sqlite3.h>

#include "collectors/base/mem.h"

#define FUZZ_STEPS_MAX 2000 /* most steps of SQLite's virtual machine, in thousands */

static int fuzz_too_long(void *steps)
{
	return ++*(int *)steps > FUZZ_STEPS_MAX;
}

static int fuzz_authorize(void *context, int action, const char *a, const char *b, const char *c,
	const char *d)
{
	static const char *const harmless[] = {"user_version", "application_id", "writable_schema"};

	(void)context;
	(void)b;
	(void)c;
	(void)d;
	if (action == SQLITE_ATTACH || action == SQLITE_DETACH)
		return SQLITE_DENY;
	if (action != SQLITE_PRAGMA)
		return SQLITE_OK;
	for (size_t i = 0; a && i < ARRAY_LEN(harmless); i++)
		if (strcmp(a, harmless[i]) == 0)
			return SQLITE_OK;
	return SQLITE_DENY;
}

static void fuzz_sql(const char *file, const uint8_t *data, size_t size)
{
	AUTO(freep) char *sql = xmalloc(size + 1);
	sqlite3 *db = NULL;
	int steps = 0;

	if (size)
		memcpy(sql, data, size);
	sql[size] = '\0';
	if (sqlite3_open(file, &db) == SQLITE_OK) {
		sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
		sqlite3_progress_handler(db, 1000, fuzz_too_long, &steps);
		sqlite3_set_authorizer(db, fuzz_authorize, NULL);
		sqlite3_exec(db, sql, NULL, NULL, NULL);
	}
	sqlite3_close(db);
}

#endif
