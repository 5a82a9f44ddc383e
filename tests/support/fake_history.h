/* A history for tests, which returns the given data or errors. It replaces the parts of
 * exporter/history that answers need. */
#ifndef TESTS_SUPPORT_FAKE_HISTORY_H
#define TESTS_SUPPORT_FAKE_HISTORY_H

#include "exporter/history/history.h"

struct fake_history {
	int open_code, read_code; /* codes that history_open() and the reading functions return */
	struct runs runs;         /* runs of all jobs, newest first */
	const struct job_row *jobs;
	size_t n_jobs;
	const struct job_brief *overview;
	size_t n_overview;
	size_t overview_most; /* largest number of jobs in one call of history_overview */
	struct series series; /* samples that every run has */
	int open;             /* number of handles not closed */
	int opened;           /* number of handles opened */
	int reads;            /* number of calls of history_runs */
	int neighbours_read;  /* number of times that the recent jobs were read */
};

extern struct fake_history fake_history;

#endif
