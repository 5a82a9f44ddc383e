/* The warnings of the recommendation of each job, for /metrics, /jobs and /overview. The thread of
 * job_costs.h sizes a job again when one of its runs has ended, and publishes the warnings here. */
#ifndef EXPORTER_SAMPLING_JOB_WARNINGS_H
#define EXPORTER_SAMPLING_JOB_WARNINGS_H

#include <stddef.h>
#include <stdint.h>

#include "collectors/collector.h"
#include "recommender/sizing/warning.h"

struct job_warnings {
	const char *job_name;
	uint32_t codes; /* set of warning codes, as warnings_codes returns it */
};

/* Replaces all rows by a copy of these rows, which have different names. */
void job_warnings_publish(const struct job_warnings *row, size_t n);
void job_warnings_clear(void); /* removes all rows; call it when the thread ends */

/* The newest rows. They never change. */
struct job_warnings_table;
struct job_warnings_table *job_warnings_get(void);         /* NULL before the first rows */
void job_warnings_done(struct job_warnings_table **table); /* for AUTO; drops the reference */

/* Returns the codes of a job's warnings. Returns WARNING_NOT_SIZED alone if the job has no
 * recommendation, or is not one of the JOBS_MAX jobs of /metrics. `t` may be NULL. */
uint32_t job_warnings_of(const struct job_warnings_table *t, const char *job_name);

/* Its metrics are absent when there are no rows. Always on, so it is not in all_collectors. */
extern const struct collector collector_warnings;

#endif
