/* Runs as JSON. One table lists the headline numbers of a run for /runs and /stats. */
#ifndef EXPORTER_ANSWERS_RUN_JSON_H
#define EXPORTER_ANSWERS_RUN_JSON_H

#include "exporter/core/json.h"
#include "recommender/run.h"

enum headline_kind { HEADLINE_TOTAL, HEADLINE_PEAK, HEADLINE_MEAN };

struct headline {
	const char *key, *column; /* JSON key, history column */
	enum headline_kind kind;
};

extern const struct headline run_json_headlines[]; /* ends with key NULL */

/* Returns the same as run_column, except for the column "processes": if all its values are 0, the
 * run ended before its first sample, and the result is NULL. */
const struct distribution *run_json_level(const struct run *r, const char *column);

double run_json_headline(const struct headline *h, const struct run *r); /* NaN when unknown */

json_t *run_json(const struct run *r); /* null = unknown */

/* Makes {"job_name": ..., "runs": [...]} with the runs in the given order. With `details`, unknown
 * values are null. Without it, they are left out to keep the answer short: an imported run, for
 * example, has few known values. */
json_t *run_json_list(const char *job_name, const struct runs *runs, bool details);

#endif
