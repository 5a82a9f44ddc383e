/* collectors/jobs: depth, circles, clocks and processes that are not there. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/jobs.h"
#include "tests/support/jobs_world.h"

/* Recursion would end at some depth, and a circle, which re-parenting between two reads may show, would not end. */
static void deep_trees_and_circles_are_followed_to_their_end(void **state)
{
	enum { DEPTH = 1000 };
	struct world *w = world_new();
	char list[16];

	(void)state;
	for (int pid = 10; pid < 10 + DEPTH; pid++) {
		put(w, &(struct fake){.pid = pid, .ppid = pid - 1, .start = 5});
		snprintf(list, sizeof list, "%d ", pid + 1 < 10 + DEPTH ? pid + 1 : 10);
		children(w, pid, list);
	}
	follow(w, 10, 0);
	assert_double_equal(look(w)->value[RUN_PROCESSES], DEPTH, 0);
	world_free(w);
}

static void start_that_is_still_to_come_is_now(void **state)
{
	static const unsigned long starts[] = {1001, 2000000, 18446744073709551615UL};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
		struct world *w = world_new();

		w->host.now.mono.ns = 10 * NS_PER_S;
		put(w, &(struct fake){.pid = 10, .ppid = 1, .start = starts[i]});
		children(w, 10, "");
		follow(w, 10, 0);
		assert_double_equal(look(w)->value[RUN_DURATION_SECONDS], 1, 1e-9);
		world_free(w);
	}
}

static void following_nobody_is_refused(void **state)
{
	struct world *w = world_new();
	struct run_spec spec = {.run_id = "r1", .job_name = "etl", .pid = 77};
	struct err e = {0};

	(void)state;
	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &spec, &e), -ESRCH);
	assert_non_null(strstr(e.text, "77"));
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deep_trees_and_circles_are_followed_to_their_end),
		cmocka_unit_test(start_that_is_still_to_come_is_now),
		cmocka_unit_test(following_nobody_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
