/*
 * How a job behaves, as JSON, for /stats: what changed from run to run, what the next run is expected to need, the
 * phases of a run and whether to make steps of them, and what is to be expected of the runs that are running.
 */
#ifndef EXPORTER_ANSWERS_BEHAVIOUR_JSON_H
#define EXPORTER_ANSWERS_BEHAVIOUR_JSON_H

#include "exporter/core/json.h"
#include "recommender/behaviour/changes.h"
#include "recommender/behaviour/phases.h"
#include "recommender/servers/pick.h"
#include "recommender/behaviour/running.h"

/* A part of a proposed split on the server that costs least; pick.server NULL = none is known. */
struct split_step {
	struct pick pick;
	const char *currency;
};

struct running_run {
	const char *run_id;
	struct running outlook;
};

struct behaviour {
	size_t n_changes;
	const struct change *changes;
	struct prospect prospect;               /* of the next run */
	struct phases phases;                   /* of the newest successful run; n 0 = unknown */
	const struct split *split;              /* NULL = none is proposed */
	const struct split_step *whole, *steps; /* of the split: in one step, and one a part */
	size_t n_running;
	const struct running_run *running;
};

/* Adds its keys to an object. */
void behaviour_json_put(json_t *o, const struct behaviour *b);

#endif
