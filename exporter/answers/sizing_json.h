/*
 * What a strategy answers, as JSON: the half of a recommendation that is about the job.
 */
#ifndef EXPORTER_SIZING_JSON_H
#define EXPORTER_SIZING_JSON_H

#include "exporter/core/json.h"
#include "recommender/sizing/sizing.h"

/* Adds its keys to an object. Unknown numbers are null. */
void put_sizing(json_t *o, const struct sizing *s);

/* What is asked for, also where no strategy was asked. */
json_t *demand_json(const struct demand *d);

#endif
