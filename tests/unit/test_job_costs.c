/* The costs of jobs after each update, and the points of a scrape. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/followed/jobs.h"
#include "exporter/sampling/job_costs.h"
#include "exporter/sampling/job_advice.h"
#include "tests/support/fake_history.h"
#include "tests/support/fake_machine.h"
#include "exporter/answers/app_caches.h"
#include "exporter/answers/neighbourhood.h"

/* The server "here" costs one dollar per hour. */
static const char catalogue_text[] = "# as_of: 2026-10-01\n"
				     "vendor_id,server_id,cpu_architecture,cpu_allocation,vcpus,"
				     "memory_amount,score1,score,price\n"
				     "own,here,x86_64,Dedicated,2,4096,1000,2000,1\n"
				     "own,twice,x86_64,Dedicated,2,4096,2000,4000,1.5\n";

static struct column_stats stats[] = {
	{"cpu_cores", {10, 1, 1, 1, 1, 1, 1, 10}},
	{"cpu_seconds", {10, 360, 360, 360, 360, 360, 360, 3600}},
	{"memory_peak_bytes", {10, 1e8, 1e8, 1e8, 1e8, 1e8, 1e8, 1e9}},
};

#define RUN(id, seconds, how)                                                                      \
	{                                                                                          \
		.run_id = (id), .job_name = "job", .host = "node", .started_at = 1795250000,       \
		.ended_at = 1795250000 + (seconds), .duration_seconds = (seconds),                 \
		.outcome = (how), .exit_code = NAN, .exit_signal = NAN,                            \
		.requested_cpu_cores = NAN, .requested_memory_bytes = NAN,                         \
		.memory_limit_bytes = NAN, .input_bytes = NAN, .attempt = NAN,                     \
		.cpu_missed_seconds = NAN, .cpu_foreign_seconds = NAN, .machine_cpus = NAN,        \
		.machine_memory_bytes = NAN, .address_limit_bytes = NAN,                           \
		.address_peak_bytes = NAN, .n_stats = ARRAY_LEN(stats), .stats = stats             \
	}

static struct run runs[4];
static struct job_row job;
static struct options options;
static struct app app;
static char path[64];
static struct job_costs *job_costs;

static void the_history_has(size_t n, const struct run *all)
{
	for (size_t i = 0; i < n; i++)
		runs[i] = all[i];
	fake_history.runs = (struct runs){n, runs};
	memset(job.outcomes, 0, sizeof job.outcomes);
	for (size_t i = 0; i < n; i++)
		job.outcomes[all[i].outcome]++;
}

static int fresh(void **state)
{
	snprintf(path, sizeof path, "/tmp/test_costs_XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, catalogue_text, sizeof catalogue_text - 1),
		(ssize_t)sizeof catalogue_text - 1);
	close(fd);
	options = (struct options){.catalogue_path = path};
	app = APP_INIT;
	app.options = &options;
	app.history_path = "some/history.db";
	app.neighbourhoods = neighbourhoods_new();
	job = (struct job_row){.job_name = "job"};
	fake_history = (struct fake_history){.jobs = &job, .n_jobs = 1};
	fake_machine = (struct machine){"own", "here", "", "", MACHINE_ONDEMAND, "option", "node"};
	job_costs = job_costs_new(&app);
	return 0;
}

static int done(void **state)
{
	job_costs_stop(job_costs);
	assert_int_equal(fake_history.open, 0);
	app_caches_done(&app);
	unlink(path);
	return 0;
}

static struct snapshot *scrape_of(const struct collector *c, struct snapshot_pool **pool,
	int expected)
{
	const struct collector *const collectors[] = {c, NULL};

	*pool = snapshot_pool_new(collectors);
	struct snapshot *s = snapshot_take(*pool);

	assert_int_equal(c->collect(NULL, NULL, &s->blocks[0], NULL), expected);
	return s;
}

static struct snapshot *scrape(struct snapshot_pool **pool, int expected)
{
	return scrape_of(&collector_costs, pool, expected);
}

/* Scrapes a collector: one line for each point, with its labels and its value. */
static const char *told_by(const struct collector *c, struct buf *text)
{
	struct snapshot_pool *pool;
	struct snapshot *s = scrape_of(c, &pool, 0);

	buf_reset(text);
	for (size_t i = 0; i < c->n_metrics; i++)
		for (const struct point *p = s->blocks[0].points[i].first; p; p = p->next) {
			buf_adds(text, c->metrics[i].name);
			for (size_t k = 0; c->metrics[i].labels[k]; k++)
				buf_addf(text, " %s", p->labels[k]);
			buf_addf(text, " %g\n", p->value);
		}
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
	return buf_text(text);
}

/* Returns the value whose second label is `server`. An empty `server` matches any label. NaN = not
 * found. */
static double value(const char *name, const char *server)
{
	struct snapshot_pool *pool;
	struct snapshot *s = scrape(&pool, 0);
	double ret = NAN;

	for (size_t i = 0; i < collector_costs.n_metrics; i++) {
		if (strcmp(collector_costs.metrics[i].name, name) != 0)
			continue;
		for (const struct point *p = s->blocks[0].points[i].first; p; p = p->next)
			if (!*server || strcmp(p->labels[1], server) == 0)
				ret = p->value;
	}
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
	return ret;
}

static void look(void)
{
	struct err e = {0};

	if (job_costs_look(job_costs, &e))
		fail_msg("%s", e.text);
}

#define TOTAL "rightsize_job_cost_usd"
#define LAST  "rightsize_job_last_run_cost_usd"

static void a_size_is_learnt_from_neighbours_as_in_answers(void **state)
{
	the_history_has(1, (const struct run[]){RUN("a", 3600, OUTCOME_SUCCEEDED)});
	look();
	assert_int_equal(fake_history.neighbours_read, 1);
}

static void what_runs_cost_adds_up_and_never_falls(void **state)
{
	const struct run first = RUN("1", 3600, OUTCOME_SUCCEEDED),
			 second = RUN("2", 1800, OUTCOME_FAILED),
			 third = RUN("3", 3600, OUTCOME_SUCCEEDED),
			 running = RUN("4", 100, OUTCOME_RUNNING);
	struct run longer = second;

	the_history_has(1, (struct run[]){first});
	look();
	assert_double_equal(value(TOTAL, ""), 1, 1e-9);
	/* A running run has no cost yet. */
	the_history_has(3, (struct run[]){running, second, first});
	look();
	assert_double_equal(value(TOTAL, ""), 1.5, 1e-9);
	assert_double_equal(value(LAST, ""), 0.5, 1e-9);
	/* The first run was pruned, but its cost still counts. */
	the_history_has(2, (struct run[]){third, second});
	job.outcomes[OUTCOME_SUCCEEDED] = 2;
	look();
	assert_double_equal(value(TOTAL, ""), 2.5, 1e-9);
	/* A run that was recorded as interrupted turned out to continue. Only the additional cost
	 * is added. */
	longer.duration_seconds = 3600;
	the_history_has(2, (struct run[]){third, longer});
	job.outcomes[OUTCOME_SUCCEEDED] = 3;
	look();
	assert_double_equal(value(TOTAL, ""), 3, 1e-9);
	look();
	assert_double_equal(value(TOTAL, ""), 3, 1e-9);
}

static void write_catalogue(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void a_price_that_rises_changes_nothing_that_was_paid(void **state)
{
	const struct run first = RUN("1", 3600, OUTCOME_SUCCEEDED),
			 second = RUN("2", 3600, OUTCOME_SUCCEEDED);

	the_history_has(1, (struct run[]){first});
	look();
	write_catalogue("# as_of: 2026-11-01\n"
			"vendor_id,server_id,cpu_architecture,cpu_allocation,vcpus,memory_amount,"
			"score1,score,price\n"
			"own,here,x86_64,Dedicated,2,4096,1000,2000,10\n");
	the_history_has(2, (struct run[]){second, first});
	look();
	assert_double_equal(value(TOTAL, ""), 11, 1e-9);
	assert_double_equal(value(LAST, ""), 10, 1e-9);
}

static void jobs_that_others_crowd_out_are_gone(void **state)
{
	enum { MORE = JOBS_MAX + 10 };
	static struct job_row rows[MORE];
	static char names[MORE][16];
	static struct run ran[MORE];
	struct snapshot_pool *pool;
	size_t n = 0;

	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < MORE; i++) {
			snprintf(names[i], sizeof names[i], "job%u-%u", round, i);
			rows[i] = (struct job_row){.job_name = names[i]};
			rows[i].outcomes[OUTCOME_SUCCEEDED] = 1;
			ran[i] = (struct run)RUN("1", 3600, OUTCOME_SUCCEEDED);
			ran[i].job_name = names[i];
		}
		fake_history.runs = (struct runs){MORE, ran};
		fake_history.jobs = rows;
		fake_history.n_jobs = MORE;
		look();
	}
	struct snapshot *s = scrape(&pool, 0);

	for (const struct point *p = s->blocks[0].points[0].first; p; p = p->next, n++)
		assert_memory_equal(p->labels[0], "job1-", 5);
	assert_int_equal(n, JOBS_MAX);
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
	struct buf text AUTO(buf_done) = BUF_MAX(1 << 20);

	assert_non_null(strstr(told_by(&collector_sizes, &text), "rightsize_jobs_hidden 10\n"));
}

static void costs_are_known_once_the_machine_is(void **state)
{
	struct machine known = fake_machine;

	fake_machine = (struct machine){0};
	the_history_has(1, (struct run[]){RUN("1", 3600, OUTCOME_SUCCEEDED)});
	look();
	assert_true(isnan(value(TOTAL, "")));
	assert_true(isnan(value("rightsize_job_forecast_cost_usd", "current")));
	/* The best server does not depend on the current machine. */
	assert_double_equal(value("rightsize_job_forecast_cost_usd", "best"), 1, 1e-9);
	fake_machine = known;
	look();
	assert_double_equal(value(TOTAL, ""), 1, 1e-9);
}

static void forecasts_name_servers_and_where_prices_come_from(void **state)
{
	struct snapshot_pool *pool;
	struct buf text = BUF_MAX(4096);

	the_history_has(1, (struct run[]){RUN("1", 3600, OUTCOME_SUCCEEDED)});
	look();
	assert_double_equal(value("rightsize_job_forecast_duration_seconds", "current"), 3600,
		1e-6);
	assert_double_equal(value("rightsize_job_forecast_duration_seconds", "best"), 1800, 1e-6);
	assert_double_equal(value("rightsize_job_forecast_cost_usd", "current"), 1, 1e-9);
	assert_double_equal(value("rightsize_job_forecast_cost_usd", "best"), 0.75, 1e-9);
	assert_double_equal(value("rightsize_job_saving_usd", ""), 0.25, 1e-9);
	assert_double_equal(value("rightsize_job_server_price_usd", "best"), 1.5, 1e-9);

	struct snapshot *s = scrape(&pool, 0);

	for (size_t i = 0; i < collector_costs.n_metrics; i++)
		for (const struct point *p = s->blocks[0].points[i].first; p; p = p->next)
			if (collector_costs.metrics[i].type == METRIC_INFO)
				for (size_t k = 0; k < METRIC_LABELS_MAX; k++)
					buf_addf(&text, "%s|", p->labels[k]);
	buf_addc(&text, '\n');
	assert_non_null(strstr(buf_text(&text), "job|current|own|here||ondemand|/tmp/test_costs_"));
	assert_non_null(strstr(buf_text(&text), "job|best|own|twice||ondemand|/tmp/test_costs_"));
	assert_non_null(strstr(buf_text(&text), "|2026-10-01|"));
	buf_done(&text);
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
}

/* Answers assume that a spot server is interrupted at some rate. Metrics assume the same rate. */
static void a_spot_server_is_interrupted_in_metrics_too(void **state)
{
	write_catalogue("vendor_id,server_id,cpu_architecture,cpu_allocation,vcpus,memory_amount,"
			"score1,score,allocation,price\n"
			"own,here,x86_64,Dedicated,2,4096,1000,2000,spot,1\n");
	fake_machine.allocation = MACHINE_SPOT;
	the_history_has(1, (struct run[]){RUN("1", 3600, OUTCOME_SUCCEEDED)});
	look();
	assert_double_equal(value("rightsize_job_forecast_cost_usd", "current"),
		(exp(0.05) - 1) / 0.05, 1e-9);
	/* No server is offered on demand, so the current server is the best. */
	assert_double_equal(value("rightsize_job_forecast_cost_usd", "best"),
		(exp(0.05) - 1) / 0.05, 1e-9);
	assert_double_equal(value("rightsize_job_saving_usd", ""), 0, 1e-9);
}

static void without_runs_there_is_nothing(void **state)
{
	struct snapshot_pool *pool;

	the_history_has(0, NULL);
	look();
	struct snapshot *s = scrape(&pool, -ENOENT);

	shared_drop(&s->shared);
	snapshot_pool_free(pool);
}

static void failures_are_told_and_tried_again(void **state)
{
	struct err e = {0};

	the_history_has(1, (struct run[]){RUN("1", 3600, OUTCOME_SUCCEEDED)});
	fake_history.read_code = -EIO;
	assert_int_equal(job_costs_look(job_costs, &e), -EIO);
	fake_history.read_code = 0;
	unlink(path);
	assert_true(job_costs_look(job_costs, &e) < 0);
	assert_non_null(strstr(e.text, path));
	write_catalogue(catalogue_text);
	look();
	assert_double_equal(value(TOTAL, ""), 1, 1e-9);
}

static const char *warnings_told(struct buf *text)
{
	return told_by(&collector_warnings, text);
}

#define RECOMMENDED_MEMORY "rightsize_job_recommended_memory_bytes job "

/* The request of a job is known even if it never succeeded. The recommendation waits for a
 * success. */
static void sizes_are_requested_and_recommended(void **state)
{
	const struct run first = RUN("1", 3600, OUTCOME_SUCCEEDED),
			 failed = RUN("2", 3600, OUTCOME_FAILED);
	struct run requested = failed, newer = RUN("3", 100, OUTCOME_RUNNING);
	struct buf text AUTO(buf_done) = BUF_MAX(4096);
	double memory;

	requested.requested_cpu_cores = 4;
	requested.requested_memory_bytes = 2e9;
	newer.requested_cpu_cores = 3;
	the_history_has(1, &failed);
	look();
	assert_string_equal(told_by(&collector_sizes, &text), "rightsize_jobs_hidden 0\n");
	the_history_has(2, (struct run[]){requested, failed});
	look();
	assert_string_equal(told_by(&collector_sizes, &text),
		"rightsize_job_requested_cpu_cores job 4\n"
		"rightsize_job_requested_memory_bytes job 2e+09\n"
		"rightsize_jobs_hidden 0\n");
	the_history_has(3, (struct run[]){first, requested, failed});
	look();
	told_by(&collector_sizes, &text);
	assert_non_null(strstr(buf_text(&text), "rightsize_job_recommended_cpu_cores job 1\n"));
	memory = strtod(strstr(buf_text(&text), RECOMMENDED_MEMORY) + strlen(RECOMMENDED_MEMORY),
		NULL);
	assert_true(memory >= 1e8 && memory < 4e8); /* the peak was 1e8 */
	/* A run that begins with another request is seen before it ends. */
	the_history_has(4, (struct run[]){newer, first, requested, failed});
	job.runs = 4;
	look();
	assert_non_null(strstr(told_by(&collector_sizes, &text),
		"rightsize_job_requested_cpu_cores job 3\n"
		"rightsize_job_requested_memory_bytes job 2e+09\n"));
}

/* A job that could not be read has no size, and not the size 0. */
static void a_size_that_is_unknown_is_absent(void **state)
{
	struct buf text AUTO(buf_done) = BUF_MAX(4096);

	job_advice_publish(&(struct job_advice){"job", false, 0, NAN, 1, NAN, NAN}, 1, 7);
	assert_string_equal(told_by(&collector_sizes, &text),
		"rightsize_job_requested_memory_bytes job 1\nrightsize_jobs_hidden 7\n");
}

static void warnings_are_told_of_jobs_with_a_recommendation(void **state)
{
	const struct run first = RUN("1", 3600, OUTCOME_SUCCEEDED),
			 failed = RUN("1", 3600, OUTCOME_FAILED);
	struct buf text AUTO(buf_done) = BUF_MAX(4096);

	the_history_has(1, (struct run[]){failed});
	look();
	assert_string_equal(warnings_told(&text), "");
	the_history_has(2, (struct run[]){first, failed});
	look();
	assert_string_equal(warnings_told(&text), "rightsize_recommended_apply_safe job 0\n"
						  "rightsize_recommended_warnings job few_runs "
						  "info 1\n");
	the_history_has(4, (struct run[]){first, first, first, failed});
	look();
	assert_string_equal(warnings_told(&text), "rightsize_recommended_apply_safe job 1\n");

	AUTO(job_advice_done) struct job_advice_table *t = job_advice_get();

	assert_int_equal(job_advice_warnings(t, "job"), 0);
	assert_int_equal(job_advice_warnings(t, "another"), 1u << WARNING_NOT_SIZED);
	assert_int_equal(job_advice_warnings(NULL, "job"), 1u << WARNING_NOT_SIZED);
}

static void only_costs_wait_for_a_catalogue(void **state)
{
	const struct run first = RUN("1", 3600, OUTCOME_SUCCEEDED);
	struct buf text AUTO(buf_done) = BUF_MAX(4096);
	struct err e = {0};

	unlink(path);
	the_history_has(1, (struct run[]){first});
	for (unsigned round = 0; round < 2; round++) {
		assert_true(job_costs_look(job_costs, &e) < 0);
		assert_non_null(strstr(e.text, path));
		assert_non_null(strstr(warnings_told(&text), "few_runs"));
	}
	assert_int_equal(fake_history.reads, 1); /* a job is sized again only after another run */
	the_history_has(3, (struct run[]){first, first, first});
	assert_true(job_costs_look(job_costs, &e) < 0);
	assert_string_equal(warnings_told(&text), "rightsize_recommended_apply_safe job 1\n");
	write_catalogue(catalogue_text);
	look();
	assert_double_equal(value(TOTAL, ""), 3, 1e-9);
}

/* The machine changes while the catalogue cannot be read. */
static void a_new_machine_is_not_forgotten_without_a_catalogue(void **state)
{
	struct err e = {0};

	the_history_has(1, (struct run[]){RUN("1", 3600, OUTCOME_SUCCEEDED)});
	look();
	assert_double_equal(value("rightsize_job_forecast_cost_usd", "current"), 1, 1e-9);
	snprintf(fake_machine.instance_type, sizeof fake_machine.instance_type, "twice");
	unlink(path);
	assert_true(job_costs_look(job_costs, &e) < 0);
	write_catalogue(catalogue_text);
	look();
	assert_double_equal(value("rightsize_job_forecast_cost_usd", "current"), 1.5, 1e-9);
}

static void a_dated_name_is_among_the_warnings(void **state)
{
	struct run dated = RUN("1", 3600, OUTCOME_SUCCEEDED), other = dated;
	struct job_row rows[2] = {{.job_name = "job-2026-11-21"}, {.job_name = "job-2026-11-22"}};
	struct buf text AUTO(buf_done) = BUF_MAX(4096);

	dated.job_name = rows[0].job_name;
	other.job_name = rows[1].job_name;
	the_history_has(2, (struct run[]){dated, other});
	rows[0].outcomes[OUTCOME_SUCCEEDED] = 1;
	fake_history.jobs = rows;
	fake_history.n_jobs = ARRAY_LEN(rows);
	look();
	assert_non_null(strstr(warnings_told(&text),
		"rightsize_recommended_warnings job-2026-11-21 dated_names info 1\n"));
}

static void warnings_and_sizes_end_with_the_thread(void **state)
{
	struct snapshot_pool *pool;

	the_history_has(1, (struct run[]){RUN("1", 3600, OUTCOME_SUCCEEDED)});
	look();
	job_costs_stop(job_costs);
	job_costs = NULL;
	const struct collector *const both[] = {&collector_warnings, &collector_sizes};

	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		struct snapshot *s = scrape_of(both[i], &pool, -ENOENT);

		shared_drop(&s->shared);
		snapshot_pool_free(pool);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_size_is_learnt_from_neighbours_as_in_answers),
		TEST(what_runs_cost_adds_up_and_never_falls),
		TEST(a_price_that_rises_changes_nothing_that_was_paid),
		TEST(jobs_that_others_crowd_out_are_gone),
		TEST(costs_are_known_once_the_machine_is),
		TEST(forecasts_name_servers_and_where_prices_come_from),
		TEST(a_spot_server_is_interrupted_in_metrics_too),
		TEST(without_runs_there_is_nothing),
		TEST(failures_are_told_and_tried_again),
		TEST(warnings_are_told_of_jobs_with_a_recommendation),
		TEST(only_costs_wait_for_a_catalogue),
		TEST(a_new_machine_is_not_forgotten_without_a_catalogue),
		TEST(a_dated_name_is_among_the_warnings),
		TEST(sizes_are_requested_and_recommended),
		TEST(a_size_that_is_unknown_is_absent),
		TEST(warnings_and_sizes_end_with_the_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
