/* The behaviour of a job, for /stats: changes, forecast, phases, active runs. Takes 30 ms at 50
 * runs, 0.6 s at 200, and 0.1 s more for a day of samples at one a second. Runs on the thread of
 * the slow queue or of a command. */
#ifndef EXPORTER_ANSWERS_BEHAVIOUR_H
#define EXPORTER_ANSWERS_BEHAVIOUR_H

#include "exporter/catalogue/in_use.h"
#include "exporter/answers/behaviour_json.h"
#include "exporter/answers/result_cache.h"

/* `runs`: at least one run of the job, newest first. `ret` points into `arena` and into the
 * catalogue of `use`. The caller zeroes `use` before the call and releases it after the last use of
 * `ret`. */
int behaviour_of(struct app *app, struct catalogue_use *use, const struct runs *runs,
	struct arena *arena, struct behaviour *ret, struct err *e);

#define PAST_PHASES 5 /* runs whose phases are read */

/* The cached part of the behaviour, which depends only on ended runs. Computing this part is most
 * of the work when the history is long. */
struct behaviour_past {
	struct prospect prospect;
	size_t n_phases;
	struct phases phases[PAST_PHASES]; /* newest run first */
};

/* Returns true and fills `ret`, in `arena`, when the cache has a result for these runs. `c` NULL:
 * returns false. */
bool result_cache_find(struct result_cache *c, const struct runs *runs, struct arena *arena,
	struct behaviour_past *ret);
/* Stores a copy, which replaces the job's previous result. `c` NULL does nothing. */
void result_cache_keep(struct result_cache *c, const struct runs *runs,
	const struct behaviour_past *past);

#endif
