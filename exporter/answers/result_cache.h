/*
 * What answers work out from the runs of a job is most of their work. A server keeps the newest results, and uses one
 * again while what it was worked out from is the same. Any thread.
 */
#ifndef EXPORTER_ANSWERS_RESULT_CACHE_H
#define EXPORTER_ANSWERS_RESULT_CACHE_H

#include <sys/queue.h>

#include "collectors/base/clock.h"
#include "collectors/base/latest.h"
#include "collectors/base/mem.h"

/* The first member of each kind of result. Immutable once it is kept. */
struct result {
	struct shared shared;
	struct arena arena; /* all that the result points to */
	/* Private to the cache. */
	TAILQ_ENTRY(result) link;
	const char *key, *state;
	size_t bytes;
	struct mono made, used;
};

/* All zero but for the first member; so many bytes, held for the caller. */
struct result *result_new(size_t size);

/* Most results, and most bytes of what they say of themselves. */
#define RESULTS_MAX       32
#define RESULTS_BYTES_MAX (4u << 20)

struct result_cache;
struct result_cache *result_cache_new(void);
void result_cache_free(struct result_cache *c); /* NULL does nothing */

/* Lets go of what was not asked for in that many seconds. NULL does nothing. */
void result_cache_tidy(struct result_cache *c, double seconds);

/*
 * key: what was asked; state: what the history held of it then. Held for the caller; NULL when there is none, when it is
 * older than max_age_seconds, or when the state is another one. NULL as a cache has none.
 */
struct result *result_find(struct result_cache *c, const char *key, const char *state,
	double max_age_seconds);

/* In place of what was kept by that key; NULL as a cache keeps nothing. */
void result_keep(struct result_cache *c, struct result *r, const char *key, const char *state,
	size_t bytes);

#endif
