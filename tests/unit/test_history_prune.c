/* The history stays within its limits, and deletes the least useful data first. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test_history.h"

/* Returns the ids of all runs, newest first. Each id is one letter. */
static const char *all_runs(struct test_place *f)
{
	static char ids[64];
	const struct run_query all = {0};
	struct runs runs;

	assert_int_equal(history_runs(f->h, &all, &f->arena, &runs, NULL), 0);
	assert_true(runs.n < sizeof ids);
	for (size_t i = 0; i < runs.n; i++)
		ids[i] = runs.run[i].run_id[0];
	ids[runs.n] = '\0';
	return ids;
}

static struct history_losses losses(struct test_place *f)
{
	struct history_losses ret = {0};

	assert_int_equal(history_losses(f->h, &ret, NULL), 0);
	return ret;
}

static void limits_decide_which_runs_stay(void **state)
{
	struct test_place *f = *state;
	static const struct {
		const char *what;
		struct history_limits limits;
		const char *stay; /* newest first */
	} table[] = {
		{"no limits", {0}, "hgfedcba"},
		{"ample limits", {.runs_per_job = 5, .retention_seconds = 1e6}, "hgfedcba"},
		/* Job x has the runs a, b, d, f and h (h is open). Job y has c and e. Job z has g,
		 * which started at 700. */
		{"three of a job", {.runs_per_job = 3}, "hgfedcb"},
		{"one of a job: the open run and the newest ended one", {.runs_per_job = 1},
			"hgfe"},
		{"age, but never the newest of a job", {.retention_seconds = 1}, "hgfe"},
		{"age", {.retention_seconds = 1000 - 405}, "hgfed"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		print_message("%s\n", table[i].what);
		test_write_run(f->h, "a", "x", 100, 10, OUTCOME_SUCCEEDED);
		test_write_run(f->h, "b", "x", 200, 10, OUTCOME_FAILED);
		test_write_run(f->h, "c", "y", 300, 10, OUTCOME_SUCCEEDED);
		test_write_run(f->h, "d", "x", 400, 10, OUTCOME_SUCCEEDED);
		test_write_run(f->h, "e", "y", 500, 10, OUTCOME_SUCCEEDED);
		test_write_run(f->h, "f", "x", 600, 10, OUTCOME_SUCCEEDED);
		test_write_run(f->h, "g", "z", 700, 10, OUTCOME_INTERRUPTED);
		test_write_run(f->h, "h", "x", 50, 10, OUTCOME_RUNNING);
		test_write_samples(f->h, "h", 50, 10, 1);
		test_prune(f->h, &table[i].limits, 1000);
		/* Run h began first, so it comes last. */
		char stay[16];

		snprintf(stay, sizeof stay, "%sh", table[i].stay + 1);
		assert_string_equal(all_runs(f), stay);
		assert_int_equal(test_prune(f->h, &table[i].limits, 1000), 0);
		assert_int_equal(test_count_rows(&f->folder, "sample"), 10 * strlen(stay) + 1);
		assert_int_equal(test_count_rows(&f->folder, "run WHERE stats_form > 0"),
			strlen(stay) - 1);
		assert_int_equal(test_count_rows(&f->folder, "circumstances"), 2);

		history_close(f->h);
		assert_int_equal(unlink(f->folder.file), 0);
		f->h = test_history(f->folder.file);
	}
}

static void pruned_runs_still_count(void **state)
{
	struct test_place *f = *state;
	const struct history_limits l = {.runs_per_job = 2};
	struct job_row *job;
	size_t n;

	for (int i = 0; i < 10; i++) {
		char id[16];

		snprintf(id, sizeof id, "r%d", i);
		test_write_run(f->h, id, "job", i * 100, 1,
			i % 2 ? OUTCOME_SUCCEEDED : OUTCOME_FAILED);
	}
	test_prune(f->h, &l, 1e6);
	assert_int_equal(test_count_runs(f->h, NULL), 2);
	assert_int_equal(history_jobs(f->h, 0, &f->arena, &job, &n, NULL), 0);
	assert_int_equal(job->runs, 10);
	assert_int_equal(job->outcomes[OUTCOME_SUCCEEDED], 5);
	assert_int_equal(job->outcomes[OUTCOME_FAILED], 5);
}

static void runs_that_wait_to_be_handed_on_outlive_the_limits(void **state)
{
	struct test_place *f = *state;
	static const struct {
		const char *what;
		struct history_limits limits;
	} table[] = {
		{"number", {.runs_per_job = 1, .keep_unsent = RECEIVER_CENTRAL}},
		{"age", {.retention_seconds = 1, .keep_unsent = RECEIVER_CENTRAL}},
		{"number, store", {.runs_per_job = 1, .keep_unsent = RECEIVER_STORE}},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		print_message("%s\n", table[i].what);
		for (char c = 'a'; c <= 'e'; c++)
			test_write_run(f->h, (char[]){c, '\0'}, "job", (c - 'a') * 100, 10,
				OUTCOME_SUCCEEDED);
		test_prune(f->h, &table[i].limits, 1e6);
		assert_string_equal(all_runs(f), "edcba");
		assert_int_equal(history_run_sent(f->h,
					 (enum history_receiver)table[i].limits.keep_unsent, "b",
					 OUTCOME_SUCCEEDED, 600, NULL),
			0);
		test_prune(f->h, &table[i].limits, 1e6);
		assert_string_equal(all_runs(f), "edca");
		assert_int_equal(losses(f).runs, 0);

		history_close(f->h);
		assert_int_equal(unlink(f->folder.file), 0);
		f->h = test_history(f->folder.file);
	}
}

/* A store to which runs are sent still has runs that the limits removed here. They must not be
 * taken for new runs. */
static void removed_runs_are_told_from_new_ones(void **state)
{
	struct test_place *f = *state;
	static const struct {
		const char *what;
		struct history_limits limits;
	} table[] = {
		{"number", {.runs_per_job = 3}},
		{"size", {.runs_per_job = 100, .max_bytes = 1}},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct history_limits *l = &table[i].limits;
		double until = NAN;

		print_message("%s\n", table[i].what);
		for (char c = 'a'; c <= 'e'; c++)
			test_write_run(f->h, (char[]){c, '\0'}, "job", 100 * (c - 'a' + 1), 10,
				OUTCOME_SUCCEEDED);
		test_prune(f->h, l, 1e6);
		test_write_run(f->h, "f", "job", 700, 10, OUTCOME_SUCCEEDED);
		assert_int_equal(history_removed_until(f->h, "job", l->runs_per_job, &until, NULL),
			0);
		assert_double_equal(until, l->max_bytes ? 500 : 400, 0);
		assert_int_equal(history_removed_until(f->h, "other", 3, &until, NULL), 0);
		assert_double_equal(until, 0, 0);

		history_close(f->h);
		assert_int_equal(unlink(f->folder.file), 0);
		f->h = test_history(f->folder.file);
	}
}

#define DAY 86400.0

/* A wrapper and a server share the file. Only one of them has the address to which runs are
 * forwarded. */
static void runs_that_another_is_to_hand_on_stay(void **state)
{
	struct test_place *f = *state;
	const struct history_limits forwarder = {.keep_unsent = RECEIVER_CENTRAL},
				    other = {.runs_per_job = 1, .retention_seconds = 10};

	test_prune(f->h, &forwarder, 1e6);
	for (char c = 'a'; c <= 'e'; c++)
		test_write_run(f->h, (char[]){c, '\0'}, "job", (c - 'a') * 100, 10,
			OUTCOME_SUCCEEDED);
	assert_int_equal(history_run_sent(f->h, RECEIVER_CENTRAL, "c", OUTCOME_SUCCEEDED, 600,
				 NULL),
		0);
	test_prune(f->h, &other, 1e6);
	assert_string_equal(all_runs(f), "edba");

	/* The runs stay while the forwarder is stopped for 29 days. They also stay when the clock
	 * steps back by 29 days. */
	test_prune(f->h, &other, 1e6 + 29 * DAY);
	test_prune(f->h, &other, 1e6 - 29 * DAY);
	assert_string_equal(all_runs(f), "edba");
	assert_int_equal(losses(f).runs, 0);
	test_prune(f->h, &forwarder, 1e6 + 29 * DAY);
	test_prune(f->h, &other, 1e6 + 50 * DAY);
	assert_string_equal(all_runs(f), "edba");

	/* The forwarder has not run for 31 days, so the runs that wait for it are deleted. */
	test_prune(f->h, &other, 1e6 + 60 * DAY);
	assert_string_equal(all_runs(f), "e");
}

/* Losses caused by another writer of the file count, too. */
static void losses_are_those_of_all(void **state)
{
	struct test_place *f = *state;
	const struct history_limits forwarder = {.keep_unsent = RECEIVER_CENTRAL},
				    other = {.max_bytes = 50000};
	struct history *h = test_history(f->folder.file);

	test_prune(f->h, &forwarder, 1e6);
	for (int i = 0; i < 250; i++) {
		char id[16];

		snprintf(id, sizeof id, "r%d", i);
		test_write_run(f->h, id, "job", i * 100, 10, OUTCOME_SUCCEEDED);
	}
	test_prune(h, &other, 1e6);
	history_close(h);
	assert_int_equal(losses(f).runs, 250 - test_count_rows(&f->folder, "run"));
	assert_true(losses(f).runs > 0);
}

static void defaults_yield_to_the_limits_of_who_serves(void **state)
{
	struct test_place *f = *state;
	const unsigned all =
		LIMIT_RUNS_PER_JOB | LIMIT_RETENTION | LIMIT_MAX_BYTES | LIMIT_FULL_RATE;
	const struct {
		const char *what;
		struct history_limits serves, wrapper;
		double later;
		const char *stay;
	} table[] = {
		{"more runs", {.runs_per_job = 4}, {.runs_per_job = 2, .defaults = all}, 0, "edcb"},
		{"fewer runs", {.runs_per_job = 1}, {.runs_per_job = 2, .defaults = all}, 0, "e"},
		{"older runs", {.retention_seconds = 1000 - 205},
			{.retention_seconds = 1, .defaults = all}, 0, "edc"},
		{"what was chosen holds", {.runs_per_job = 4},
			{.runs_per_job = 2, .defaults = LIMIT_RETENTION | LIMIT_MAX_BYTES}, 0,
			"ed"},
		{"nobody has served for long", {.runs_per_job = 4},
			{.runs_per_job = 2, .defaults = all}, 31 * DAY, "ed"},
		{"away for a repair", {.runs_per_job = 4}, {.runs_per_job = 2, .defaults = all},
			29 * DAY, "edcb"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct history_limits serves = table[i].serves;

		print_message("%s\n", table[i].what);
		serves.serves = true;
		/* An earlier limit of another server must no longer apply. */
		test_prune(f->h, &(struct history_limits){.runs_per_job = 3, .serves = true}, 1000);
		test_prune(f->h, &serves, 1000);
		for (char c = 'a'; c <= 'e'; c++)
			test_write_run(f->h, (char[]){c, '\0'}, "job", (c - 'a') * 100, 10,
				OUTCOME_SUCCEEDED);
		test_prune(f->h, &table[i].wrapper, 1000 + table[i].later);
		assert_string_equal(all_runs(f), table[i].stay);

		history_close(f->h);
		assert_int_equal(unlink(f->folder.file), 0);
		f->h = test_history(f->folder.file);
	}
}

static void samples_and_size_are_kept_as_who_serves_says(void **state)
{
	struct test_place *f = *state;
	const struct history_limits serves = {.full_rate_seconds = 1e9, .serves = true},
				    wrapper = {.full_rate_seconds = 1,
					    .max_bytes = 30000,
					    .defaults = LIMIT_MAX_BYTES | LIMIT_FULL_RATE};

	test_prune(f->h, &serves, 1000);
	test_write_run(f->h, "a", "job", 0, 900, OUTCOME_SUCCEEDED);
	test_prune(f->h, &wrapper, 1e6);
	assert_int_equal(test_count_samples(f, "a"), 900);
}

static void one_step_is_bounded(void **state)
{
	struct test_place *f = *state;
	const struct history_limits l = {.runs_per_job = 1};

	test_write_run(f->h, "a", "job", 0, 9000, OUTCOME_SUCCEEDED);
	test_write_run(f->h, "b", "job", 10000, 10, OUTCOME_SUCCEEDED);
	assert_int_equal(history_prune(f->h, &l, 1e6, NULL), 1);
	assert_int_equal(test_count_samples(f, "a"), 7000);
	assert_in_range(test_prune(f->h, &l, 1e6), 4, 1000);
	assert_string_equal(all_runs(f), "b");
}

/* ---- size ---- */

static uint64_t file_size(const struct test_place *f)
{
	struct stat st;

	assert_int_equal(stat(f->folder.file, &st), 0);
	return (uint64_t)st.st_size;
}

static void a_file_that_is_too_long_shrinks_from_the_oldest_samples_on(void **state)
{
	struct test_place *f = *state;
	/* A sample takes about 33 bytes. */
	const struct history_limits l = {.max_bytes = 1 << 20};

	for (char c = 'a'; c <= 'd'; c++)
		test_write_run(f->h, (char[]){c, '\0'}, "job", (c - 'a') * 1e5, 20000,
			OUTCOME_SUCCEEDED);
	test_run_sql(f->folder.file, "PRAGMA wal_checkpoint(TRUNCATE)");
	assert_true(file_size(f) > 2 << 20);
	test_prune(f->h, &l, 1e7);
	test_run_sql(f->folder.file, "PRAGMA wal_checkpoint(TRUNCATE)");
	assert_true(file_size(f) <= 1 << 20);
	assert_true(file_size(f) > 1 << 19);
	assert_string_equal(all_runs(f), "dcba");
	assert_int_equal(test_count_samples(f, "a"), 0);
	assert_int_equal(test_count_samples(f, "b"), 0);
	assert_in_range(test_count_samples(f, "c"), 1, 19999);
	assert_int_equal(test_count_samples(f, "d"), 20000);

	/* The run's statistics stay when its samples are deleted. */
	struct run r = test_read_run(f->h, "a", &f->arena);

	assert_int_equal(r.samples, 20000);
	assert_near(run_total(&r, "cpu_seconds"), 10000, 1e-6);
	assert_near(run_peak(&r, "memory_bytes"), 19999, 0);
}

static void then_go_old_runs_and_last_the_samples_of_the_newest(void **state)
{
	struct test_place *f = *state;
	const struct history_limits l = {.max_bytes = 130000};

	for (char c = 'a'; c <= 'j'; c++)
		test_write_run(f->h, (char[]){c, '\0'}, c == 'j' ? "other" : "job", (c - 'a') * 1e5,
			3000, OUTCOME_SUCCEEDED);
	test_prune(f->h, &l, 1e7);
	assert_string_equal(all_runs(f), "ji");
	assert_int_equal(test_count_samples(f, "i"), 0);
	assert_true(test_count_samples(f, "j") < 3000);
	test_run_sql(f->folder.file, "PRAGMA wal_checkpoint(TRUNCATE)");
	assert_true(file_size(f) <= 130000);
}

/* Runs that wait to be forwarded are deleted only when the file is too large. The deleted runs are
 * counted. */
static void runs_that_wait_go_for_size_after_those_handed_on(void **state)
{
	struct test_place *f = *state;
	const struct history_limits l = {.max_bytes = 150000, .keep_unsent = RECEIVER_CENTRAL};
	enum { RUNS = 250, HANDED_ON = 20 };

	for (int i = 0; i < RUNS; i++) {
		char id[16];

		snprintf(id, sizeof id, "r%d", i);
		test_write_run(f->h, id, "job", i * 100, 10, OUTCOME_SUCCEEDED);
		if (i >= RUNS - HANDED_ON - 1 && i < RUNS - 1)
			assert_int_equal(history_run_sent(f->h, RECEIVER_CENTRAL, id,
						 OUTCOME_SUCCEEDED, 1e6, NULL),
				0);
	}
	test_prune(f->h, &l, 1e7);
	test_run_sql(f->folder.file, "PRAGMA wal_checkpoint(TRUNCATE)");
	assert_true(file_size(f) <= 150000);

	/* Newer runs that were forwarded are deleted before any run that waits. */
	uint64_t left = (uint64_t)test_count_rows(&f->folder, "run"), waiting;

	assert_int_equal(history_count_unsent(f->h, RECEIVER_CENTRAL, &waiting, NULL), 0);
	assert_int_equal(waiting, left);
	assert_in_range(left, 32, RUNS - HANDED_ON - 1);
	assert_int_equal(losses(f).runs, RUNS - HANDED_ON - left);
	assert_int_equal(losses(f).jobs, 0);
}

static void an_open_run_is_never_dropped_for_size(void **state)
{
	struct test_place *f = *state;
	const struct history_limits l = {.max_bytes = 100000};

	test_write_run(f->h, "a", "job", 0, 20000, OUTCOME_RUNNING);
	test_prune(f->h, &l, 20000);

	struct run r = test_read_run(f->h, "a", &f->arena);

	assert_int_equal(r.samples, 20000);
	assert_near(run_total(&r, "cpu_seconds"), 10000, 1e-6);
	assert_near(r.duration_seconds, 20000, 1e-6);
	/* The run's newest samples stay at full rate. The older ones became one-minute buckets. */
	assert_in_range(test_count_samples(f, "a"), 1000 + 19000 / 60, 1000 + 19000 / 60 + 120);
}

/* The job names contain a date or a number, so no job has a second run. */
static void the_bound_holds_for_jobs_whose_names_are_never_used_again(void **state)
{
	struct test_place *f = *state;
	const struct history_limits l = {.max_bytes = 150000};
	enum { JOBS = 250 };
	char name[JOBS + 1][16];
	struct job_row *job;
	size_t n;

	for (int i = 0; i <= JOBS; i++)
		snprintf(name[i], sizeof name[i], "job-%d", i);
	test_write_run(f->h, "open", name[0], 5, 10, OUTCOME_RUNNING);
	for (int i = 0; i < JOBS; i++)
		test_write_run(f->h, name[i], name[i], i * 100, 10,
			i % 2 ? OUTCOME_FAILED : OUTCOME_INTERRUPTED);
	test_run_sql(f->folder.file, "PRAGMA wal_checkpoint(TRUNCATE)");
	assert_true(file_size(f) > 200000);
	int64_t activity = history_activity(f->h);

	test_prune(f->h, &l, 1e7);
	test_run_sql(f->folder.file, "PRAGMA wal_checkpoint(TRUNCATE)");
	assert_true(file_size(f) <= 150000);
	assert_true(file_size(f) > 80000);
	assert_int_equal(history_activity(f->h), activity);

	/* The newest jobs remain with their counts, and so does the running run. */
	assert_int_equal(history_jobs(f->h, 0, &f->arena, &job, &n, NULL), 0);
	assert_in_range(n, 32, JOBS - 50);
	assert_int_equal(test_count_rows(&f->folder, "run"), n);
	assert_int_equal(losses(f).jobs, JOBS - n);
	assert_int_equal(test_count_rows(&f->folder, "job_outcome"), n);
	for (size_t i = 0; i + 1 < n; i++)
		assert_string_equal(job[i].job_name, name[JOBS - 1 - i]);
	assert_string_equal(job[n - 1].job_name, name[0]);
	assert_int_equal(job[n - 1].outcomes[OUTCOME_RUNNING], 1);
	assert_int_equal(job[n - 1].outcomes[OUTCOME_INTERRUPTED], 1);

	/* A deleted name that returns is a new job. */
	test_write_run(f->h, "again", name[1], 1e6, 1, OUTCOME_SUCCEEDED);
	assert_true(history_activity(f->h) > activity);
	assert_int_equal(history_jobs(f->h, 0, &f->arena, &job, &n, NULL), 0);
	assert_string_equal(job[0].job_name, name[1]);
	assert_int_equal(job[0].runs, 1);
}

static void a_replaced_file_is_not_pruned(void **state)
{
	struct test_place *f = *state;
	const struct history_limits l = {.runs_per_job = 1};

	assert_int_equal(unlink(f->folder.file), 0);
	assert_int_equal(history_prune(f->h, &l, 1e6, NULL), -ESTALE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_place_make, test_place_remove)
	const struct CMUnitTest tests[] = {
		TEST(limits_decide_which_runs_stay),
		TEST(pruned_runs_still_count),
		TEST(runs_that_wait_to_be_handed_on_outlive_the_limits),
		TEST(runs_that_wait_go_for_size_after_those_handed_on),
		TEST(removed_runs_are_told_from_new_ones),
		TEST(runs_that_another_is_to_hand_on_stay),
		TEST(losses_are_those_of_all),
		TEST(defaults_yield_to_the_limits_of_who_serves),
		TEST(samples_and_size_are_kept_as_who_serves_says),
		TEST(one_step_is_bounded),
		TEST(a_file_that_is_too_long_shrinks_from_the_oldest_samples_on),
		TEST(then_go_old_runs_and_last_the_samples_of_the_newest),
		TEST(an_open_run_is_never_dropped_for_size),
		TEST(the_bound_holds_for_jobs_whose_names_are_never_used_again),
		TEST(a_replaced_file_is_not_pruned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
