/* exporter/site/event_stream.c: clients that follow a run receive its new samples, and no client
 * delays another. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exporter/site/event_stream.h"
#include "tests/support/test_history.h"

/* A reader that blocks while it is paused. */
struct waiter {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool paused;
};

static void pause_waiter(void *context)
{
	struct waiter *w = context;

	pthread_mutex_lock(&w->lock);
	w->paused = true;
	pthread_mutex_unlock(&w->lock);
}

static void resume_waiter(void *context)
{
	struct waiter *w = context;

	pthread_mutex_lock(&w->lock);
	w->paused = false;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

struct fixture {
	struct options options;
	struct app app;
	struct test_place *place;
	struct event_streams *event_streams;
	struct waiter waiter;
	struct event_stream_reader reader;
	struct buf told;
};

static int begin(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);

	test_place_make((void **)&f->place);
	f->options.sample_interval = 0.1;
	f->app = APP_INIT;
	f->app.options = &f->options;
	f->app.columns = test_columns;
	f->app.history_path = f->place->folder.file;
	f->event_streams = event_streams_new(&f->app);
	assert_int_equal(event_streams_start(f->event_streams, NULL), 0);
	pthread_mutex_init(&f->waiter.lock, NULL);
	pthread_cond_init(&f->waiter.wake, NULL);
	f->reader = (struct event_stream_reader){pause_waiter, resume_waiter, &f->waiter};
	f->told = BUF_MAX(1u << 22);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	event_streams_stop(f->event_streams);
	event_streams_free(f->event_streams);
	test_place_remove((void **)&f->place);
	pthread_cond_destroy(&f->waiter.wake);
	pthread_mutex_destroy(&f->waiter.lock);
	buf_done(&f->told);
	freep(&f);
	return 0;
}

/* Reads until `text` was received. Returns false if the stream ended before. */
static bool read_until(struct fixture *f, struct event_stream *s, const char *text)
{
	char block[100];

	while (!strstr(buf_text(&f->told), text)) {
		ssize_t n = event_stream_read(s, block, sizeof block, &f->reader);

		if (n < 0)
			return false;
		buf_add(&f->told, block, (size_t)n);
		pthread_mutex_lock(&f->waiter.lock);
		while (n == 0 && f->waiter.paused)
			pthread_cond_wait(&f->waiter.wake, &f->waiter.lock);
		pthread_mutex_unlock(&f->waiter.lock);
	}
	return true;
}

static struct event_stream *open_stream(struct fixture *f, const char *run_id, int64_t after)
{
	struct event_stream *s = NULL;

	assert_int_equal(event_stream_open(f->event_streams, run_id, after, &s, NULL), 0);
	return s;
}

static void samples_come_as_they_are_written(void **state)
{
	struct fixture *f = *state;

	test_write_run(f->place->h, "r", "job", 1000, 3, OUTCOME_RUNNING);
	struct event_stream *s = open_stream(f, "r", 1);

	assert_true(read_until(f, s, "\n\n"));
	assert_ptr_equal(strstr(buf_text(&f->told), "id: 3\nevent: samples\ndata: {\"n\": 2, "),
		buf_text(&f->told));
	assert_non_null(strstr(buf_text(&f->told), "\"cpu_cores\": [0.5,0.5]"));
	assert_true(f->waiter.paused == false);
	test_write_samples(f->place->h, "r", 1000, 3, 1);
	assert_true(read_until(f, s, "id: 4\nevent: samples\ndata: {\"n\": 1, "));
	event_stream_close(s);
}

static void the_end_of_a_run_is_told_after_its_last_sample(void **state)
{
	struct fixture *f = *state;
	struct run_finish finish = test_finish("r", 1003, OUTCOME_SUCCEEDED);

	test_write_run(f->place->h, "r", "job", 1000, 2, OUTCOME_RUNNING);
	struct event_stream *s = open_stream(f, "r", 0);

	assert_true(read_until(f, s, "id: 2\n"));
	test_write_samples(f->place->h, "r", 1000, 2, 1);
	assert_int_equal(history_transaction(f->place->h, NULL), 0);
	assert_int_equal(history_run_finish(f->place->h, &finish, NULL), 0);
	assert_int_equal(history_commit(f->place->h, NULL), 0);
	assert_false(read_until(f, s, "nothing like it"));
	const char *last = strstr(buf_text(&f->told), "id: 3\n");

	assert_non_null(last);
	assert_non_null(strstr(last, "event: end\ndata: {}\n\n"));
	event_stream_close(s);
}

static void what_is_far_behind_comes_in_several_events(void **state)
{
	struct fixture *f = *state;
	size_t events = 0;

	test_write_run(f->place->h, "r", "job", 1000, 1700, OUTCOME_SUCCEEDED);
	struct event_stream *s = open_stream(f, "r", 0);

	assert_false(read_until(f, s, "nothing like it"));
	for (const char *p = buf_text(&f->told); (p = strstr(p, "event: samples")); p++)
		events++;
	assert_int_equal(events, 4);
	assert_non_null(strstr(buf_text(&f->told), "id: 1700\n"));
	event_stream_close(s);
}

static void a_run_that_is_not_there_ends_at_once(void **state)
{
	struct fixture *f = *state;
	struct event_stream *s = open_stream(f, "nobody", 0);

	assert_false(read_until(f, s, "nothing like it"));
	assert_string_equal(buf_text(&f->told), "event: end\ndata: {}\n\n");
	event_stream_close(s);
}

static void streams_are_bounded_and_come_free_again(void **state)
{
	struct fixture *f = *state;
	struct event_stream *s[EVENT_STREAMS_MAX], *more = NULL;
	struct err e = {0};

	test_write_run(f->place->h, "r", "job", 1000, 1, OUTCOME_RUNNING);
	for (size_t i = 0; i < EVENT_STREAMS_MAX; i++)
		s[i] = open_stream(f, "r", 0);
	assert_int_equal(event_stream_open(f->event_streams, "r", 0, &more, &e), -EBUSY);
	assert_non_null(strstr(e.text, "32"));
	event_stream_close(s[7]);
	/* The thread may need a moment to release the stream. */
	while (event_stream_open(f->event_streams, "r", 0, &s[7], NULL) == -EBUSY)
		;
	for (size_t i = 0; i < EVENT_STREAMS_MAX; i++)
		event_stream_close(s[i]);
}

/* The client `slow` reads nothing, and the client `s` must still get all events. */
static void a_slow_reader_holds_up_nobody(void **state)
{
	struct fixture *f = *state;

	test_write_run(f->place->h, "r", "job", 1000, 1, OUTCOME_RUNNING);
	struct event_stream *slow = open_stream(f, "r", 0), *s = open_stream(f, "r", 0);

	assert_true(read_until(f, s, "id: 1\n"));
	test_write_samples(f->place->h, "r", 1000, 1, 1);
	assert_true(read_until(f, s, "id: 2\n"));
	event_stream_close(slow);
	event_stream_close(s);
}

/* The error is logged once. The stream continues when the history can be read again. */
static void a_history_that_cannot_be_read_is_waited_for(void **state)
{
	struct fixture *f = *state;
	char aside[sizeof f->place->folder.file + 8], said[500];
	int log[2], stderr_before = dup(STDERR_FILENO);

	snprintf(aside, sizeof aside, "%s.aside", f->place->folder.file);
	test_write_run(f->place->h, "r", "job", 1000, 2, OUTCOME_RUNNING);
	assert_int_equal(pipe2(log, O_NONBLOCK), 0);
	assert_int_equal(rename(f->place->folder.file, aside), 0);
	assert_true(dup2(log[1], STDERR_FILENO) >= 0);
	struct event_stream *s = open_stream(f, "r", 0);
	struct pollfd heard = {.fd = log[0], .events = POLLIN};

	assert_int_equal(poll(&heard, 1, 60000), 1);
	assert_int_equal(rename(aside, f->place->folder.file), 0);
	bool told = read_until(f, s, "id: 2\nevent: samples\n");

	dup2(stderr_before, STDERR_FILENO);
	ssize_t n = read(log[0], said, sizeof said - 1);

	assert_true(told && n > 0);
	said[n] = '\0';
	assert_non_null(strstr(said, "event streams wait: the history cannot be read"));
	assert_ptr_equal(strchr(said, '\n'), said + n - 1);
	event_stream_close(s);
	close(log[0]);
	close(log[1]);
	close(stderr_before);
}

static void stopping_ends_all_streams(void **state)
{
	struct fixture *f = *state;
	struct event_stream *more = NULL;

	test_write_run(f->place->h, "r", "job", 1000, 1, OUTCOME_RUNNING);
	struct event_stream *s = open_stream(f, "r", 0);

	assert_true(read_until(f, s, "\n\n"));
	char block[8];

	while (event_stream_read(s, block, sizeof block, &f->reader) > 0)
		;
	event_streams_stop(f->event_streams);
	assert_false(f->waiter.paused);
	assert_int_equal(event_stream_read(s, block, sizeof block, &f->reader), -1);
	assert_int_equal(event_stream_open(f->event_streams, "r", 0, &more, NULL), -EBUSY);
	event_stream_close(s);
	event_stream_close(NULL);
}

#define LIVE_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIVE_TEST(samples_come_as_they_are_written),
		LIVE_TEST(the_end_of_a_run_is_told_after_its_last_sample),
		LIVE_TEST(what_is_far_behind_comes_in_several_events),
		LIVE_TEST(a_run_that_is_not_there_ends_at_once),
		LIVE_TEST(streams_are_bounded_and_come_free_again),
		LIVE_TEST(a_slow_reader_holds_up_nobody),
		LIVE_TEST(a_history_that_cannot_be_read_is_waited_for),
		LIVE_TEST(stopping_ends_all_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
