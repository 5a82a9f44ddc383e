/* exporter/routes/job_list.c: which jobs a page of the list has, and in which order. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "exporter/routes/job_list.h"
#include "tests/support/fake_history.h"

#define MIB 1048576.0

static const struct job_row jobs[] = {
	{"etl/Load", 7, {0}, 400, .last_outcome = OUTCOME_SUCCEEDED},
	{"etl/store", 9, {0}, 200, .last_outcome = OUTCOME_FAILED},
	{"train/load", 1, {0}, 300, .last_outcome = OUTCOME_OOM_KILLED},
	{"report", 9, {0}, 100, .last_outcome = OUTCOME_RUNNING},
};

static const struct parameter parameters[] = {JOB_LIST_PARAMETERS, {0}};

/* Publishes the recommendations for three jobs. The first saves 3 per run and has ten runs a month.
 * The second is too small. The third saves 5 per run, and its runs per month are unknown. */
static struct job_advice_table *advised(void)
{
	const struct job_advice rows[] = {
		{"etl/Load", true, 0, 4, 4096 * MIB, 1, 1, {1, 1024, 0, 0}, 3, 10},
		{"etl/store", true, 0, 1, 1024 * MIB, 1, 1, {1, 1025, 0, 0}, 0, 10},
		{"report", true, 0, 1, 1024 * MIB, 1, 1, {1, 1024, 0, 0}, 5, NAN},
	};

	job_advice_publish(rows, ARRAY_LEN(rows), 0);
	return job_advice_get();
}

/* Returns the names of the page, each with a blank behind it. `pairs` ends with NULL. */
static const char *page(const char *const pairs[][2], struct job_list *list)
{
	static char names[256];
	AUTO(arena_done) struct arena arena = {0};
	AUTO(job_advice_done) struct job_advice_table *advice = advised();
	struct arguments a;

	arguments_begin(&a, parameters);
	for (size_t i = 0; pairs[i][0]; i++)
		assert_int_equal(arguments_add(&a, pairs[i][0], pairs[i][1], NULL), 0);
	assert_int_equal(arguments_finish(&a, NULL), 0);
	assert_int_equal(job_list_read(NULL, &a, advice, &arena, list, NULL), 0);
	names[0] = '\0';
	for (size_t i = 0; i < list->n; i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s ",
			list->job[i].job_name);
	return names;
}

static void pages_are_searched_filtered_sorted_and_cut(void **state)
{
	static const struct {
		const char *pairs[4][2], *names;
		size_t total;
	} table[] = {
		{{{NULL}}, "etl/Load train/load etl/store report ", 4},
		{{{"sort", "last"}}, "report etl/store train/load etl/Load ", 4},
		{{{"sort", "name"}}, "etl/Load etl/store report train/load ", 4},
		{{{"sort", "-name"}}, "train/load report etl/store etl/Load ", 4},
		/* Jobs with equal values are sorted by name. */
		{{{"sort", "-runs"}}, "etl/store report etl/Load train/load ", 4},
		/* Unknown savings come last in both directions: train/load has no advice, and the
		 * runs per month of report are unknown. */
		{{{"sort", "saving"}}, "etl/store etl/Load report train/load ", 4},
		{{{"sort", "-saving"}}, "etl/Load etl/store report train/load ", 4},
		{{{"search", "LOAD etl"}}, "etl/Load ", 1},
		{{{"search", "load"}, {"sort", "name"}}, "etl/Load train/load ", 2},
		{{{"search", "load nobody"}}, "", 0},
		{{{"show", "failed"}}, "train/load etl/store ", 2},
		{{{"show", "oom_killed"}}, "train/load ", 1},
		{{{"show", "running"}}, "report ", 1},
		{{{"show", "too_small"}}, "etl/store ", 1},
		{{{"show", "can_save"}}, "etl/Load report ", 2},
		{{{"limit", "1"}, {"offset", "1"}}, "train/load ", 4},
		{{{"limit", "3"}, {"offset", "3"}}, "report ", 4},
		{{{"offset", "4"}}, "", 4},
		{{{"offset", "1000000000"}}, "", 4},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct job_list list;

		assert_string_equal(page(table[i].pairs, &list), table[i].names);
		assert_int_equal(list.total, table[i].total);
	}
}

static void counts_and_savings_are_of_all_that_are_searched(void **state)
{
	struct job_list list;
	json_t *o = json_object();

	(void)state;
	page((const char *const[][2]){{"search", "etl"}, {"limit", "1"}, {"show", "failed"},
		     {NULL}},
		&list);
	job_list_put(o, &list);
	const json_t *counts = json_object_get(o, "counts"),
		     *savings = json_object_get(o, "savings");

	assert_int_equal(json_integer_value(json_object_get(o, "total")), 1);
	assert_int_equal(json_integer_value(json_object_get(counts, "all")), 2);
	assert_int_equal(json_integer_value(json_object_get(counts, "succeeded")), 1);
	assert_int_equal(json_integer_value(json_object_get(counts, "too_small")), 1);
	assert_int_equal(json_integer_value(json_object_get(savings, "jobs")), 2);
	assert_true(json_number_value(json_object_get(savings, "usd_a_month")) == 30);
	json_decref(o);
	o = json_object();
	page((const char *const[][2]){{"search", "train"}, {NULL}}, &list);
	job_list_put(o, &list);
	savings = json_object_get(o, "savings");
	assert_true(json_is_null(json_object_get(savings, "usd_a_month")));
	json_decref(o);
}

static int set_up(void **state)
{
	(void)state;
	fake_history = (struct fake_history){.jobs = jobs, .n_jobs = ARRAY_LEN(jobs)};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	job_advice_clear();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_searched_filtered_sorted_and_cut),
		cmocka_unit_test(counts_and_savings_are_of_all_that_are_searched),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
