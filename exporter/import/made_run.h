/* A run that a source (import.h) makes from its input. All numbers are unknown at first. */
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

/* Begins a run. `source` is the name of an import_source; it becomes memory_source and cpu_source
 * of the run. Do not move `*m` afterwards, because m->run points into it. */
void made_run_begin(struct made_run *m, const char *source);

/* Each function sets one statistic of a column. made_run_total: the growth of a counter.
 * made_run_peak, made_run_mean: the largest value and the mean of a value that can fall, such as
 * memory in use. A number that is 0 or less counts as unknown, because the programs that wrote the
 * input write 0 for a number that they did not measure. */
void made_run_total(struct made_run *m, const char *column, double sum);
void made_run_peak(struct made_run *m, const char *column, double most);
void made_run_mean(struct made_run *m, const char *column, double mean);

/* Sets statistics of the number of cores in use. `cores` contains the 50th, 95th and 99th
 * percentile and the maximum, in this order; NaN = unknown. If the maximum is unknown or 0, sets
 * nothing. A number that is less than the number before it is wrong, and is raised to that
 * number. */
void made_run_cores(struct made_run *m, const double cores[static 4]);

/* Sets the start, the end and the duration of a run. NaN = unknown. An unknown number is computed
 * from the other two. If all three are known but do not fit together, the start is computed from
 * the end and the duration. Returns false if the end or the duration stays unknown. */
bool made_run_times(struct made_run *m, double started_at, double ended_at, double seconds);

/* Sets the batch or workflow system of a run, and the id `run` of the run in this system. `run` is
 * copied without control characters. If it is empty, the id stays unknown. */
void made_run_of_system(struct made_run *m, const char *system, struct slice run);

/* Sets the key of the job from `name`, `space` (the namespace) and `cluster`, which come from the
 * input; an empty slice = not in the input. A part that the user chose (in->key) replaces the part
 * from the input. Dates and numbers at the end of `name` are removed (stable_name.h). Returns
 * -EINVAL if the job has no name. */
int made_run_job(struct made_run *m, const struct import_input *in, struct slice name,
	struct slice space, struct slice cluster, struct err *e);

/* Computes the id of the run from its source, its job and the `n` texts. A second import of the
 * same input thus gives the run the same id. Call it after made_run_job. */
void made_run_identify(struct made_run *m, const struct slice *texts, size_t n);

/* Passes the run to the sink. If its outcome is unknown, in->outcome is used; if that is NULL, the
 * run is left out. */
int made_run_give(struct made_run *m, const struct import_input *in, uint64_t line, struct err *e);

#endif
