/* The requested and the recommended size of each job, for /metrics. The thread of job_costs.h
 * publishes both here when it has sized a job. */
#ifndef EXPORTER_SAMPLING_JOB_SIZES_H
#define EXPORTER_SAMPLING_JOB_SIZES_H

#include <stddef.h>

#include "collectors/collector.h"

/* Requested and recommended size of a job. NaN = unknown. */
struct job_sizes {
	const char *job_name;
	double requested_cpu_cores, requested_memory_bytes;     /* as runs_requested returns them */
	double recommended_cpu_cores, recommended_memory_bytes; /* the demand of the sizing */
};

/* Replaces all rows by a copy of these rows, which have different names. */
void job_sizes_publish(const struct job_sizes *row, size_t n);
void job_sizes_clear(void); /* removes all rows; call it when the thread ends */

/* Its metrics are absent when there are no rows. Always on, so it is not in all_collectors. */
extern const struct collector collector_sizes;

#endif
