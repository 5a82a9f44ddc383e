/* A sizing is computed once and kept until a run of the job begins, ends, is corrected or is
 * removed. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "exporter/cli/query.h"
#include "exporter/answers/neighbourhood.h"
#include "exporter/answers/sizing.h"
#include "tests/support/fake_history.h"
#include "tests/support/fake_recommender.h"
#include "tests/support/sample_runs.h"

#define RUNS_MAX 12

static struct app app;
static struct run run[RUNS_MAX];

/* Leaves room for one more run in front. */
static int fresh(void **state)
{
	struct runs runs = sample_runs();

	memcpy(run + 1, runs.run, runs.n * sizeof *run);
	fake_history = (struct fake_history){.runs = {runs.n, run + 1}};
	app = (struct app){.history_path = "some/history.db",
		.results = result_cache_new(),
		.neighbourhoods = neighbourhoods_new()};
	return 0;
}

static int done(void **state)
{
	result_cache_free(app.results);
	neighbourhoods_free(app.neighbourhoods);
	return fake_history.open;
}

static int advice_numbers(const char *job_name, const char *name, const char *value,
	struct sizing_result **ret, int *ret_status)
{
	struct arguments a;
	struct reply r = {.status = 200, .body = BUF_MAX(REPLY_BODY_MAX)};
	struct err e = {0};

	arguments_begin(&a, query_route("recommend")->parameters);
	assert_int_equal(arguments_add(&a, "job_name", job_name, &e), 0);
	if (name)
		assert_int_equal(arguments_add(&a, name, value, &e), 0);
	assert_int_equal(arguments_finish(&a, &e), 0);
	int code = sizing_of_job(&app, &a, ret, &r, &e);

	if (ret_status)
		*ret_status = r.status;
	buf_done(&r.body);
	return code;
}

static struct sizing_result *ask(const char *name, const char *value)
{
	struct sizing_result *s = NULL;

	assert_int_equal(advice_numbers("etl/load", name, value, &s, NULL), 1);
	return s;
}

static void the_same_question_is_answered_from_memory(void **state)
{
	AUTO(sizing_result_done)
	struct sizing_result *first = ask(NULL, NULL), *again = ask(NULL, NULL);

	assert_ptr_equal(first, again);
	assert_int_equal(first->runs.n, 4);
	assert_int_equal(first->sizing.runs, 2);
}

static void another_question_has_an_answer_of_its_own(void **state)
{
	static const char *const pairs[][2] = {
		{"runs", "1"}, {"input_bytes", "1000"}, {"attempt", "2"}, {"window_days", "36525"}};
	AUTO(sizing_result_done) struct sizing_result *first = ask(NULL, NULL);

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		AUTO(sizing_result_done)
		struct sizing_result *other = ask(pairs[i][0], pairs[i][1]);
		AUTO(sizing_result_done)
		struct sizing_result *again = ask(pairs[i][0], pairs[i][1]);

		assert_ptr_not_equal(first, other);
		assert_ptr_equal(other, again);
	}
}

static void begin_one(void)
{
	run[0] = run[1];
	run[0].started_at = 1795250950;
	fake_history.runs = (struct runs){fake_history.runs.n + 1, run};
}

static void end_the_open_one(void)
{
	run[1].outcome = OUTCOME_SUCCEEDED;
	run[1].ended_at = 1795250960;
}

static void correct_one(void)
{
	run[2].outcome = OUTCOME_SUCCEEDED;
}

static void remove_the_oldest(void)
{
	fake_history.runs.n--;
}

static void a_run_that_changes_makes_the_answer_anew(void **state)
{
	static const struct {
		void (*change)(void);
		size_t runs, used;
	} table[] = {
		{begin_one, 5, 2},
		{end_the_open_one, 4, 3},
		{correct_one, 4, 3},
		{remove_the_oldest, 3, 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		done(state);
		fresh(state);

		AUTO(sizing_result_done) struct sizing_result *before = ask(NULL, NULL);

		table[i].change();

		AUTO(sizing_result_done)
		struct sizing_result *after = ask(NULL, NULL), *again = ask(NULL, NULL);

		assert_ptr_not_equal(before, after);
		assert_ptr_equal(after, again);
		assert_int_equal(after->runs.n, table[i].runs);
		assert_int_equal(after->sizing.runs, table[i].used);
		assert_int_equal(before->runs.n, 4); /* an earlier result does not change */
	}
}

static void add_run_of(const char *job_name)
{
	size_t n = fake_history.runs.n++;

	run[n + 1] = run[3]; /* a success */
	run[n + 1].job_name = job_name;
}

static void neighbours_are_handed_on_and_change_the_answer(void **state)
{
	AUTO(sizing_result_done) struct sizing_result *alone = ask(NULL, NULL);

	assert_null(fake_recommender.sized_with);
	add_run_of("etl/store");
	AUTO(sizing_result_done) struct sizing_result *first = ask(NULL, NULL);

	assert_non_null(fake_recommender.sized_with);
	assert_ptr_not_equal(alone, first);
	add_run_of("etl/clean");
	AUTO(sizing_result_done)
	struct sizing_result *more = ask(NULL, NULL), *again = ask(NULL, NULL);

	assert_ptr_not_equal(first, more);
	assert_ptr_equal(more, again);
	assert_int_equal(more->runs.n, 4);
}

/* At most RESULTS_MAX results are kept, and the oldest are dropped first. A result that a caller
 * still uses stays valid. */
static void no_more_is_kept_than_stated(void **state)
{
	AUTO(sizing_result_done) struct sizing_result *first = ask("input_bytes", "1");

	for (size_t i = 2; i <= RESULTS_MAX; i++) {
		char text[16];

		snprintf(text, sizeof text, "%zu", i);
		AUTO(sizing_result_done) struct sizing_result *s = ask("input_bytes", text);

		assert_ptr_not_equal(s, first);
	}

	AUTO(sizing_result_done) struct sizing_result *kept = ask("input_bytes", "1");

	assert_ptr_equal(first, kept);

	AUTO(sizing_result_done) struct sizing_result *one_more = ask("input_bytes", "1000");
	AUTO(sizing_result_done)
	struct sizing_result *second = ask("input_bytes", "2"), *third = NULL;

	/* "2" was the oldest result, so it was computed again, and "3" was dropped. */
	third = ask("input_bytes", "1000");
	assert_ptr_equal(one_more, third);
	assert_int_equal(second->sizing.runs, 2);
}

static void what_nobody_asks_for_is_let_go(void **state)
{
	AUTO(sizing_result_done) struct sizing_result *first = ask(NULL, NULL);

	result_cache_tidy(app.results, 3600);
	AUTO(sizing_result_done) struct sizing_result *again = ask(NULL, NULL);

	assert_ptr_equal(first, again);
	result_cache_tidy(app.results, -1);
	AUTO(sizing_result_done) struct sizing_result *anew = ask(NULL, NULL);

	assert_ptr_not_equal(first, anew);
	result_cache_tidy(NULL, 0);
}

static void a_failure_is_not_remembered(void **state)
{
	struct sizing_result *s = NULL;
	int status = 0;

	fake_history.read_code = -EIO;
	assert_int_equal(advice_numbers("etl/load", NULL, NULL, &s, NULL), -EIO);
	fake_history.read_code = 0;
	assert_int_equal(advice_numbers("nobody", NULL, NULL, &s, &status), 0);
	assert_int_equal(status, 404);
	fake_history.open_code = -ENOENT;
	assert_int_equal(advice_numbers("etl/load", NULL, NULL, &s, &status), 0);
	assert_int_equal(status, 404);
	assert_null(s);
	fake_history.open_code = 0;
	AUTO(sizing_result_done) struct sizing_result *first = ask(NULL, NULL);

	assert_non_null(first);
}

static void without_a_cache_each_answer_is_its_own(void **state)
{
	result_cache_free(app.results);
	app.results = NULL;
	AUTO(sizing_result_done)
	struct sizing_result *first = ask(NULL, NULL), *second = ask(NULL, NULL);

	assert_ptr_not_equal(first, second);
	assert_int_equal(first->sizing.runs, second->sizing.runs);
}

/* Expects the route to answer with this error text. */
static void assert_refused(const char *route, const char *job_name, const char *days,
	const char *says)
{
	struct arguments a;
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct sizing_result *s = NULL;
	struct err e = {0};

	arguments_begin(&a, query_route(route)->parameters);
	assert_int_equal(arguments_add(&a, "job_name", job_name, &e), 0);
	assert_int_equal(arguments_add(&a, "window_days", days, &e), 0);
	assert_int_equal(arguments_finish(&a, &e), 0);
	assert_int_equal(sizing_of_job(&app, &a, &s, &r, &e), 0);
	assert_int_equal(r.status, 404);
	if (!strstr(buf_text(&r.body), says))
		fail_msg("%s of %s days: %s", route, days, buf_text(&r.body));
	buf_done(&r.body);
}

static void a_window_without_a_run_says_when_the_newest_was(void **state)
{
	static const char *const routes[] = {"recommend", "servers"};
	static const struct {
		const char *days, *says;
	} table[] = {
		{"0.001", "no run of job \\\"etl/load\\\" started within the last 0.001 days; "
			  "the newest did at 2020-09-13T12:26:40.500Z"},
		{"1", "started within the last day; the newest"},
		{"7", "started within the last 7 days; the newest"},
	};

	for (size_t i = 0; i < fake_history.runs.n; i++)
		fake_history.runs.run[i].started_at = 1600000000.5 - (double)i;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		for (size_t k = 0; k < ARRAY_LEN(routes); k++)
			assert_refused(routes[k], "etl/load", table[i].days, table[i].says);
}

/* The message does not mention the runs before the window. It must not say "yet", because they may
 * have succeeded. */
static void a_window_without_a_success_counts_what_it_has(void **state)
{
	struct run *newest_failed = &fake_history.runs.run[1];

	for (size_t i = 0; i < fake_history.runs.n; i++)
		fake_history.runs.run[i].started_at = 1600000000 - (double)i;
	newest_failed[-1] = *newest_failed;
	newest_failed[-1].started_at = wall_seconds(now_read().wall);
	assert_refused("recommend", "etl/load", "2",
		"has no successful run within the last 2 days, only 1 failed");
}

/* ---- names that look like one job ---- */

/* Returns the text of the warning that job names differ only in a date; NULL = no such warning. */
static const char *dated(const struct sizing *s)
{
	for (size_t i = 0; i < s->warnings.n; i++)
		if (s->warnings.at[i].code == WARNING_DATED_NAMES)
			return s->warnings.at[i].text;
	return NULL;
}

static void names_that_differ_in_a_date_look_like_one_job(void **state)
{
	static const struct {
		const char *own, *others[6], *words;
	} cases[] = {
		{"etl-2026-11-22", {"etl-2026-11-23", "etl-20261124", "load-2026-11-23"},
			"At least 2 other jobs are named like this one, \"etl-*\", with another date, number or hash. None of them learns from the others. Give all runs one name: --job-name, RIGHTSIZE_JOB_NAME, or job_name in a rule of --jobs.rules."},
		{"job-1699999999", {"job-1700000000", "job"},
			"At least 1 other job is named like this one, \"job-*\", with another date, number or hash. None of them learns from the others. Give all runs one name: --job-name, RIGHTSIZE_JOB_NAME, or job_name in a rule of --jobs.rules."},
		{"etl-2026-11-22", {"etl", "load-2026-11-22"}, NULL},
		{"etl", {"etl-2026-11-22", "etl-2026-11-23"}, NULL},
		{"part-1", {"part-2", "part-3", "part-4", "part-5"}, NULL}, /* too few */
		{"part-1", {"part-2", "part-3", "part-4", "part-5", "part-6"},
			"At least 5 other jobs are named like this one, \"part-*\", with another date, number or hash. None of them learns from the others. Give all runs one name: --job-name, RIGHTSIZE_JOB_NAME, or job_name in a rule of --jobs.rules."},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(sizing_result_done) struct sizing_result *s = NULL;
		struct job_row jobs[6] = {0};
		size_t n = 0;

		for (; n < ARRAY_LEN(jobs) && cases[i].others[n]; n++)
			jobs[n].job_name = cases[i].others[n];
		fake_history.jobs = jobs;
		fake_history.n_jobs = n;
		for (size_t k = 0; k < RUNS_MAX; k++)
			run[k].job_name = cases[i].own;
		assert_int_equal(advice_numbers(cases[i].own, NULL, NULL, &s, NULL), 1);
		const char *text = dated(&s->sizing);

		if (!text != !cases[i].words || (text && strcmp(text, cases[i].words) != 0))
			fail_msg("%s: %s", cases[i].own, text ? text : "no warning");
	}
}

/* The runs of the job do not change when a job with another date appears. */
static void a_name_that_looks_dated_later_makes_the_answer_anew(void **state)
{
	static const struct job_row other = {.job_name = "etl-2026-11-23"};

	for (size_t k = 0; k < RUNS_MAX; k++)
		run[k].job_name = "etl-2026-11-22";
	for (size_t n = 0; n < 2; n++) {
		AUTO(sizing_result_done) struct sizing_result *s = NULL;

		fake_history.jobs = &other;
		fake_history.n_jobs = n;
		assert_int_equal(advice_numbers("etl-2026-11-22", NULL, NULL, &s, NULL), 1);
		assert_int_equal(dated(&s->sizing) != NULL, n);
	}
}

static void the_default_question_shares_the_answer_of_recommend(void **state)
{
	AUTO(sizing_result_done) struct sizing_result *asked = ask(NULL, NULL), *by_default = NULL;
	AUTO(job_neighbours_done) struct job_neighbours neighbours = {0};
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct err e = {0};

	assert_int_equal(sizing_by_default(&app, "etl/load", &neighbours, &by_default, &r, &e), 1);
	assert_non_null(neighbours.held);
	assert_ptr_equal(asked, by_default);
	buf_done(&r.body);
}

/* A command has no cache, so each look-up reads all other jobs. */
static void statistics_look_for_neighbours_once(void **state)
{
	const struct route *route = query_route("stats");
	struct arguments a;
	struct reply r = {.status = 200, .body = BUF_MAX(REPLY_BODY_MAX)};
	struct err e = {0};
	struct options options = {.catalogue_path = "/nonexistent"};

	neighbourhoods_free(app.neighbourhoods);
	app.neighbourhoods = NULL;
	app.options = &options;
	arguments_begin(&a, route->parameters);
	assert_int_equal(arguments_add(&a, "job_name", "etl/load", &e), 0);
	assert_int_equal(arguments_finish(&a, &e), 0);
	assert_int_equal(route->answer(&app, &a, &r, &e), 0);
	assert_int_equal(r.status, 200);
	assert_int_equal(fake_history.neighbours_read, 1);
	buf_done(&r.body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(statistics_look_for_neighbours_once, fresh, done),
		cmocka_unit_test_setup_teardown(the_same_question_is_answered_from_memory, fresh,
			done),
		cmocka_unit_test_setup_teardown(another_question_has_an_answer_of_its_own, fresh,
			done),
		cmocka_unit_test_setup_teardown(a_run_that_changes_makes_the_answer_anew, fresh,
			done),
		cmocka_unit_test_setup_teardown(neighbours_are_handed_on_and_change_the_answer,
			fresh, done),
		cmocka_unit_test_setup_teardown(no_more_is_kept_than_stated, fresh, done),
		cmocka_unit_test_setup_teardown(what_nobody_asks_for_is_let_go, fresh, done),
		cmocka_unit_test_setup_teardown(a_failure_is_not_remembered, fresh, done),
		cmocka_unit_test_setup_teardown(a_window_without_a_run_says_when_the_newest_was,
			fresh, done),
		cmocka_unit_test_setup_teardown(a_window_without_a_success_counts_what_it_has,
			fresh, done),
		cmocka_unit_test_setup_teardown(names_that_differ_in_a_date_look_like_one_job,
			fresh, done),
		cmocka_unit_test_setup_teardown(a_name_that_looks_dated_later_makes_the_answer_anew,
			fresh, done),
		cmocka_unit_test_setup_teardown(the_default_question_shares_the_answer_of_recommend,
			fresh, done),
		cmocka_unit_test_setup_teardown(without_a_cache_each_answer_is_its_own, fresh,
			done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
