/*
 * How a job behaves, for /stats: changes, forecast, phases, active runs. Takes 30 ms at 50 runs,
 * 0.6 s at 200, and 0.1 s more for a day of samples at one a second. Called on the thread of the
 * slow queue or of a command.
 */
#ifndef EXPORTER_ANSWERS_BEHAVIOUR_H
#define EXPORTER_ANSWERS_BEHAVIOUR_H

#include "exporter/catalogue/in_use.h"
#include "exporter/answers/behaviour_json.h"
#include "exporter/answers/result_cache.h"

/*
 * runs: of the job, newest first, at least one. ret points into arena and into the catalogue of
 * use. use: zeroed by the caller, filled when a price is needed, released by the caller after ret.
 */
int behaviour_of(struct app *app, struct catalogue_use *use, const struct runs *runs,
	struct arena *arena, struct behaviour *ret, struct err *e);

#define PAST_PHASES 5 /* runs whose phases are read */

/* The cached part, which depends on ended runs: most of the work with a long history. */
struct behaviour_past {
	struct prospect prospect;
	size_t n_phases;
	struct phases phases[PAST_PHASES]; /* newest run first */
};

/* True: the cache has a result for these runs, copied into arena. c NULL: false. */
bool result_cache_find(struct result_cache *c, const struct runs *runs, struct arena *arena,
	struct behaviour_past *ret);
/* Keeps a copy, and replaces the job's previous result. c NULL does nothing. */
void result_cache_keep(struct result_cache *c, const struct runs *runs,
	const struct behaviour_past *past);

#endif
