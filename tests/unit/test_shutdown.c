/* exporter/lifecycle/shutdown.c: what happens to open runs when the pod ends. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <unistd.h>

#include "exporter/lifecycle/shutdown.h"
#include "exporter/history/historian.h"
#include "tests/support/test_history.h"

/* More runs than are closed in one step. */
#define RUNS 21

static void every_open_run_of_a_pod_that_ends_is_interrupted(void **state)
{
	struct test_folder folder;
	struct options options = {.jobs_pod = true};
	struct identity self = {.here = test_begin("", "", 0).root};
	struct app app = APP_INIT;
	const struct historian_config c = {
		.path = folder.file, .columns = &test_columns, .here = self.here};
	char run_id[RUN_ID_MAX];

	test_folder_make(&folder);
	self.pid = getpid();
	self.start_ticks = identity_start_ticks(self.pid);
	app.options = &options;
	assert_int_equal(historian_start(&app.historian, &c, NULL), 0);
	for (int i = 0; i < RUNS; i++) {
		snprintf(run_id, sizeof run_id, "r%d", i);
		struct run_begin b = test_begin(run_id, "job", 0);

		b.started_at = wall_seconds(now_read().wall);
		b.owner_pid = self.pid;
		b.owner_start_ticks = self.start_ticks;
		historian_run_begin(app.historian, &b);
	}
	shutdown_close_runs(&app, &self);
	historian_stop(app.historian);

	struct history *h = test_history(folder.file);
	struct arena arena = {0};

	for (int i = 0; i < RUNS; i++) {
		snprintf(run_id, sizeof run_id, "r%d", i);
		assert_int_equal(test_read_run(h, run_id, &arena).outcome, OUTCOME_INTERRUPTED);
	}
	history_close(h);
	arena_done(&arena);
	test_folder_remove(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_open_run_of_a_pod_that_ends_is_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
