/* The behaviour of a job as JSON for /stats: changes between runs, the forecast of the next run,
 * the phases of a run, a possible split into steps, and forecasts of active runs. */
#ifndef EXPORTER_ANSWERS_BEHAVIOUR_JSON_H
#define EXPORTER_ANSWERS_BEHAVIOUR_JSON_H

#include "exporter/core/json.h"
#include "recommender/behaviour/changes.h"
#include "recommender/behaviour/phases.h"
#include "recommender/servers/pick.h"
#include "recommender/behaviour/running.h"
#include "recommender/sizing/sizing.h"

/* The cheapest server for one step of a proposed split. If pick.server is NULL, no server was
 * found. */
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
	struct prospect prospect;  /* forecast of the next run */
	struct phases phases;      /* phases of the newest successful run; n 0 = unknown */
	const struct split *split; /* NULL = no split is proposed */
	/* `whole` is one step that does all the work. `steps` is an array with one step for each
	 * part of the split. */
	const struct split_step *whole, *steps;
	size_t n_running;
	const struct running_run *running;
};

/* Adds the keys of the behaviour to the object `o`. The forecast of the duration comes from `next`,
 * the sizing of the next run, because all answers must give the same forecast. */
void behaviour_json_put(json_t *o, const struct behaviour *b, const struct sizing *next);

#endif
