/*
 * Reads and works out how a job behaves, for /stats: at 50 runs about 30 ms, at 200 about 0.6 s, and the samples of the
 * newest five runs (0.1 s for a day at one a second). On the desk's thread, or a command's.
 */
#ifndef EXPORTER_ANSWERS_BEHAVIOUR_H
#define EXPORTER_ANSWERS_BEHAVIOUR_H

#include "exporter/catalogue/in_use.h"
#include "exporter/answers/behaviour_json.h"
#include "exporter/answers/result_cache.h"

/*
 * runs: of the job, newest first, at least one. What ret points to lives in arena, and in the catalogue of use, which
 * is taken when a price is needed: the caller gives it zeroed, and lets it go after ret.
 */
int behaviour_of(struct app *app, struct catalogue_use *use, const struct runs *runs,
	struct arena *arena, struct behaviour *ret, struct err *e);

#define PAST_PHASES 5 /* runs whose phases are looked at */

/* What all ended runs of a job and the samples of the newest tell: most of the work of /stats of a long history. */
struct behaviour_past {
	struct prospect prospect;
	size_t n_phases;
	struct phases phases[PAST_PHASES]; /* newest run first */
};

/* Of the runs: true when it is known from before, with its phases copied into arena. NULL as a cache: never. */
bool result_cache_find(struct result_cache *c, const struct runs *runs, struct arena *arena,
	struct behaviour_past *ret);
/* Keeps a copy, in place of what was kept of that job. NULL as a cache does nothing. */
void result_cache_keep(struct result_cache *c, const struct runs *runs,
	const struct behaviour_past *past);

#endif
