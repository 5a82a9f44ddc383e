/* Runs of the job "etl/load" as a history returns them, newest first: one running, one failed, two
 * successful. One of the successful runs lacks some columns. Times are fixed. */
#ifndef TESTS_SUPPORT_SAMPLE_RUNS_H
#define TESTS_SUPPORT_SAMPLE_RUNS_H

#include "recommender/run.h"

struct runs sample_runs(void);

#endif
