/* exporter/history: the sizes of memory that SQLite requests from the C library. */
#include "tests/unit/test_main.h"

#include <sqlite3.h>

#include "exporter/history/history.h"

/* Six sizes are requested. The C library sometimes returns a little more. */
#define SIZES_MAX 12

static void small_pieces_have_few_sizes(void **state)
{
	sqlite3_uint64 size[SIZES_MAX];
	size_t n = 0;

	history_setup();
	for (int wanted = 1; wanted <= 1024; wanted++) {
		void *p = sqlite3_malloc(wanted);
		sqlite3_uint64 got = sqlite3_msize(p);
		size_t i = 0;

		assert_true(got >= (sqlite3_uint64)wanted);
		while (i < n && size[i] != got)
			i++;
		if (i == n) {
			assert_true(n < SIZES_MAX);
			size[n++] = got;
		}
		sqlite3_free(p);
	}
}

/* Pages are large. Rounding them up to a power of two would take twice the memory. */
static void large_ones_are_not_rounded(void **state)
{
	for (int wanted = 4096; wanted < 8192; wanted += 100) {
		void *p = sqlite3_malloc(wanted);

		assert_true(sqlite3_msize(p) < (sqlite3_uint64)wanted + 64);
		sqlite3_free(p);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_pieces_have_few_sizes),
		cmocka_unit_test(large_ones_are_not_rounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
