/* collectors/jobs: of which jobs the numbers are kept, when there are more than there may be. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "collectors/jobs.h"
#include "tests/support/jobs_world.h"

/* Of more jobs than there may be those that were named first give way, but never one that has a run. */
static void the_jobs_named_last_keep_their_places(void **state)
{
	static const struct collector *const collectors[] = {&collector_jobs, NULL};
	enum { MORE = 300 };
	struct snapshot_pool *pool = snapshot_pool_new(collectors);
	struct world *w = world_new();
	char name[32];
	size_t n = 0;

	(void)state;
	put(w, &(struct fake){.pid = 10, .ppid = 1, .start = 5});
	children(w, 10, "");
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

		/* All places but that of the job that is followed. */
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
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_jobs_named_last_keep_their_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
