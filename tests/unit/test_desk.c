/* exporter/desk: questions one after the other on another thread, and what bounds them. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "exporter/http/slow_queue.h"

#define MANY 8

static struct desk *desk;

struct question {
	struct errand errand; /* first */
	sem_t may_answer, answered;
	bool wanted;
	pthread_t thread;
	size_t bytes;
};

static void answer(struct errand *e, bool wanted)
{
	struct question *q = (struct question *)(void *)e;

	q->wanted = wanted;
	q->thread = pthread_self();
	while (sem_wait(&q->may_answer) != 0)
		;
	if (wanted)
		desk_weigh(desk, q->bytes);
	sem_post(&q->answered);
}

static void wait_for(struct question *q)
{
	while (sem_wait(&q->answered) != 0)
		;
}

static void begin(struct question *q, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		q[i] = (struct question){.errand.run = answer, .bytes = 10};
		sem_init(&q[i].may_answer, 0, 0);
		sem_init(&q[i].answered, 0, 0);
	}
}

static void open_desk(size_t most, size_t most_bytes)
{
	struct err e = {0};

	assert_int_equal(desk_open(&desk, most, most_bytes, &e), 0);
}

static void close_desk(void)
{
	assert_int_equal(desk_stop(desk, 60), 0);
	desk_free(desk);
}

static void asking_waits_for_nothing_and_answers_come_in_order(void **state)
{
	struct question q[MANY];

	begin(q, MANY);
	open_desk(MANY, 1000);
	/* None of them may be answered yet. */
	for (size_t i = 0; i < MANY; i++)
		assert_true(desk_take(desk, &q[i].errand));
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(sem_trywait(&q[i].answered), -1);
		sem_post(&q[i].may_answer);
		wait_for(&q[i]);
		assert_true(q[i].wanted);
		assert_true(pthread_equal(q[i].thread, q[0].thread));
		assert_false(pthread_equal(q[i].thread, pthread_self()));
		desk_leave(desk, q[i].bytes);
	}
	close_desk();
}

static void those_that_have_not_left_are_counted(void **state)
{
	struct question q[3];

	begin(q, 3);
	open_desk(2, 1000);
	sem_post(&q[0].may_answer);
	assert_true(desk_take(desk, &q[0].errand));
	wait_for(&q[0]);
	assert_true(desk_take(desk, &q[1].errand));
	/* One waits, and the answer of the other is being sent. */
	assert_false(desk_take(desk, &q[2].errand));
	desk_leave(desk, q[0].bytes);
	assert_true(desk_take(desk, &q[2].errand));
	for (size_t i = 1; i < 3; i++) {
		sem_post(&q[i].may_answer);
		wait_for(&q[i]);
		desk_leave(desk, q[i].bytes);
	}
	close_desk();
}

static void answers_that_are_not_read_keep_others_from_being_made(void **state)
{
	struct question q[4];

	begin(q, 4);
	open_desk(MANY, 20);
	for (size_t i = 0; i < 4; i++) {
		sem_post(&q[i].may_answer);
		assert_true(desk_take(desk, &q[i].errand));
		wait_for(&q[i]);
	}
	assert_true(q[0].wanted && q[1].wanted);
	assert_false(q[2].wanted || q[3].wanted);
	desk_leave(desk, q[0].bytes);
	desk_leave(desk, 0);
	begin(&q[2], 1);
	sem_post(&q[2].may_answer);
	assert_true(desk_take(desk, &q[2].errand));
	wait_for(&q[2]);
	assert_true(q[2].wanted);
	close_desk();
}

static void closing_answers_those_who_wait_without_looking(void **state)
{
	struct question q[3];

	begin(q, 3);
	open_desk(MANY, 1000);
	for (size_t i = 0; i < 2; i++) {
		sem_post(&q[i].may_answer);
		assert_true(desk_take(desk, &q[i].errand));
	}
	assert_int_equal(desk_stop(desk, 60), 0);
	wait_for(&q[0]);
	wait_for(&q[1]);
	assert_false(desk_take(desk, &q[2].errand));
	desk_free(desk);
}

static void closing_does_not_wait_for_an_answer_that_hangs(void **state)
{
	struct question q[2];

	begin(q, 2);
	open_desk(MANY, 1000);
	for (size_t i = 0; i < 2; i++)
		assert_true(desk_take(desk, &q[i].errand));
	assert_int_equal(desk_stop(desk, 0.01), -ETIMEDOUT);
	assert_int_equal(desk_stop(desk, 0), -ETIMEDOUT);
	for (size_t i = 0; i < 2; i++)
		sem_post(&q[i].may_answer);
	assert_int_equal(desk_stop(desk, 60), 0);
	wait_for(&q[0]);
	wait_for(&q[1]);
	assert_false(q[1].wanted);
	desk_free(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asking_waits_for_nothing_and_answers_come_in_order),
		cmocka_unit_test(those_that_have_not_left_are_counted),
		cmocka_unit_test(answers_that_are_not_read_keep_others_from_being_made),
		cmocka_unit_test(closing_answers_those_who_wait_without_looking),
		cmocka_unit_test(closing_does_not_wait_for_an_answer_that_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
