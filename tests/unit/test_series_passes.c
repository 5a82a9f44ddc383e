/* exporter/answers/series_passes.c: reading a run's columns in many passes gives the same as one
 * pass. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exporter/core/memory_budget.h"
#include "exporter/answers/series_passes.h"
#include "exporter/answers/series_view.h"
#include "tests/support/test_history.h"

#define ROWS 4000

static void fill(struct test_place *p)
{
	char sql[1000];

	test_write_run(p->h, "r", "job", 0, 0, OUTCOME_RUNNING);
	snprintf(sql, sizeof sql,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
		"INSERT INTO sample(id, at, duration, cpu_seconds, memory_bytes, "
		"memory_peak_bytes, disk_read_bytes) SELECT (SELECT id << 32 FROM run WHERE "
		"run_id = 'r') + i, i, 1, iif(i > 2000, 3, 0.25) + (i %% 7) / 100.0, i * 1e6, i * "
		"2e6, iif(i %% 3, NULL, i) FROM n",
		ROWS);
	test_run_sql(p->folder.file, sql);
}

static void assert_same(const struct series_passes *a, const struct series_passes *b)
{
	struct buf one AUTO(buf_done) = BUF_MAX(SIZE_MAX), other AUTO(buf_done) = BUF_MAX(SIZE_MAX);

	assert_true(a->view.n_columns >= 4);
	series_view_json(&one, &a->view);
	series_view_json(&other, &b->view);
	assert_string_equal(buf_text(&one), buf_text(&other));
	assert_int_equal(a->position, b->position);
	assert_int_equal(a->samples, b->samples);
	assert_true(a->phases.n >= 2 && a->phases.n == b->phases.n);
	assert_near(a->phases.seconds, b->phases.seconds, 0);
	for (size_t i = 0; i < a->phases.n; i++) {
		assert_near(a->phases.phase[i].start, b->phases.phase[i].start, 0);
		assert_near(a->phases.phase[i].demand.memory_bytes,
			b->phases.phase[i].demand.memory_bytes, 0);
	}
}

static void many_passes_read_what_one_reads(void **state)
{
	static const struct {
		double from, to;
		size_t points;
	} table[] = {{NAN, NAN, 100}, {NAN, NAN, 1500}, {1000, 1500, 100}, {NAN, 10, 1500},
		{ROWS + 1, NAN, 100}};
	struct test_place *p = *state;

	fill(p);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct series_passes_question q = {
			"r", ROWS, table[i].from, table[i].to, table[i].points};
		struct series_passes one, many;

		memory_budget_set(0);
		assert_int_equal(series_passes_read(p->h, &q, &p->arena, &one, NULL), 0);
		/* A sample takes 200 bytes. */
		memory_budget_set((uint64_t)4 * 3 * ROWS * 200);
		assert_true(memory_budget()->making < (size_t)ROWS * 400);
		assert_int_equal(series_passes_read(p->h, &q, &p->arena, &many, NULL), 0);
		assert_same(&one, &many);
	}
	memory_budget_set(0);
}

static void points_that_do_not_fit_are_refused(void **state)
{
	struct test_place *p = *state;
	const struct series_passes_question q = {"r", ROWS, NAN, NAN, ROWS};
	struct series_passes ret;
	struct err e = {0};

	fill(p);
	memory_budget_set(65536);
	assert_int_equal(series_passes_read(p->h, &q, &p->arena, &ret, &e), -E2BIG);
	memory_budget_set(0);
	assert_int_equal(series_passes_read(p->h, &q, &p->arena, &ret, &e), 0);
	assert_int_equal(ret.view.n, ROWS);
}

static void no_such_run_is_said_in_any_number_of_passes(void **state)
{
	struct test_place *p = *state;
	const struct series_passes_question q = {"nothing", ROWS, NAN, NAN, 10};
	struct series_passes ret;

	for (int small = 0; small < 2; small++) {
		memory_budget_set(small ? (uint64_t)4 * 3 * ROWS * 200 : 0);
		assert_int_equal(series_passes_read(p->h, &q, &p->arena, &ret, NULL), -ENOENT);
	}
	memory_budget_set(0);
}

static bool always(void)
{
	return true;
}

static bool never(void)
{
	return false;
}

static void a_reading_that_is_given_up_is_an_error(void **state)
{
	struct test_place *p = *state;
	struct series s;
	struct err e = {0};

	fill(p);
	history_give_up_when(p->h, always);
	assert_true(history_series(p->h, "r", NULL, &p->arena, &s, &e) < 0);
	assert_non_null(strstr(e.text, "interrupted"));
	history_give_up_when(p->h, never);
	assert_int_equal(history_series(p->h, "r", NULL, &p->arena, &s, NULL), 0);
	assert_int_equal(s.n, ROWS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_place_make, test_place_remove)
	const struct CMUnitTest tests[] = {
		TEST(many_passes_read_what_one_reads),
		TEST(points_that_do_not_fit_are_refused),
		TEST(no_such_run_is_said_in_any_number_of_passes),
		TEST(a_reading_that_is_given_up_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
