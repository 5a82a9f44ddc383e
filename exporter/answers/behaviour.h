/* The behaviour of a job, for /stats: changes between runs, forecasts, phases, active runs.
 * Computing it takes 30 ms for 50 runs, and 0.6 s for 200 runs. A run of a day with one sample a
 * second adds 0.1 s. Therefore only a thread of the slow queue or of a command computes it. */
#ifndef EXPORTER_ANSWERS_BEHAVIOUR_H
#define EXPORTER_ANSWERS_BEHAVIOUR_H

#include "exporter/catalogue/in_use.h"
#include "exporter/answers/behaviour_json.h"
#include "exporter/answers/neighbourhood.h"
#include "exporter/answers/result_cache.h"

/* Computes the behaviour of a job. `runs`: at least one run of the job, newest first. `neighbours`:
 * the jobs from which the sizing of this job learns (neighbourhood.h). `ret` points into `arena`
 * and into the catalogue of `use`. The caller zeroes `use` before the call, and releases `use`
 * after the last use of `ret`. */
int behaviour_of(struct app *app, struct catalogue_use *use, const struct runs *runs,
	const struct job_neighbours *neighbours, struct arena *arena, struct behaviour *ret,
	struct err *e);

#define PAST_PHASES 5 /* number of newest successful runs whose phases are computed */

/* The part of the behaviour that is cached, because computing it is most of the work. It depends
 * only on ended runs of the job and of its neighbours. */
struct behaviour_past {
	struct prospect prospect;
	size_t n_phases;
	struct phases phases[PAST_PHASES]; /* newest run first */
};

/* If the cache has a result for these runs, copies it to `arena`, fills `ret` and returns true. If
 * `c` is NULL, returns false. `neighbours`: job_neighbours.fingerprint. */
bool result_cache_find(struct result_cache *c, const struct runs *runs, uint64_t neighbours,
	struct arena *arena, struct behaviour_past *ret);
/* Stores a copy of `past`. The copy replaces the previous result of the job. If `c` is NULL, does
 * nothing. */
void result_cache_keep(struct result_cache *c, const struct runs *runs, uint64_t neighbours,
	const struct behaviour_past *past);

#endif
