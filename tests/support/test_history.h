/* Histories for tests: a temporary folder, a few columns, runs and samples with known values. */
#ifndef TESTS_SUPPORT_TEST_HISTORY_H
#define TESTS_SUPPORT_TEST_HISTORY_H

#include "exporter/history/history.h"

/* Compares doubles; cmocka's assert_float_equal compares floats. NaN equals NaN. */
#define assert_near(got, expected, most) test_near((got), (expected), (most), __FILE__, __LINE__)
void test_near(double got, double expected, double most, const char *file, int line);

/* Indexes of test_columns. */
enum {
	TEST_CPU_SECONDS,
	TEST_MEMORY_BYTES,
	TEST_MEMORY_PEAK_BYTES,
	TEST_DISK_READ_BYTES,
	TEST_LOAD,
	TEST_COLUMNS
};
extern const struct columns test_columns;

struct test_folder {
	char path[256]; /* path of the folder */
	char file[300]; /* path of a history that does not exist yet */
};
void test_folder_make(struct test_folder *ret);
void test_folder_remove(struct test_folder *f); /* removes the folder with everything in it */

/* For cmocka_unit_test_setup_teardown: the folder is the test's state. */
int test_folder_set_up(void **state);
int test_folder_tear_down(void **state);

size_t test_folder_count(const struct test_folder *f); /* number of files in the folder */
/* Returns the number of quarantined histories. Copies the path of one to `aside`, which may be
 * NULL. */
size_t test_folder_aside(const struct test_folder *f, char *aside, size_t size);

/* A history open for writing in its own folder, for cmocka_unit_test_setup_teardown. */
struct test_place {
	struct test_folder folder;
	struct history *h;
	struct arena arena;
};
int test_place_make(void **state);
int test_place_remove(void **state); /* first checks that the file is not damaged */

/* Opens a history for writing, or fails the test. */
struct history *test_history(const char *path);
void test_opens_empty(const char *path); /* checks also that the history can be written */

struct run_begin test_begin(const char *run_id, const char *job_name, double started_at);
struct run_finish test_finish(const char *run_id, double ended_at, enum outcome outcome);

/* Makes sample `i` (from 0) of a run. It covers 1 s and is at `start` + i. CPU time is 0.5 s,
 * memory and its peak are i, and 10 bytes were read. */
void test_sample(struct sample *ret, double value[TEST_COLUMNS], const char *run_id, double start,
	size_t i);

/* Each function writes one transaction, or fails the test. */
void test_write_run(struct history *h, const char *run_id, const char *job_name, double start,
	size_t samples, enum outcome outcome); /* OUTCOME_RUNNING = the run does not end */
void test_write_samples(struct history *h, const char *run_id, double start, size_t first,
	size_t n);

/* Returns the only run with this id. Its memory belongs to `arena`. */
struct run test_read_run(struct history *h, const char *run_id, struct arena *arena);

size_t test_count_runs(struct history *h, const char *job_name);
size_t test_count_samples(struct test_place *p, const char *run_id);

/* Prunes until nothing is left to prune. Returns the number of steps. */
int test_prune(struct history *h, const struct history_limits *l, double now);

/* ---- direct access to the file ---- */
/* SQL that reverts the step to schema 19. */
#define TEST_TAKE_BACK_SCHEMA_19                                                                   \
	"ALTER TABLE circumstances DROP COLUMN gpu_manufacturer;"                                  \
	"ALTER TABLE circumstances DROP COLUMN gpu_model;"
/* SQL that reverts the step to schema 18. */
#define TEST_TAKE_BACK_SCHEMA_18                                                                   \
	"ALTER TABLE job DROP COLUMN last_started_at; ALTER TABLE job DROP COLUMN last_outcome;"   \
	"ALTER TABLE job DROP COLUMN last_requests;"
/* SQL that reverts the steps to schema 17 and later. */
#define TEST_TAKE_BACK_SCHEMA_17                                                                   \
	TEST_TAKE_BACK_SCHEMA_18                                                                   \
	"DROP INDEX run_unwritten; ALTER TABLE run DROP COLUMN written_at;"                        \
	"ALTER TABLE note DROP COLUMN writes_at;"
/* SQL that reverts the step to schema 14, for a file whose runs have no statistics in blobs. */
#define TEST_TAKE_BACK_SCHEMA_14                                                                   \
	"DROP INDEX job_kept; DROP INDEX run_by_job; DROP INDEX run_oldest; DROP INDEX "           \
	"run_to_minutes;"                                                                          \
	"ALTER TABLE job DROP COLUMN kept; DROP TABLE stats_form; DROP TABLE circumstances;"       \
	"ALTER TABLE run DROP COLUMN circumstances; ALTER TABLE run DROP COLUMN stats_form;"       \
	"ALTER TABLE run DROP COLUMN stats; ALTER TABLE run DROP COLUMN memory_peak_bytes;"        \
	"CREATE INDEX run_by_job ON run(job, started_at);"                                         \
	"CREATE INDEX run_ended ON run(job, started_at, id, outcome) WHERE outcome <> 'running';"  \
	"CREATE INDEX run_oldest ON run(started_at) WHERE outcome <> 'running';"                   \
	"CREATE INDEX run_to_minutes ON run(started_at) WHERE minutes_until < (id << 32) | "       \
	"4294967295;"
/* Makes a closed history of 40 runs with 100 samples each, about 60 pages. */
void test_make_history(const char *path);
void test_run_sql(const char *path, const char *sql);
int64_t test_count_rows(const struct test_folder *f, const char *table);
/* Expects that each job of the file has the facts that its runs have: job.kept and job.last_*. */
void test_jobs_fit_runs(const struct test_folder *f);
void test_damage(const char *path); /* fills all pages except the first with 0xff */
size_t test_read_file(const char *path, char *out, size_t size);
void test_write_file(const char *path, const char *data, size_t n);

#endif
