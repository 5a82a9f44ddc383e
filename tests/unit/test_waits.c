/* recommender/waits.c: whether a run had too few cores, or had to wait for other things. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/sizing.h"
#include "recommender/sizing/strategy.h"
#include "recommender/waits.h"
#include "tests/support/test_runs.h"

static void set_total(struct run *r, const char *column, double sum)
{
	test_run_column(r, column, sum, sum);
	for (size_t i = 0; i < r->n_stats; i++)
		if (strcmp(r->stats[i].column, column) == 0)
			r->stats[i].d.sum = sum;
}

static void the_verdict_follows_from_what_was_waited_for(void **state)
{
	/* Seconds of waiting in a run of 100 s; -1 = not measured. */
	static const struct {
		double cpu, cpu_wait, cpu_pressure, memory_wait, io_wait, io_pressure;
		const char *verdict;
	} cases[] = {
		{90, 60, -1, -1, -1, -1, "cpu"}, {90, 2, -1, -1, -1, -1, "little"},
		{90, -1, 60, -1, -1, -1, "cpu"}, /* without delay accounting, pressure is used */
		{90, 2, 60, -1, -1, -1, "little"}, {5, 0.1, -1, -1, -1, -1, "idle"},
		{5, 0.1, -1, 40, 0, -1, "memory"}, {5, 0.1, -1, 0, 80, -1, "storage"},
		{5, 0.1, -1, -1, -1, 80, "storage"},
		{0.2, 0.1, -1, -1, -1, -1, "idle"}, /* the threads waited for less than 0.5 s */
		{50, -1, -1, -1, -1, -1, "unknown"}, {-1, -1, -1, -1, -1, -1, "unknown"},
		{-9e307, 1, -1, -1, -1, -1, "unknown"}, /* impossible numbers are ignored */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct {
			const char *column;
			double v;
		} totals[] = {
			{"cpu_seconds", cases[i].cpu},
			{"cpu_wait_seconds", cases[i].cpu_wait},
			{"cpu_pressure_seconds", cases[i].cpu_pressure},
			{"memory_wait_seconds", cases[i].memory_wait},
			{"io_wait_seconds", cases[i].io_wait},
			{"io_pressure_seconds", cases[i].io_pressure},
		};
		static struct test_runs t;

		t = (struct test_runs){0};
		struct run *r = test_run_add(&t, OUTCOME_SUCCEEDED);

		for (size_t k = 0; k < ARRAY_LEN(totals); k++)
			if (totals[k].v != -1)
				set_total(r, totals[k].column, totals[k].v);
		const struct run *list[] = {r};

		assert_string_equal(wait_verdict_name(waits_of(list, 1).verdict), cases[i].verdict);
	}
}

static void shares_are_of_all_runs_of_which_they_are_known(void **state)
{
	static struct test_runs t;
	struct run *a = test_run_add(&t, OUTCOME_SUCCEEDED),
		   *b = test_run_add(&t, OUTCOME_SUCCEEDED),
		   *c = test_run_add(&t, OUTCOME_SUCCEEDED);
	const struct run *list[] = {a, b, c};

	set_total(a, "cpu_seconds", 60);
	set_total(a, "cpu_wait_seconds", 20);
	set_total(b, "cpu_seconds", 20);
	set_total(b, "cpu_wait_seconds", 0);
	set_total(c, "cpu_seconds", 50);
	struct waits w = waits_of(list, 3);

	assert_double_equal(w.cpu_share, 0.2, 1e-9);
	assert_double_equal(w.idle_share, 0.5, 1e-9);
	assert_true(isnan(w.storage_share));
}

static bool explains(const struct sizing *s, const char *text)
{
	for (size_t i = 0; i < s->n_explain; i++)
		if (strstr(s->explain[i], text))
			return true;
	return false;
}

/* Requests after one run that used 5 GB of disk. */
static const struct {
	const char *strategy;
	double disk_bytes;
	const char *words;
} disk_cases[] = {
	/* From one run to the next, `auto` expects at most a factor of 1.477. */
	{"auto", 7.385e9, "disk: The request of 6.88 GiB is sized like memory."},
	{"baseline", 6e9, "disk: 1 successful run needed up to 4.66 GiB, and 20 % is added."},
	{"max", 6e9, "disk: The request of 5.59 GiB is sized like memory."},
	{"percentile", 5e9, "disk: The request of 4.66 GiB is sized like memory."},
	{"krr", 5.75e9, "disk: The request of 5.36 GiB is sized like memory."},
	/* The end of the 67th bucket, plus 15 %. The first bucket has 10 MB, and each next one is 5
	 * % wider: 1.15e7 * (1.05^67 - 1) / 0.05. */
	{"vpa", 5815202784.29388, "disk: The request of 5.42 GiB is sized like memory."},
};

static void every_strategy_says_it_and_asks_for_the_disk_that_was_taken(void **state)
{
	static struct test_runs t;
	struct run *r = test_run_succeeded(&t, 0.9, 1e9);

	set_total(r, "cpu_seconds", 90);
	set_total(r, "cpu_wait_seconds", 60);
	test_run_column(r, "disk_grown_bytes", 2e9, 5e9);
	for (size_t i = 0; strategies[i].name; i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s;

		if (i >= ARRAY_LEN(disk_cases))
			fail_msg("disk_cases lacks strategy %s", strategies[i].name);
		assert_string_equal(strategies[i].name, disk_cases[i].strategy);
		assert_int_equal(strategies[i].size(&t.runs, &(struct sizing_options){0}, &arena,
					 &s, NULL),
			0);
		assert_true(explains(&s, "waited 60 s for a CPU, 40 %"));
		bool flat = s.n_at_cores &&
			    s.at_cores[s.n_at_cores - 1].seconds >= s.at_cores[0].seconds;

		assert_true(explains(&s, "would have made the runs faster"));
		assert_int_equal(explains(&s, "More cores"), !flat);
		assert_double_equal(s.demand.disk_bytes, disk_cases[i].disk_bytes, 1);
		assert_true(explains(&s, disk_cases[i].words));
	}
}

static void disk_that_is_an_upper_bound_is_called_so(void **state)
{
	static const struct {
		const char *source;
		double bytes;
		bool bound;
	} cases[] = {
		{"written", 5e9, true},
		{"growth", 5e9, true},
		{"own", 5e9, false},
		{NULL, 5e9, false}, /* recorded before the source was known */
		{"written", 0, false},
	};
	static const char *const names[] = {"auto", "baseline"};

	for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(names); i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct test_runs t = {0};
		struct run *r = test_run_succeeded(&t, 0.9, 1e9);
		const struct strategy *strategy = NULL;
		struct sizing s;

		test_run_column(r, "disk_grown_bytes", 0, cases[i / 2].bytes);
		r->disk_source = cases[i / 2].source;
		for (size_t k = 0; strategies[k].name; k++)
			if (strcmp(strategies[k].name, names[i % 2]) == 0)
				strategy = &strategies[k];
		assert_non_null(strategy);
		assert_int_equal(strategy->size(&t.runs, &(struct sizing_options){0}, &arena, &s,
					 NULL),
			0);
		assert_int_equal(
			explains(&s,
				"Other processes write to the same disk, so this is an upper bound."),
			cases[i / 2].bound);
	}
}

static void what_was_waited_for_is_said_in_words(void **state)
{
	static const struct {
		const char *column;
		double seconds;
		const char *second, *says;
		double more;
	} cases[] = {
		{"memory_wait_seconds", 50, NULL, "waited for memory for", 0},
		{"io_wait_seconds", 50, NULL, "waited for storage for", 0},
		{"cpu_wait_seconds", 60, "cpu_throttled_seconds",
			"waits: A CPU quota held them back for 10 s.", 10},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = {0};

		t = (struct test_runs){0};
		struct run *r = test_run_succeeded(&t, 0.9, 1e9);

		set_total(r, "cpu_seconds", 90);
		set_total(r, "cpu_wait_seconds", 0);
		set_total(r, cases[i].column, cases[i].seconds);
		if (cases[i].second)
			set_total(r, cases[i].second, cases[i].more);
		sizing_explain_waits(&s, &t.runs, &arena);
		if (!explains(&s, cases[i].says))
			fail_msg("%s: %s", cases[i].column, s.n_explain ? s.explain[0] : "nothing");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verdict_follows_from_what_was_waited_for),
		cmocka_unit_test(shares_are_of_all_runs_of_which_they_are_known),
		cmocka_unit_test(what_was_waited_for_is_said_in_words),
		cmocka_unit_test(every_strategy_says_it_and_asks_for_the_disk_that_was_taken),
		cmocka_unit_test(disk_that_is_an_upper_bound_is_called_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
