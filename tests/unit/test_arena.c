/* collectors/base/mem: arenas that are reset and used again. */
#include "tests/unit/test_main.h"

#include <malloc.h>
#include <string.h>

#include "collectors/base/mem.h"

static void arena_reuses_its_room(void **state)
{
	AUTO(arena_done) struct arena a = {0};

	void *first = arena_alloc(&a, 100);

	arena_alloc(&a, 100000);
	arena_reset(&a);
	assert_ptr_equal(arena_alloc(&a, 100), first);
}

static void arena_of_what_grows_stays_as_large_as_that(void **state)
{
	AUTO(arena_done) struct arena a = {0};
	size_t largest = 1000 * 520;

	/* Each round allocates what a snapshot with one more run needs. A small allocation comes
	 * before and after it. */
	for (size_t n = 1; n <= 1000; n++) {
		arena_reset(&a);
		arena_alloc(&a, 100);
		memset(arena_alloc(&a, n * 520), 1, n * 520);
		arena_text(&a, "after", 5);
	}
	size_t taken = 0;

	/* The first bytes of a chunk are a pointer to the next chunk. */
	for (const struct arena_chunk *c = a.first; c; c = *(struct arena_chunk *const *)c)
		taken += malloc_usable_size((void *)(uintptr_t)c);
	assert_in_range(taken, largest, 2 * largest);
}

/* A server keeps an arena for each of a thousand jobs. */
static void arena_of_a_text_is_small(void **state)
{
	AUTO(arena_done) struct arena a = {0};

	arena_text(&a, "text", 4);
	assert_in_range(malloc_usable_size(a.first), 1, 2048);
	arena_text(&a, "more", 4);
	assert_ptr_equal(a.first, a.current);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_reuses_its_room),
		cmocka_unit_test(arena_of_what_grows_stays_as_large_as_that),
		cmocka_unit_test(arena_of_a_text_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
