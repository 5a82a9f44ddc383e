/* collectors/process/member_limit.c compared with the simplest possible table. */
#include "tests/unit/test_main.h"

#include "collectors/process/member_limit.h"

#define PIDS  200
#define STEPS 200000

/* Returns the next number of a fixed sequence, the same in each test run. */
static unsigned next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005U + 1442695040888963407U;
	return (unsigned)(*seed >> 33);
}

/* Returns pids of which two or four hash to the same slot, so that a removal leaves a gap before
 * another entry. */
static pid_t pid_of(size_t i)
{
	return (pid_t)(1 + i % 50 + (i / 50) * 65536);
}

static void who_is_in_how_many_runs(void **state)
{
	AUTO(member_limit_done) struct member_limit m = {.most = 600};
	unsigned runs[PIDS] = {0};
	size_t n = 0;
	uint64_t seed = 1;

	for (size_t step = 0; step < STEPS; step++) {
		size_t i = next(&seed) % PIDS;

		if (next(&seed) % 2) {
			bool may = n < m.most && runs[i] < MEMBER_LIMIT_NESTED_MAX;

			assert_int_equal(member_limit_enter(&m, pid_of(i)), may);
			runs[i] += may;
			n += may;
		} else if (runs[i]) {
			member_limit_leave(&m, pid_of(i));
			runs[i]--;
			n--;
		}
		assert_int_equal(m.n, n);
	}
	for (size_t i = 0; i < PIDS; i++)
		while (runs[i]--)
			member_limit_leave(&m, pid_of(i));
	assert_int_equal(m.n, 0);
	assert_int_equal(m.runs.n, 0);
	for (size_t i = 0; i < m.runs.n_slots; i++)
		assert_int_equal(m.runs.slot[i].pid, 0);
}

static void all_together_are_bounded(void **state)
{
	struct member_limit m = {.most = 2};

	assert_true(member_limit_enter(&m, 7));
	assert_true(member_limit_enter(&m, 8));
	assert_false(member_limit_enter(&m, 9));
	member_limit_leave(&m, 7);
	assert_true(member_limit_enter(&m, 9));
	member_limit_done(&m);
	assert_int_equal(m.most, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_in_how_many_runs),
		cmocka_unit_test(all_together_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
