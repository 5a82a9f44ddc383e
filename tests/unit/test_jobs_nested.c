/* Runs within runs, whose processes belong to several runs: the limit on their number. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/followed/jobs.h"
#include "collectors/process/member_limit.h"
#include "tests/support/jobs_world.h"

#define ROOT     100
#define CHILDREN 60
/* collector_jobs has the metric rightsize_jobs_incomplete_runs after the metrics of runs. */
#define INCOMPLETE_RUNS JOB_INCOMPLETE

static void follow_as(struct world *w, int pid, const char *run_id)
{
	struct run_spec spec = {.run_id = run_id, .job_name = "etl", .pid = pid};

	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &spec, NULL), 0);
}

/* Makes process 100 with the children 101 to 160. */
static struct world *family(struct member_limit *members)
{
	struct world *w = world_new();
	char list[CHILDREN * 4 + 1];
	int n = 0;

	w->host.members = members;
	w->host.now.wall.ns = NS_PER_S;
	PUT(w, .pid = ROOT, .ppid = 1, .start = 5, .user = 1);
	for (int pid = ROOT + 1; pid <= ROOT + CHILDREN; pid++) {
		PUT(w, .pid = pid, .ppid = ROOT, .start = 6, .user = 1, .children = "");
		n += snprintf(list + n, sizeof list - (size_t)n, "%d ", pid);
	}
	children(w, ROOT, list);
	return w;
}

static double processes(const struct run_reading *r)
{
	return r->value[RUN_PROCESSES];
}

static double incomplete(struct world *w)
{
	static const struct collector *const only[] = {&collector_jobs, NULL};
	struct snapshot_pool *pool = snapshot_pool_new(only);
	struct snapshot *s = snapshot_take(pool);

	assert_int_equal(collector_jobs.collect(NULL, &w->host, s->blocks, NULL), 0);
	double ret = block_sum(s->blocks, INCOMPLETE_RUNS);

	shared_drop(&s->shared);
	snapshot_pool_free(pool);
	return ret;
}

static void no_more_than_may_be_of_all_runs_together(void **state)
{
	AUTO(member_limit_done) struct member_limit members = {.most = CHILDREN + 21};
	AUTO(world_freep) struct world *w = family(&members);

	follow_as(w, ROOT, "outer");
	assert_double_equal(processes(look(w)), CHILDREN + 1, 0);
	assert_double_equal(incomplete(w), 0, 0);
	/* A second run of the same process, like a job within a job. */
	follow_as(w, ROOT, "inner");
	const struct run_reading *runs = look(w);

	assert_double_equal(processes(&runs[0]), CHILDREN + 1, 0);
	assert_double_equal(processes(&runs[1]), 20, 0);
	assert_int_equal(members.n, members.most);
	assert_double_equal(incomplete(w), 1, 0);
	struct run_spec more = {.run_id = "more", .job_name = "etl", .pid = ROOT};
	struct err e = {0};

	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &more, &e), -EDQUOT);
	assert_string_equal(e.text,
		"the limit of 81 processes in all runs together is reached: retry when runs have ended");
	/* Ended processes no longer count against the limit, even before the run itself counts as
	 * ended. */
	for (int pid = ROOT; pid <= ROOT + CHILDREN; pid++)
		gone(w, pid);
	look(w);
	assert_int_equal(members.n, 0);
}

static void a_run_that_ended_makes_room(void **state)
{
	AUTO(member_limit_done) struct member_limit members = {.most = CHILDREN + 1};
	struct world *w = family(&members);
	double final[RUN_N_METRICS];

	for (size_t i = 0; i < RUN_N_METRICS; i++)
		final[i] = 1;
	follow_as(w, ROOT, "outer");
	look(w);
	assert_int_equal(members.n, CHILDREN + 1);
	jobs_conclude(w->host.jobs, "outer", final, FINAL_AT_LEAST);
	assert_true(look(w)->ended); /* its processes still exist */
	assert_int_equal(members.n, 0);
	follow_as(w, ROOT, "again");
	assert_double_equal(processes(&look(w)[1]), CHILDREN + 1, 0);
	world_freep(&w);
	assert_int_equal(members.n, 0);
}

/* The runs are added from the outside in. The ninth is refused, and leaves nothing behind. */
static void nobody_is_in_more_runs_than_may_be(void **state)
{
	AUTO(member_limit_done) struct member_limit members = {.most = 100 * CHILDREN};
	struct world *w = family(&members);
	struct run_spec ninth = {.run_id = "ninth", .job_name = "etl", .pid = ROOT};
	struct err e = {0};
	char name[] = "0";

	for (; name[0] < '0' + MEMBER_LIMIT_NESTED_MAX; name[0]++)
		follow_as(w, ROOT, name);
	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &ninth, &e), -EDQUOT);
	assert_non_null(strstr(e.text, "is already in 8 runs"));
	const struct run_reading *runs = look(w);

	assert_double_equal(processes(&runs[MEMBER_LIMIT_NESTED_MAX - 1]), CHILDREN + 1, 0);
	assert_double_equal(incomplete(w), 0, 0);
	world_freep(&w);
	assert_int_equal(members.n, 0);
}

/* The runs are added from the inside out. The ninth run gets its root. It does not get the
 * processes that are already in eight runs. */
static void a_run_around_as_many_as_may_be_lacks_theirs(void **state)
{
	AUTO(member_limit_done) struct member_limit members = {.most = 100 * CHILDREN};
	AUTO(world_freep) struct world *w = family(&members);
	char name[] = "0";

	for (; name[0] < '0' + MEMBER_LIMIT_NESTED_MAX; name[0]++)
		follow_as(w, ROOT + 1, name);
	follow_as(w, ROOT, "around");
	const struct run_reading *runs = look(w);

	assert_double_equal(processes(&runs[0]), 1, 0);
	assert_double_equal(processes(&runs[MEMBER_LIMIT_NESTED_MAX]), CHILDREN, 0);
	assert_double_equal(incomplete(w), 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_more_than_may_be_of_all_runs_together),
		cmocka_unit_test(a_run_that_ended_makes_room),
		cmocka_unit_test(nobody_is_in_more_runs_than_may_be),
		cmocka_unit_test(a_run_around_as_many_as_may_be_lacks_theirs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
