/*
 * What an answer works out of all ended runs of a job and of the samples of the newest: most of the work of /stats of
 * a long history. A server keeps the newest result of a job, for some jobs, and uses it again while the runs are the same.
 */
#ifndef EXPORTER_PAST_H
#define EXPORTER_PAST_H

#include "collectors/base/mem.h"
#include "recommender/behaviour/phases.h"
#include "recommender/run.h"
#include "recommender/behaviour/running.h"

#define PAST_PHASES 5 /* runs whose phases are looked at */

struct past {
	struct prospect prospect;
	size_t n_phases;
	struct phases phases[PAST_PHASES]; /* newest run first */
};

struct past_cache;
struct past_cache *past_cache_new(void);
void past_cache_free(struct past_cache *c); /* NULL does nothing */

/* Lets go of what was not asked for in that many seconds. NULL does nothing. Any thread. */
void past_cache_tidy(struct past_cache *c, double seconds);

/* Of the runs: true when it is known from before, with its phases copied into arena. Any thread; NULL = never. */
bool past_find(struct past_cache *c, const struct runs *runs, struct arena *arena,
	struct past *ret);
/* Keeps a copy, in place of what was kept of that job. Any thread; NULL does nothing. */
void past_keep(struct past_cache *c, const struct runs *runs, const struct past *past);

#endif
