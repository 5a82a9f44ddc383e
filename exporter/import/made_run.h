/* A run that an importer makes from what its input says. All numbers are unknown at first. */
#ifndef EXPORTER_IMPORT_MADE_RUN_H
#define EXPORTER_IMPORT_MADE_RUN_H

#include "collectors/base/job_key.h"
#include "collectors/base/scan.h"
#include "collectors/runs.h"
#include "exporter/import/import.h"
#include "recommender/run.h"

#define MADE_COLUMNS_MAX 32

struct made_run {
	struct run run;
	struct column_stats stats[MADE_COLUMNS_MAX];
	char id[RUN_ID_MAX], key[JOB_KEY_MAX], system_run[128], end_reason[RUN_REASON_MAX];
};

/* `source` is a name of import_sources, for memory_source and cpu_source. Must stay where it is. */
void made_run_begin(struct made_run *m, const char *source);

/* These functions add a number to a column: the sum of a counter, the largest value of a level, or
 * the mean of a level. A number that is not above 0 is unknown, because these sources write 0 where
 * they did not measure. */
void made_run_total(struct made_run *m, const char *column, double sum);
void made_run_peak(struct made_run *m, const char *column, double most);
void made_run_mean(struct made_run *m, const char *column, double mean);

/* Adds the 50th, 95th and 99th percentile and the largest number of cores in use, in this order. If
 * the input contradicts itself, a number that is less than the one before it is raised to that one.
 * NaN = unknown. */
void made_run_cores(struct made_run *m, const double cores[static 4]);

/* Sets the times of a run. NaN = unknown: a missing end or duration follows from the other two.
 * `started_at` is used where it fits the duration. Returns false if the end or the duration stays
 * unknown. */
bool made_run_times(struct made_run *m, double started_at, double ended_at, double seconds);

/* Copies a text of the input, cleaned. An empty text stays unknown. */
void made_run_of_system(struct made_run *m, const char *system, struct slice run);

/* Sets the job. The parts of in->key stand before those that the input says; an empty slice = the input
 * does not say it. Dates and the like go from the end of the input's name (stable_name.h). Returns
 * -EINVAL if nothing names the job. */
int made_run_job(struct made_run *m, const struct import_input *in, struct slice name,
	struct slice space, struct slice cluster, struct err *e);

/* Gives the run an id that follows from its source, its job and these texts, so that a second import
 * knows it again. Call it after made_run_job. */
void made_run_identify(struct made_run *m, const struct slice *texts, size_t n);

/* Gives the run to the sink, with the outcome in->outcome if its own is unknown. */
int made_run_give(struct made_run *m, const struct import_input *in, uint64_t line, struct err *e);

#endif
