/*
 * Runs as JSON. Which of a run's many statistics are its headline numbers stands in one table,
 * for /runs and /stats alike.
 */
#ifndef EXPORTER_ANSWERS_RUN_JSON_H
#define EXPORTER_ANSWERS_RUN_JSON_H

#include "exporter/core/json.h"
#include "recommender/run.h"

enum headline_kind { HEADLINE_TOTAL, HEADLINE_PEAK, HEADLINE_MEAN };

struct headline {
	const char *key, *column; /* of the answer, of the history */
	enum headline_kind kind;
};

extern const struct headline run_json_headlines[]; /* key NULL ends */

/* As run_column, but NULL as well where it says that a run had no process: it had ended before the first look. */
const struct distribution *run_json_level(const struct run *r, const char *column);

double run_json_headline(const struct headline *h, const struct run *r); /* NaN when unknown */

/* When, how long, how it ended, the headline numbers, where from. */
json_t *run_json(const struct run *r);

/* {"job_name": ..., "runs": [...]}, in their order. */
json_t *run_json_list(const char *job_name, const struct runs *runs);

#endif
