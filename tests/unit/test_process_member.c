/* collectors/process_member: how much of a process's memory is counted as its own. */
#include "tests/unit/test_main.h"

#include "collectors/base/mem.h"
#include "collectors/process_member.h"

#define MIB ((uint64_t)1 << 20)

static const struct {
	const char *what;
	struct member m;
	uint64_t rss, counted;
} cases[] = {
	{"nothing is known of what it shares", {0}, 500 * MIB, 500 * MIB},
	{"as it was when PSS was read", {.pss_bytes = 30 * MIB, .pss_rss_bytes = 100 * MIB},
		100 * MIB, 30 * MIB},
	{"it gave back some", {.pss_bytes = 30 * MIB, .pss_rss_bytes = 100 * MIB}, 50 * MIB,
		15 * MIB},
	{"a peak long after PSS was read is its own",
		{.pss_bytes = 1 * MIB, .pss_rss_bytes = 4 * MIB}, 504 * MIB, 501 * MIB},
	{"forked, and touched nothing", {.inherited_bytes = 100 * MIB}, 100 * MIB, 0},
	{"forked, and wrote to 100 pages", {.inherited_bytes = 100 * MIB, .own_faults = 100},
		100 * MIB, 100 * 4096},
	{"forked, then grew", {.inherited_bytes = 100 * MIB, .own_faults = 256}, 120 * MIB,
		21 * MIB},
	{"forked, and wrote to more than all of it",
		{.inherited_bytes = 100 * MIB, .own_faults = 1000000}, 100 * MIB, 100 * MIB},
};

static void test_memory_is_what_it_does_not_share(void **state)
{
	struct host h = {.page_size = 4096};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t counted = member_memory(&cases[i].m, &h, cases[i].rss);

		if (counted != cases[i].counted)
			fail_msg("%s: %ju instead of %ju", cases[i].what, (uintmax_t)counted,
				(uintmax_t)cases[i].counted);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_is_what_it_does_not_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
