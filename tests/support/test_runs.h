/* Runs of a job made up for a test, newest first, without a history. */
#ifndef TESTS_SUPPORT_TEST_RUNS_H
#define TESTS_SUPPORT_TEST_RUNS_H

#include "recommender/run.h"

#define TEST_RUNS_MAX    512
#define TEST_COLUMNS_MAX 8

struct test_runs {
	struct runs runs; /* what the recommender gets */
	struct run run[TEST_RUNS_MAX];
	struct column_stats stats[TEST_RUNS_MAX][TEST_COLUMNS_MAX];
};

/* Adds the next older run: everything unknown but its outcome, duration (100 s), samples (10) and
 * start. */
struct run *test_run_add(struct test_runs *t, enum outcome o);

/* Gives the run a column. Columns may come in any order. */
void test_run_column(struct run *r, const char *column, double mean, double max);

/* The usual run: it succeeded with this many cores on average and this peak. NaN leaves the column
 * out. */
struct run *test_run_succeeded(struct test_runs *t, double cores, double peak_bytes);

/*
 * n runs of about 10 min and this many MiB, that keep eight cores busy for a tenth of the time and one for the rest.
 */
void test_runs_steady(struct test_runs *t, size_t n, double mib);

#endif
