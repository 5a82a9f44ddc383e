/* exporter/sampling/run_forecast.c: one row of forecasts per job, with as many runs and jobs as the
 * limits allow. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/collector.h"
#include "collectors/runs.h"
#include "exporter/sampling/run_forecast.h"

static const struct collector *const collectors[] = {&collector_outlook, NULL};

enum { RUNS_MAX = 600 };

struct fixture {
	struct app app;
	struct run_forecasts *run_forecasts;
	struct snapshot_pool *pool;
	struct run_reading run[RUNS_MAX];
	size_t n;
	char name[RUNS_MAX][32];
};

/* The history is empty. Unused resources can be forecast without it. */
static int begin(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);

	f->app = APP_INIT;
	f->app.history_path = "/nonexistent/history.db";
	f->pool = snapshot_pool_new(collectors);
	assert_int_equal(run_forecasts_start(&f->run_forecasts, &f->app, NULL), 0);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	run_forecasts_stop(f->run_forecasts);
	snapshot_pool_free(f->pool);
	free(f);
	return 0;
}

static struct run_reading *add_run(struct fixture *f, int job, double peak)
{
	struct run_reading *r = &f->run[f->n];

	*r = (struct run_reading){.job_name = f->name[f->n]};
	snprintf(f->name[f->n], sizeof f->name[f->n], "job-%d", job);
	snprintf(r->run_id, sizeof r->run_id, "run-%zu", f->n);
	for (size_t i = 0; i < RUN_N_METRICS; i++)
		r->value[i] = NAN;
	r->value[RUN_MEMORY_LIMIT_BYTES] = 1000;
	r->value[RUN_MEMORY_PEAK_BYTES] = peak;
	f->n++;
	return r;
}

static struct snapshot *tick(struct fixture *f)
{
	struct snapshot *s = snapshot_take(f->pool);

	s->at = now_read();
	s->n_runs = f->n;
	s->runs = f->run;
	run_forecasts_add(f->run_forecasts, s);
	return s;
}

/* Returns the job's unused memory; NaN = no such point. */
static double left_over(const struct snapshot *s, int job, size_t *n)
{
	const struct block *b = &s->blocks[0];
	char name[32];
	double found = NAN;

	snprintf(name, sizeof name, "job-%d", job);
	*n = 0;
	for (size_t i = 0; i < b->collector->n_metrics; i++) {
		if (strcmp(b->collector->metrics[i].name, "rightsize_job_overprovisioned_ratio") !=
			0)
			continue;
		for (const struct point *p = b->points[i].first; p; p = p->next)
			if (strcmp(p->labels[0], name) == 0 &&
				strcmp(p->labels[1], "memory") == 0) {
				found = p->value;
				++*n;
			}
	}
	return found;
}

static void a_job_is_said_once_and_by_the_run_that_fits_best(void **state)
{
	struct fixture *f = *state;
	static const struct {
		int job;
		double peak;
		bool ended;
	} runs[] = {{1, 100, false}, {2, 200, false}, {1, 500, false}, {3, 10, true},
		{2, 100, false}, {1, 800, true}};
	size_t n;

	for (size_t i = 0; i < ARRAY_LEN(runs); i++)
		add_run(f, runs[i].job, runs[i].peak)->ended = runs[i].ended;
	for (int times = 0; times < 2; times++) {
		struct snapshot *s = tick(f);

		assert_true(left_over(s, 1, &n) == 2 && n == 1);
		assert_true(left_over(s, 2, &n) == 5 && n == 1);
		assert_true(isnan(left_over(s, 3, &n)) && n == 0);
		shared_drop(&s->shared);
	}
}

/* Each job has two runs. All runs together exceed the limit. When some runs end, other runs take
 * their places. */
static void as_many_runs_have_one_as_there_is_room_for(void **state)
{
	struct fixture *f = *state;
	size_t said = 0, n;

	for (int i = 0; i < RUNS_MAX; i++)
		add_run(f, i % (RUNS_MAX / 2), 100 + i);
	struct snapshot *s = tick(f);

	for (int i = 0; i < RUNS_MAX / 2; i++) {
		double best = 1000.0 / (100 + i + RUNS_MAX / 2);
		double left = left_over(s, i, &n);

		assert_true(isnan(left) || fabs(left - best) < 1e-9);
		said += n;
	}
	assert_int_equal(said, RUN_FORECASTS_MAX / 2);
	shared_drop(&s->shared);
	for (size_t i = 0; i < f->n; i++)
		f->run[i].ended = i % 3 > 0;
	shared_drop(&tick(f)->shared);
	s = tick(f);
	said = 0;
	for (int i = 0; i < RUNS_MAX / 2; i++) {
		left_over(s, i, &n);
		said += n;
	}
	/* Every third run still goes on. Job `i` has the runs `i` and `i` + RUNS_MAX / 2, so either
	 * both of its runs go on or neither. */
	assert_int_equal(said, RUNS_MAX / 3 / 2);
	shared_drop(&s->shared);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_job_is_said_once_and_by_the_run_that_fits_best),
		TEST(as_many_runs_have_one_as_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
