/* Kills the writer with SIGKILL before and in the middle of each write to the disk, and at any
 * instant. The file stays sound and keeps everything that was committed. At most the last interval
 * is lost, and open runs become interrupted. Another test lets several processes write one file. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/base/scan.h"
#include "exporter/history/historian.h"
#include "tests/support/failing_vfs.h"
#include "tests/support/test_history.h"

#define KILLS         20   /* RIGHTSIZE_KILLS in the environment replaces this number */
#define CALLS_MAX     5000 /* live() makes fewer calls */
#define LIFE_SAMPLES  8
#define WRITERS       3
#define WRITER_RUNS   4
#define WRITER_POINTS 50

/* The child's last commit, in memory shared with the parent. */
struct seen {
	atomic_size_t samples;
	atomic_size_t steps; /* steps that live() has completed */
};

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

/* ---- killed during a write ---- */

static int write_one(struct history *h, const char *run_id, size_t i)
{
	double value[TEST_COLUMNS];
	struct sample s;
	int code = history_transaction(h, NULL);

	test_sample(&s, value, run_id, 1000, i);
	if (code == 0)
		code = history_samples(h, &s, 1, NULL);
	return code ? code : history_commit(h, NULL);
}

/* Writes samples one by one, and prunes the history after every 64 samples. Never returns. */
static _Noreturn void write_for_ever(const char *path, const char *run_id, struct seen *seen,
	int pipe_end)
{
	const struct run_begin b = test_begin(run_id, "job", 1000);
	const struct history_limits l = {
		.runs_per_job = 3, .full_rate_seconds = 60, .max_bytes = 200000};
	struct history *h;

	if (history_open(&h, path, HISTORY_WRITE, &test_columns, NULL, NULL))
		_exit(1);
	if (history_transaction(h, NULL) || history_run_begin(h, &b, NULL) ||
		history_commit(h, NULL))
		_exit(2);
	for (size_t i = 0;; i++) {
		if (write_one(h, run_id, i))
			_exit(3);
		atomic_store(&seen->samples, i + 1);
		if (write(pipe_end, "", 1) != 1)
			_exit(4);
		if (i % 64 == 63 && history_prune(h, &l, 1000 + (double)i + 120, NULL) < 0)
			_exit(5);
	}
}

static void wait_for_samples(int pipe_end, size_t n)
{
	char c;

	for (size_t i = 0; i < n; i++)
		assert_int_equal(read(pipe_end, &c, 1), 1);
	/* Waits a random time, up to about the length of a transaction. */
	for (volatile uint32_t spin = random_below(100000); spin > 0; spin--)
		;
}

static size_t write_and_be_killed(const char *path, const char *run_id, struct seen *seen)
{
	int ends[2], status;

	atomic_store(&seen->samples, 0);
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();

	if (child == 0) {
		close(ends[0]);
		write_for_ever(path, run_id, seen, ends[1]);
	}
	assert_true(child > 0);
	close(ends[1]);
	wait_for_samples(ends[0], 1 + random_below(300));
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	close(ends[0]);
	return atomic_load(&seen->samples);
}

static bool nobody_lives(void *context, pid_t pid, uint64_t start_ticks)
{
	(void)context;
	(void)pid;
	(void)start_ticks;
	return false;
}

static void close_orphans(struct history *h)
{
	const struct run_root here = test_begin("", "", 0).root;
	const struct orphan_rule rule = {
		.now = 1e6, .stale_seconds = 60, .here = &here, .alive = nobody_lives};

	assert_int_equal(history_transaction(h, NULL), 0);
	assert_int_equal(history_close_orphans(h, &rule, NULL), 0);
	assert_int_equal(history_commit(h, NULL), 0);
}

static uint64_t number_of_kills(void)
{
	const char *text = getenv("RIGHTSIZE_KILLS");
	struct scan s = SCAN(text ? text : "", text ? strlen(text) : 0);
	uint64_t kills = KILLS;

	scan_u64(&s, &kills);
	return kills;
}

static void a_kill_loses_at_most_the_sample_at_hand(void **state)
{
	struct test_folder *f = *state;
	struct seen *seen =
		mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t kills = number_of_kills();

	assert_true(seen != MAP_FAILED);
	for (uint64_t k = 0; k < kills; k++) {
		AUTO(arena_done) struct arena arena = {0};
		char run_id[32];

		snprintf(run_id, sizeof run_id, "run-%u", (unsigned)k);
		size_t committed = write_and_be_killed(f->file, run_id, seen);
		struct err notice = {0}, e = {0};
		struct history *h;

		assert_int_equal(history_open(&h, f->file, HISTORY_WRITE, &test_columns, &notice,
					 NULL),
			0);
		if (history_check(h, &e) || notice.code)
			fail_msg("kill %u: %s %s", (unsigned)k, e.text, notice.text);
		struct run r = test_read_run(h, run_id, &arena);

		assert_int_equal(r.outcome, OUTCOME_RUNNING);
		assert_in_range(r.samples, committed, committed + 1);
		assert_near(run_total(&r, "cpu_seconds"), 0.5 * (double)r.samples, 1e-6);
		assert_near(run_peak(&r, "memory_bytes"), (double)r.samples - 1, 0);
		close_orphans(h);
		r = test_read_run(h, run_id, &arena);
		assert_int_equal(r.outcome, OUTCOME_INTERRUPTED);
		assert_near(r.ended_at, 1000 + (double)r.samples, 0);
		history_close(h);
	}
	munmap(seen, sizeof *seen);
}

/* ---- killed at each write ---- */

#define DISK_CALLS (VFS_WRITE | VFS_SYNC | VFS_TRUNCATE | VFS_DELETE | VFS_OPEN)

static int begin_one(struct history *h, const char *run_id)
{
	const struct run_begin b = test_begin(run_id, "job", 1000);
	int code = history_transaction(h, NULL);

	return code ? code : history_end(h, history_run_begin(h, &b, NULL), NULL);
}

static int finish_one(struct history *h, const char *run_id)
{
	const struct run_finish f = test_finish(run_id, 1000 + LIFE_SAMPLES, OUTCOME_SUCCEEDED);
	int code = history_transaction(h, NULL);

	return code ? code : history_end(h, history_run_finish(h, &f, NULL), NULL);
}

static int prune_all(struct history *h)
{
	const struct history_limits l = {
		.runs_per_job = 1, .full_rate_seconds = 60, .max_bytes = 1 << 20};
	int code;

	while ((code = history_prune(h, &l, 1e6, NULL)) > 0)
		;
	return code;
}

/* Steps of live(). Each is one transaction, except opening, pruning and closing. */
enum {
	STEP_OPENED = 1,
	STEP_BEGUN,
	STEP_SAMPLED = STEP_BEGUN + LIFE_SAMPLES,
	STEP_FINISHED,
	STEP_PRUNED,
	STEP_CLOSED,
};

/* Makes every kind of write. Pruning deletes the old run, and closing copies the WAL into the
 * file. */
static int live(const char *path, struct seen *seen)
{
	struct history *h;
	int code = history_open(&h, path, HISTORY_WRITE, &test_columns, NULL, NULL);

	if (code)
		return code;
	atomic_fetch_add(&seen->steps, 1);
	code = begin_one(h, "new");
	if (code == 0)
		atomic_fetch_add(&seen->steps, 1);
	for (size_t i = 0; i < LIFE_SAMPLES && code == 0; i++) {
		code = write_one(h, "new", i);
		if (code == 0)
			atomic_fetch_add(&seen->steps, 1);
	}
	if (code == 0)
		code = finish_one(h, "new");
	if (code == 0)
		atomic_fetch_add(&seen->steps, 1);
	if (code == 0)
		code = prune_all(h);
	if (code == 0)
		atomic_fetch_add(&seen->steps, 1);
	history_close(h);
	if (code == 0)
		atomic_fetch_add(&seen->steps, 1);
	return code;
}

/* Forks a child that is killed at call number `nth`. Returns false when the child made fewer calls
 * and ended by itself. */
static bool live_and_be_killed(const char *path, struct seen *seen, long nth, bool half)
{
	int status;

	atomic_store(&seen->steps, 0);
	pid_t child = fork();

	if (child == 0) {
		failing_vfs_kill(DISK_CALLS, nth, half);
		_exit(live(path, seen) != 0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return true;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(atomic_load(&seen->steps), STEP_CLOSED);
	return false;
}

/* Expects all rows of the completed steps. The rows of the next step may be there, too. */
static void check_committed(struct history *h, size_t steps)
{
	AUTO(arena_done) struct arena arena = {0};
	const struct run_query q = {.open_stats = true};
	size_t sampled = steps <= STEP_BEGUN ? 0 : steps - STEP_BEGUN;
	const struct run *new = NULL, *old = NULL;
	struct runs runs;

	assert_int_equal(history_runs(h, &q, &arena, &runs, NULL), 0);
	for (size_t i = 0; i < runs.n; i++)
		if (strcmp(runs.run[i].run_id, "new") == 0)
			new = &runs.run[i];
		else
			old = &runs.run[i];
	/* Only pruning deletes the old run. No earlier step may delete it. */
	if (steps < STEP_FINISHED) {
		assert_non_null(old);
		assert_int_equal(old->samples, 100);
		assert_int_equal(old->outcome, OUTCOME_SUCCEEDED);
	}
	if (steps >= STEP_PRUNED)
		assert_null(old);
	if (steps >= STEP_BEGUN)
		assert_non_null(new);
	if (!new)
		return;
	sampled = sampled < LIFE_SAMPLES ? sampled : LIFE_SAMPLES;
	assert_in_range(new->samples, sampled, sampled + (sampled < LIFE_SAMPLES));
	if (new->samples)
		assert_near(run_total(new, "cpu_seconds"), 0.5 * (double)new->samples, 1e-6);
	if (steps >= STEP_FINISHED)
		assert_int_equal(new->outcome, OUTCOME_SUCCEEDED);
	if (steps < STEP_SAMPLED)
		assert_int_equal(new->outcome, OUTCOME_RUNNING);
}

static void check_survivor(const struct test_folder *place, struct seen *seen, long nth, bool half)
{
	struct err notice = {0}, e = {0};
	struct history *h;

	assert_int_equal(history_open(&h, place->file, HISTORY_WRITE, &test_columns, &notice, &e),
		0);
	if (history_check(h, &e) || notice.code)
		fail_msg("call %ld%s: %s %s", nth, half ? ", half" : "", e.text, notice.text);
	check_committed(h, atomic_load(&seen->steps));
	test_jobs_fit_runs(place);
	close_orphans(h);
	test_jobs_fit_runs(place);
	/* The file can still be written. */
	test_write_run(h, "next", "job", 2000, 5, OUTCOME_SUCCEEDED);
	assert_int_equal(prune_all(h), 0);
	assert_int_equal(history_check(h, NULL), 0);
	history_close(h);
}

static void killed_at(struct seen *seen, bool half)
{
	long nth = 0;
	bool killed;

	do {
		struct test_folder place;
		struct history *h;

		test_folder_make(&place);
		h = test_history(place.file);
		test_write_run(h, "old", "job", 0, 100, OUTCOME_SUCCEEDED);
		history_close(h);
		killed = live_and_be_killed(place.file, seen, ++nth, half);
		check_survivor(&place, seen, nth, half);
		assert_int_equal(test_folder_aside(&place, NULL, 0), 0);
		test_folder_remove(&place);
	} while (killed && nth < CALLS_MAX);
	print_message("%ld calls\n", nth - 1);
	assert_false(killed);
	assert_true(nth > 30);
}

static void a_kill_at_any_call_to_the_disk_loses_nothing_that_was_committed(void **state)
{
	struct seen *seen =
		mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(seen != MAP_FAILED);
	killed_at(seen, false);
	killed_at(seen, true);
	munmap(seen, sizeof *seen);
}

/* ---- several writers ---- */

static void name_run(char out[32], int writer, int run)
{
	snprintf(out, 32, "w%d-r%d", writer, run);
}

/* Acts as one exporter: starts a historian and records runs one after the other. Its limits also
 * apply to the runs of the other writers. */
static int be_a_writer(const char *path, int writer)
{
	const struct historian_config c = {
		.path = path,
		.columns = &test_columns,
		.limits = {.runs_per_job = 1000, .full_rate_seconds = 3600, .max_bytes = 1 << 30},
		.here = test_begin("", "", 0).root,
	};
	struct historian *h;
	char run_id[32];

	if (historian_start(&h, &c, NULL))
		return 1;
	for (int r = 0; r < WRITER_RUNS; r++) {
		name_run(run_id, writer, r);
		const struct run_begin b = test_begin(run_id, "job", 1e9);
		const struct run_finish end =
			test_finish(run_id, 1e9 + WRITER_POINTS, OUTCOME_SUCCEEDED);

		historian_run_begin(h, &b);
		for (size_t i = 0; i < WRITER_POINTS; i++) {
			double value[TEST_COLUMNS];
			struct sample s;

			test_sample(&s, value, run_id, 1e9, i);
			historian_samples(h, &s, 1);
			if (i % 7 == 0 && !historian_flush(h, 60))
				return 2;
		}
		historian_run_finish(h, &end);
	}
	if (!historian_flush(h, 60) ||
		historian_health(h).samples_written != WRITER_RUNS * WRITER_POINTS)
		return 3;
	historian_stop(h);
	return 0;
}

static void several_processes_share_a_file_without_losing_rows(void **state)
{
	struct test_folder *f = *state;
	AUTO(arena_done) struct arena arena = {0};
	struct history *h;
	struct job_row *job;
	size_t n;

	for (int w = 0; w < WRITERS; w++)
		if (fork() == 0)
			_exit(be_a_writer(f->file, w));
	for (int w = 0; w < WRITERS; w++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	h = test_history(f->file);
	assert_int_equal(history_check(h, NULL), 0);
	for (int w = 0; w < WRITERS; w++)
		for (int r = 0; r < WRITER_RUNS; r++) {
			char run_id[32];

			name_run(run_id, w, r);
			struct run run = test_read_run(h, run_id, &arena);

			assert_int_equal(run.outcome, OUTCOME_SUCCEEDED);
			assert_int_equal(run.samples, WRITER_POINTS);
			assert_near(run_peak(&run, "memory_bytes"), WRITER_POINTS - 1, 0);
		}
	assert_int_equal(history_jobs(h, 0, &arena, &job, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(job->runs, WRITERS * WRITER_RUNS);
	assert_int_equal(job->outcomes[OUTCOME_SUCCEEDED], WRITERS * WRITER_RUNS);
	history_close(h);
	assert_int_equal(test_folder_count(f), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_folder_set_up, test_folder_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_kill_at_any_call_to_the_disk_loses_nothing_that_was_committed),
		TEST(a_kill_loses_at_most_the_sample_at_hand),
		TEST(several_processes_share_a_file_without_losing_rows),
	};

	failing_vfs_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
