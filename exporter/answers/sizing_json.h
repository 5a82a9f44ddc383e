/* A recommendation as JSON. */
#ifndef EXPORTER_ANSWERS_SIZING_JSON_H
#define EXPORTER_ANSWERS_SIZING_JSON_H

#include <stdint.h>

#include "exporter/answers/server_answer.h"
#include "exporter/core/json.h"
#include "recommender/sizing/sizing.h"

/* Adds the keys of a sizing to the object `o`. Unknown numbers are null. */
void sizing_json_put(json_t *o, const struct sizing *s);

/* Adds the warnings, and whether a program may act on the answer without a person. */
void sizing_json_put_warnings(json_t *o, const struct warnings *w);

/* Does the same without sentences. `codes`: as warnings_codes returns them. */
void sizing_json_put_codes(json_t *o, uint32_t codes);

/* Makes JSON of the whole numbers for a request. */
json_t *sizing_json_resources(const struct resources *r);

/* Makes JSON of a demand. A strategy or the parameters of the request set the demand. */
json_t *sizing_json_demand(const struct demand *d);

/* All data that an answer of /recommend contains: data of the job, and recommended servers. */
struct recommendation {
	const char *job_name, *strategy;
	double generated_at;
	const struct sizing *sizing;
	const struct runs *runs; /* of the job, newest first */
	/* The request in the format of the system that runs the job. `paste` NULL = it has no size
	 * that is large enough. */
	const char *paste_format, *paste;
	const struct server_answer *servers;
};

json_t *recommend_json(const struct recommendation *r);

#endif
