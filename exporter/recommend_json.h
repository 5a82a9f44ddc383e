/*
 * A recommendation as JSON.
 */
#ifndef EXPORTER_RECOMMEND_JSON_H
#define EXPORTER_RECOMMEND_JSON_H

#include "exporter/json.h"
#include "recommender/recommend.h"

struct recommendation {
	const char *job_name, *strategy;
	double generated_at;
	const struct sizing *sizing;
	const struct catalogue *catalogue;
	const struct picks *picks;
};

json_t *recommend_json(const struct recommendation *r);

#endif
