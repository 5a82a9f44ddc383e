/* A historian with its own folder, and functions that send events to it. */
#ifndef TESTS_SUPPORT_HISTORIAN_WORLD_H
#define TESTS_SUPPORT_HISTORIAN_WORLD_H

#include "exporter/history/historian.h"
#include "tests/support/test_history.h"

#define LONG 60.0 /* seconds; longer than any wait in a test that passes */

struct fixture {
	struct test_folder folder;
	struct historian *h;
	struct arena arena;
};

/* Returns true if the process is alive. `context` points to the only pid that is alive, or to 0 if
 * no process is. If `context` is NULL, all processes are alive. */
bool lives(void *context, pid_t pid, uint64_t start_ticks);

/* For cmocka_unit_test_setup_teardown. set_up() makes a folder, and the test itself starts the
 * historian. */
int set_up(void **state);
int tear_down(void **state);
struct historian_config config_of(const struct fixture *f); /* for historian_start() */

/* begin() sends the start of a run to the historian, add_samples() sends `n` samples from number
 * `first` on, and finish() sends the end. */
void begin(struct fixture *f, const char *run_id);
void add_samples(struct fixture *f, const char *run_id, size_t first, size_t n);
void finish(struct fixture *f, const char *run_id);
struct run read_run(struct fixture *f, const char *run_id); /* reads the file */

#endif
