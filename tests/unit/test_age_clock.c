/* A clock that jumps must not make everything old. */
#include "tests/unit/test_main.h"

#include <math.h>

#include "exporter/age_clock.h"

#define DAY 86400

static struct now at(int64_t mono_seconds, int64_t wall_seconds_)
{
	return (struct now){{mono_seconds * NS_PER_S}, {wall_seconds_ * NS_PER_S}};
}

static void a_jump_ahead_is_believed_after_a_day(void **state)
{
	static const struct {
		const char *what;
		struct {
			int64_t mono, wall, expected;
		} reading[6];
	} table[] = {
		{"a clock that works", {{10, 1000, 1000}, {70, 1060, 1060}, {7270, 8260, 8260}}},
		{"a clock that is slewed", {{10, 1000, 1000}, {70, 1090, 1090}, {130, 1100, 1100}}},
		{"a machine that slept: both go on",
			{{10, 1000, 1000}, {10 + 9 * DAY, 1000 + 9 * DAY, 1000 + 9 * DAY}}},
		{"ahead by a year, and back", {{10, 1000, 1000}, {70, 1060 + 365 * DAY, 1060},
						      {130, 1120 + 365 * DAY, 1120},
						      {190, 1180, 1180}, {250, 1240, 1240}}},
		{"ahead for good", {{10, 1000, 1000}, {70, 1060 + 365 * DAY, 1060},
					   {10 + DAY, 1000 + 366 * DAY, 1000 + DAY},
					   {11 + DAY, 1001 + 366 * DAY, 1001 + 366 * DAY},
					   {71 + DAY, 1061 + 366 * DAY, 1061 + 366 * DAY}}},
		{"back by a year", {{10, 1000 + 365 * DAY, 1000 + 365 * DAY}, {70, 1060, 1060},
					   {130, 1120, 1120}}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct age_clock c = {0};

		print_message("%s\n", table[i].what);
		for (size_t k = 0; k < 6 && table[i].reading[k].mono; k++) {
			double read = age_clock_read(&c,
				at(table[i].reading[k].mono, table[i].reading[k].wall));

			assert_true(fabs(read - (double)table[i].reading[k].expected) < 1e-3);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_ahead_is_believed_after_a_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
