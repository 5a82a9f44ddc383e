/* The newest runs of every job in one query: on which server they ran, and what they used. */
#include "tests/unit/test_main.h"

#include <math.h>

#include "collectors/base/mem.h"
#include "tests/support/test_history.h"

static void write_away(struct history *h)
{
	struct column_stats stats[] = {
		{"disk_grown_bytes", {1, 2e9, 2e9, 7e9, 2e9, 2e9, 2e9, 2e9}},
		{"network_sent_bytes", {2, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 3e6}},
	};
	const struct run run = {.run_id = "away",
		.job_name = "job",
		.host = "laptop",
		.started_at = 1000,
		.ended_at = 1100,
		.duration_seconds = 100,
		.outcome = OUTCOME_SUCCEEDED,
		.n_stats = ARRAY_LEN(stats),
		.stats = stats,
		.vendor_id = "aws",
		.instance_type = "m7i.large",
		.region = "us-east-1",
		.zone = "us-east-1b",
		.allocation = "spot"};

	assert_int_equal(history_transaction(h, NULL), 0);
	assert_int_equal(history_run_add(h, &run, NULL), 1);
	assert_int_equal(history_commit(h, NULL), 0);
}

static void runs_say_where_they_were_and_what_they_used(void **state)
{
	struct test_place *p = *state;
	struct job_brief *job;
	size_t n;

	write_away(p->h);
	test_write_run(p->h, "plain", "job", 2000, 3, OUTCOME_SUCCEEDED);
	assert_int_equal(history_overview(p->h, 5, &p->arena, &job, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(job->n, 2);
	const struct run_brief *plain = &job->run[0], *away = &job->run[1];

	assert_string_equal(away->host, "laptop");
	assert_string_equal(away->server.vendor_id, "aws");
	assert_string_equal(away->server.instance_type, "m7i.large");
	assert_string_equal(away->server.region, "us-east-1");
	assert_string_equal(away->server.zone, "us-east-1b");
	assert_string_equal(away->server.allocation, "spot");
	assert_near(away->network_sent_bytes, 3e6, 0);
	assert_near(away->disk_grown_bytes, 7e9, 0);
	assert_near(away->cpu_seconds, NAN, 0);
	assert_string_equal(plain->host, "node-1");
	assert_null(plain->server.vendor_id);
	assert_null(plain->server.allocation);
	assert_near(plain->network_sent_bytes, NAN, 0);
	assert_near(plain->disk_grown_bytes, NAN, 0);
	assert_near(plain->cpu_seconds, 1.5, 1e-9);
}

static void jobs_come_by_newest_activity_with_so_many_runs_of_each(void **state)
{
	struct test_place *p = *state;
	struct job_brief *job;
	size_t n;

	test_write_run(p->h, "a1", "a", 1000, 1, OUTCOME_SUCCEEDED);
	test_write_run(p->h, "a2", "a", 5000, 1, OUTCOME_FAILED);
	test_write_run(p->h, "a3", "a", 6000, 1, OUTCOME_SUCCEEDED);
	test_write_run(p->h, "b1", "b", 7000, 1, OUTCOME_SUCCEEDED);
	assert_int_equal(history_overview(p->h, 2, &p->arena, &job, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(job[0].job_name, "b");
	assert_int_equal(job[0].n, 1);
	assert_string_equal(job[1].job_name, "a");
	assert_int_equal(job[1].n, 2);
	assert_int_equal(job[1].runs, 3);
	assert_string_equal(job[1].run[0].run_id, "a3");
	assert_string_equal(job[1].run[1].run_id, "a2");
	assert_int_equal(job[1].run[1].outcome, OUTCOME_FAILED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_place_make, test_place_remove)
	const struct CMUnitTest tests[] = {
		TEST(runs_say_where_they_were_and_what_they_used),
		TEST(jobs_come_by_newest_activity_with_so_many_runs_of_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
