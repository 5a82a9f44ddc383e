/*
 * The cache of results computed from the runs of a job, which are most of the work of an answer. A
 * server keeps the newest results, and reuses a result while its runs are unchanged. Any thread.
 */
#ifndef EXPORTER_ANSWERS_RESULT_CACHE_H
#define EXPORTER_ANSWERS_RESULT_CACHE_H

#include <sys/queue.h>

#include "collectors/base/clock.h"
#include "collectors/base/latest.h"
#include "collectors/base/mem.h"

/* The first member of each kind of result. Immutable after result_keep. */
struct result {
	struct shared shared;
	struct arena arena; /* owns all that the result points to */
	/* Private to the cache. */
	TAILQ_ENTRY(result) link;
	const char *key, *state;
	size_t bytes;
	struct mono made, used;
};

/* Returns size zeroed bytes that begin with a struct result, held for the caller. */
struct result *result_new(size_t size);

#define RESULTS_MAX       32
#define RESULTS_BYTES_MAX (4u << 20) /* sum of the bytes that callers of result_keep pass */

struct result_cache;
struct result_cache *result_cache_new(void);
void result_cache_free(struct result_cache *c); /* NULL does nothing */

/* Drops results that were not used for that many seconds. NULL does nothing. */
void result_cache_tidy(struct result_cache *c, double seconds);

/*
 * key: the question. state: what the history now has about it. Returns the kept result, held for
 * the caller. NULL: none, older than max_age_seconds, state differs, or c is NULL.
 */
struct result *result_find(struct result_cache *c, const char *key, const char *state,
	double max_age_seconds);

/* Keeps r in place of the previous result of that key. c NULL does nothing. */
void result_keep(struct result_cache *c, struct result *r, const char *key, const char *state,
	size_t bytes);

#endif
