/* The history returns what was written. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "exporter/core/counters.h"
#include "tests/support/test_history.h"

static void write_begin(struct history *h, const struct run_begin *b)
{
	assert_int_equal(history_transaction(h, NULL), 0);
	assert_int_equal(history_run_begin(h, b, NULL), 0);
	assert_int_equal(history_commit(h, NULL), 0);
}

static int write_finish(struct history *h, const struct run_finish *f)
{
	assert_int_equal(history_transaction(h, NULL), 0);
	int code = history_run_finish(h, f, NULL);

	assert_int_equal(history_commit(h, NULL), 0);
	return code;
}

/* Each run has four samples, with 2 s of CPU time in total and a memory peak of 3 bytes. */
static void impossible_numbers_are_not_kept(void **state)
{
	static const struct {
		double duration, cpus, memory;
		enum outcome outcome;
		const char *given, *why; /* why = NULL: the numbers are kept */
	} cases[] = {
		{4, NAN, NAN, OUTCOME_SUCCEEDED, NULL, NULL},
		/* 1 CPU can use `duration`, plus 10 % and 1 s. For 0.91 s the limit is 2.001 s, and
		 * for 0.9 s it is 1.99 s. */
		{0.91, 1, NAN, OUTCOME_SUCCEEDED, NULL, NULL},
		{0.9, 1, NAN, OUTCOME_SUCCEEDED, NULL,
			"column cpu_seconds: sum is 2; possible is 0 to 1.99 "
			"(1 CPU for 0.9 s, plus 10 % and 1 s)"},
		{0.9, 2, NAN, OUTCOME_SUCCEEDED, NULL, NULL},
		{0.9, 1, NAN, OUTCOME_INTERRUPTED, NULL, NULL},
		{4, 4, 3, OUTCOME_SUCCEEDED, NULL, NULL},
		{4, 4, 2, OUTCOME_FAILED, NULL,
			"column memory_bytes: max is 3; possible is 0 to 2 (the memory of the "
			"machine)"},
		{4, 4, 3, OUTCOME_FAILED, "nobody looked", "nobody looked"},
	};
	struct test_place *f = *state;
	uint64_t counted = counters_not_plausible();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char id[8];
		struct series series;

		snprintf(id, sizeof id, "r%zu", i);
		test_write_run(f->h, id, "job", 1000, 4, OUTCOME_RUNNING);
		struct run_finish end = test_finish(id, 1004, cases[i].outcome);

		end.duration_seconds = cases[i].duration;
		end.machine_cpus = cases[i].cpus;
		end.machine_memory_bytes = cases[i].memory;
		end.not_measured = cases[i].given;
		end.exit_code = 7;
		assert_int_equal(write_finish(f->h, &end), 0);
		struct run r = test_read_run(f->h, id, &f->arena);

		assert_int_equal(r.outcome, cases[i].outcome);
		assert_near(r.duration_seconds, cases[i].duration, 0);
		assert_near(r.exit_code, 7, 0);
		assert_int_equal(r.samples, 4);
		assert_near(r.requested_memory_bytes, 1 << 30, 0);
		assert_int_equal(history_series(f->h, id, NULL, &f->arena, &series, NULL), 0);
		if (cases[i].why)
			assert_string_equal(r.not_measured, cases[i].why);
		else
			assert_null(r.not_measured);
		assert_int_equal(series.n, cases[i].why ? 0 : 4);
		assert_int_equal(r.n_stats > 0, !cases[i].why);
		counted += cases[i].why && !cases[i].given;
		assert_int_equal(counters_not_plausible(), counted);
	}
}

/* The readings are closer together than the steps in which the kernel counts CPU time. An
 * impossible rate between two readings is replaced by the mean of the whole run. */
static void a_rate_of_nanoseconds_is_that_of_the_whole_run(void **state)
{
	static const struct {
		double interval, duration, cores; /* NaN = no column */
	} cases[] = {
		/* In 0.5 s, 2 CPUs can use 1 s, plus 10 % and 1 s per CPU: 3.1 s. So the limit is
		 * 3.1 s / 0.5 s = 6.2 cores. */
		{1 / 6.1, 2, 6.1},
		{1 / 6.3, 2, 0.5},
		{1e-8, 2, 0.5},
		{1e-8, 0, NAN},
		{1e-8, NAN, NAN},
	};
	struct test_place *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char id[8];
		double value[TEST_COLUMNS];
		struct sample s;

		snprintf(id, sizeof id, "n%zu", i);
		test_write_run(f->h, id, "job", 1000, 0, OUTCOME_RUNNING);
		test_sample(&s, value, id, 1000, 0);
		s.duration = cases[i].interval;
		value[TEST_CPU_SECONDS] = 1;
		assert_int_equal(history_transaction(f->h, NULL), 0);
		assert_int_equal(history_samples(f->h, &s, 1, NULL), 0);
		assert_int_equal(history_commit(f->h, NULL), 0);
		struct run_finish end = test_finish(id, 1002,
			isnan(cases[i].duration) ? OUTCOME_INTERRUPTED : OUTCOME_SUCCEEDED);

		end.duration_seconds = cases[i].duration;
		end.machine_cpus = 2;
		assert_int_equal(write_finish(f->h, &end), 0);
		struct run r = test_read_run(f->h, id, &f->arena);

		assert_null(r.not_measured);
		assert_near(run_total(&r, "cpu_seconds"), 1, 0);
		assert_near(run_mean(&r, "cpu_cores"), cases[i].cores, 1e-9);
		assert_near(run_peak(&r, "cpu_cores"), cases[i].cores, 1e-9);
	}
}

static void a_run_is_read_as_it_was_written(void **state)
{
	struct test_place *f = *state;
	struct run_begin b = test_begin("r1", "etl/load", 1000.5);
	struct run_finish end = test_finish("r1", 1010.25, OUTCOME_FAILED);

	b.attempt = 2;
	b.requested_cpu_cores = 1.5;
	end.duration_seconds = 9.75;
	end.exit_signal = 15;
	write_begin(f->h, &b);
	assert_int_equal(write_finish(f->h, &end), 0);

	struct run r = test_read_run(f->h, "r1", &f->arena);

	assert_string_equal(r.run_id, "r1");
	assert_string_equal(r.job_name, "etl/load");
	assert_string_equal(r.host, "node-1");
	assert_near(r.started_at, 1000.5, 0);
	assert_near(r.ended_at, 1010.25, 0);
	assert_near(r.duration_seconds, 9.75, 0);
	assert_int_equal(r.outcome, OUTCOME_FAILED);
	assert_true(isnan(r.exit_code));
	assert_near(r.exit_signal, 15, 0);
	assert_string_equal(r.cpu_source, "rusage");
	assert_double_equal(r.cpu_missed_seconds, 0.25, 0);
	assert_null(r.memory_source);
	assert_int_equal(r.samples, 0);
	assert_near(r.interval_seconds, 1, 0);
	assert_near(r.requested_cpu_cores, 1.5, 0);
	assert_near(r.requested_memory_bytes, 1 << 30, 0);
	assert_true(isnan(r.memory_limit_bytes) && isnan(r.input_bytes));
	assert_near(r.attempt, 2, 0);
	assert_int_equal(r.n_stats, 0);
}

static void an_ended_run_keeps_its_statistics(void **state)
{
	struct test_place *f = *state;

	test_write_run(f->h, "r1", "job", 0, 100, OUTCOME_SUCCEEDED);
	struct run r = test_read_run(f->h, "r1", &f->arena);
	const struct distribution *memory = run_column(&r, "memory_bytes");

	assert_near(r.duration_seconds, 100, 1e-9);
	assert_int_equal(r.samples, 100);
	assert_near(run_total(&r, "cpu_seconds"), 50, 1e-9);
	assert_near(run_total(&r, "disk_read_bytes"), 1000, 1e-9);
	assert_near(run_mean(&r, "cpu_cores"), 0.5, 1e-9);
	assert_near(run_peak(&r, "memory_peak_bytes"), 99, 0);
	assert_non_null(memory);
	assert_int_equal(memory->n, 100);
	assert_near(memory->mean, 49.5, 1e-9);
	assert_near(memory->min, 0, 0);
	assert_near(memory->p50, 49, 0);
	assert_near(memory->p95, 94, 0);
	assert_near(memory->p99, 98, 0);
	assert_null(run_column(&r, "system_load1"));
}

static void an_open_run_has_statistics_when_asked(void **state)
{
	struct test_place *f = *state;
	const struct run_query without = {.run_id = "r1"};
	struct runs runs;

	test_write_run(f->h, "r1", "job", 0, 10, OUTCOME_RUNNING);
	assert_int_equal(history_runs(f->h, &without, &f->arena, &runs, NULL), 0);
	assert_int_equal(runs.n, 1);
	assert_int_equal(runs.run[0].outcome, OUTCOME_RUNNING);
	assert_true(isnan(runs.run[0].ended_at));
	assert_near(runs.run[0].duration_seconds, 10, 1e-9);
	assert_int_equal(runs.run[0].samples, 10);
	assert_int_equal(runs.run[0].n_stats, 0);

	struct run r = test_read_run(f->h, "r1", &f->arena);

	assert_near(run_total(&r, "cpu_seconds"), 5, 1e-9);
	for (size_t i = 1; i < r.n_stats; i++)
		assert_true(strcmp(r.stats[i - 1].column, r.stats[i].column) < 0);
}

static void statistics_need_no_more_memory_for_many_samples(void **state)
{
	struct test_place *f = *state;

	/* One pass cannot read so many cells, so the columns are read in several passes. */
	test_write_run(f->h, "r1", "job", 0, 110000, OUTCOME_SUCCEEDED);
	struct run r = test_read_run(f->h, "r1", &f->arena);

	assert_int_equal(r.n_stats, 6);
	assert_near(run_total(&r, "cpu_seconds"), 55000, 1e-6);
	assert_near(run_total(&r, "disk_read_bytes"), 1100000, 1e-6);
	assert_near(run_peak(&r, "memory_bytes"), 109999, 0);
}

static void a_correction_of_no_length_completes_the_totals(void **state)
{
	struct test_place *f = *state;
	double value[TEST_COLUMNS];
	struct sample s;

	test_write_run(f->h, "r1", "job", 0, 10, OUTCOME_RUNNING);
	test_sample(&s, value, "r1", 0, 9);
	s.duration = 0;
	value[TEST_CPU_SECONDS] = 2.25;
	value[TEST_MEMORY_PEAK_BYTES] = 5000;
	value[TEST_MEMORY_BYTES] = 0;
	assert_int_equal(history_transaction(f->h, NULL), 0);
	assert_int_equal(history_samples(f->h, &s, 1, NULL), 0);
	assert_int_equal(history_commit(f->h, NULL), 0);
	const struct run_finish end = test_finish("r1", 10, OUTCOME_SUCCEEDED);

	assert_int_equal(write_finish(f->h, &end), 0);
	struct run r = test_read_run(f->h, "r1", &f->arena);

	assert_near(run_total(&r, "cpu_seconds"), 7.25, 1e-9);
	assert_near(run_mean(&r, "cpu_cores"), 0.725, 1e-9);
	assert_near(run_peak(&r, "cpu_cores"), 0.5, 1e-9);
	assert_near(run_peak(&r, "memory_peak_bytes"), 5000, 0);
	assert_near(r.duration_seconds, 10, 1e-9);
}

static void samples_come_in_the_order_they_were_taken(void **state)
{
	struct test_place *f = *state;
	struct series s;

	test_write_run(f->h, "other", "job", 500, 3, OUTCOME_RUNNING);
	test_write_run(f->h, "r1", "job", 1000, 5, OUTCOME_RUNNING);
	test_write_samples(f->h, "other", 500, 3, 3);
	/* The wall clock was set back by an hour. */
	test_write_samples(f->h, "r1", 1000 - 3600, 5, 2);
	assert_int_equal(history_series(f->h, "r1", NULL, &f->arena, &s, NULL), 0);
	assert_int_equal(s.n, 7);
	assert_int_equal(s.n_columns, TEST_COLUMNS);
	assert_string_equal(s.columns[TEST_MEMORY_BYTES], "memory_bytes");
	for (size_t i = 0; i < s.n; i++) {
		assert_near(s.values[TEST_MEMORY_BYTES][i], (double)i, 0);
		assert_near(s.duration[i], 1, 0);
		assert_true(isnan(s.values[TEST_LOAD][i]));
	}
	assert_near(s.at[4], 1005, 0);
	assert_near(s.at[5], 1006 - 3600, 0);
}

static void columns_can_be_chosen(void **state)
{
	struct test_place *f = *state;
	static const char *const columns[] = {
		"disk_read_bytes", "from_the_future", "memory_bytes", NULL};
	struct series s;

	test_write_run(f->h, "r1", "job", 0, 4, OUTCOME_RUNNING);
	assert_int_equal(history_series(f->h, "r1", columns, &f->arena, &s, NULL), 0);
	assert_int_equal(s.n_columns, 3);
	assert_string_equal(s.columns[1], "from_the_future");
	assert_near(s.values[0][3], 10, 0);
	assert_true(isnan(s.values[1][3]));
	assert_near(s.values[2][3], 3, 0);
}

static void unknown_runs_and_bad_samples_are_told(void **state)
{
	struct test_place *f = *state;
	struct run_finish end = test_finish("nobody", 5, OUTCOME_SUCCEEDED);
	double value[TEST_COLUMNS];
	struct series series;
	struct sample s;
	struct err e = {0};

	test_write_run(f->h, "r1", "job", 0, 1, OUTCOME_RUNNING);
	assert_int_equal(history_series(f->h, "nobody", NULL, &f->arena, &series, &e), -ENOENT);
	assert_non_null(strstr(e.text, "nobody"));
	assert_int_equal(history_transaction(f->h, NULL), 0);
	test_sample(&s, value, "nobody", 0, 0);
	assert_int_equal(history_samples(f->h, &s, 1, &e), -ENXIO);
	assert_non_null(strstr(e.text, "nobody"));
	test_sample(&s, value, "r1", 0, 1);
	s.duration = -1;
	assert_int_equal(history_samples(f->h, &s, 1, &e), -EINVAL);
	test_sample(&s, value, "r1", 0, 1);
	s.at = NAN;
	assert_int_equal(history_samples(f->h, &s, 1, &e), -EINVAL);
	/* The transaction continues after an error. */
	test_sample(&s, value, "r1", 0, 1);
	assert_int_equal(history_samples(f->h, &s, 1, &e), 0);
	assert_int_equal(history_run_finish(f->h, &end, NULL), 0);
	assert_int_equal(history_commit(f->h, NULL), 0);
	assert_int_equal(test_read_run(f->h, "r1", &f->arena).samples, 2);
}

static void a_run_begins_and_ends_once(void **state)
{
	struct test_place *f = *state;
	struct run_begin b = test_begin("r1", "job", 1);
	struct run_finish end = test_finish("r1", 2, OUTCOME_SUCCEEDED);
	struct job_row *job;
	size_t n;

	write_begin(f->h, &b);
	b.started_at = 77;
	write_begin(f->h, &b);
	assert_int_equal(write_finish(f->h, &end), 0);
	end.outcome = OUTCOME_FAILED;
	assert_int_equal(write_finish(f->h, &end), 0);

	struct run r = test_read_run(f->h, "r1", &f->arena);

	assert_near(r.started_at, 1, 0);
	assert_int_equal(r.outcome, OUTCOME_SUCCEEDED);
	assert_int_equal(history_jobs(f->h, 0, &f->arena, &job, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(job->runs, 1);
	assert_int_equal(job->outcomes[OUTCOME_SUCCEEDED], 1);
	assert_int_equal(job->outcomes[OUTCOME_FAILED], 0);
}

static void an_interrupted_run_may_still_tell_how_it_ended(void **state)
{
	struct test_place *f = *state;
	struct run_finish end = test_finish("r1", 5, OUTCOME_INTERRUPTED);
	struct job_row *job;
	size_t n;

	test_write_run(f->h, "r1", "job", 0, 5, OUTCOME_INTERRUPTED);
	test_write_samples(f->h, "r1", 0, 5, 5);
	end = test_finish("r1", 10, OUTCOME_SUCCEEDED);
	assert_int_equal(write_finish(f->h, &end), 0);

	struct run r = test_read_run(f->h, "r1", &f->arena);

	assert_int_equal(r.outcome, OUTCOME_SUCCEEDED);
	assert_int_equal(r.samples, 10);
	assert_near(run_total(&r, "cpu_seconds"), 5, 1e-9);
	assert_int_equal(history_jobs(f->h, 0, &f->arena, &job, &n, NULL), 0);
	assert_int_equal(job->outcomes[OUTCOME_INTERRUPTED], 0);
	assert_int_equal(job->outcomes[OUTCOME_SUCCEEDED], 1);
}

static void begins_ends_and_corrections_are_activity_and_samples_are_none(void **state)
{
	struct test_place *f = *state;
	struct run_finish corrected = test_finish("r1", 10, OUTCOME_SUCCEEDED);
	struct run_begin b = test_begin("r1", "job", 0);
	int64_t seen = history_activity(f->h), now;

	write_begin(f->h, &b);
	assert_true((now = history_activity(f->h)) > seen);
	seen = now;
	write_begin(f->h, &b);
	test_write_samples(f->h, "r1", 0, 0, 5);
	assert_int_equal(history_activity(f->h), seen);
	corrected.outcome = OUTCOME_INTERRUPTED;
	assert_int_equal(write_finish(f->h, &corrected), 0);
	assert_true((now = history_activity(f->h)) > seen);
	seen = now;
	corrected.outcome = OUTCOME_SUCCEEDED;
	assert_int_equal(write_finish(f->h, &corrected), 0);
	assert_true(history_activity(f->h) > seen);
}

static void a_job_tells_when_a_run_of_it_ended_last(void **state)
{
	struct test_place *f = *state;
	struct job_row *job;
	size_t n;

	test_write_run(f->h, "a", "job", 100, 10, OUTCOME_RUNNING);
	assert_int_equal(history_jobs(f->h, 0, &f->arena, &job, &n, NULL), 0);
	assert_true(isnan(job->last_ended_at));
	test_write_run(f->h, "b", "job", 200, 10, OUTCOME_FAILED);
	test_write_run(f->h, "c", "job", 50, 10, OUTCOME_SUCCEEDED);
	assert_int_equal(history_jobs(f->h, 0, &f->arena, &job, &n, NULL), 0);
	assert_near(job->last_ended_at, test_read_run(f->h, "b", &f->arena).ended_at, 0);
}

static void runs_are_chosen_and_come_newest_first(void **state)
{
	struct test_place *f = *state;
	static const struct {
		struct run_query q;
		const char *ids; /* run ids, concatenated */
	} table[] = {
		{{0}, "edcba"},
		{{.job_name = "x"}, "dba"},
		{{.job_name = "x", .limit = 2}, "db"},
		{{.job_name = "x", .successful_only = true}, "ba"},
		{{.job_name = "x", .successful_only = true, .limit = 1}, "b"},
		{{.open_only = true}, "ec"},
		{{.run_id = "c"}, "c"},
		{{.run_id = "c", .job_name = "x"}, ""},
		{{.job_name = "nobody"}, ""},
	};

	test_write_run(f->h, "a", "x", 100, 1, OUTCOME_SUCCEEDED);
	test_write_run(f->h, "d", "x", 400, 1, OUTCOME_FAILED);
	test_write_run(f->h, "b", "x", 200, 1, OUTCOME_SUCCEEDED);
	test_write_run(f->h, "c", "y", 300, 1, OUTCOME_RUNNING);
	test_write_run(f->h, "e", "y", 500, 1, OUTCOME_RUNNING);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct runs runs;
		char ids[8] = "";

		assert_int_equal(history_runs(f->h, &table[i].q, &f->arena, &runs, NULL), 0);
		assert_true(runs.n < sizeof ids);
		for (size_t r = 0; r < runs.n; r++)
			ids[r] = runs.run[r].run_id[0];
		assert_string_equal(ids, table[i].ids);
	}
}

static void jobs_count_every_run(void **state)
{
	struct test_place *f = *state;
	struct job_row *job;
	size_t n;

	test_write_run(f->h, "a", "x", 100, 1, OUTCOME_SUCCEEDED);
	test_write_run(f->h, "b", "x", 200, 1, OUTCOME_OOM_KILLED);
	test_write_run(f->h, "c", "y", 150, 1, OUTCOME_SUCCEEDED);
	test_write_run(f->h, "d", "y", 300, 1, OUTCOME_RUNNING);
	assert_int_equal(history_jobs(f->h, 0, &f->arena, &job, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(job[0].job_name, "y");
	assert_int_equal(job[0].runs, 2);
	assert_int_equal(job[0].outcomes[OUTCOME_RUNNING], 1);
	assert_int_equal(job[0].outcomes[OUTCOME_SUCCEEDED], 1);
	assert_int_equal(job[0].last_outcome, OUTCOME_RUNNING);
	assert_near(job[0].last_started_at, 300, 0);
	assert_string_equal(job[1].job_name, "x");
	assert_int_equal(job[1].outcomes[OUTCOME_OOM_KILLED], 1);
	assert_int_equal(job[1].last_outcome, OUTCOME_OOM_KILLED);
}

static void finish_with(struct history *h, const char *run_id, double start, enum outcome outcome,
	double code, double signal)
{
	const struct run_begin b = test_begin(run_id, "job", start);
	struct run_finish finish = test_finish(run_id, start + 1, outcome);

	finish.exit_code = code;
	finish.exit_signal = signal;
	write_begin(h, &b);
	assert_int_equal(history_transaction(h, NULL), 0);
	assert_int_equal(history_run_finish(h, &finish, NULL), 0);
	assert_int_equal(history_commit(h, NULL), 0);
}

/* The newest run of each outcome shows how it exited. A success has no exit code here. */
static void jobs_tell_how_runs_exited(void **state)
{
	struct test_place *f = *state;
	struct job_row *job;
	size_t n;

	finish_with(f->h, "a", 100, OUTCOME_FAILED, 3, NAN);
	finish_with(f->h, "b", 300, OUTCOME_FAILED, NAN, SIGSEGV);
	finish_with(f->h, "c", 200, OUTCOME_FAILED, 4, NAN);
	finish_with(f->h, "d", 400, OUTCOME_OOM_KILLED, 137, NAN);
	finish_with(f->h, "e", 500, OUTCOME_SUCCEEDED, 0, NAN);
	assert_int_equal(history_jobs(f->h, 0, &f->arena, &job, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_true(isnan(job->exit[OUTCOME_FAILED].code));
	assert_near(job->exit[OUTCOME_FAILED].signal, SIGSEGV, 0);
	assert_near(job->exit[OUTCOME_OOM_KILLED].code, 137, 0);
	assert_true(isnan(job->exit[OUTCOME_OOM_KILLED].signal));
	assert_true(isnan(job->exit[OUTCOME_SUCCEEDED].code));
	assert_true(isnan(job->exit[OUTCOME_INTERRUPTED].code));
}

static void open_runs_say_where_they_are_rooted(void **state)
{
	struct test_place *f = *state;
	const struct run_begin b = test_begin("r1", "job", 12.5);
	struct open_run *run;
	size_t n;

	test_write_run(f->h, "r0", "job", 1, 1, OUTCOME_SUCCEEDED);
	write_begin(f->h, &b);
	assert_int_equal(history_open_runs(f->h, &f->arena, &run, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_string_equal(run->run_id, "r1");
	assert_string_equal(run->job_name, "job");
	assert_near(run->started_at, 12.5, 0);
	assert_int_equal(run->root.pid, 4711);
	assert_int_equal(run->root.start_ticks, 99);
	assert_int_equal(run->root.reaper_pid, 4710);
	assert_int_equal(run->root.reaper_start_ticks, 98);
	assert_int_equal(run->root.pid_namespace, 4026531836);
	assert_string_equal(run->root.boot_id, "boot-1");
	assert_int_equal(run->owner_pid, 4710);
}

static void names_of_any_bytes_come_back(void **state)
{
	struct test_place *f = *state;
	static const char *const names[] = {
		"'; DROP TABLE run; --", "\"", "caf\xc3\xa9\n", "", "%s?&", "\xff\xfe"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct run_query q = {.job_name = names[i]};
		char id[16];
		struct runs runs;

		snprintf(id, sizeof id, "r%zu", i);
		test_write_run(f->h, id, names[i], 1, 1, OUTCOME_SUCCEEDED);
		assert_int_equal(history_runs(f->h, &q, &f->arena, &runs, NULL), 0);
		assert_int_equal(runs.n, 1);
		assert_string_equal(runs.run[0].job_name, names[i]);
	}
}

static void names_that_sort_beside_a_name_are_found(void **state)
{
	struct test_place *f = *state;
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	static const struct {
		const char *name;
		size_t limit;
		const char *found;
	} cases[] = {
		{"c", 1, "bd"}, {"c", 9, "bade"}, {"a", 2, "bc"}, {"bb", 1, "bc"}, {"z", 2, "ed"}};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		test_write_run(f->h, names[i], names[i], 1, 1, OUTCOME_SUCCEEDED);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(buf_done) struct buf found = BUF_MAX(100);
		const char **name;
		size_t n;

		assert_int_equal(history_names_near(f->h, cases[i].name, cases[i].limit, &f->arena,
					 &name, &n, NULL),
			0);
		for (size_t k = 0; k < n; k++)
			buf_adds(&found, name[k]);
		assert_string_equal(buf_text(&found), cases[i].found);
	}
}

static void a_rolled_back_transaction_leaves_nothing(void **state)
{
	struct test_place *f = *state;
	const struct run_begin b = test_begin("r1", "job", 1);

	assert_int_equal(history_transaction(f->h, NULL), 0);
	assert_int_equal(history_run_begin(f->h, &b, NULL), 0);
	history_rollback(f->h);
	history_rollback(f->h);
	assert_int_equal(test_count_runs(f->h, NULL), 0);
}

static void the_version_changes_when_others_commit(void **state)
{
	struct test_place *f = *state;
	struct history *reader;

	assert_int_equal(history_open(&reader, f->folder.file, HISTORY_READ, NULL, NULL, NULL), 0);
	int64_t before = history_version(reader);

	assert_true(before >= 0);
	assert_int_equal(history_version(reader), before);
	test_write_run(f->h, "r1", "job", 1, 1, OUTCOME_RUNNING);
	assert_int_not_equal(history_version(reader), before);
	history_close(reader);
}

static void a_reader_sees_one_state_while_another_writes(void **state)
{
	struct test_place *f = *state;
	struct history *reader;
	struct series s;

	test_write_run(f->h, "r1", "job", 1, 10, OUTCOME_RUNNING);
	assert_int_equal(history_open(&reader, f->folder.file, HISTORY_READ, NULL, NULL, NULL), 0);
	assert_int_equal(history_transaction(f->h, NULL), 0);
	assert_int_equal(history_series(reader, "r1", NULL, &f->arena, &s, NULL), 0);
	assert_int_equal(s.n, 10);
	assert_int_equal(history_commit(f->h, NULL), 0);
	test_write_samples(f->h, "r1", 1, 10, 5);
	assert_int_equal(history_series(reader, "r1", NULL, &f->arena, &s, NULL), 0);
	assert_int_equal(s.n, 15);
	history_close(reader);
}

static void note_page(struct history *h, const char *url, uint64_t pid_namespace)
{
	const struct history_page p = {.url = url,
		.address = "127.0.0.1:9877",
		.server = {.pid = 7,
			.start_ticks = 11,
			.pid_namespace = pid_namespace,
			.boot_id = "boot"}};

	assert_int_equal(history_transaction(h, NULL), 0);
	assert_int_equal(history_note_page(h, &p, NULL), 0);
	assert_int_equal(history_commit(h, NULL), 0);
}

static void the_page_is_that_of_the_newest_server(void **state)
{
	struct test_place *f = *state;
	uint64_t large = (uint64_t)UINT32_MAX + 1;
	struct history_page p;

	assert_int_equal(history_page(f->h, &f->arena, &p, NULL), 0);
	note_page(f->h, "http://first/", 1);
	note_page(f->h, "http://second/", large);
	assert_int_equal(history_page(f->h, &f->arena, &p, NULL), 1);
	assert_string_equal(p.url, "http://second/");
	assert_string_equal(p.address, "127.0.0.1:9877");
	assert_string_equal(p.server.boot_id, "boot");
	assert_int_equal(p.server.pid, 7);
	assert_int_equal(p.server.start_ticks, 11);
	assert_true(p.server.pid_namespace == large);
}

/* Begins a run of the job `new`, whose runs were called `old` before. */
static void begin_renamed(struct history *h, const char *run_id, const char *system)
{
	struct run_begin b = test_begin(run_id, "new", 3000);

	b.former_job = "old";
	b.system = system;
	write_begin(h, &b);
}

static void assert_jobs(struct test_place *f, const char *expected)
{
	struct buf text AUTO(buf_done) = BUF_MAX(1000);
	struct job_row *row;
	size_t n;

	assert_int_equal(history_jobs(f->h, 0, &f->arena, &row, &n, NULL), 0);
	for (size_t i = 0; i < n; i++)
		buf_addf(&text, "%s: %d runs, %d failed, %zu here; ", row[i].job_name,
			(int)row[i].runs, (int)row[i].outcomes[OUTCOME_FAILED],
			test_count_runs(f->h, row[i].job_name));
	assert_string_equal(buf_text(&text), expected);
}

static void runs_of_a_former_name_are_moved(void **state)
{
	struct test_place *f = *state;

	test_write_run(f->h, "a", "old", 1000, 4, OUTCOME_FAILED);
	test_write_run(f->h, "b", "old", 2000, 4, OUTCOME_SUCCEEDED);
	test_run_sql(f->folder.file, "UPDATE job SET runs = 9; UPDATE job_outcome SET runs = 4");
	begin_renamed(f->h, "c", "metaflow");
	assert_jobs(f, "new: 1 runs, 0 failed, 1 here; old: 9 runs, 4 failed, 2 here; ");
	begin_renamed(f->h, "d", NULL);
	assert_jobs(f, "new: 11 runs, 4 failed, 4 here; ");
	assert_int_equal(test_count_samples(f, "a"), 4);
	begin_renamed(f->h, "e", NULL);
	assert_jobs(f, "new: 12 runs, 4 failed, 5 here; ");
}

static void runs_of_a_former_name_stay_while_one_is_open(void **state)
{
	struct test_place *f = *state;

	test_write_run(f->h, "a", "old", 1000, 4, OUTCOME_SUCCEEDED);
	test_write_run(f->h, "b", "old", 2000, 4, OUTCOME_RUNNING);
	begin_renamed(f->h, "c", NULL);
	assert_jobs(f, "new: 1 runs, 0 failed, 1 here; old: 2 runs, 0 failed, 2 here; ");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_place_make, test_place_remove)
	const struct CMUnitTest tests[] = {
		TEST(a_run_is_read_as_it_was_written),
		TEST(impossible_numbers_are_not_kept),
		TEST(a_rate_of_nanoseconds_is_that_of_the_whole_run),
		TEST(an_ended_run_keeps_its_statistics),
		TEST(an_open_run_has_statistics_when_asked),
		TEST(statistics_need_no_more_memory_for_many_samples),
		TEST(a_correction_of_no_length_completes_the_totals),
		TEST(samples_come_in_the_order_they_were_taken),
		TEST(columns_can_be_chosen),
		TEST(unknown_runs_and_bad_samples_are_told),
		TEST(a_run_begins_and_ends_once),
		TEST(an_interrupted_run_may_still_tell_how_it_ended),
		TEST(begins_ends_and_corrections_are_activity_and_samples_are_none),
		TEST(a_job_tells_when_a_run_of_it_ended_last),
		TEST(runs_of_a_former_name_are_moved),
		TEST(runs_of_a_former_name_stay_while_one_is_open),
		TEST(runs_are_chosen_and_come_newest_first),
		TEST(jobs_count_every_run),
		TEST(jobs_tell_how_runs_exited),
		TEST(open_runs_say_where_they_are_rooted),
		TEST(names_of_any_bytes_come_back),
		TEST(names_that_sort_beside_a_name_are_found),
		TEST(a_rolled_back_transaction_leaves_nothing),
		TEST(the_version_changes_when_others_commit),
		TEST(a_reader_sees_one_state_while_another_writes),
		TEST(the_page_is_that_of_the_newest_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
