/* collectors/followed/jobs.c: which jobs keep their counters when there are more jobs than the
 * limit. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "collectors/followed/jobs.h"
#include "tests/support/jobs_world.h"

/* When there are too many jobs, the jobs that were named first lose their place. A job with a run
 * never loses its place. */
static void the_jobs_named_last_keep_their_places(void **state)
{
	static const struct collector *const collectors[] = {&collector_jobs, NULL};
	enum { MORE = 300 };
	struct snapshot_pool *pool = snapshot_pool_new(collectors);
	AUTO(world_freep) struct world *w = world_new();
	char name[32];
	size_t n = 0;

	PUT(w, .pid = 10, .ppid = 1, .start = 5, .children = "");
	follow(w, 10, 0);
	for (unsigned i = 0; i < JOBS_MAX + MORE; i++) {
		snprintf(name, sizeof name, "job-%u", i);
		jobs_set_outcome(w->host.jobs, name, "succeeded", i);
		jobs_set_outcome(w->host.jobs, name, "failed", 1);
		jobs_set_outcome(w->host.jobs, name, "failed", 0);
	}
	struct snapshot *s = snapshot_take(pool);
	size_t outcomes = 0;

	while (strcmp(collector_jobs.metrics[outcomes].name, "rightsize_job_runs") != 0)
		outcomes++;

	assert_int_equal(collector_jobs.collect(NULL, &w->host, &s->blocks[0], NULL), 0);
	for (const struct point *p = s->blocks[0].points[outcomes].first; p; p = p->next) {
		uint64_t number = 0;
		bool failed = n++ % 2;

		/* The followed job has one place. These jobs have all other places. */
		struct scan number_of = SCAN(p->labels[0], strlen(p->labels[0]));

		assert_true(scan_literal(&number_of, "job-") && scan_u64(&number_of, &number));
		assert_string_equal(p->labels[1], failed ? "failed" : "succeeded");
		assert_in_range(number, MORE + 1, JOBS_MAX + MORE - 1);
		assert_true(p->value == (failed ? 1 : (double)number));
	}
	assert_int_equal(n, 2 * (JOBS_MAX - 1));
	assert_true(look(w)->value[RUN_PROCESSES] == 1);
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
}

/* Returns the points of one of the jobs' metrics. The caller drops the snapshot. */
static const struct point *points_of(struct world *w, struct snapshot *s, const char *name)
{
	size_t metric = 0;

	while (strcmp(collector_jobs.metrics[metric].name, name) != 0)
		metric++;
	assert_int_equal(collector_jobs.collect(NULL, &w->host, &s->blocks[0], NULL), 0);
	return s->blocks[0].points[metric].first;
}

static void the_newest_exit_of_each_outcome_is_told(void **state)
{
	static const struct collector *const collectors[] = {&collector_jobs, NULL};
	struct snapshot_pool *pool = snapshot_pool_new(collectors);
	AUTO(world_freep) struct world *w = world_new();
	struct jobs *jobs = w->host.jobs;

	jobs_set_outcome(jobs, "job", "succeeded", 2);
	jobs_set_outcome(jobs, "job", "failed", 1);
	jobs_set_exit(jobs, "job", "failed", 3, NAN);
	jobs_set_exit(jobs, "job", "failed", NAN, 11);
	jobs_set_exit(jobs, "job", "interrupted", 1, NAN); /* no run ended like this */
	struct snapshot *s = snapshot_take(pool);
	const struct point *signal = points_of(w, s, "rightsize_job_exit_signal");

	assert_null(s->blocks[0].points[JOB_EXIT_CODE].first);
	assert_non_null(signal);
	assert_string_equal(signal->labels[0], "job");
	assert_string_equal(signal->labels[1], "failed");
	assert_true(signal->value == 11);
	assert_null(signal->next);
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
}

static void of_100000_job_names_the_latest_are_told(void **state)
{
	static const struct collector *const collectors[] = {&collector_jobs, NULL};
	enum { NAMES = 100000 };
	struct snapshot_pool *pool = snapshot_pool_new(collectors);
	AUTO(world_freep) struct world *w = world_new();
	char name[32];
	size_t n = 0;

	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "nightly-%u", i);
		jobs_set_outcome(w->host.jobs, name, "succeeded", i + 1);
	}
	struct snapshot *s = snapshot_take(pool);

	for (const struct point *p = points_of(w, s, "rightsize_job_runs"); p; p = p->next, n++) {
		assert_in_range((unsigned long)p->value, NAMES - JOBS_MAX + 1, NAMES);
		snprintf(name, sizeof name, "nightly-%.0f", p->value - 1);
		assert_string_equal(p->labels[0], name);
	}
	assert_int_equal(n, JOBS_MAX);
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
}

/* There are as many jobs as the limit allows. Among the first jobs, every second job has two
 * runs. */
static void each_job_has_the_sum_of_its_own_runs(void **state)
{
	static const struct collector *const collectors[] = {&collector_jobs, NULL};
	struct snapshot_pool *pool = snapshot_pool_new(collectors);
	AUTO(world_freep) struct world *w = world_new();
	enum { RUNS = 60 };
	char name[32], run_id[32];
	size_t with_runs = 0;

	for (int i = 0; i < JOBS_MAX; i++) {
		snprintf(name, sizeof name, "job-%d", i);
		jobs_set_outcome(w->host.jobs, name, "succeeded", 1);
	}
	for (int i = 0; i < RUNS; i++) {
		struct run_spec spec = {.run_id = run_id, .job_name = name, .pid = 10 + i};

		snprintf(run_id, sizeof run_id, "r%d", i);
		snprintf(name, sizeof name, "job-%d", i % (RUNS / 2) * 2);
		PUT(w, .pid = spec.pid, .ppid = 1, .user = 1 + (unsigned)i, .start = 5);
		assert_int_equal(jobs_follow(w->host.jobs, &w->host, &spec, NULL), 0);
	}
	look(w);
	struct snapshot *s = snapshot_take(pool);

	for (const struct point *p = points_of(w, s, "rightsize_job_active_runs"); p; p = p->next)
		with_runs += p->value == 2;
	assert_int_equal(with_runs, RUNS / 2);
	for (const struct point *p = s->blocks[0].points[RUN_CPU_SECONDS].first; p; p = p->next) {
		uint64_t number = 0;
		struct scan number_of = SCAN(p->labels[0], strlen(p->labels[0]));

		assert_true(scan_literal(&number_of, "job-") && scan_u64(&number_of, &number));
		double first = (double)(number / 2 + 1), second = first + RUNS / 2.0;

		assert_double_equal(p->value, number % 2 ? (double)NAN : (first + second) / 100,
			1e-9);
		with_runs--;
	}
	assert_int_equal(with_runs, 0);
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_jobs_named_last_keep_their_places),
		cmocka_unit_test(the_newest_exit_of_each_outcome_is_told),
		cmocka_unit_test(of_100000_job_names_the_latest_are_told),
		cmocka_unit_test(each_job_has_the_sum_of_its_own_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
