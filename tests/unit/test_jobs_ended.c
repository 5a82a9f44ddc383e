/* collectors/followed/jobs.c: which values of ended runs are kept, and for how long. The last
 * sample is reported until the next tick. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "collectors/followed/jobs.h"
#include "tests/support/jobs_world.h"

/* collector_jobs has the metric rightsize_jobs_timestamp_seconds after the metrics of runs. */
#define JOBS_TIMESTAMP JOB_READ_AT

static void follow_named(struct world *w, int pid, const char *run_id, unsigned long ticks)
{
	struct run_spec spec = {.run_id = run_id, .job_name = "etl", .pid = pid};

	PUT(w, .pid = pid, .ppid = 1, .user = ticks, .start = 5, .children = "");
	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &spec, NULL), 0);
}

static double told(struct world *w, unsigned int metric)
{
	static const struct collector *const only[] = {&collector_jobs, NULL};
	struct snapshot_pool *pool = snapshot_pool_new(only);
	struct snapshot *s = snapshot_take(pool);
	struct err e = {0};

	assert_int_equal(collector_jobs.collect(NULL, &w->host, s->blocks, &e), 0);
	double ret = block_sum(s->blocks, metric);

	shared_drop(&s->shared);
	snapshot_pool_free(pool);
	return ret;
}

static bool follows(const struct world *w, const char *run_id)
{
	struct account_note note;

	return jobs_note(w->host.jobs, &w->host, run_id, &note);
}

/* The order of addition changes the last bit: 0.01 + 0.01 + 0.04 is 0.06, but 0.04 + 0.01 + 0.01 is
 * less. */
static void counter_does_not_fall_by_the_last_bit(void **state)
{
	static const unsigned long ticks[][3] = {
		{1, 1, 4}, {1, 1, 12}, {1, 2, 4}, {3, 7, 5}, {1, 1, 13}};

	for (size_t i = 0; i < ARRAY_LEN(ticks); i++) {
		AUTO(world_freep) struct world *w = world_new();

		follow_named(w, 10, "first", ticks[i][0]);
		look(w);
		gone(w, 10);
		look(w);
		jobs_drop_ended(w->host.jobs, &w->host, UINT64_MAX, 0);
		follow_named(w, 11, "second", ticks[i][1]);
		follow_named(w, 12, "third", ticks[i][2]);
		look(w);
		double before = told(w, RUN_CPU_SECONDS);

		gone(w, 11);
		look(w);
		jobs_drop_ended(w->host.jobs, &w->host, UINT64_MAX, 0);
		assert_true(told(w, RUN_CPU_SECONDS) >= before);
	}
}

/* Each ended run is dropped by its own age, even if another run ended later. */
static void ended_runs_go_when_seen_or_after_a_while(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	follow_named(w, 10, "first", 1);
	follow_named(w, 11, "second", 1);
	w->snapshot.generation = 4;
	gone(w, 10);
	look(w);
	w->snapshot.generation = 5;
	w->host.now.mono.ns += 2 * NS_PER_S;
	gone(w, 11);
	look(w);
	jobs_drop_ended(w->host.jobs, &w->host, 3, 3);
	assert_true(follows(w, "first"));
	jobs_drop_ended(w->host.jobs, &w->host, 4, 3);
	assert_false(follows(w, "first"));
	assert_true(follows(w, "second"));
	w->host.now.mono.ns += 4 * NS_PER_S;
	jobs_drop_ended(w->host.jobs, &w->host, 4, 3);
	assert_false(follows(w, "second"));
}

/* An ended run stays for some minutes. Its limits and times are not those of the run after it. */
static void times_are_those_of_active_runs_or_of_the_newest(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	follow_named(w, 10, "first", 1);
	look(w);
	w->host.now.mono.ns += 100 * NS_PER_S;
	gone(w, 10);
	look(w);
	assert_true(told(w, RUN_DURATION_SECONDS) >= 100);
	struct run_spec second = {.run_id = "second", .job_name = "etl", .pid = 11};

	PUT(w, .pid = 11, .ppid = 1, .user = 1, .start = 10000, .children = "");
	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &second, NULL), 0);
	w->host.now.mono.ns += 7 * NS_PER_S;
	look(w);
	assert_true(told(w, RUN_DURATION_SECONDS) < 20);
	gone(w, 11);
	look(w);
	assert_true(told(w, RUN_DURATION_SECONDS) < 20);
}

/* A scrape reports the last sample and its time. */
static void a_look_is_told_again_until_the_next(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	struct snapshot again = {0};

	follow_named(w, 10, "only", 1);
	w->host.now.wall.ns = 50 * NS_PER_S;
	double before = look(w)->value[RUN_CPU_SECONDS];

	w->host.now.wall.ns = 51 * NS_PER_S;
	PUT(w, .pid = 10, .ppid = 1, .user = 300, .start = 5);
	jobs_tell(w->host.jobs, &again);
	assert_int_equal(again.n_runs, 1);
	assert_string_equal(again.runs[0].run_id, "only");
	assert_string_equal(again.runs[0].job_name, "etl");
	assert_double_equal(again.runs[0].value[RUN_CPU_SECONDS], before, 0);
	assert_double_equal(told(w, RUN_CPU_SECONDS), before, 0);
	assert_double_equal(told(w, JOBS_TIMESTAMP), 50, 0);
	assert_double_equal(look(w)->value[RUN_CPU_SECONDS], before + 2.99, 1e-9);
	assert_double_equal(told(w, JOBS_TIMESTAMP), 51, 0);
	arena_done(&again.arena);
}

static void history_gets_only_what_it_keeps(void **state)
{
	static const struct metric metrics[] = {
		{.name = "kept", .fold = FOLD_VALUE, .column = "kept"}, {.name = "not_kept"}};
	static const struct collector kept = {.name = "two", .metrics = metrics, .n_metrics = 2};
	static const struct collector *const only[] = {&kept, NULL};
	struct snapshot_pool *pool = snapshot_pool_new(only);

	for (int all = 0; all < 2; all++) {
		struct snapshot *s = snapshot_take(pool);

		s->blocks[0].kept_only = !all;
		POINT(&s->blocks[0], 0, 1, NULL);
		POINT(&s->blocks[0], 1, 1, NULL);
		assert_non_null(s->blocks[0].points[0].first);
		assert_true((s->blocks[0].points[1].first != NULL) == all);
		shared_drop(&s->shared);
	}
	snapshot_pool_free(pool);
}

static void ended_runs_make_room(void **state)
{
	AUTO(world_freep) struct world *w = world_new();
	char name[16];

	for (int i = 0; i < JOBS_RUNS_MAX + 5; i++) {
		snprintf(name, sizeof name, "r%d", i);
		follow_named(w, 10, name, 1);
		look(w);
		gone(w, 10);
		look(w);
	}
}

/* System time is the total minus user time: 0.08 - (0.08 - 0.01) is less than 0.01. */
static void user_time_does_not_fall_by_the_last_bit(void **state)
{
	for (int hundredths = 8; hundredths < 20; hundredths++) {
		AUTO(world_freep) struct world *w = world_new();
		double final[RUN_N_METRICS];

		follow_named(w, 10, "only", 1);
		double before = look(w)->value[RUN_CPU_USER_SECONDS];

		for (size_t i = 0; i < RUN_N_METRICS; i++)
			final[i] = NAN;
		final[RUN_CPU_SECONDS] = final[RUN_CPU_SYSTEM_SECONDS] = hundredths / 100.0;
		jobs_conclude(w->host.jobs, "only", final, FINAL_EXACT);
		assert_true(look(w)->value[RUN_CPU_USER_SECONDS] >= before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counter_does_not_fall_by_the_last_bit),
		cmocka_unit_test(ended_runs_go_when_seen_or_after_a_while),
		cmocka_unit_test(times_are_those_of_active_runs_or_of_the_newest),
		cmocka_unit_test(a_look_is_told_again_until_the_next),
		cmocka_unit_test(history_gets_only_what_it_keeps),
		cmocka_unit_test(ended_runs_make_room),
		cmocka_unit_test(user_time_does_not_fall_by_the_last_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
