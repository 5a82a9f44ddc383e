/*
 * A history for tests: what it is given, or the failure it is told. Stands in for
 * exporter/history_*.c as far as answers need it.
 */
#ifndef TESTS_SUPPORT_FAKE_HISTORY_H
#define TESTS_SUPPORT_FAKE_HISTORY_H

#include "exporter/history/history.h"

struct fake_history {
	int open_code, read_code; /* what history_open and the reading functions return */
	struct runs runs;         /* of all jobs, newest first */
	const struct job_row *jobs;
	size_t n_jobs;
	const struct job_brief *overview;
	size_t n_overview;
	struct series series; /* of any run */
	int open;             /* handles that were not closed */
	int opened;           /* how often */
};

extern struct fake_history fake_history;

#endif
