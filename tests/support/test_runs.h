/* Invented runs of a job, newest first. They are in no history. */
#ifndef TESTS_SUPPORT_TEST_RUNS_H
#define TESTS_SUPPORT_TEST_RUNS_H

#include "recommender/run.h"

#define TEST_RUNS_MAX    512
#define TEST_COLUMNS_MAX 8

struct test_runs {
	struct runs runs; /* the recommender's input */
	struct run run[TEST_RUNS_MAX];
	struct column_stats stats[TEST_RUNS_MAX][TEST_COLUMNS_MAX];
};

/* Adds a run that is older than all others. Only its outcome, duration (100 s), samples (10) and
 * start are known. */
struct run *test_run_add(struct test_runs *t, enum outcome o);

/* Adds a column to the run. Columns may come in any order. */
void test_run_column(struct run *r, const char *column, double mean, double max);

/* Changes the memory peak of a run that has one. */
void test_run_peak(struct run *r, double bytes);

/* Adds a successful run with this mean number of cores and this memory peak. NaN = the run lacks
 * the column. */
struct run *test_run_succeeded(struct test_runs *t, double cores, double peak_bytes);

/* Adds `n` runs of about 10 min with a peak of `mib` MiB. They use eight cores for a tenth of the
 * time, and one core otherwise. */
void test_runs_steady(struct test_runs *t, size_t n, double mib);

#endif
