/* Tests the CPU time limit in exporter/sampling/sampler.c: the more of its limit the process has
 * used, the less often it takes samples. */
#include "tests/unit/test_main.h"

#include <math.h>

#include "exporter/sampling/sampler_state.h"

static void without_a_limit_looks_come_as_asked_for(void **state)
{
	assert_true(cpu_limit_slowdown(INFINITY, 1e6, 10) == 1);
}

static void they_come_more_rarely_in_the_second_half_of_their_share(void **state)
{
	const struct {
		double used, look, stretch;
	} table[] = {{0, 0, 1}, {40, 0.1, 1}, {60, 0.1, 4}, {60, 29, 4}, {70, 0.1, 16},
		{79.9999, 0.1, CPU_LIMIT_STRETCH_MAX}, {80, 0, INFINITY}, {1000, 0, INFINITY},
		{60, 30, INFINITY}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		double found = cpu_limit_slowdown(100, table[i].used, table[i].look);

		if (isinf(table[i].stretch))
			assert_true(isinf(found));
		else
			assert_double_equal(found, table[i].stretch, 1e-9);
	}
	assert_true(isinf(cpu_limit_slowdown(0, 0, 0)));
}

/* For half a day, each sample uses half a second of CPU time, and the CPU time limit is an hour.
 * The limit is never reached, and there is a sample at least every five minutes. */
static void the_share_lasts(void **state)
{
	double used = 0, stretch = 1;

	for (double t = 0; t < 43200; t += stretch) {
		stretch = cpu_limit_slowdown(3600, used, 0.5);
		assert_true(stretch < 300);
		used += 0.5;
	}
	assert_true(used < CPU_LIMIT_SHARE * 3600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_looks_come_as_asked_for),
		cmocka_unit_test(they_come_more_rarely_in_the_second_half_of_their_share),
		cmocka_unit_test(the_share_lasts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
