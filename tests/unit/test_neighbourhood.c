/* exporter/answers/neighbourhood.c: from which runs of which jobs a job learns, and when they are
 * read again. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "exporter/answers/neighbourhood.h"
#include "exporter/core/memory_budget.h"
#include "tests/support/test_history.h"

#define MIB 1048576.0

/* ---- what the recommender is given; the clock ---- */

struct added_job {
	const struct neighbours *to;
	size_t n;
	struct neighbour_run run[NEIGHBOUR_RUNS_MAX];
};

static struct added_job added[1000]; /* since the last reading began */
static atomic_size_t n_added;
static atomic_int readings; /* calls of history_recent_jobs */
static double seconds_later;

void __real_neighbours_add_job(struct neighbours *n, const struct neighbour_run *run,
	size_t n_runs);
void __wrap_neighbours_add_job(struct neighbours *n, const struct neighbour_run *run,
	size_t n_runs);
void __wrap_neighbours_add_job(struct neighbours *n, const struct neighbour_run *run, size_t n_runs)
{
	struct added_job *a = &added[atomic_fetch_add(&n_added, 1) % ARRAY_LEN(added)];

	assert_in_range(n_runs, 1, NEIGHBOUR_RUNS_MAX);
	*a = (struct added_job){.to = n, .n = n_runs};
	memcpy(a->run, run, n_runs * sizeof *run);
	__real_neighbours_add_job(n, run, n_runs);
}

int __real_history_recent_jobs(struct history *h, size_t runs, size_t limit, struct arena *arena,
	struct recent_job **ret, size_t *ret_n, struct err *e);
int __wrap_history_recent_jobs(struct history *h, size_t runs, size_t limit, struct arena *arena,
	struct recent_job **ret, size_t *ret_n, struct err *e);
int __wrap_history_recent_jobs(struct history *h, size_t runs, size_t limit, struct arena *arena,
	struct recent_job **ret, size_t *ret_n, struct err *e)
{
	atomic_fetch_add(&readings, 1);
	atomic_store(&n_added, 0);
	return __real_history_recent_jobs(h, runs, limit, arena, ret, ret_n, e);
}

/* Records the memory from malloc at the moment when it is largest: all runs are read, and no
 * namespace is finished. */
static size_t most_given_out;

void __real_neighbours_finish(struct neighbours *n);
void __wrap_neighbours_finish(struct neighbours *n);
void __wrap_neighbours_finish(struct neighbours *n)
{
	struct mallinfo2 m = mallinfo2();

	if (m.uordblks + m.hblkhd > most_given_out)
		most_given_out = m.uordblks + m.hblkhd;
	__real_neighbours_finish(n);
}

struct now __real_now_read(void);
struct now __wrap_now_read(void);
struct now __wrap_now_read(void)
{
	struct now now = __real_now_read();

	now.mono.ns += (int64_t)(seconds_later * 1e9);
	return now;
}

/* ---- a history ---- */

struct world {
	struct test_folder folder;
	struct history *h;
	struct app app;
	struct arena arena;
	double at; /* start of the next run, seconds since 1970 UTC */
};

static int begin(void **state)
{
	struct world *w = xcalloc(1, sizeof *w);

	test_folder_make(&w->folder);
	w->h = test_history(w->folder.file);
	w->app = APP_INIT;
	w->app.history_path = w->folder.file;
	w->app.neighbourhoods = neighbourhoods_new();
	w->at = 1795250000;
	seconds_later = 0;
	atomic_store(&n_added, 0);
	atomic_store(&readings, 0);
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;

	neighbourhoods_free(w->app.neighbourhoods);
	history_close(w->h);
	arena_done(&w->arena);
	test_folder_remove(&w->folder);
	free(w);
	return 0;
}

struct facts {
	const char *job, *system, *labels;
	enum outcome outcome;
	double peak, limit, input, seconds;
	const char *not_measured;
	bool no_peak;
};

static void write_run(struct world *w, const struct facts *f)
{
	static const double tmpfs = 5000 * MIB;
	double peak = f->peak > 0 ? f->peak : 1000 * MIB;
	struct column_stats stats[] = {
		{"memory_cgroup_peak_bytes", {.n = 1, .max = peak + tmpfs}},
		{"memory_cgroup_shmem_bytes", {.n = 1, .max = tmpfs}},
		{f->no_peak ? "memory_pss_bytes" : "memory_peak_bytes", {.n = 1, .max = peak}},
		{"memory_tmpfs_bytes", {.n = 1, .max = tmpfs}},
	};
	char id[32];
	double seconds = f->seconds > 0 ? f->seconds : 60;

	snprintf(id, sizeof id, "run-%.0f", w->at);
	const struct run run = {.run_id = id,
		.job_name = f->job,
		.started_at = w->at,
		.ended_at = w->at + seconds,
		.duration_seconds = seconds,
		.outcome = f->outcome ? f->outcome : OUTCOME_SUCCEEDED,
		.exit_code = NAN,
		.exit_signal = NAN,
		.requested_cpu_cores = NAN,
		.requested_memory_bytes = NAN,
		.memory_limit_bytes = f->limit > 0 ? f->limit : (double)NAN,
		.input_bytes = f->input > 0 ? f->input : (double)NAN,
		.attempt = NAN,
		.cpu_missed_seconds = NAN,
		.cpu_foreign_seconds = NAN,
		.machine_cpus = NAN,
		.machine_memory_bytes = NAN,
		.n_stats = f->not_measured ? 0 : ARRAY_LEN(stats),
		.stats = stats,
		.system = f->system,
		.labels = f->labels,
		.not_measured = f->not_measured};
	struct err e = {0};

	w->at += 100;
	assert_int_equal(history_transaction(w->h, &e), 0);
	assert_int_equal(history_run_add(w->h, &run, &e), 1);
	assert_int_equal(history_commit(w->h, &e), 0);
}

#define RUN(w, ...) write_run((w), &(struct facts){__VA_ARGS__})

static void write_jobs(struct world *w, const char *prefix, size_t n, const char *labels)
{
	for (size_t i = 0; i < n; i++) {
		char name[64];

		snprintf(name, sizeof name, "%s-%zu", prefix, i);
		RUN(w, .job = name, .labels = labels);
	}
}

static struct job_neighbours find(struct world *w, const char *job_name)
{
	struct job_neighbours n = {0};
	struct err e = {0};

	if (job_neighbours_find(&w->app, w->h, job_name, &n, &e))
		fail_msg("%s", e.text);
	return n;
}

/* Returns the number of jobs that were added to the neighbours of a job. */
static size_t jobs_of(struct world *w, const char *job_name)
{
	AUTO(job_neighbours_done) struct job_neighbours n = find(w, job_name);
	size_t jobs = 0;

	for (size_t i = 0; n.jobs && i < n_added; i++)
		jobs += added[i].to == n.jobs;
	return jobs;
}

/* ---- which runs ---- */

static void assert_learnt(const struct neighbour_run *r, double peak, double input, double seconds,
	bool at_least)
{
	assert_near(r->peak, peak, 0);
	assert_near(r->input, input, 0);
	assert_near(r->duration, seconds, 0);
	assert_int_equal(r->at_least, at_least);
}

static void runs_that_teach_come_oldest_first(void **state)
{
	struct world *w = *state;

	RUN(w, .job = "other");
	RUN(w, .job = "etl", .peak = 100 * MIB, .input = 5e6, .seconds = 10);
	RUN(w, .job = "etl", .outcome = OUTCOME_FAILED);
	RUN(w, .job = "etl", .outcome = OUTCOME_UNKNOWN);
	RUN(w, .job = "etl", .outcome = OUTCOME_INTERRUPTED);
	RUN(w, .job = "etl", .not_measured = "the clock was wrong");
	RUN(w, .job = "etl", .no_peak = true);
	RUN(w, .job = "etl", .outcome = OUTCOME_OOM_KILLED, .limit = 300 * MIB, .peak = 299 * MIB);
	RUN(w, .job = "etl", .outcome = OUTCOME_OOM_KILLED, .peak = 299 * MIB);
	RUN(w, .job = "etl", .peak = 200 * MIB);
	test_write_run(w->h, "open", "etl", w->at, 3, OUTCOME_RUNNING);
	assert_int_equal(jobs_of(w, "etl"), 2);
	const struct added_job *etl = &added[0];

	assert_int_equal(etl->n, 4);
	assert_learnt(&etl->run[0], 100 * MIB, 5e6, 10, false); /* without files in tmpfs */
	assert_learnt(&etl->run[1], 300 * MIB, NAN, 60, true);
	assert_learnt(&etl->run[2], 299 * MIB, NAN, 60, true);
	assert_learnt(&etl->run[3], 200 * MIB, NAN, 60, false);
	assert_int_equal(added[1].n, 1);
}

static void only_so_many_runs_of_so_many_jobs_are_read(void **state)
{
	struct world *w = *state;

	write_jobs(w, "early", 10, NULL);
	for (size_t i = 0; i < NEIGHBOUR_RUNS_MAX + 5; i++)
		RUN(w, .job = "often", .peak = (double)(i + 1) * MIB);
	/* Failed runs and runs that were not measured take no place among the newest runs. */
	RUN(w, .job = "often", .outcome = OUTCOME_FAILED);
	RUN(w, .job = "often", .not_measured = "the clock was wrong");
	write_jobs(w, "late", NEIGHBOUR_JOBS_MAX - 2, NULL);
	assert_int_equal(jobs_of(w, "often"), NEIGHBOUR_JOBS_MAX);
	const struct added_job *often = &added[NEIGHBOUR_JOBS_MAX - 2],
			       *early = &added[NEIGHBOUR_JOBS_MAX - 1];

	assert_int_equal(often->n, NEIGHBOUR_RUNS_MAX);
	assert_near(often->run[0].peak, 6 * MIB, 0);
	assert_near(often->run[NEIGHBOUR_RUNS_MAX - 1].peak, (NEIGHBOUR_RUNS_MAX + 5) * MIB, 0);
	assert_int_equal(early->n, 1);
}

static void only_jobs_of_recent_runs_are_read(void **state)
{
	struct world *w = *state;
	struct recent_job *job;
	size_t n;

	write_jobs(w, "early", 3, NULL);
	for (size_t i = 0; i < 4; i++)
		write_jobs(w, "late", 2, "{\"namespace\":\"a\"}");
	assert_int_equal(history_recent_jobs(w->h, 9, 10, &w->arena, &job, &n, NULL), 0);
	assert_int_equal(n, 3);
	assert_string_equal(job[0].origin.labels, "{\"namespace\":\"a\"}");
	assert_null(job[2].origin.labels);
	assert_true(job[0].id != job[1].id);
	assert_int_equal(history_recent_jobs(w->h, 8, 10, &w->arena, &job, &n, NULL), 0);
	assert_int_equal(n, 2);
	const int64_t latest = job[0].id;

	assert_int_equal(history_recent_jobs(w->h, 8, 1, &w->arena, &job, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(job[0].id, latest);
}

/* ---- namespaces ---- */

static void namespaces_do_not_mix(void **state)
{
	struct world *w = *state;

	write_jobs(w, "a", 2, "{\"namespace\":\"a\",\"app\":\"x\"}");
	write_jobs(w, "b", 3, "{\"app\":\"y\",\"namespace\":\"b\"}");
	write_jobs(w, "none", 4, "{\"app\":\"z\"}");
	write_jobs(w, "bare", 1, NULL);
	write_jobs(w, "damaged", 1, "{\"namespace\":");
	write_jobs(w, "odd", 1, "{\"namespace\":7}");
	write_jobs(w, "cluster", 8, "{\"cluster\":\"a\"}");
	assert_int_equal(jobs_of(w, "a-0"), 2);
	assert_int_equal(jobs_of(w, "a-1"), 2);
	assert_int_equal(jobs_of(w, "b-0"), 3);
	assert_int_equal(jobs_of(w, "none-0"), 7);
	assert_int_equal(jobs_of(w, "nobody"), 7);
	assert_int_equal(jobs_of(w, "cluster-0"), 8);
	/* The labels of the newest run decide to which namespace the job belongs. */
	RUN(w, .job = "a-0", .labels = "{\"namespace\":\"b\"}");
	seconds_later = NEIGHBOURHOOD_SECONDS + 1;
	assert_int_equal(jobs_of(w, "a-0"), 4);
	assert_int_equal(jobs_of(w, "a-1"), 0);
}

static void projects_and_domains_are_namespaces_of_flyte_only(void **state)
{
	static const char *const labels[] = {"{\"project\":\"p\",\"domain\":\"d\"}",
		"{\"project\":\"q\",\"domain\":\"d\"}", "{\"project\":\"p\",\"domain\":\"e\"}"};
	static const char *const systems[] = {"flyte", "gitlab-ci"};
	struct world *w = *state;

	for (size_t s = 0; s < ARRAY_LEN(systems); s++)
		for (size_t i = 0; i < ARRAY_LEN(labels); i++)
			for (size_t job = 0; job < 2; job++) {
				char name[64];

				snprintf(name, sizeof name, "%s-%zu-%zu", systems[s], i, job);
				RUN(w, .job = name, .system = systems[s], .labels = labels[i]);
			}
	assert_int_equal(jobs_of(w, "flyte-0-0"), 2);
	assert_int_equal(jobs_of(w, "gitlab-ci-0-0"), 6);
}

static void a_job_that_is_alone_has_no_neighbours(void **state)
{
	struct world *w = *state;

	assert_int_equal(jobs_of(w, "a-0"), 0); /* the history is empty */
	write_jobs(w, "a", 1, NULL);
	assert_int_equal(jobs_of(w, "a-0"), 0);
	write_jobs(w, "b", 1, NULL);
	assert_int_equal(jobs_of(w, "a-0"), 2);
}

static void the_namespaces_of_the_newest_runs_have_places(void **state)
{
	struct world *w = *state;

	for (int i = 0; i <= NAMESPACES_MAX; i++) {
		char prefix[32], labels[64];

		snprintf(prefix, sizeof prefix, "job-%d", i);
		snprintf(labels, sizeof labels, "{\"namespace\":\"space-%d\"}", i);
		write_jobs(w, prefix, 2, labels);
	}
	assert_int_equal(jobs_of(w, "job-0-0"), 0);
	assert_int_equal(jobs_of(w, "job-1-0"), 2);
	assert_int_equal(n_added, 2 * NAMESPACES_MAX);
}

static void all_namespaces_together_are_bounded(void **state)
{
	static const char *const labels[] = {"{\"namespace\":\"a\"}", "{\"namespace\":\"b\"}",
		"{\"namespace\":\"c\"}", "{\"namespace\":\"d\"}"};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
		char prefix[32];

		snprintf(prefix, sizeof prefix, "job-%zu", i);
		write_jobs(w, prefix, NEIGHBOUR_JOBS_MAX + 1, labels[i]);
	}
	assert_int_equal(jobs_of(w, "job-3-0"), NEIGHBOUR_JOBS_MAX);
	assert_int_equal(jobs_of(w, "job-1-0"), NEIGHBOUR_JOBS_MAX);
	assert_int_equal(jobs_of(w, "job-0-0"), 0);
	assert_int_equal(n_added, JOBS_READ_MAX);
}

/* ---- memory ---- */

static size_t given_out(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* The largest reading: each job has as many runs as are read, and an input for each, so that all
 * experts predict. */
static void the_largest_reading_takes_what_is_told(void **state)
{
	static const char *const labels[] = {
		"{\"namespace\":\"a\"}", "{\"namespace\":\"b\"}", "{\"namespace\":\"c\"}"};
	struct world *w = *state;

	for (size_t k = 0; k < NEIGHBOUR_RUNS_MAX; k++)
		for (size_t i = 0; i < JOBS_READ_MAX; i++) {
			char name[64];

			snprintf(name, sizeof name, "job-%zu", i);
			RUN(w, .job = name, .labels = labels[i % ARRAY_LEN(labels)],
				.peak = (double)(500 + (i * 7 + k * 13) % 101) * MIB,
				.input = 1e6 * (double)(1 + (i + k) % 17));
		}
	size_t before = given_out();

	most_given_out = 0;
	struct job_neighbours n = find(w, "job-0");
	assert_int_equal(n_added, JOBS_READ_MAX);
	job_neighbours_done(&n);
	if (!before)
		skip(); /* AddressSanitizer's malloc does not count its memory */
	/* The labels of these jobs are short, so they need less memory than the bound. */
	assert_in_range(most_given_out - before, NEIGHBOURHOOD_BYTES / 2,
		NEIGHBOURHOOD_BYTES * 3 / 4);
	assert_in_range(given_out() - before, 1, MIB / 2);
}

static void without_memory_the_previous_summary_is_used(void **state)
{
	struct world *w = *state;
	struct job_neighbours n = {0};
	struct err e = {0};

	write_jobs(w, "a", 5, NULL);
	memory_budget_set(NEIGHBOURHOOD_BYTES);
	memory_budget_begin_answer();
	assert_int_equal(job_neighbours_find(&w->app, w->h, "a-0", &n, &e), -ENOMEM);
	assert_true(memory_budget_end_answer()); /* so the answer is 503 */
	assert_int_equal(readings, 0);
	memory_budget_set(0);
	assert_int_equal(jobs_of(w, "a-0"), 5);
	write_jobs(w, "b", 5, NULL);
	memory_budget_set(NEIGHBOURHOOD_BYTES);
	memory_budget_begin_answer();
	assert_int_equal(jobs_of(w, "a-0"), 5);
	assert_false(memory_budget_end_answer());
	memory_budget_set(0);
	assert_int_equal(jobs_of(w, "a-0"), 10);
}

/* ---- the cache ---- */

static void they_are_read_again_when_a_tenth_more_runs_ended(void **state)
{
	struct world *w = *state;

	write_jobs(w, "a", 15, "{\"namespace\":\"a\"}");
	write_jobs(w, "b", 15, "{\"namespace\":\"b\"}");
	AUTO(job_neighbours_done) struct job_neighbours first = find(w, "a-0");

	write_jobs(w, "c", 2, "{\"namespace\":\"b\"}");
	AUTO(job_neighbours_done) struct job_neighbours same = find(w, "a-0");

	assert_ptr_equal(first.held, same.held);
	assert_int_equal(readings, 1);
	write_jobs(w, "d", 1, "{\"namespace\":\"b\"}");
	AUTO(job_neighbours_done) struct job_neighbours after = find(w, "a-0");
	AUTO(job_neighbours_done) struct job_neighbours again = find(w, "b-0");

	assert_ptr_not_equal(first.held, after.held);
	assert_ptr_equal(after.held, again.held);
	assert_int_equal(readings, 2);
	/* In this namespace nothing changed, so cached results stay valid. */
	assert_true(first.fingerprint == after.fingerprint);
	assert_true(again.fingerprint != after.fingerprint);
}

static void the_fingerprint_changes_with_what_is_learnt(void **state)
{
	struct world *w = *state;
	uint64_t before = 0;

	write_jobs(w, "a", 5, NULL);
	for (size_t i = 0; i < 3; i++) {
		AUTO(job_neighbours_done) struct job_neighbours n = find(w, "a-0");

		assert_true(n.fingerprint != before);
		before = n.fingerprint;
		RUN(w, .job = "a-1", .peak = (double)(i + 1) * MIB);
	}
}

static void they_are_read_again_after_some_minutes_if_a_run_ended(void **state)
{
	struct world *w = *state;

	write_jobs(w, "a", 30, NULL);
	job_neighbours_done(&(struct job_neighbours){.held = find(w, "a-0").held});
	seconds_later = 2 * NEIGHBOURHOOD_SECONDS;
	job_neighbours_done(&(struct job_neighbours){.held = find(w, "a-0").held});
	assert_int_equal(readings, 1);
	write_jobs(w, "b", 1, NULL);
	assert_int_equal(jobs_of(w, "a-0"), 31);
	assert_int_equal(readings, 2);
	write_jobs(w, "c", 1, NULL);
	seconds_later += NEIGHBOURHOOD_SECONDS - 1;
	assert_int_equal(jobs_of(w, "a-0"), 31);
	seconds_later += 2;
	assert_int_equal(jobs_of(w, "a-0"), 32);
	assert_int_equal(readings, 3);
}

static void an_active_run_does_not_count_until_it_ends(void **state)
{
	struct world *w = *state;

	write_jobs(w, "a", 3, NULL);
	assert_int_equal(jobs_of(w, "a-0"), 3);
	test_write_run(w->h, "open", "open", w->at, 3, OUTCOME_RUNNING);
	assert_int_equal(jobs_of(w, "a-0"), 3);
	assert_int_equal(readings, 1);
	const struct run_finish f = test_finish("open", w->at + 5, OUTCOME_SUCCEEDED);

	assert_int_equal(history_transaction(w->h, NULL), 0);
	assert_int_equal(history_run_finish(w->h, &f, NULL), 0);
	assert_int_equal(history_commit(w->h, NULL), 0);
	assert_int_equal(jobs_of(w, "a-0"), 4);
}

static bool always(void)
{
	return true;
}

static void a_reading_that_fails_is_tried_again(void **state)
{
	struct world *w = *state;
	struct job_neighbours n = {0};
	struct err e = {0};
	struct history *h;

	write_jobs(w, "a", 2000, NULL);
	assert_int_equal(history_open(&h, w->folder.file, HISTORY_READ, NULL, NULL, &e), 0);
	history_give_up_when(h, always);
	assert_true(job_neighbours_find(&w->app, h, "a-0", &n, &e) < 0);
	assert_null(n.held);
	history_close(h);
	assert_int_equal(jobs_of(w, "a-0"), NEIGHBOUR_JOBS_MAX);
}

static void without_a_cache_they_are_read_each_time(void **state)
{
	struct world *w = *state;

	neighbourhoods_free(w->app.neighbourhoods);
	w->app.neighbourhoods = NULL;
	write_jobs(w, "a", 2, NULL);
	assert_int_equal(jobs_of(w, "a-0"), 2);
	assert_int_equal(jobs_of(w, "a-0"), 2);
	assert_int_equal(readings, 2);
}

enum { THREADS = 8, TIMES = 40 };

static void *ask(void *context)
{
	struct world *w = context;

	for (int i = 0; i < TIMES; i++) {
		AUTO(job_neighbours_done) struct job_neighbours n = {0};
		AUTO(history_closep) struct history *h = NULL;
		struct err e = {0};

		if (history_open(&h, w->folder.file, HISTORY_READ, NULL, NULL, &e) ||
			job_neighbours_find(&w->app, h, "a-0", &n, &e) || !n.jobs)
			return (void *)1;
	}
	return NULL;
}

/* Runs end meanwhile, so the neighbours are read again and again. */
static void any_thread_may_ask(void **state)
{
	struct world *w = *state;
	pthread_t thread[THREADS];

	write_jobs(w, "a", 20, NULL);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, ask, w), 0);
	write_jobs(w, "b", 50, NULL);
	for (int i = 0; i < THREADS; i++) {
		void *failed;

		pthread_join(thread[i], &failed);
		assert_null(failed);
	}
	/* The neighbours are read again each time the history has a tenth more runs. From 20 to 70
	 * runs, this happens at most 14 times. */
	assert_in_range(readings, 1, 14);
	seconds_later = NEIGHBOURHOOD_SECONDS + 1;
	assert_int_equal(jobs_of(w, "a-0"), 70);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(runs_that_teach_come_oldest_first),
		TEST(only_so_many_runs_of_so_many_jobs_are_read),
		TEST(only_jobs_of_recent_runs_are_read),
		TEST(namespaces_do_not_mix),
		TEST(projects_and_domains_are_namespaces_of_flyte_only),
		TEST(a_job_that_is_alone_has_no_neighbours),
		TEST(the_namespaces_of_the_newest_runs_have_places),
		TEST(all_namespaces_together_are_bounded),
		TEST(the_largest_reading_takes_what_is_told),
		TEST(without_memory_the_previous_summary_is_used),
		TEST(they_are_read_again_when_a_tenth_more_runs_ended),
		TEST(the_fingerprint_changes_with_what_is_learnt),
		TEST(they_are_read_again_after_some_minutes_if_a_run_ended),
		TEST(an_active_run_does_not_count_until_it_ends),
		TEST(a_reading_that_fails_is_tried_again),
		TEST(without_a_cache_they_are_read_each_time),
		TEST(any_thread_may_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
