/* The list of jobs as JSON. */
#ifndef EXPORTER_ROUTES_GET_JOBS_H
#define EXPORTER_ROUTES_GET_JOBS_H

#include "exporter/history/history.h"
#include "exporter/core/json.h"
#include "exporter/sampling/job_advice.h"

/* Returns {"jobs": [{"job_name": ..., "runs": ..., "outcomes": {...}, ...}]}, with the jobs in the
 * order of `jobs`. `warnings` may be NULL: the jobs then have no warnings of recommendations. */
json_t *jobs_json(const struct job_row *jobs, size_t n, const struct job_advice_table *warnings);

#endif
