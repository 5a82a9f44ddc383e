/* exporter/answers/behaviour.c, result_cache.c: an answer is kept while the runs stay the same, and
 * no longer. */
#include "tests/unit/test_main.h"

#include "exporter/answers/behaviour.h"
#include "exporter/core/memory_budget.h"

static struct phase parts[2] = {{.start = 0, .seconds = 60}, {.start = 60, .seconds = 540}};

static struct behaviour_past a_past(double peak)
{
	struct behaviour_past p = {
		.n_phases = 1, .phases = {{.n = 2, .phase = parts, .seconds = 600}}};

	p.prospect.peak[0] = peak;
	return p;
}

/* The answer for two runs was kept. Each case changes these runs. `known` is true if the kept
 * answer is still valid. */
static const struct {
	const char *what;
	size_t n;
	struct run newest;
	bool known;
} cases[] = {
	{"the same", 2, {.run_id = "b", .outcome = OUTCOME_SUCCEEDED, .ended_at = 20}, true},
	{"one was removed", 1, {.run_id = "b", .outcome = OUTCOME_SUCCEEDED, .ended_at = 20},
		false},
	{"another one", 2, {.run_id = "c", .outcome = OUTCOME_SUCCEEDED, .ended_at = 20}, false},
	{"it ended otherwise", 2, {.run_id = "b", .outcome = OUTCOME_FAILED, .ended_at = 20},
		false},
	{"its end was corrected", 2, {.run_id = "b", .outcome = OUTCOME_SUCCEEDED, .ended_at = 21},
		false},
	{"its length was corrected", 2,
		{.run_id = "b",
			.outcome = OUTCOME_SUCCEEDED,
			.ended_at = 20,
			.duration_seconds = 9},
		false},
};

static void a_past_is_known_while_the_runs_are_the_same(void **state)
{
	struct run run[2] = {
		{.job_name = "etl", .run_id = "b", .outcome = OUTCOME_SUCCEEDED, .ended_at = 20},
		{.job_name = "etl", .run_id = "a", .outcome = OUTCOME_SUCCEEDED, .ended_at = 10}};
	struct runs runs = {2, run};
	struct result_cache *c = result_cache_new();
	struct behaviour_past kept = a_past(7), got;

	AUTO(arena_done) struct arena arena = {0};

	assert_false(result_cache_find(c, &runs, 0, &arena, &got));
	result_cache_keep(c, &runs, 0, &kept);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		run[0] = cases[i].newest;
		run[0].job_name = "etl";
		runs.n = cases[i].n;
		if (result_cache_find(c, &runs, 0, &arena, &got) != cases[i].known)
			fail_msg("%s: it is %sknown", cases[i].what, cases[i].known ? "not " : "");
	}
	result_cache_free(c);
}

static void what_is_found_outlives_the_cache(void **state)
{
	struct run run = {.job_name = "etl", .run_id = "a", .outcome = OUTCOME_SUCCEEDED};
	struct runs runs = {1, &run};
	struct result_cache *c = result_cache_new();
	struct behaviour_past kept = a_past(7), got;

	AUTO(arena_done) struct arena arena = {0};

	result_cache_keep(c, &runs, 0, &kept);
	assert_true(result_cache_find(c, &runs, 0, &arena, &got));
	result_cache_free(c);
	assert_double_equal(got.prospect.peak[0], 7, 0);
	assert_int_equal(got.phases[0].n, 2);
	assert_ptr_not_equal(got.phases[0].phase, parts);
	assert_double_equal(got.phases[0].phase[1].seconds, 540, 0);
}

static void of_a_job_the_newest_is_kept(void **state)
{
	struct run run[2] = {{.job_name = "etl", .run_id = "b", .outcome = OUTCOME_SUCCEEDED},
		{.job_name = "etl", .run_id = "a", .outcome = OUTCOME_SUCCEEDED}};
	struct runs before = {1, &run[1]}, after = {2, run};
	struct result_cache *c = result_cache_new();
	struct behaviour_past kept = a_past(7), got;

	AUTO(arena_done) struct arena arena = {0};

	result_cache_keep(c, &before, 0, &kept);
	result_cache_keep(c, &after, 0, &kept);
	assert_false(result_cache_find(c, &before, 0, &arena, &got));
	assert_true(result_cache_find(c, &after, 0, &arena, &got));
	result_cache_free(c);
}

static void no_more_are_kept_than_stated_and_none_for_ever(void **state)
{
	char name[16];
	struct run run = {.job_name = name, .run_id = "a", .outcome = OUTCOME_SUCCEEDED};
	struct runs runs = {1, &run};
	struct result_cache *c = result_cache_new();
	struct behaviour_past kept = a_past(7), got;
	int known = 0;

	AUTO(arena_done) struct arena arena = {0};

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "%d", i);
		result_cache_keep(c, &runs, 0, &kept);
	}
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "%d", i);
		known += result_cache_find(c, &runs, 0, &arena, &got);
	}
	assert_int_equal(known, RESULTS_MAX);
	result_cache_tidy(c, -1);
	assert_false(result_cache_find(c, &runs, 0, &arena, &got));
	result_cache_keep(NULL, &runs, 0, &kept);
	assert_false(result_cache_find(NULL, &runs, 0, &arena, &got));
	result_cache_tidy(NULL, 0);
	result_cache_free(c);
}

/* Keeps 20 results of 0.5 MiB, and returns the number of those that are still there. */
static int number_of_large(void)
{
	const size_t n = (512 << 10) / sizeof(struct phase);
	char name[16];
	struct run run = {.job_name = name, .run_id = "a", .outcome = OUTCOME_SUCCEEDED};
	struct runs runs = {1, &run};
	struct result_cache *c = result_cache_new();
	struct behaviour_past kept = a_past(7), got;
	AUTO(freep) struct phase *phases = xcalloc(n, sizeof *phases);
	int known = 0;

	AUTO(arena_done) struct arena arena = {0};

	kept.phases[0].phase = phases;
	kept.phases[0].n = n;
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "%d", i);
		result_cache_keep(c, &runs, 0, &kept);
	}
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "%d", i);
		known += result_cache_find(c, &runs, 0, &arena, &got);
	}
	result_cache_free(c);
	return known;
}

static void results_take_no_more_memory_than_stated(void **state)
{
	assert_int_equal(number_of_large(), 7); /* and their names, in 4 MiB */
	memory_budget_set(32 << 20);            /* the heap is 8 MiB */
	assert_int_equal(number_of_large(), 1);
	memory_budget_set(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_past_is_known_while_the_runs_are_the_same),
		cmocka_unit_test(what_is_found_outlives_the_cache),
		cmocka_unit_test(of_a_job_the_newest_is_kept),
		cmocka_unit_test(no_more_are_kept_than_stated_and_none_for_ever),
		cmocka_unit_test(results_take_no_more_memory_than_stated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
