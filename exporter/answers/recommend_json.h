/*
 * A recommendation as JSON.
 */
#ifndef EXPORTER_RECOMMEND_JSON_H
#define EXPORTER_RECOMMEND_JSON_H

#include "exporter/core/json.h"
#include "exporter/answers/server_answer.h"
#include "recommender/sizing/sizing.h"

struct recommendation {
	const char *job_name, *strategy;
	double generated_at;
	const struct sizing *sizing;
	const struct server_answer *servers;
};

json_t *recommend_json(const struct recommendation *r);

#endif
