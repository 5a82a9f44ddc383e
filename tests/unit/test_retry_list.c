/* exporter/forward/retry_list.c: which runs are put aside when they cannot be forwarded, and when
 * they are tried again. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>

#include "collectors/base/mem.h"
#include "collectors/runs.h"
#include "exporter/core/random_share.h"
#include "exporter/forward/retry_list.h"

static struct mono at(double seconds)
{
	return (struct mono){(int64_t)(seconds * 1e9)};
}

static bool add(struct retry_list *s, const char *run_id, bool by_itself, double now,
	double seconds)
{
	return retry_list_add(s, run_id, by_itself, (struct retry_wait){at(now), seconds});
}

static void a_run_gives_way_at_once_or_after_three_failures(void **state)
{
	static const struct {
		/* One letter per failure: i = `by_itself` is true; o = false. */
		const char *failures;
		bool aside, said_last;
	} cases[] = {{"", false, false}, {"o", false, false}, {"oo", false, false},
		{"ooo", true, true}, {"oooo", true, false}, {"i", true, true}, {"ii", true, false},
		{"io", true, false}, {"oi", true, true}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(retry_list_done) struct retry_list s = {0};
		bool said = false;
		unsigned n = 0;

		for (const char *c = cases[i].failures; *c; c++, n++)
			said = add(&s, "r", *c == 'i', 0, 1);
		assert_int_equal(said, cases[i].said_last);
		assert_int_equal(retry_list_is_aside(&s, "r"), cases[i].aside);
		assert_int_equal(retry_list_count_aside(&s), cases[i].aside);
		assert_int_equal(retry_list_count(&s), n > 0);
		assert_int_equal(retry_list_failures(&s, "r"), n);
		assert_false(retry_list_is_aside(&s, "other"));
		assert_int_equal(retry_list_failures(&s, "other"), 0);
	}
}

static void a_run_is_tried_again_after_its_own_wait(void **state)
{
	AUTO(retry_list_done) struct retry_list s = {0};

	assert_false(retry_list_any_due(&s, at(0), INFINITY));
	assert_false(retry_list_is_due(&s, "none", at(0), INFINITY));
	add(&s, "short", true, 100, 2);
	add(&s, "long", true, 100, 60);
	assert_false(retry_list_any_due(&s, at(101.9), INFINITY));
	assert_true(retry_list_is_due(&s, "short", at(102), INFINITY));
	assert_false(retry_list_is_due(&s, "long", at(102), INFINITY));
	assert_true(retry_list_any_due(&s, at(102), INFINITY));
	/* Waits are short while the program ends. */
	assert_true(retry_list_is_due(&s, "long", at(101), 1));
	add(&s, "short", true, 102, 4);
	assert_false(retry_list_is_due(&s, "short", at(105), INFINITY));
	assert_true(retry_list_is_due(&s, "short", at(106), INFINITY));
}

static void what_no_longer_waits_is_forgotten(void **state)
{
	static const char *const left[] = {"b", "new"};
	AUTO(retry_list_done) struct retry_list s = {0};

	for (const char *const *id = (const char *const[]){"a", "b", "c", NULL}; *id; id++)
		add(&s, *id, true, 0, 1);
	retry_list_remove(&s, "a");
	retry_list_remove(&s, "unknown");
	assert_int_equal(retry_list_count(&s), 2);
	retry_list_keep_only(&s, left, ARRAY_LEN(left));
	assert_int_equal(retry_list_count(&s), 1);
	assert_true(retry_list_is_aside(&s, "b"));
	retry_list_keep_only(&s, NULL, 0);
	assert_int_equal(retry_list_count(&s), 0);
}

static void the_list_is_bounded_and_loses_what_is_due_next(void **state)
{
	AUTO(retry_list_done) struct retry_list s = {0};
	char run_id[RUN_ID_MAX];

	for (unsigned i = 0; i < RETRY_LIST_MAX; i++) {
		snprintf(run_id, sizeof run_id, "r%u", i);
		add(&s, run_id, true, 0, i == 7 ? 1 : 100 + i);
	}
	assert_true(retry_list_is_aside(&s, "r7"));
	add(&s, "one more", true, 0, 50);
	assert_int_equal(retry_list_count(&s), RETRY_LIST_MAX);
	assert_false(retry_list_is_aside(&s, "r7"));
	assert_true(retry_list_is_aside(&s, "one more"));
	assert_true(retry_list_is_aside(&s, "r8"));
}

static void waits_grow_to_a_limit_and_differ(void **state)
{
	static const struct {
		unsigned failures;
		double whole;
	} table[] = {{0, 1}, {1, 1}, {2, 2}, {3, 4}, {1000, 300}, {4000000000, 300}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		double least = INFINITY, most = 0;

		for (int n = 0; n < 1000; n++) {
			double delay = retry_delay(table[i].failures, 1, 300);

			least = fmin(least, delay / table[i].whole);
			most = fmax(most, delay / table[i].whole);
		}
		assert_true(least >= 0.5 && least < 0.55);
		assert_true(most <= 1 && most > 0.95);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_gives_way_at_once_or_after_three_failures),
		cmocka_unit_test(a_run_is_tried_again_after_its_own_wait),
		cmocka_unit_test(what_no_longer_waits_is_forgotten),
		cmocka_unit_test(the_list_is_bounded_and_loses_what_is_due_next),
		cmocka_unit_test(waits_grow_to_a_limit_and_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
