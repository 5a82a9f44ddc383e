/* Runs that other exporters recorded, and runs that are to be forwarded to another exporter. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <string.h>

#include "tests/support/test_history.h"

static struct column_stats stats[] = {
	{"cpu_seconds", {3, 1, 0.5, 2, 1, 2, 2, 3}},
	{"memory_peak_bytes", {3, 1e6, 1e6, 4e6, 1e6, 4e6, 4e6, NAN}},
};

static struct run told(const char *run_id, double started_at, enum outcome outcome)
{
	return (struct run){
		.run_id = run_id,
		.job_name = "etl/load",
		.started_at = started_at,
		.ended_at = started_at + 3,
		.duration_seconds = 3,
		.outcome = outcome,
		.exit_code = 0,
		.exit_signal = NAN,
		.host = "pod-7",
		.cpu_source = "rusage",
		.samples = 3,
		.interval_seconds = 1,
		.requested_cpu_cores = 2,
		.requested_memory_bytes = NAN,
		.memory_limit_bytes = 1e9,
		.input_bytes = NAN,
		.attempt = NAN,
		RUN_FINISH_UNKNOWN,
		.architecture = ARCHITECTURE_ARM64,
		.gpu_manufacturer = "NVIDIA",
		.gpu_model = "NVIDIA GH200 480GB",
		.vendor_id = "aws",
		.instance_type = "m7g.large",
		.n_stats = 2,
		.stats = stats,
	};
}

static int add(struct history *h, const struct run *r)
{
	assert_int_equal(history_transaction(h, NULL), 0);
	int code = history_run_add(h, r, NULL);

	assert_int_equal(history_commit(h, NULL), 0);
	return code;
}

static void hand_on(struct history *h, const char *run_id, enum outcome outcome)
{
	assert_int_equal(history_transaction(h, NULL), 0);
	assert_int_equal(history_run_sent(h, RECEIVER_CENTRAL, run_id, outcome, 9000, NULL), 0);
	assert_int_equal(history_commit(h, NULL), 0);
}

/* Expects that exactly these runs wait to be forwarded. `expected` has their ids, separated by
 * blanks. */
static void assert_waiting(struct test_place *p, size_t limit, const char *expected)
{
	char text[200] = "";
	const char **run_id;
	size_t n;

	assert_int_equal(history_unsent(p->h, RECEIVER_CENTRAL, limit, &p->arena, &run_id, &n,
				 NULL),
		0);
	for (size_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
			run_id[i]);
	assert_string_equal(text, expected);
}

static struct job_row only_job(struct test_place *p)
{
	struct job_row *job;
	size_t n;

	assert_int_equal(history_jobs(p->h, 0, &p->arena, &job, &n, NULL), 0);
	assert_int_equal(n, 1);
	return job[0];
}

static void a_run_of_another_exporter_is_read_as_it_was_told(void **state)
{
	struct test_place *p = *state;
	struct run r = told("r1", 1000, OUTCOME_SUCCEEDED);

	assert_int_equal(add(p->h, &r), 1);
	struct run got = test_read_run(p->h, "r1", &p->arena);

	assert_string_equal(got.job_name, "etl/load");
	assert_string_equal(got.host, "pod-7");
	assert_string_equal(got.cpu_source, "rusage");
	assert_string_equal(got.instance_type, "m7g.large");
	assert_int_equal(got.architecture, ARCHITECTURE_ARM64);
	assert_null(got.memory_source);
	assert_string_equal(got.gpu_manufacturer, "NVIDIA");
	assert_string_equal(got.gpu_model, "NVIDIA GH200 480GB");
	assert_string_equal(got.vendor_id, "aws");
	assert_string_equal(got.instance_type, "m7g.large");
	assert_null(got.region);
	assert_int_equal(got.outcome, OUTCOME_SUCCEEDED);
	assert_near(got.started_at, 1000, 0);
	assert_near(got.ended_at, 1003, 0);
	assert_near(got.duration_seconds, 3, 0);
	assert_int_equal(got.samples, 3);
	assert_near(got.requested_cpu_cores, 2, 0);
	assert_near(got.memory_limit_bytes, 1e9, 0);
	assert_near(run_total(&got, "cpu_seconds"), 3, 0);
	assert_near(run_peak(&got, "memory_peak_bytes"), 4e6, 0);
	assert_true(isnan(run_total(&got, "memory_peak_bytes")));
}

static void a_run_that_is_told_twice_counts_once(void **state)
{
	struct test_place *p = *state;
	struct run r = told("r1", 1000, OUTCOME_SUCCEEDED);

	assert_int_equal(add(p->h, &r), 1);
	r.outcome = OUTCOME_FAILED;
	assert_int_equal(add(p->h, &r), 0);
	assert_int_equal(test_count_runs(p->h, "etl/load"), 1);
	assert_int_equal(only_job(p).runs, 1);
	assert_int_equal(only_job(p).outcomes[OUTCOME_SUCCEEDED], 1);
	assert_int_equal(only_job(p).outcomes[OUTCOME_FAILED], 0);
}

static void a_run_that_seemed_interrupted_is_corrected(void **state)
{
	struct test_place *p = *state;
	struct run r = told("r1", 1000, OUTCOME_INTERRUPTED);

	assert_int_equal(add(p->h, &r), 1);
	hand_on(p->h, "r1", OUTCOME_INTERRUPTED);
	assert_waiting(p, 10, "");
	r.outcome = OUTCOME_SUCCEEDED;
	r.ended_at = 1010;
	assert_int_equal(add(p->h, &r), 1);
	assert_int_equal(add(p->h, &r), 0);
	assert_near(test_read_run(p->h, "r1", &p->arena).ended_at, 1010, 0);
	assert_int_equal(only_job(p).runs, 1);
	assert_int_equal(only_job(p).outcomes[OUTCOME_SUCCEEDED], 1);
	assert_int_equal(only_job(p).outcomes[OUTCOME_INTERRUPTED], 0);
	assert_waiting(p, 10, "r1");
}

/* The other exporter received the outcome "interrupted" while the outcome was being corrected
 * here. */
static void a_run_that_is_corrected_while_it_is_handed_on_waits_again(void **state)
{
	struct test_place *p = *state;
	struct run r = told("r1", 1000, OUTCOME_INTERRUPTED);

	assert_int_equal(add(p->h, &r), 1);
	r.outcome = OUTCOME_SUCCEEDED;
	assert_int_equal(add(p->h, &r), 1);
	hand_on(p->h, "r1", OUTCOME_INTERRUPTED);
	assert_waiting(p, 10, "r1");
	hand_on(p->h, "r1", OUTCOME_SUCCEEDED);
	assert_waiting(p, 10, "");
}

static void a_run_that_is_recorded_here_is_left_alone(void **state)
{
	struct test_place *p = *state;
	struct run r = told("r1", 1000, OUTCOME_SUCCEEDED);

	test_write_run(p->h, "r1", "etl/load", 1000, 5, OUTCOME_RUNNING);
	assert_int_equal(add(p->h, &r), 0);
	assert_int_equal(test_read_run(p->h, "r1", &p->arena).outcome, OUTCOME_RUNNING);
}

static void ended_runs_wait_until_they_are_handed_on(void **state)
{
	struct test_place *p = *state;
	uint64_t waiting = 99;

	assert_waiting(p, 10, "");
	test_write_run(p->h, "late", "j", 3000, 5, OUTCOME_FAILED);
	test_write_run(p->h, "early", "j", 1000, 5, OUTCOME_SUCCEEDED);
	test_write_run(p->h, "open", "j", 500, 5, OUTCOME_RUNNING);
	assert_waiting(p, 10, "early late");
	assert_waiting(p, 1, "early");
	assert_int_equal(history_count_unsent(p->h, RECEIVER_CENTRAL, &waiting, NULL), 0);
	assert_int_equal(waiting, 2);
	hand_on(p->h, "early", OUTCOME_SUCCEEDED);
	assert_waiting(p, 10, "late");
	hand_on(p->h, "unknown", OUTCOME_SUCCEEDED);
	assert_waiting(p, 10, "late");
	hand_on(p->h, "late", OUTCOME_FAILED);
	assert_waiting(p, 10, "");
}

static void each_receiver_has_a_mark_of_its_own(void **state)
{
	struct test_place *p = *state;
	uint64_t waiting = 99;

	test_write_run(p->h, "a", "j", 1000, 5, OUTCOME_SUCCEEDED);
	test_write_run(p->h, "b", "j", 3000, 5, OUTCOME_SUCCEEDED);
	assert_int_equal(history_transaction(p->h, NULL), 0);
	assert_int_equal(history_run_sent(p->h, RECEIVER_STORE, "a", OUTCOME_SUCCEEDED, 9000, NULL),
		0);
	assert_int_equal(history_commit(p->h, NULL), 0);
	assert_waiting(p, 10, "a b");
	assert_int_equal(history_count_unsent(p->h, RECEIVER_STORE, &waiting, NULL), 0);
	assert_int_equal(waiting, 1);
	hand_on(p->h, "b", OUTCOME_SUCCEEDED);
	assert_waiting(p, 10, "a");
	assert_int_equal(history_count_unsent(p->h, RECEIVER_STORE, &waiting, NULL), 0);
	assert_int_equal(waiting, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_place_make, test_place_remove)
	const struct CMUnitTest tests[] = {
		TEST(a_run_of_another_exporter_is_read_as_it_was_told),
		TEST(a_run_that_is_told_twice_counts_once),
		TEST(a_run_that_seemed_interrupted_is_corrected),
		TEST(a_run_that_is_corrected_while_it_is_handed_on_waits_again),
		TEST(a_run_that_is_recorded_here_is_left_alone),
		TEST(ended_runs_wait_until_they_are_handed_on),
		TEST(each_receiver_has_a_mark_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
