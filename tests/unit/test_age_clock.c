/* If the wall clock jumps ahead, runs must not look old. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <unistd.h>

#include "exporter/history/age_clock.h"
#include "tests/support/test_history.h"

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
			const char
				*boot; /* boot id of the machine; NULL = that of the first boot */
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
					   {70 + DAY, 1060 + 366 * DAY, 1060 + DAY},
					   {71 + DAY, 1061 + 366 * DAY, 1061 + 366 * DAY},
					   {131 + DAY, 1121 + 366 * DAY, 1121 + 366 * DAY}}},
		{"ahead after a long while in which nobody asked",
			{{10, 1000, 1000}, {10 + 9 * DAY, 1000 + 99 * DAY, 1000 + 9 * DAY},
				{70 + 9 * DAY, 1060 + 99 * DAY, 1060 + 9 * DAY}}},
		{"ahead twice within a day, by different times",
			{{10, 1000, 1000}, {70, 1060 + 9 * DAY, 1060},
				{10 + DAY, 1000 + 99 * DAY, 1000 + DAY},
				{80 + DAY, 1070 + 99 * DAY, 1070 + DAY},
				{11 + 2 * DAY, 1001 + 100 * DAY, 1001 + 100 * DAY}}},
		{"off for some hours",
			{{9 * DAY, 1000, 1000}, {10, 90000 - 3600, 90000 - 3600, "b"},
				{70, 90060 - 3600, 90060 - 3600, "b"}}},
		{"ahead by a year after it was off, and back",
			{{9 * DAY, 1000, 1000}, {10, 1000 + 365 * DAY, 1000, "b"},
				{70, 1060 + 365 * DAY, 1060, "b"}, {130, 1120, 1120, "b"}}},
		{"back by a year after it was off",
			{{9 * DAY, 1000 + 365 * DAY, 1000 + 365 * DAY}, {10, 1000, 1000, "b"},
				{70, 1060, 1060, "b"}}},
		{"off for a week, then on",
			{{9 * DAY, 1000, 1000}, {10, 1000 + 7 * DAY, 1000, "b"},
				{10 + DAY, 1000 + 8 * DAY, 1000 + DAY, "b"},
				{11 + DAY, 1001 + 8 * DAY, 1001 + 8 * DAY, "b"}}},
		{"off for a week, then on every morning",
			{{9 * DAY, 1000, 1000}, {10, 1000 + 7 * DAY, 1000, "b"},
				{10, 1000 + 8 * DAY, 1000, "c"},
				{10, 1001 + 9 * DAY, 1001 + 9 * DAY, "d"}}},
		{"ahead by a year at every boot, until it is set",
			{{9 * DAY, 1000, 1000}, {10, 1000 + 365 * DAY, 1000, "b"},
				{70, 1060, 1060, "b"}, {10, 5000 + 366 * DAY, 1060, "c"}}},
		{"nobody knows which boot it is",
			{{10, 1000, 1000, ""}, {70, 1060, 1060, ""},
				{70, 1060 + 365 * DAY, 1060, ""}, {170, 1160, 1160, ""}}},
		{"back by a year", {{10, 1000 + 365 * DAY, 1000 + 365 * DAY}, {70, 1060, 1060},
					   {130, 1120, 1120}}},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct age_clock c = AGE_CLOCK_INIT;

		print_message("%s\n", table[i].what);
		for (size_t k = 0; k < 6 && table[i].reading[k].mono; k++) {
			const char *boot = table[i].reading[k].boot;
			double read = age_clock_read(&c,
				at(table[i].reading[k].mono, table[i].reading[k].wall),
				boot ? boot : "a");

			assert_near(read, (double)table[i].reading[k].expected, 1e-3);
		}
	}
}

/* In each row a new process opens the file. */
static void what_was_agreed_on_is_in_the_file(void **state)
{
	static const struct {
		const char *what;
		bool older; /* written by a version that did not save the clock */
		double wall, expected;
		const char *boot;
	} table[] = {
		{"it goes on", false, 1010 + DAY, 1010 + DAY, "a"},
		{"ahead by a year", false, 1010 + 366 * DAY, 1010 + DAY, "a"},
		{"ahead by a year after a boot", false, 1010 + 366 * DAY, 1000, "b"},
		{"older file", true, 500 + DAY / 2, 500 + DAY / 2, "a"},
		{"older file, ahead by a year", true, 500 + 366 * DAY, 500, "a"},
	};
	struct test_place *f = *state;
	double read = 0;

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		print_message("%s\n", table[i].what);
		test_write_run(f->h, "r1", "job", 490, 10, OUTCOME_SUCCEEDED);
		if (!table[i].older)
			assert_int_equal(history_clock(f->h, at(10, 1000), "a", &read, NULL), 0);
		history_close(f->h);
		if (table[i].older)
			test_run_sql(f->folder.file, TEST_TAKE_BACK_SCHEMA_14
				"DROP TABLE age_clock;" TEST_TAKE_BACK_SCHEMA_17
				"ALTER TABLE run DROP COLUMN cpu_foreign_seconds;"
				"ALTER TABLE run DROP COLUMN machine_cpus;"
				"ALTER TABLE run DROP COLUMN machine_memory_bytes;"
				"ALTER TABLE run DROP COLUMN disk_source;"
				"ALTER TABLE run DROP COLUMN not_measured;"
				"ALTER TABLE run DROP COLUMN address_limit_bytes;"
				"ALTER TABLE run DROP COLUMN address_peak_bytes;"
				"ALTER TABLE run DROP COLUMN end_reason;"
				"ALTER TABLE note DROP COLUMN page_url;"
				"ALTER TABLE note DROP COLUMN page_address;"
				"ALTER TABLE note DROP COLUMN server_pid;"
				"ALTER TABLE note DROP COLUMN server_start_ticks;"
				"ALTER TABLE note DROP COLUMN server_pid_namespace;"
				"ALTER TABLE note DROP COLUMN server_boot_id;"
				"PRAGMA user_version = 8");
		f->h = test_history(f->folder.file);
		for (int k = 0; k < 2; k++) {
			struct now now = at(20 + DAY, (int64_t)table[i].wall);

			assert_int_equal(history_clock(f->h, now, table[i].boot, &read, NULL), 0);
			assert_near(read, table[i].expected, 1e-3);
		}

		history_close(f->h);
		assert_int_equal(unlink(f->folder.file), 0);
		f->h = test_history(f->folder.file);
	}
}

/* Each write to the file wakes its readers, so the clock is written at most once an hour. */
static void a_clock_that_works_is_not_kept_each_time(void **state)
{
	struct test_place *f = *state;
	AUTO(history_closep) struct history *other = test_history(f->folder.file);
	double read;

	assert_int_equal(history_clock(f->h, at(10, 1000), "a", &read, NULL), 0);
	int64_t before = history_version(other);

	for (int i = 0; i < 59; i++)
		assert_int_equal(history_clock(f->h, at(10 + i * 60, 1000 + i * 60), "a", &read,
					 NULL),
			0);
	assert_int_equal(history_version(other), before);
	assert_int_equal(history_clock(f->h, at(3610, 4600), "a", &read, NULL), 0);
	assert_int_not_equal(history_version(other), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_ahead_is_believed_after_a_day),
		cmocka_unit_test_setup_teardown(what_was_agreed_on_is_in_the_file, test_place_make,
			test_place_remove),
		cmocka_unit_test_setup_teardown(a_clock_that_works_is_not_kept_each_time,
			test_place_make, test_place_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
