/* When a worker takes its turns. */
#include "tests/unit/test_main.h"

#include <math.h>

#include "exporter/core/worker.h"

struct turns {
	struct worker worker;
	atomic_uint n;
	unsigned last;       /* number of the turn that ends the thread; 0 = none */
	double pause;        /* seconds between two turns */
	bool waits;          /* the turn calls worker_wait */
	atomic_bool went_on; /* worker_wait returned true */
};

static double take_turn(void *context)
{
	struct turns *t = context;
	unsigned n = atomic_fetch_add(&t->n, 1) + 1;

	if (t->waits)
		t->went_on = worker_wait(&t->worker, INFINITY);
	return n == t->last ? WORKER_END : t->pause;
}

static void start(struct turns *t)
{
	worker_init(&t->worker);
	assert_int_equal(worker_start(&t->worker, "test", take_turn, t, NULL), 0);
}

static void turns_follow_each_other_until_the_last(void **state)
{
	struct turns t = {.last = 3};

	start(&t);
	assert_true(worker_join(&t.worker, 60, NULL));
	assert_int_equal(t.n, 3);
	worker_done(&t.worker);
}

static void waking_takes_a_turn_before_its_time(void **state)
{
	struct turns t = {.last = 2, .pause = INFINITY};

	start(&t);
	assert_false(worker_join(&t.worker, 0.01, NULL));
	worker_wake(&t.worker);
	assert_true(worker_join(&t.worker, 60, NULL));
	assert_int_equal(t.n, 2);
	worker_done(&t.worker);
}

static void stopping_ends_the_waiting_in_a_turn(void **state)
{
	struct turns t = {.waits = true};

	start(&t);
	worker_stop(&t.worker);
	assert_true(worker_join(&t.worker, 60, NULL));
	assert_int_equal(t.n, 1);
	assert_false(t.went_on);
	worker_done(&t.worker);
}

static void one_that_was_never_started_waits_and_is_done(void **state)
{
	struct worker w;

	worker_init(&w);
	assert_true(worker_wait(&w, 0.001));
	worker_wake(&w);
	assert_true(worker_wait(&w, INFINITY));
	worker_stop(&w);
	assert_false(worker_wait(&w, INFINITY));
	assert_true(worker_join(&w, 0, NULL));
	worker_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_follow_each_other_until_the_last),
		cmocka_unit_test(waking_takes_a_turn_before_its_time),
		cmocka_unit_test(stopping_ends_the_waiting_in_a_turn),
		cmocka_unit_test(one_that_was_never_started_waits_and_is_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
