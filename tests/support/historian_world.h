/* A historian in a folder of its own, and what is handed to it. */
#ifndef TESTS_SUPPORT_HISTORIAN_WORLD_H
#define TESTS_SUPPORT_HISTORIAN_WORLD_H

#include "exporter/history/historian.h"
#include "tests/support/test_history.h"

#define LONG 60.0 /* seconds that never pass in a test that passes */

struct fixture {
	struct test_folder folder;
	struct historian *h;
	struct arena arena;
};

/* Everybody lives, or the one that *context, a pid_t, names; 0 = nobody. */
bool lives(void *context, pid_t pid, uint64_t start_ticks);

/* For cmocka_unit_test_setup_teardown: a folder, and a historian that the test starts. */
int set_up(void **state);
int tear_down(void **state);
struct historian_config config_of(const struct fixture *f); /* with which it is started */

/* Hands over a run, its samples from first on, and its end. */
void begin(struct fixture *f, const char *run_id);
void add_samples(struct fixture *f, const char *run_id, size_t first, size_t n);
void finish(struct fixture *f, const char *run_id);
struct run read_run(struct fixture *f, const char *run_id); /* as it is in the file */

#endif
