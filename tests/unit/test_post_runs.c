/* exporter/routes/post_runs.c: the answers while the history is locked. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "exporter/core/app.h"
#include "exporter/history/historian.h"
#include "exporter/core/json.h"
#include "exporter/api/route.h"
#include "exporter/forward/run_message.h"

extern const struct route route_post_runs;

/* ---- a fake historian that returns `told.code` ---- */

static struct {
	int code, calls;
	bool full;
} told;

int historian_do(struct historian *h,
	int (*function)(struct history *history, void *context, struct err *e), void *context,
	struct err *e)
{
	(void)h;
	(void)function;
	(void)context;
	told.calls++;
	return told.code ? err_set(e, told.code, "as told") : 0;
}

int historian_takes_runs(struct historian *h, struct err *e)
{
	(void)h;
	return told.full ? err_set(e, -EDQUOT, "the history is full") : 0;
}

/* Posts a run of 3 s. */
static int status_of_a_run_at(double ended_at, double retention)
{
	const struct options options = {.history_retention = retention};
	const struct run run = {.run_id = "r1",
		.job_name = "job",
		.started_at = ended_at - 3,
		.ended_at = ended_at,
		.duration_seconds = 3,
		.outcome = OUTCOME_SUCCEEDED,
		.exit_signal = NAN,
		.requested_cpu_cores = NAN,
		.requested_memory_bytes = NAN,
		.attempt = NAN,
		.machine_cpus = NAN,
		.machine_memory_bytes = NAN,
		.address_limit_bytes = NAN,
		.address_peak_bytes = NAN};
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct buf body AUTO(buf_done) = BUF_MAX(RUN_MESSAGE_MAX);
	struct app app = APP_INIT;
	struct arguments a = {0};
	struct err e = {0};
	json_t *message = run_message(&run);

	json_write(&body, message);
	json_decref(message);
	app.options = &options;
	a.body = (struct slice){buf_text(&body), body.len};
	assert_int_equal(route_post_runs.answer(&app, &a, &r, &e), 0);
	buf_done(&r.body);
	return r.status;
}

static int status_of_a_post(void)
{
	return status_of_a_run_at(wall_seconds(now_read().wall), 60);
}

static void who_comes_behind_one_that_met_a_lock_is_told_at_once(void **state)
{
	const int posts = 1000;

	told.code = -EIO;
	for (int i = 0; i < 3; i++)
		assert_int_equal(status_of_a_post(), 503);
	assert_int_equal(told.calls, 3);
	told.calls = 0;
	told.code = -EBUSY;
	for (int i = 0; i < posts; i++)
		assert_int_equal(status_of_a_post(), 503);
	/* More than one call is possible, because the time may run out on a busy machine. */
	assert_in_range(told.calls, 1, posts / 10);
}

static void a_full_history_takes_no_run(void **state)
{
	(void)state;
	told.code = 0;
	told.calls = 0;
	told.full = true;
	assert_int_equal(status_of_a_post(), 503);
	assert_int_equal(told.calls, 0);
	told.full = false;
	assert_int_equal(status_of_a_post(), 201);
	assert_int_equal(told.calls, 1);
}

static void a_wrong_run_of_an_array_keeps_no_other_out(void **state)
{
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct buf body AUTO(buf_done) = BUF_MAX(RUN_MESSAGE_MAX);
	const struct options options = {.history_retention = 0};
	struct app app = APP_INIT;
	struct arguments a = {0};
	struct err e = {0};
	static const char good[] =
		"{\"run_id\": \"%s\", \"job_name\": \"j\", \"started_at\": 100, \"ended_at\": 103,"
		" \"duration_seconds\": 3, \"outcome\": \"succeeded\", \"columns\": {}}";

	(void)state;
	told.code = 0;
	buf_addc(&body, '[');
	buf_addf(&body, good, "a");
	buf_adds(&body, ", {\"run_id\": \"b\", \"job_name\": 7}, 3, ");
	/* The message about this run names a column and cuts the name within a letter. */
	buf_adds(&body,
		"{\"run_id\": \"d\", \"job_name\": \"j\", \"started_at\": 100, \"ended_at\": 103,"
		" \"duration_seconds\": 3, \"outcome\": \"succeeded\", \"columns\": {\"");
	for (int i = 0; i < 63; i++)
		buf_addc(&body, 'a');
	buf_adds(&body, "\303\251\303\251\": {}}}, ");
	/* Each of these values is wrong by itself, and the array is still JSON. */
	buf_adds(&body,
		"{\"run_id\": \"e\", \"run_id\": \"e\"}, {\"run_id\": \"f\", \"host\": \"\\u0000\"}, "
		"{\"run_id\": \"g\", \"started_at\": 1e999}, {\"run_id\": \"h\", \"exit_code\": 1e30}, "
		"{\"run_id\": \"i\", \"samples\": 99999999999999999999}, {\"run_id\": \"j\", \"host\": \"\xff\"}, ");
	buf_addf(&body, good, "c");
	buf_addc(&body, ']');
	app.options = &options;
	a.body = (struct slice){buf_text(&body), body.len};
	assert_int_equal(route_post_runs.answer(&app, &a, &r, &e), 0);
	assert_int_equal(r.status, 200);
	json_t *o = json_loads(buf_text(&r.body), 0, NULL), *runs = json_object_get(o, "runs");
	static const char *const ids[] = {"a", "b", NULL, "d", "e", "f", "g", "h", "i", "j", "c"};

	assert_int_equal(json_array_size(runs), ARRAY_LEN(ids));
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		json_t *one = json_array_get(runs, i);
		const char *id = json_string_value(json_object_get(one, "run_id"));
		bool is_good = i == 0 || i == ARRAY_LEN(ids) - 1;

		assert_int_equal(json_is_false(json_object_get(one, "known")), is_good);
		assert_int_equal(!json_object_get(one, "error"), is_good);
		if (ids[i])
			assert_string_equal(id, ids[i]);
		else
			assert_null(id);
	}
	json_decref(o);
	buf_done(&r.body);
	told.calls = 0;
}

static void a_run_is_written_away_from_the_threads_that_serve_scrapes(void **state)
{
	assert_true(route_post_runs.takes_long);
}

static void a_run_is_as_old_as_the_history_keeps_and_not_of_the_future(void **state)
{
	double now = wall_seconds(now_read().wall);

	told.code = 0;
	assert_int_equal(status_of_a_run_at(now - 50, 60), 201);
	assert_int_equal(status_of_a_run_at(now - 61, 60), 400);
	assert_int_equal(status_of_a_run_at(now - 1e8, 0), 201);
	assert_int_equal(status_of_a_run_at(now + 299, 60), 201);
	assert_int_equal(status_of_a_run_at(now + 400, 60), 400);
	told.calls = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_as_old_as_the_history_keeps_and_not_of_the_future),
		cmocka_unit_test(a_full_history_takes_no_run),
		cmocka_unit_test(a_wrong_run_of_an_array_keeps_no_other_out),
		cmocka_unit_test(who_comes_behind_one_that_met_a_lock_is_told_at_once),
		cmocka_unit_test(a_run_is_written_away_from_the_threads_that_serve_scrapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
