/*
 * A recommendation as JSON.
 */
#ifndef EXPORTER_RECOMMEND_JSON_H
#define EXPORTER_RECOMMEND_JSON_H

#include "exporter/json.h"
#include "exporter/server_answer.h"
#include "recommender/recommend.h"

struct recommendation {
	const char *job_name, *strategy;
	double generated_at;
	const struct sizing *sizing;
	const struct server_answer *servers;
};

json_t *recommend_json(const struct recommendation *r);

#endif
