/* The list of jobs as JSON. */
#ifndef EXPORTER_ROUTES_GET_JOBS_H
#define EXPORTER_ROUTES_GET_JOBS_H

#include "exporter/history/history.h"
#include "exporter/core/json.h"
#include "exporter/sampling/job_advice.h"

/* Returns {"jobs": [{"job_name": ..., "runs": ..., "outcomes": {...}, ...}]} in the given order.
 * `warnings` may be NULL. */
json_t *jobs_json(const struct job_row *jobs, size_t n, const struct job_advice_table *warnings);

#endif
