/* collectors/machine_cpu, missed_cpu: what the machine spent, and what may have been missed. */
#include "tests/unit/test_main.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/machine_cpu.h"
#include "collectors/missed_cpu.h"

static bool parse(const char *text, int64_t second, struct machine_cpu *ret)
{
	return machine_cpu_parse(SCAN(text, strlen(text)), (struct mono){second * NS_PER_S}, 100,
		ret);
}

static void stat_is_read(void **state)
{
	struct machine_cpu m;

	(void)state;
	assert_true(parse("cpu  100 0 50 1000 20 0 5 30 7 0\ncpu0 1 0 1 1\ncpu1 1 0 1 1\nintr 5 1 "
			  "2\nctxt 9\n"
			  "btime 1\nprocesses 4711\nprocs_running 1\n",
		0, &m));
	assert_int_equal(m.cpus, 2);
	assert_double_equal(m.idle_seconds, 10.2, 1e-9);
	assert_double_equal(m.stolen_seconds, 0.3, 1e-9);
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

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_false(parse(texts[i], 0, &m));
}

static void spent_is_what_was_not_idle(void **state)
{
	static const struct {
		double idle_before, idle_after, spent;
		unsigned cpus_after;
	} cases[] = {
		{10, 11.5, 0.5, 2},
		{10, 12, 0, 2},
		{10, 12.1, 0, 2}, /* ticks are coarser than the clock */
		{10, 7, 2, 1},    /* a CPU went offline and took its idle time along */
		{10, 11, 3, 4},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct machine_cpu a = {.cpus = 2, .idle_seconds = cases[i].idle_before};
		struct machine_cpu b = {.at = {NS_PER_S},
			.cpus = cases[i].cpus_after,
			.idle_seconds = cases[i].idle_after};

		assert_double_equal(machine_cpu_spent(&a, &b), cases[i].spent, 1e-9);
	}
}

static void a_kernel_that_does_not_know_of_steal_had_none(void **state)
{
	struct machine_cpu m;

	(void)state;
	assert_true(parse("cpu  1 2 3 400\ncpu0 1\nprocesses 1\n", 0, &m));
	assert_double_equal(m.idle_seconds, 4, 1e-9);
	assert_double_equal(m.stolen_seconds, 0, 0);
}

static void stolen_is_a_part_of_what_was_not_idle(void **state)
{
	static const struct {
		double idle, stolen, part; /* of two CPUs in one second */
	} cases[] = {
		{1, 0, 0}, {1, 0.25, 0.25}, {0, 1, 0.5},
		{1.9, 0.2, 1},           /* ticks are coarser than the clock */
		{2, 0.1, 0}, {1, -1, 0}, /* it falls when a CPU goes offline */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct machine_cpu a = {.cpus = 2, .idle_seconds = 10, .stolen_seconds = 5};
		struct machine_cpu b = {.at = {NS_PER_S},
			.cpus = 2,
			.idle_seconds = 10 + cases[i].idle,
			.stolen_seconds = 5 + cases[i].stolen};

		assert_double_equal(machine_cpu_stolen(&a, &b), cases[i].part, 1e-9);
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

	(void)state;
	missed_cpu_begin(&m, NAN);
	/* Nobody was born: nobody can have been missed. */
	assert_double_equal(added(&m, 1.0, 0.2, NAN, false), 0, 0);
	assert_double_equal(added(&m, 1.0, 0.2, NAN, true), 0.8, 1e-9);
	/* A parent waited: it turned up. */
	assert_double_equal(added(&m, 0.1, 0.6, NAN, false), 0.3, 1e-9);
	missed_cpu_found(&m, 0.1);
	assert_double_equal(m.seconds, 0.2, 1e-9);
	assert_double_equal(added(&m, 0.1, 5, NAN, true), 0, 0);
}

static void bound_is_not_more_than_the_group_spent(void **state)
{
	struct missed_cpu m;

	(void)state;
	missed_cpu_begin(&m, 100);
	assert_double_equal(added(&m, 2, 0.1, 100.5, true), 0.4, 1e-9);
	/* The machine was read before the group: what it spent meanwhile comes with the next reading of it. */
	assert_double_equal(added(&m, 1, 0, 106.5, true), 0.4 + 2.5, 1e-9);
	assert_double_equal(added(&m, 4, 0, 106.5, true), 0.4 + 2.5 + 3.5, 1e-9);
	/* A group that is gone says nothing more, and one that is found late begins where it is. */
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

	(void)state;
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
		cmocka_unit_test(a_kernel_that_does_not_know_of_steal_had_none),
		cmocka_unit_test(stolen_is_a_part_of_what_was_not_idle),
		cmocka_unit_test(bound_follows_what_is_known),
		cmocka_unit_test(bound_is_not_more_than_the_group_spent),
		cmocka_unit_test(orphan_that_is_not_handed_to_us_may_run_on_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
