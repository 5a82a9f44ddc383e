/* collectors/machine/machine_cpu.c, collectors/accounting/missed_cpu.c: the machine's CPU time, and
 * how much of it a run may have missed. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/machine/machine_cpu.h"
#include "collectors/accounting/missed_cpu.h"

static bool parse(const char *text, int64_t second, struct machine_cpu *ret)
{
	return machine_cpu_parse(SCAN(text, strlen(text)), (struct mono){second * NS_PER_S}, 100,
		ret);
}

static void stat_is_read(void **state)
{
	struct machine_cpu m;

	assert_true(parse("cpu  100 0 50 1000 20 0 5 30 7 0\ncpu0 1 0 1 1\ncpu1 1 0 1 1\nintr 5 1 "
			  "2\nctxt 9\n"
			  "btime 1\nprocesses 4711\nprocs_running 1\n",
		0, &m));
	assert_int_equal(m.cpus, 2);
	assert_double_equal(m.idle_seconds, 10.2, 1e-9);
	assert_int_equal(m.births, 4711);
}

static void what_lacks_a_line_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"cpu  1 2 3\ncpu0 1\nprocesses 1\n",
		"cpu  1 2 3 4\ncpu0 1\n",
		"cpu  1 2 3 4\nprocesses 1\n",
		"cpu0 1\nprocesses 1\n",
		"cpu  1 2 3 4\ncpu0 1\nprocesses x\n",
	};
	struct machine_cpu m;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_false(parse(texts[i], 0, &m));
}

static void spent_is_what_was_not_idle(void **state)
{
	/* Each row: idle time of all CPUs at the start and one second later; CPU time that was used
	 * in this second; and CPUs at its end. At its start there were 2. */
	static const struct {
		double idle_before, idle_after, spent;
		unsigned cpus_after;
	} cases[] = {
		{10, 11.5, 0.5, 2},
		{10, 12, 0, 2},
		{10, 12.1, 0,
			2},    /* idle time is counted in ticks, which are coarser than the clock */
		{10, 7, 2, 1}, /* a CPU went offline, and the sum lost its idle time */
		{10, 11, 3, 4},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct machine_cpu a = {.cpus = 2, .idle_seconds = cases[i].idle_before};
		struct machine_cpu b = {.at = {NS_PER_S},
			.cpus = cases[i].cpus_after,
			.idle_seconds = cases[i].idle_after};

		assert_double_equal(machine_cpu_spent(&a, &b), cases[i].spent, 1e-9);
	}
}

/* Each case has two CPUs and one second (100 ticks): the ticks in which each CPU was idle, and how
 * many of its busy ticks were stolen. */
static void stolen_is_a_part_of_what_ran(void **state)
{
	static const struct {
		unsigned idle[2], stolen[2];
		double part;
	} cases[] = {
		{{100, 100}, {0, 0}, NAN}, /* no CPU was busy */
		{{0, 100}, {0, 0}, 0},
		/* Each CPU ran 50 ticks and lost 50, of which 25 count: 25 of 75. */
		{{0, 0}, {50, 50}, 1 / 3.}, {{0, 98}, {10, 0}, 0.09 / 1.01},
		/* The second CPU is nearly idle and waits each time it wakes up. */
		{{0, 90}, {10, 10}, 0.09 / 0.99},
		{{0, 100}, {0, 5}, 0}, /* an idle CPU loses nothing; the 5 ticks are rounding */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(machine_steal_done) struct machine_steal s = {0};
		struct machine_cpu first = {0}, last = {0};
		char text[128];

		for (unsigned k = 0; k < 2; k++) {
			snprintf(text, sizeof text,
				"cpu  1 1 1 1 1\ncpu0 1 0 1 %u 0 0 0 %u 0\ncpu1 1 0 1 %u 0 0 0 "
				"%u\nintr 1\n",
				k * cases[i].idle[0], k * cases[i].stolen[0], k * cases[i].idle[1],
				k * cases[i].stolen[1]);
			machine_steal_look(&s, SCAN(text, strlen(text)),
				(struct mono){(k + 1) * NS_PER_S}, 100);
		}
		last.ran_seconds = s.ran_seconds;
		last.stolen_seconds = s.stolen_seconds;
		if (isnan(cases[i].part))
			assert_true(isnan(machine_cpu_stolen(&first, &last)));
		else
			assert_double_equal(machine_cpu_stolen(&first, &last), cases[i].part, 1e-9);
	}
}

static void steal_is_not_known_of_when_cpus_come_and_go(void **state)
{
	static const struct {
		const char *text;
		double at, ran;
	} steps[] = {
		{"cpu0 1 2 3 0 0 0 0 0\ncpu1 1 2 3 0 0 0 0 0\n", 1, 0},
		{"cpu0 1 2 3 0 0 0 0 50\n", 2, 0},
		{"cpu0 1 2 3 0 0 0 0 60\n", 2.05, 0}, /* too soon: counted with the next reading */
		{"cpu0 1 2 3 0 0 0 0 100\n", 3, 0.5},
		{"cpu0 1 2 3 400\n", 4, 0.5}, /* an old kernel does not report stolen time */
		{"cpu0 1 2 3 400\ncpu1 1 2 3 0\n", 5, 0.5},
		{"cpu0 1 2 3 400\ncpu1 1 2 3 0\n", 6, 2.5},
		/* gVisor counts no times: neither the run time nor the stolen time is known */
		{"cpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n", 7, 2.5},
		{"cpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n", 8, 2.5},
	};
	AUTO(machine_steal_done) struct machine_steal s = {0};

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		machine_steal_look(&s, SCAN(steps[i].text, strlen(steps[i].text)),
			(struct mono){(int64_t)(steps[i].at * 1e9)}, 100);
		assert_double_equal(s.ran_seconds, steps[i].ran, 1e-9);
	}
}

static double added(struct missed_cpu *m, double spent, double known, double group, bool changes)
{
	missed_cpu_add(m, &(struct missed_cpu_look){.spent_seconds = spent,
				  .known_seconds = known,
				  .group_seconds = group,
				  .changes = changes});
	return m->seconds;
}

static void bound_follows_what_is_known(void **state)
{
	struct missed_cpu m;

	missed_cpu_begin(&m, NAN);
	/* No process was created, so none can have been missed. */
	assert_double_equal(added(&m, 1.0, 0.2, NAN, false), 0, 0);
	assert_double_equal(added(&m, 1.0, 0.2, NAN, true), 0.8, 1e-9);
	/* A parent waited for a child, whose time is now known. */
	assert_double_equal(added(&m, 0.1, 0.6, NAN, false), 0.3, 1e-9);
	missed_cpu_found(&m, 0.1);
	assert_double_equal(m.seconds, 0.2, 1e-9);
	assert_double_equal(added(&m, 0.1, 5, NAN, true), 0, 0);
}

static void bound_is_not_more_than_the_group_spent(void **state)
{
	struct missed_cpu m;

	missed_cpu_begin(&m, 100);
	assert_double_equal(added(&m, 2, 0.1, 100.5, true), 0.4, 1e-9);
	/* The machine was read before the group. The time between the two readings counts with the
	 * machine's next reading. */
	assert_double_equal(added(&m, 1, 0, 106.5, true), 0.4 + 2.5, 1e-9);
	assert_double_equal(added(&m, 4, 0, 106.5, true), 0.4 + 2.5 + 3.5, 1e-9);
	/* A removed group limits nothing. A group that is found late starts at its present
	 * value. */
	assert_double_equal(added(&m, 1, 0, NAN, true), 7.4, 1e-9);
	missed_cpu_group(&m, 50);
	assert_double_equal(added(&m, 1, 0, 50.25, true), 7.65, 1e-9);
}

static void orphan_that_is_not_handed_to_us_may_run_on_unseen(void **state)
{
	struct missed_cpu_look born = {
		.group_seconds = NAN, .changes = true, .orphans_hidden = true};
	struct missed_cpu_look quiet = {
		.spent_seconds = 3, .group_seconds = NAN, .orphans_hidden = true};
	struct missed_cpu m;

	missed_cpu_begin(&m, NAN);
	missed_cpu_add(&m, &quiet);
	assert_double_equal(m.seconds, 0, 0);
	missed_cpu_add(&m, &born);
	missed_cpu_add(&m, &quiet);
	assert_double_equal(m.seconds, 3, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_is_read),
		cmocka_unit_test(what_lacks_a_line_is_refused),
		cmocka_unit_test(spent_is_what_was_not_idle),
		cmocka_unit_test(stolen_is_a_part_of_what_ran),
		cmocka_unit_test(steal_is_not_known_of_when_cpus_come_and_go),
		cmocka_unit_test(bound_follows_what_is_known),
		cmocka_unit_test(bound_is_not_more_than_the_group_spent),
		cmocka_unit_test(orphan_that_is_not_handed_to_us_may_run_on_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
