/* exporter/core/memory_budget.c: what a memory limit is divided into, and when an answer is
 * abandoned. */
#include "tests/unit/test_main.h"

#include "collectors/base/mem.h"
#include "exporter/core/memory_budget.h"
#include "exporter/core/json.h"

#define MIB ((size_t)1 << 20)

static void without_a_limit_all_are_as_large_as_they_may_be(void **state)
{
	const struct memory_budget a = memory_budget_of(0);

	assert_true(a.heap == SIZE_MAX && a.socket == 0);
#define IS_MOST(field, most, parts, unit, said) assert_true(a.field == (most));
	MEMORY_BUDGETS(IS_MOST)
	assert_memory_equal(&a, memory_budget(), sizeof a);
}

static void no_limit_gives_more_than_none_does_and_a_larger_one_no_less(void **state)
{
	struct memory_budget before = memory_budget_of(1);

	for (uint64_t limit = 1; limit < (uint64_t)1 << 62; limit += limit / 3 + 1) {
		const struct memory_budget a = memory_budget_of(limit);

		assert_true(a.limit == limit && a.heap < limit + 1 && a.heap >= before.heap);
#define IS_BETWEEN(field, most, parts, unit, said)                                                 \
	assert_true(a.field >= 1 && a.field <= (most) && a.field >= before.field);
		MEMORY_BUDGETS(IS_BETWEEN)
		before = a;
	}
}

/* All budgets together, including the largest answer, stay below malloc's limit. */
static void all_together_fit(void **state)
{
	static const size_t limits[] = {32, 64, 128, 256, 512, 4096};

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		const struct memory_budget a = memory_budget_of(limits[i] * MIB);
		size_t held = a.of_samples + a.of_history + a.changes + a.answer;

		assert_true(held + a.making < a.heap);
		assert_true(a.heap + 2 * a.socket * (a.connections < 512 ? a.connections : 512) <
			    limits[i] * MIB);
	}
}

static void more_than_may_be_given_out_is_too_much(void **state)
{
	assert_false(memory_budget_is_short(SIZE_MAX / 2));
	memory_budget_set(64 * MIB);
	assert_false(memory_budget_is_short(0));
	assert_true(memory_budget_is_short(64 * MIB));
	memory_budget_set(0);
}

/* When its memory is used up, a list in the answer stops growing. The answer stays abandoned until
 * the next answer begins. */
static void an_answer_is_given_up_and_nothing_else(void **state)
{
	json_t *array = json_array();

	memory_budget_set(1); /* no memory is allowed */
	assert_false(memory_budget_is_over());
	for (size_t i = 0; i < 1000; i++)
		json_push(array, json_num(1));
	assert_int_equal(json_array_size(array), 1000);
	memory_budget_begin_answer();
	for (size_t i = 0; i < 1000; i++)
		json_push(array, json_num(1));
	assert_in_range(json_array_size(array), 1000, 1100);
	memory_budget_set(0);
	assert_true(memory_budget_is_over());
	assert_true(memory_budget_end_answer());
	memory_budget_begin_answer();
	assert_false(memory_budget_is_over());
	assert_false(memory_budget_end_answer());
	json_decref(array);
}

static void bytes_are_said_in_mib(void **state)
{
	struct buf b AUTO(buf_done) = BUF_MAX(64);

	memory_budget_words(&b, 64 * MIB);
	memory_budget_words(&b, MIB / 2);
	assert_string_equal(buf_text(&b), "64 MiB0.5 MiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_all_are_as_large_as_they_may_be),
		cmocka_unit_test(no_limit_gives_more_than_none_does_and_a_larger_one_no_less),
		cmocka_unit_test(all_together_fit),
		cmocka_unit_test(more_than_may_be_given_out_is_too_much),
		cmocka_unit_test(an_answer_is_given_up_and_nothing_else),
		cmocka_unit_test(bytes_are_said_in_mib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
