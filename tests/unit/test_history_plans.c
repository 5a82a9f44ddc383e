/* No statement reads all runs to find a few of them. */
#include "tests/unit/test_main.h"

#include <sqlite3.h>
#include <string.h>

#include "exporter/history/tables.h"
#include "tests/support/test_history.h"

static const struct {
	const char *name, *sql;
} statements[] = {
#define STATEMENT_TO_EXPLAIN(id, text) {#id, text},
	HISTORY_STATEMENTS(STATEMENT_TO_EXPLAIN)};

/* Returns true if a step of a plan reads all runs: "SCAN r", or a scan by run_by_job, an index that
 * has all runs. A scan by another index ("SCAN r USING INDEX ...") is allowed, because such an
 * index has only a few runs, or gives them in an order in which the scan ends soon. Scans of small
 * tables or results are allowed, too. */
static bool reads_all(const char *step)
{
	static const char *const large[] = {"run", "r", "n", "o", "sample", "s", "run_stat"};

	if (strncmp(step, "SCAN ", 5) != 0)
		return false;
	if (strstr(step, "run_by_job"))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(large); i++)
		if (strcmp(step + 5, large[i]) == 0)
			return true;
	return false;
}

static void statements_find_what_they_want_by_an_index(void **state)
{
	struct test_place *f = *state;
	sqlite3 *db;
	int found = 0;

	assert_int_equal(sqlite3_open(f->folder.file, &db), SQLITE_OK);
	for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
		char sql[4096];
		sqlite3_stmt *s;

		snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", statements[i].sql);
		assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
		while (sqlite3_step(s) == SQLITE_ROW) {
			const char *step = (const char *)sqlite3_column_text(s, 3);

			if (!step || !reads_all(step))
				continue;
			print_error("%s: %s\n", statements[i].name, step);
			found++;
		}
		sqlite3_finalize(s);
	}
	sqlite3_close(db);
	assert_int_equal(found, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(statements_find_what_they_want_by_an_index,
			test_place_make, test_place_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
