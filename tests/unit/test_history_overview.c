/* The list of jobs: the facts that select jobs, and the newest runs of those that were selected. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "tests/support/test_history.h"

/* Returns the jobs in the order of their ids, that is in the order in which they were written. */
static struct job_head *heads(struct test_place *p, enum head_value value, size_t n)
{
	struct job_head *head;
	size_t found;

	assert_int_equal(history_job_heads(p->h, value, &p->arena, &head, &found, NULL), 0);
	assert_int_equal(found, n);
	return head;
}

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

	write_away(p->h);
	test_write_run(p->h, "plain", "job", 2000, 3, OUTCOME_SUCCEEDED);
	const struct job_head *head = heads(p, HEAD_NOTHING, 1);

	assert_int_equal(history_overview(p->h, head, 1, 5, &p->arena, &job, NULL), 0);
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

static void the_jobs_that_were_selected_come_in_their_order_with_so_many_runs(void **state)
{
	struct test_place *p = *state;
	struct job_brief *job;

	test_write_run(p->h, "a1", "a", 1000, 1, OUTCOME_SUCCEEDED);
	test_write_run(p->h, "a2", "a", 5000, 1, OUTCOME_FAILED);
	test_write_run(p->h, "a3", "a", 6000, 1, OUTCOME_SUCCEEDED);
	test_write_run(p->h, "b1", "b", 7000, 1, OUTCOME_SUCCEEDED);
	test_write_run(p->h, "c1", "c", 8000, 1, OUTCOME_SUCCEEDED);
	const struct job_head *head = heads(p, HEAD_NOTHING, 3);
	const struct job_head selected[] = {head[1], head[0]};

	assert_int_equal(history_overview(p->h, selected, 2, 2, &p->arena, &job, NULL), 0);
	assert_string_equal(job[0].job_name, "b");
	assert_int_equal(job[0].n, 1);
	assert_string_equal(job[1].job_name, "a");
	assert_int_equal(job[1].n, 2);
	assert_int_equal(job[1].runs, 3);
	assert_string_equal(job[1].run[0].run_id, "a3");
	assert_string_equal(job[1].run[1].run_id, "a2");
	assert_int_equal(job[1].run[1].outcome, OUTCOME_FAILED);
}

static void a_head_has_the_newest_run_and_how_all_ended(void **state)
{
	struct test_place *p = *state;
	uint64_t outcomes[OUTCOME_COUNT] = {0};
	struct run_begin open = test_begin("a3", "a", 6000), bare = test_begin("b1", "b", 7000);

	test_write_run(p->h, "a1", "a", 1000, 1, OUTCOME_SUCCEEDED);
	test_write_run(p->h, "a2", "a", 5000, 1, OUTCOME_FAILED);
	open.requested_cpu_cores = NAN;
	open.requested_memory_bytes = 1;
	bare.requested_cpu_cores = bare.requested_memory_bytes = NAN;
	const struct run_finish failed = test_finish("b1", 7001, OUTCOME_FAILED);

	assert_int_equal(history_transaction(p->h, NULL), 0);
	assert_int_equal(history_run_begin(p->h, &open, NULL), 0);
	assert_int_equal(history_run_begin(p->h, &bare, NULL), 0);
	assert_int_equal(history_run_finish(p->h, &failed, NULL), 0);
	assert_int_equal(history_commit(p->h, NULL), 0);
	const struct job_head *head = heads(p, HEAD_NOTHING, 2);

	assert_string_equal(head[0].job_name, "a");
	assert_int_equal(head[0].runs, 3);
	assert_int_equal(head[0].running, 1);
	assert_near(head[0].last_started_at, 6000, 0);
	assert_int_equal(head[0].last_outcome, OUTCOME_RUNNING);
	assert_true(head[0].requests);
	assert_int_equal(head[1].last_outcome, OUTCOME_FAILED);
	assert_false(head[1].requests);
	assert_int_equal(history_job_outcomes(p->h, head, outcomes, NULL), 0);
	assert_int_equal(outcomes[OUTCOME_RUNNING], 1);
	assert_int_equal(outcomes[OUTCOME_SUCCEEDED], 1);
	assert_int_equal(outcomes[OUTCOME_FAILED], 1);
}

/* Each run has one sample a second. Sample `i` has half a core and `i` bytes. */
static void a_list_is_sorted_by_the_newest_success_and_by_failures(void **state)
{
	struct test_place *p = *state;

	test_write_run(p->h, "a1", "a", 1000, 9, OUTCOME_SUCCEEDED);
	test_write_run(p->h, "a2", "a", 2000, 5, OUTCOME_SUCCEEDED);
	test_write_run(p->h, "a3", "a", 3000, 3, OUTCOME_FAILED);
	test_write_run(p->h, "b1", "b", 4000, 3, OUTCOME_OOM_KILLED);
	assert_near(heads(p, HEAD_DURATION, 2)[0].value, 5, 0);
	assert_near(heads(p, HEAD_MEMORY, 2)[0].value, 4, 0);
	assert_near(heads(p, HEAD_DURATION, 2)[1].value, NAN, 0);
	assert_near(heads(p, HEAD_MEMORY, 2)[1].value, NAN, 0);
	assert_near(heads(p, HEAD_FAILURES, 2)[0].value, 1, 0);
	assert_near(heads(p, HEAD_FAILURES, 2)[1].value, 1, 0);
	/* Only the 12 newest count. */
	for (int i = 0; i < 12; i++) {
		char id[8];

		snprintf(id, sizeof id, "c%d", i);
		test_write_run(p->h, id, "b", 5000 + i, 1,
			i < 2 ? OUTCOME_FAILED : OUTCOME_SUCCEEDED);
	}
	assert_near(heads(p, HEAD_FAILURES, 2)[1].value, 2, 0);
}

static struct job_mark mark_of(struct test_place *p)
{
	struct job_mark mark = {0};

	assert_int_equal(history_job_mark(p->h, "job", 1000, &mark, NULL), 0);
	return mark;
}

static void assert_changed(struct test_place *p, struct job_mark *before)
{
	struct job_mark now = mark_of(p), again = mark_of(p);

	assert_true(history_job_mark_same(&now, &again));
	assert_false(history_job_mark_same(&now, before));
	*before = now;
}

static void end_run(struct history *h, const char *run_id, enum outcome outcome)
{
	const struct run_finish end = test_finish(run_id, 2003, outcome);

	assert_int_equal(history_transaction(h, NULL), 0);
	assert_int_equal(history_run_finish(h, &end, NULL), 0);
	assert_int_equal(history_commit(h, NULL), 0);
}

static void a_mark_changes_with_the_runs_of_its_job(void **state)
{
	const struct history_limits one = {.runs_per_job = 1};
	struct test_place *p = *state;
	struct job_mark mark = mark_of(p), before;

	test_write_run(p->h, "a", "job", 1000, 3, OUTCOME_RUNNING);
	assert_changed(p, &mark);
	end_run(p->h, "a", OUTCOME_INTERRUPTED);
	assert_changed(p, &mark);
	end_run(p->h, "a", OUTCOME_FAILED); /* a correction */
	assert_changed(p, &mark);
	write_away(p->h); /* it starts at the same time */
	assert_changed(p, &mark);
	test_prune(p->h, &one, 3000);
	assert_changed(p, &mark);
	before = mark;
	test_write_run(p->h, "other", "another job", 2000, 3, OUTCOME_SUCCEEDED);
	test_write_run(p->h, "old", "job", 999, 3, OUTCOME_SUCCEEDED);
	mark = mark_of(p);
	assert_true(history_job_mark_same(&mark, &before));
}

/* ---- what a job copies from its newest run ---- */

static uint32_t random_state = 7;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

static enum outcome random_end(void)
{
	static const enum outcome ends[] = {
		OUTCOME_SUCCEEDED, OUTCOME_FAILED, OUTCOME_INTERRUPTED, OUTCOME_OOM_KILLED};

	return ends[random_below(ARRAY_LEN(ends))];
}

/* A run of one of 60 ids and 5 jobs. Some runs begin at the same time. */
struct random_run {
	char id[8], job[8];
	double at;
};

static struct random_run random_run(void)
{
	struct random_run r;

	snprintf(r.id, sizeof r.id, "r%u", random_below(60));
	snprintf(r.job, sizeof r.job, "j%c", r.id[strlen(r.id) - 1] % 5 + 'a');
	r.at = 1000 + 10 * random_below(40);
	return r;
}

static int begin_at_random(struct history *h)
{
	struct random_run r = random_run();
	struct run_begin b = test_begin(r.id, r.job, r.at);

	b.requested_cpu_cores = random_below(2) ? 2 : NAN;
	b.requested_memory_bytes = random_below(3) ? NAN : 1e9;
	return history_run_begin(h, &b, NULL);
}

static int finish_at_random(struct history *h)
{
	struct random_run r = random_run();
	struct run_finish f = test_finish(r.id, 2000, random_end());

	return history_run_finish(h, &f, NULL);
}

static int add_at_random(struct history *h)
{
	struct random_run r = random_run();
	const struct run told = {.run_id = r.id,
		.job_name = r.job,
		.started_at = r.at,
		.ended_at = r.at + 5,
		.duration_seconds = 5,
		.outcome = random_end(),
		.requested_cpu_cores = random_below(2) ? 1 : NAN,
		.requested_memory_bytes = NAN};
	int code = history_run_add(h, &told, NULL);

	return code < 0 ? code : 0;
}

static int close_all(struct history *h)
{
	static const struct run_root here = {.boot_id = "another"};
	const struct orphan_rule rule = {.now = 1e6, .here = &here};
	int code = history_close_orphans(h, &rule, NULL);

	return code < 0 ? code : 0;
}

static void prune_at_random(struct test_place *p)
{
	const struct history_limits l = {.runs_per_job = 1 + random_below(8),
		.retention_seconds = random_below(2) ? 0 : 700,
		.max_bytes = random_below(4) ? 0 : 60000};

	test_prune(p->h, &l, 1800);
}

static void a_job_fits_its_runs_after_any_changes(void **state)
{
	static int (*const changes[])(struct history * h) = {begin_at_random, begin_at_random,
		begin_at_random, finish_at_random, finish_at_random, add_at_random, add_at_random,
		add_at_random, add_at_random};
	struct test_place *p = *state;

	for (int i = 0; i < 1500; i++) {
		uint32_t what = random_below(200);

		if (what == 0) {
			prune_at_random(p);
		} else {
			assert_int_equal(history_transaction(p->h, NULL), 0);
			assert_int_equal(what == 1 ? close_all(p->h) :
						     changes[what % ARRAY_LEN(changes)](p->h),
				0);
			if (random_below(10))
				assert_int_equal(history_commit(p->h, NULL), 0);
			else
				history_rollback(p->h);
		}
		test_jobs_fit_runs(&p->folder);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_place_make, test_place_remove)
	const struct CMUnitTest tests[] = {
		TEST(runs_say_where_they_were_and_what_they_used),
		TEST(the_jobs_that_were_selected_come_in_their_order_with_so_many_runs),
		TEST(a_head_has_the_newest_run_and_how_all_ended),
		TEST(a_list_is_sorted_by_the_newest_success_and_by_failures),
		TEST(a_mark_changes_with_the_runs_of_its_job),
		TEST(a_job_fits_its_runs_after_any_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
