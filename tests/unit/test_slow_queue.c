/* exporter/http/slow_queue.c: slow requests run one after the other on another thread, within
 * limits. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "collectors/base/clock.h"
#include "exporter/http/slow_queue.h"

#define MANY 8

static struct slow_queue *slow_queue;

struct question {
	struct slow_task slow_task; /* must be the first member */
	sem_t may_answer, answered;
	bool wanted;
	pthread_t thread;
	size_t bytes;
};

static void answer(struct slow_task *e, bool wanted)
{
	struct question *q = (struct question *)(void *)e;

	q->wanted = wanted;
	q->thread = pthread_self();
	while (sem_wait(&q->may_answer) != 0)
		;
	if (wanted)
		slow_queue_weigh(slow_queue, q->bytes);
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
		q[i] = (struct question){.slow_task.run = answer, .bytes = 10};
		sem_init(&q[i].may_answer, 0, 0);
		sem_init(&q[i].answered, 0, 0);
	}
}

static void open_desk(size_t most, size_t most_bytes)
{
	struct err e = {0};

	assert_int_equal(slow_queue_open(&slow_queue, false, most, most_bytes, &e), 0);
}

static void close_desk(void)
{
	assert_int_equal(slow_queue_stop(slow_queue, 60), 0);
	slow_queue_free(slow_queue);
}

static void asking_waits_for_nothing_and_answers_come_in_order(void **state)
{
	struct question q[MANY];

	begin(q, MANY);
	open_desk(MANY, 1000);
	/* No request may finish yet. */
	for (size_t i = 0; i < MANY; i++)
		assert_true(slow_queue_take(slow_queue, &q[i].slow_task));
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(sem_trywait(&q[i].answered), -1);
		sem_post(&q[i].may_answer);
		wait_for(&q[i]);
		assert_true(q[i].wanted);
		assert_true(pthread_equal(q[i].thread, q[0].thread));
		assert_false(pthread_equal(q[i].thread, pthread_self()));
		slow_queue_leave(slow_queue, q[i].bytes);
	}
	close_desk();
}

static void those_that_have_not_left_are_counted(void **state)
{
	struct question q[3];

	begin(q, 3);
	open_desk(2, 1000);
	sem_post(&q[0].may_answer);
	assert_true(slow_queue_take(slow_queue, &q[0].slow_task));
	wait_for(&q[0]);
	assert_true(slow_queue_take(slow_queue, &q[1].slow_task));
	/* One request waits, and the answer to another one is being sent. */
	assert_false(slow_queue_take(slow_queue, &q[2].slow_task));
	slow_queue_leave(slow_queue, q[0].bytes);
	assert_true(slow_queue_take(slow_queue, &q[2].slow_task));
	for (size_t i = 1; i < 3; i++) {
		sem_post(&q[i].may_answer);
		wait_for(&q[i]);
		slow_queue_leave(slow_queue, q[i].bytes);
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
		assert_true(slow_queue_take(slow_queue, &q[i].slow_task));
		wait_for(&q[i]);
	}
	assert_true(q[0].wanted && q[1].wanted);
	assert_false(q[2].wanted || q[3].wanted);
	slow_queue_leave(slow_queue, q[0].bytes);
	slow_queue_leave(slow_queue, 0);
	begin(&q[2], 1);
	sem_post(&q[2].may_answer);
	assert_true(slow_queue_take(slow_queue, &q[2].slow_task));
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
		assert_true(slow_queue_take(slow_queue, &q[i].slow_task));
	}
	assert_int_equal(slow_queue_stop(slow_queue, 60), 0);
	wait_for(&q[0]);
	wait_for(&q[1]);
	assert_false(slow_queue_take(slow_queue, &q[2].slow_task));
	slow_queue_free(slow_queue);
}

static void closing_does_not_wait_for_an_answer_that_hangs(void **state)
{
	struct question q[2];

	begin(q, 2);
	open_desk(MANY, 1000);
	for (size_t i = 0; i < 2; i++)
		assert_true(slow_queue_take(slow_queue, &q[i].slow_task));
	assert_int_equal(slow_queue_stop(slow_queue, 0.01), -ETIMEDOUT);
	assert_int_equal(slow_queue_stop(slow_queue, 0), -ETIMEDOUT);
	for (size_t i = 0; i < 2; i++)
		sem_post(&q[i].may_answer);
	assert_int_equal(slow_queue_stop(slow_queue, 60), 0);
	wait_for(&q[0]);
	wait_for(&q[1]);
	assert_false(q[1].wanted);
	slow_queue_free(slow_queue);
}

struct hanging_work {
	struct slow_work work; /* must be the first member */
	sem_t may_return;
	atomic_bool made, dropped;
};

static void make(struct slow_work *work)
{
	struct hanging_work *w = (struct hanging_work *)(void *)work;

	while (sem_wait(&w->may_return) != 0)
		;
	atomic_store(&w->made, true);
}

static void drop(struct slow_work *work)
{
	atomic_store(&((struct hanging_work *)(void *)work)->dropped, true);
}

static void while_a_work_hangs_others_are_refused_at_once(void **state)
{
	struct hanging_work w[2] = {0};

	for (size_t i = 0; i < ARRAY_LEN(w); i++) {
		w[i].work.make = make;
		w[i].work.drop = drop;
		sem_init(&w[i].may_return, 0, 0);
	}
	open_desk(1, 1);
	assert_false(slow_queue_work(slow_queue, &w[0].work));
	struct mono begun = now_read().mono;

	assert_false(slow_queue_work(slow_queue, &w[1].work));
	assert_true(mono_seconds_between(begun, now_read().mono) < 1);
	assert_true(w[1].dropped && !w[1].made && !w[0].dropped);
	assert_int_equal(slow_queue_stop(slow_queue, 60), -ETIMEDOUT);
	sem_post(&w[0].may_return);
	while (slow_queue_stop(slow_queue, 60) != 0)
		;
	assert_true(w[0].made && w[0].dropped);
	slow_queue_free(slow_queue);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asking_waits_for_nothing_and_answers_come_in_order),
		cmocka_unit_test(those_that_have_not_left_are_counted),
		cmocka_unit_test(answers_that_are_not_read_keep_others_from_being_made),
		cmocka_unit_test(closing_answers_those_who_wait_without_looking),
		cmocka_unit_test(closing_does_not_wait_for_an_answer_that_hangs),
		cmocka_unit_test(while_a_work_hangs_others_are_refused_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
