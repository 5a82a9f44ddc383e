/* The event queue: its order, its limits, and which events are dropped first. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "exporter/history/event_queue.h"
#include "tests/support/test_history.h"

static const struct columns no_columns;

/* Makes one event. `kind`: b = begin, s = sample, f = finish, p = page of a server. */
static struct event *event_of(char kind, size_t number)
{
	char text[2] = {(char)('0' + number % 10), '\0'};
	double value = (double)number;
	const struct sample s = {.value = &value};

	if (kind == 's')
		return event_queue_new_sample(&s, 1);
	if (kind == 'b')
		return event_queue_new_begin(&(struct run_begin){
			.run_id = text, .job_name = "job"});
	if (kind == 'p')
		return event_queue_new_page(&(struct history_page){.url = text, .address = text});
	return event_queue_new_finish(&(struct run_finish){.run_id = text, .cpu_source = "rusage"});
}

static void push_all(struct event_queue *r, const char *kinds)
{
	for (size_t i = 0; kinds[i]; i++)
		event_queue_push(r, event_of(kinds[i], i));
}

static char number_of(const struct event *v)
{
	switch (v->kind) {
	case EVENT_BEGIN:
		return v->begin.run_id[0];
	case EVENT_SAMPLE:
		return (char)('0' + (int)v->sample.value[0]);
	case EVENT_FINISH:
		return v->finish.run_id[0];
	case EVENT_PAGE:
		return v->page.url[0];
	}
	return '?';
}

/* Pops all events and returns their numbers as text. */
static const char *numbers(struct event_queue *r)
{
	static char out[64];
	size_t n = 0;
	struct event *v;

	while ((v = event_queue_pop(r))) {
		assert_true(n + 1 < sizeof out);
		out[n++] = number_of(v);
		free(v);
	}
	out[n] = '\0';
	assert_int_equal(r->n, 0);
	assert_int_equal(r->samples, 0);
	return out;
}

static void past_a_bound_the_oldest_of_its_kind_goes(void **state)
{
	static const struct {
		const char *kinds;
		size_t max_samples, max_runs;
		const char *left;
		uint64_t samples_dropped, runs_dropped;
	} table[] = {
		{"bssf", 0, 0, "0123", 0, 0},
		{"bspsf", 9, 9, "01234", 0, 0},
		{"bssf", 2, 2, "0123", 0, 0},
		{"bsssf", 2, 2, "0234", 1, 0},
		{"sssss", 1, 1, "4", 4, 0},
		{"bsbsb", 9, 2, "1234", 0, 1},
		{"bfbfs", 1, 1, "34", 0, 3},
		{"", 1, 1, "", 0, 0},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct event_queue r = {
			.columns = &no_columns,
			.max_samples = table[i].max_samples,
			.max_runs = table[i].max_runs,
		};

		push_all(&r, table[i].kinds);
		assert_int_equal(r.n, strlen(table[i].left));
		assert_string_equal(numbers(&r), table[i].left);
		assert_int_equal(r.samples_dropped, table[i].samples_dropped);
		assert_int_equal(r.runs_dropped, table[i].runs_dropped);
	}
}

static void what_is_put_back_comes_first_and_keeps_the_bound(void **state)
{
	struct event_queue r = {.columns = &no_columns, .max_samples = 4}, batch = {0};

	push_all(&r, "bsss");
	event_queue_move(&batch, &r, 3);
	assert_int_equal(batch.n, 3);
	assert_int_equal(batch.samples, 2);
	assert_int_equal(r.n, 1);
	event_queue_push(&r, event_of('s', 4));
	event_queue_push(&r, event_of('s', 5));
	event_queue_put_back(&r, &batch);
	assert_int_equal(batch.n, 0);
	assert_int_equal(r.samples_dropped, 1);
	assert_string_equal(numbers(&r), "02345");
	event_queue_put_back(&r, &batch);
	assert_string_equal(numbers(&r), "");
	push_all(&batch, "bf");
	event_queue_put_back(&r, &batch);
	event_queue_push(&r, event_of('s', 2));
	assert_string_equal(numbers(&r), "012");
}

static void moving_more_than_there_is_moves_all(void **state)
{
	struct event_queue r = {0}, batch = {0};

	push_all(&r, "bsf");
	event_queue_move(&batch, &r, 100);
	assert_string_equal(numbers(&r), "");
	assert_string_equal(numbers(&batch), "012");
}

static void events_own_what_they_hold(void **state)
{
	char id[] = "id", job[] = "job", host[] = "host", source[] = "rusage";
	double value[] = {1, 2};
	struct event *b, *s, *f;

	b = event_queue_new_begin(&(struct run_begin){.run_id = id, .job_name = job, .host = host});
	s = event_queue_new_sample(&(struct sample){.at = 3, .value = value}, 2);
	f = event_queue_new_finish(&(struct run_finish){.run_id = id, .memory_source = source});
	id[0] = job[0] = host[0] = source[0] = 'X';
	value[0] = value[1] = 9;
	assert_string_equal(b->begin.run_id, "id");
	assert_string_equal(b->begin.job_name, "job");
	assert_string_equal(b->begin.host, "host");
	assert_true(s->sample.value[0] < 1.5 && s->sample.value[1] > 1.5 && s->sample.value[1] < 3);
	assert_string_equal(f->finish.run_id, "id");
	assert_null(f->finish.cpu_source);
	assert_string_equal(f->finish.memory_source, "rusage");
	free(b);
	free(s);
	free(f);
}

static struct event *sample_of(const char *run_id, double duration, double cpu, double memory)
{
	double value[TEST_COLUMNS] = {
		[TEST_CPU_SECONDS] = cpu,
		[TEST_MEMORY_BYTES] = memory,
		[TEST_MEMORY_PEAK_BYTES] = memory,
		[TEST_DISK_READ_BYTES] = NAN,
	};
	struct sample s = {.at = duration, .duration = duration, .value = value};

	text_copy(run_id, s.run_id, sizeof s.run_id);
	return event_queue_new_sample(&s, TEST_COLUMNS);
}

static void assert_sample(struct event_queue *r, const char *run_id, double at, double duration,
	double cpu, double memory, double peak)
{
	AUTO(freep) struct event *v = event_queue_pop(r);

	assert_non_null(v);
	assert_int_equal(v->kind, EVENT_SAMPLE);
	assert_string_equal(v->sample.run_id, run_id);
	assert_near(v->sample.at, at, 0);
	assert_near(v->sample.duration, duration, 0);
	assert_near(v->sample.value[TEST_CPU_SECONDS], cpu, 0);
	assert_near(v->sample.value[TEST_MEMORY_BYTES], memory, 0);
	assert_near(v->sample.value[TEST_MEMORY_PEAK_BYTES], peak, 0);
	assert_near(v->sample.value[TEST_DISK_READ_BYTES], NAN, 0);
}

static void what_makes_room_is_told_by_the_next_of_its_run(void **state)
{
	struct event_queue r = {.columns = &test_columns, .max_samples = 3};

	event_queue_push(&r, sample_of("a", 1, 0.5, 7));
	event_queue_push(&r, sample_of("b", 2, 9, 3));
	event_queue_push(&r, sample_of("a", 4, 0.25, 5));
	event_queue_push(&r, sample_of("a", 8, NAN, 6));
	event_queue_push(&r, sample_of("a", 16, 0.125, 4));
	/* A dropped sample is added to a later sample of its run. Run b has only one sample, so
	 * that sample stays. */
	assert_sample(&r, "b", 2, 2, 9, 3, 3);
	assert_sample(&r, "a", 8, 13, 0.75, 6, 7);
	assert_sample(&r, "a", 16, 16, 0.125, 4, 4);
	assert_null(event_queue_pop(&r));
	assert_int_equal(r.samples_dropped, 2);
	assert_int_equal(r.samples_lost, 0);
}

static void the_oldest_is_lost_where_none_can_tell_of_it(void **state)
{
	struct event_queue r = {.columns = &test_columns, .max_samples = 2};

	event_queue_push(&r, sample_of("a", 1, 1, 1));
	event_queue_push(&r, event_queue_new_finish(&(struct run_finish){.run_id = "a"}));
	event_queue_push(&r, sample_of("b", 2, 2, 2));
	event_queue_push(&r, sample_of("c", 4, 4, 4));
	assert_int_equal(r.samples_dropped, 1);
	assert_int_equal(r.samples_lost, 1);
	free(event_queue_pop(&r));
	assert_sample(&r, "b", 2, 2, 2, 2, 2);
	assert_sample(&r, "c", 4, 4, 4, 4, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(past_a_bound_the_oldest_of_its_kind_goes),
		cmocka_unit_test(what_is_put_back_comes_first_and_keeps_the_bound),
		cmocka_unit_test(moving_more_than_there_is_moves_all),
		cmocka_unit_test(events_own_what_they_hold),
		cmocka_unit_test(what_makes_room_is_told_by_the_next_of_its_run),
		cmocka_unit_test(the_oldest_is_lost_where_none_can_tell_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
