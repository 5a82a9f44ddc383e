/* A run that a source makes from its input. All numbers are unknown at first. */
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

/* Begins a run. `source` is a name of import_sources, for memory_source and cpu_source. Do not move
 * `*m` afterwards, because m->run points into it. */
void made_run_begin(struct made_run *m, const char *source);

/* Set a statistic of a column: the sum of a counter, the largest value of a level, or the mean of a
 * level. A number that is not above 0 counts as unknown, because these sources write 0 where they
 * did not measure. */
void made_run_total(struct made_run *m, const char *column, double sum);
void made_run_peak(struct made_run *m, const char *column, double most);
void made_run_mean(struct made_run *m, const char *column, double mean);

/* Adds the 50th, 95th and 99th percentile and the largest number of cores in use, in this order. If
 * the input contradicts itself, a number that is less than the one before it is raised to that one.
 * NaN = unknown. */
void made_run_cores(struct made_run *m, const double cores[static 4]);

/* Sets the start, the end and the duration of a run. NaN = unknown; an unknown end or duration is
 * computed from the other two. If `started_at` does not fit the end and the duration, the start is
 * computed instead. Returns false if the end or the duration stays unknown. */
bool made_run_times(struct made_run *m, double started_at, double ended_at, double seconds);

/* Sets the system of a run and its id there. Copies `run` without control characters; if it is
 * empty, the id stays unknown. */
void made_run_of_system(struct made_run *m, const char *system, struct slice run);

/* Sets the key of the job. in->key, which the user chose, takes precedence over `name`, `space` and
 * `cluster`, which are from the input. An empty slice = the input does not contain it. Removes
 * dates and the like from the end of `name` (stable_name.h). Returns -EINVAL if the job has no
 * name. */
int made_run_job(struct made_run *m, const struct import_input *in, struct slice name,
	struct slice space, struct slice cluster, struct err *e);

/* Computes the id of the run from its source, its job and these texts, so that a second import
 * recognises the run. Call it after made_run_job. */
void made_run_identify(struct made_run *m, const struct slice *texts, size_t n);

/* Passes the run to the sink. If its outcome is unknown, the run gets the outcome in->outcome. */
int made_run_give(struct made_run *m, const struct import_input *in, uint64_t line, struct err *e);

#endif
