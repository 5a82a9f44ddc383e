/* exporter/discovery/finder.c: runs that an earlier exporter left open are continued, and only
 * once. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/discovery/finder.h"
#include "exporter/history/historian.h"
#include "exporter/core/identity.h"
#include "tests/support/jobs_world.h"
#include "tests/support/test_history.h"

#define LONG        60.0 /* seconds; longer than any wait in a test that passes */
#define WORKER      20
#define BOOT        "a-boot"
#define NAMESPACE   4026531836
#define LEFT_OPEN   "20260101T000000Z-00000001"
#define OF_A_LIVING "20260101T000000Z-00000002"

struct fixture {
	struct test_folder folder;
	struct world *w;
	struct options options;
	struct identity self;
	struct app app;
	struct sample_rows *sample_rows;
	struct finder *finder;
	struct arena arena;
};

static bool everybody_lives(void *context, pid_t pid, uint64_t start_ticks)
{
	(void)context;
	(void)pid;
	(void)start_ticks;
	return true;
}

/* Records an open run of the worker. Its recorder is this process or a process that has ended. */
static void record(struct fixture *f, const char *run_id, const char *job_name, bool recorder_lives)
{
	AUTO(history_closep) struct history *h = NULL;
	struct run_begin b = test_begin(run_id, job_name, 100);
	struct err e = {0};

	b.root = f->self.here;
	b.root.pid = WORKER;
	b.root.start_ticks = WORKER;
	b.owner_pid = getpid();
	b.owner_start_ticks = identity_start_ticks(getpid()) + !recorder_lives;
	if (history_open(&h, f->folder.file, HISTORY_WRITE, &f->app.columns, NULL, &e) ||
		history_transaction(h, &e) || history_run_begin(h, &b, &e) || history_commit(h, &e))
		fail_msg("%s", e.text);
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);
	const struct historian_config c = {
		.path = f->folder.file,
		.columns = &f->app.columns,
		.here = {.pid_namespace = NAMESPACE, .boot_id = BOOT},
		.alive = everybody_lives,
	};

	test_folder_make(&f->folder);
	f->w = world_new();
	f->w->host.now.mono.ns = 1000 * NS_PER_S;
	f->options.jobs_max = 10;
	f->self.pid = 7;
	f->self.here.pid_namespace = NAMESPACE;
	text_copy(BOOT, f->self.here.boot_id, sizeof f->self.here.boot_id);
	f->app = APP_INIT;
	f->app.options = &f->options;
	f->app.self = &f->self;
	f->app.history_path = f->folder.file;
	columns_build(&f->app.columns);
	record(f, LEFT_OPEN, "etl", false);
	record(f, OF_A_LIVING, "others", true);
	assert_int_equal(historian_start(&f->app.historian, &c, NULL), 0);
	f->sample_rows = sample_rows_new(&f->app.columns);
	f->finder = finder_new(&f->app, f->sample_rows);
	PUT(f->w, .pid = WORKER, .ppid = 1, .start = WORKER);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	finder_free(f->finder);
	sample_rows_free(f->sample_rows);
	historian_stop(f->app.historian);
	columns_done(&f->app.columns);
	world_freep(&f->w);
	arena_done(&f->arena);
	test_folder_remove(&f->folder);
	free(f);
	return 0;
}

static int announce(struct fixture *f, const char *job_name, struct announced_run *ret)
{
	struct announcement a = {.pid = WORKER};

	text_copy(job_name, a.job, sizeof a.job);
	return finder_announce(f->finder, &f->w->host, &a, ret, NULL);
}

static int finish(struct fixture *f, const char *run_id, enum outcome outcome)
{
	const struct reported_end end = {.outcome = outcome, .memory_peak_process_bytes = NAN};

	return finder_finish(f->finder, &f->w->host, run_id, &end);
}

static void settle(struct fixture *f)
{
	f->w->host.now.mono.ns += NS_PER_S;
	look(f->w);
	finder_settle(f->finder, &f->w->host, &f->w->snapshot);
	assert_true(historian_flush(f->app.historian, LONG));
}

static enum outcome outcome_of(struct fixture *f, const char *run_id)
{
	AUTO(history_closep) struct history *h = NULL;

	assert_int_equal(history_open(&h, f->folder.file, HISTORY_READ, NULL, NULL, NULL), 0);
	return test_read_run(h, run_id, &f->arena).outcome;
}

static void a_process_that_goes_on_with_a_run_begins_the_next_one_under_another_id(void **state)
{
	struct fixture *f = *state;
	struct announced_run first, second;

	assert_int_equal(announce(f, "etl", &first), 0);
	assert_string_equal(first.run_id, LEFT_OPEN);
	settle(f);
	assert_int_equal(finish(f, LEFT_OPEN, OUTCOME_SUCCEEDED), 0);
	settle(f);
	assert_int_equal(announce(f, "etl", &second), 0);
	assert_string_not_equal(second.run_id, LEFT_OPEN);
	settle(f);
	assert_int_equal(finish(f, second.run_id, OUTCOME_FAILED), 0);
	settle(f);
	assert_int_equal(outcome_of(f, LEFT_OPEN), OUTCOME_SUCCEEDED);
	assert_int_equal(outcome_of(f, second.run_id), OUTCOME_FAILED);
}

/* The wall clock was set to 1970 after the run began. */
static void samples_of_a_continued_run_cover_its_duration_though_the_clock_stepped(void **state)
{
	struct fixture *f = *state;
	AUTO(history_closep) struct history *h = NULL;
	struct announced_run a;
	struct series series;
	double covered = 0;

	assert_int_equal(announce(f, "etl", &a), 0);
	settle(f);
	settle(f);
	assert_int_equal(finish(f, LEFT_OPEN, OUTCOME_SUCCEEDED), 0);
	settle(f);
	assert_int_equal(history_open(&h, f->folder.file, HISTORY_READ, NULL, NULL, NULL), 0);
	struct run r = test_read_run(h, LEFT_OPEN, &f->arena);

	assert_int_equal(history_series(h, LEFT_OPEN, NULL, &f->arena, &series, NULL), 0);
	for (size_t i = 0; i < series.n; i++)
		covered += series.duration[i];
	assert_true(r.duration_seconds > 900);
	/* In this test a snapshot may have another time than its reading, so a difference of 10 s
	 * is allowed. */
	assert_near(covered, r.duration_seconds, 10);
	assert_null(r.not_measured);
}

static void end_of_a_run_can_be_told_to_whom_it_was_not_announced(void **state)
{
	struct fixture *f = *state;
	struct announced_run next;

	assert_int_equal(finish(f, LEFT_OPEN, OUTCOME_OOM_KILLED), 0);
	settle(f);
	assert_int_equal(outcome_of(f, LEFT_OPEN), OUTCOME_OOM_KILLED);
	assert_int_equal(finish(f, LEFT_OPEN, OUTCOME_FAILED), -ENOENT);
	assert_int_equal(announce(f, "etl", &next), 0);
	assert_string_not_equal(next.run_id, LEFT_OPEN);
}

/* The earlier exporter knew the owner of the pod, this one does not. */
static void run_of_a_pod_keeps_the_name_that_an_earlier_exporter_gave_it(void **state)
{
	struct fixture *f = *state;
	static const char folder[] =
		"var/log/pods/x_load-tea22-x7k2p_00000001-1111-2222-3333-444455556666/main/0.log";

	f->options.jobs_recognise = true;
	memory_tree_text(f->w->root, folder, "");
	memory_tree_file(f->w->proc, "20/cmdline", "python", sizeof "python");
	memory_tree_text(f->w->proc, "20/cgroup",
		"0::/kubepods/pod00000001-1111-2222-3333-444455556666\n");
	finder_look(f->finder, &f->w->host);
	settle(f);
	assert_int_equal(f->w->snapshot.n_runs, 1);
	assert_string_equal(f->w->snapshot.runs[0].run_id, LEFT_OPEN);
	assert_string_equal(f->w->snapshot.runs[0].job_name, "etl");
}

static void run_that_somebody_else_records_is_left_to_him(void **state)
{
	struct fixture *f = *state;
	struct announced_run a;

	assert_int_equal(finish(f, OF_A_LIVING, OUTCOME_FAILED), -ENOENT);
	assert_int_equal(announce(f, "others", &a), -EEXIST);
	assert_int_equal(announce(f, "others", &a), -EEXIST);
	assert_int_equal(outcome_of(f, OF_A_LIVING), OUTCOME_RUNNING);
}

static void end_of_a_run_whose_process_is_gone_is_not_taken(void **state)
{
	struct fixture *f = *state;

	PUT(f->w, .pid = WORKER, .ppid = 1, .start = WORKER + 1);
	assert_int_equal(finish(f, LEFT_OPEN, OUTCOME_SUCCEEDED), -ENOENT);
	gone(f->w, WORKER);
	assert_int_equal(finish(f, LEFT_OPEN, OUTCOME_SUCCEEDED), -ENOENT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_process_that_goes_on_with_a_run_begins_the_next_one_under_another_id),
		TEST(samples_of_a_continued_run_cover_its_duration_though_the_clock_stepped),
		TEST(end_of_a_run_can_be_told_to_whom_it_was_not_announced),
		TEST(run_of_a_pod_keeps_the_name_that_an_earlier_exporter_gave_it),
		TEST(run_that_somebody_else_records_is_left_to_him),
		TEST(end_of_a_run_whose_process_is_gone_is_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
