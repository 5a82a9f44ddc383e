/* The advice for each job: its requested and its recommended size, and the warnings of its
 * recommendation, for /metrics, /jobs and /overview. When a run of a job has begun or ended, the
 * thread of job_costs.h computes the advice for the job again and publishes the advice for all jobs
 * here. */
#ifndef EXPORTER_SAMPLING_JOB_ADVICE_H
#define EXPORTER_SAMPLING_JOB_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/collector.h"
#include "collectors/followed/jobs.h"
#include "recommender/sizing/sizing.h"

/* The advice for one job. A number is NaN if it is unknown. */
struct job_advice {
	const char *job_name;
	bool sized;     /* true = the job has a recommendation; if false, `codes` is not used */
	uint32_t codes; /* set of the codes of its warnings, as warnings_codes returns it */
	double requested_cpu_cores, requested_memory_bytes;     /* as runs_requested returns them */
	double recommended_cpu_cores, recommended_memory_bytes; /* the demand of the sizing */
	struct resources resources; /* the demand, rounded up for a request; 0 = unknown */
	/* US dollars that a run would save on the best server, as in struct job_cost; NaN =
	 * unknown */
	double saving_usd;
	double runs_a_month; /* as runs_a_month returns it */
};

/* Returns how much the job would save in a month, in US dollars. NaN = unknown. `j` may be NULL. */
double job_advice_saving_a_month(const struct job_advice *j);
/* Returns true if the job requests less memory than is recommended. `j` may be NULL. */
bool job_advice_too_small(const struct job_advice *j);

/* Replaces the published rows by a copy of the `n` rows `row`, one for each job. `hidden`: number
 * of jobs that have no row, because there are more than JOBS_MAX. */
void job_advice_publish(const struct job_advice *row, size_t n, size_t hidden);
void job_advice_clear(void); /* removes all rows; call it when the thread ends */

/* The rows that were published last. A table never changes: each publication makes a new table. */
struct job_advice_table;
struct job_advice_table *job_advice_get(void);         /* NULL before the first rows */
void job_advice_done(struct job_advice_table **table); /* for AUTO; drops the reference */

/* Returns the row of a job. NULL = the job has no row: it has no ended run, or it is not one of
 * the JOBS_MAX newest jobs. `t` may be NULL. */
const struct job_advice *job_advice_find(const struct job_advice_table *t, const char *job_name);

/* Returns the set of the codes of a job's warnings, as warnings_codes does. If the job has no
 * recommendation, or if `j` is NULL, the only warning is WARNING_NOT_SIZED. */
uint32_t job_advice_codes(const struct job_advice *j);
/* Does the same as job_advice_codes for the job of this name in `t`. `t` may be NULL. */
uint32_t job_advice_warnings(const struct job_advice_table *t, const char *job_name);

/* The collectors that report the warnings and the sizes as metrics. Before the first rows are
 * published, the metrics are absent. No option switches these collectors off, so they are not in
 * all_collectors. */
extern const struct collector collector_warnings, collector_sizes;

#endif
