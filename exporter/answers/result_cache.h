/* A cache of results that are computed from the runs of a job. Computing a result is most of the
 * work of an answer. The cache keeps the most recently used results. A result is used again as long
 * as the runs have not changed. Any thread. */
#ifndef EXPORTER_ANSWERS_RESULT_CACHE_H
#define EXPORTER_ANSWERS_RESULT_CACHE_H

#include <sys/queue.h>

#include "collectors/base/clock.h"
#include "collectors/base/latest.h"
#include "collectors/base/mem.h"

/* Base of all result types: each has it as its first member. A result does not change after
 * result_keep. */
struct result {
	struct shared shared;
	struct arena arena; /* owns all memory that the result points to */
	/* Only the cache uses these members. */
	TAILQ_ENTRY(result) link;
	const char *key, *state;
	size_t bytes; /* size of the result; from result_keep on, with its arena */
	struct mono made, used;
};

/* Allocates `size` zeroed bytes that begin with a struct result. The caller owns one reference. */
struct result *result_new(size_t size);

#define RESULTS_MAX 32
/* All cached results together take at most RESULTS_BYTES_MAX bytes, and at most an eighth (1 /
 * RESULTS_PARTS) of the heap (exporter/core/memory_budget.h). */
#define RESULTS_BYTES_MAX (4u << 20)
#define RESULTS_PARTS     8

struct result_cache;
struct result_cache *result_cache_new(void);
void result_cache_free(struct result_cache *c); /* NULL does nothing */

/* Drops results that were not used for `seconds`. If `c` is NULL, does nothing. */
void result_cache_tidy(struct result_cache *c, double seconds);

/* Returns the cached result for `key` and `state` with a new reference, which the caller owns.
 * `key` identifies the request. `state` identifies the data of the history from which the result
 * was computed: new data have another state. Returns NULL when there is no such result, when it is
 * older than `max_age_seconds`, or when `c` is NULL. */
struct result *result_find(struct result_cache *c, const char *key, const char *state,
	double max_age_seconds);

/* Stores `r` in place of the previous result of `key`. The cache adds its own reference. The arena
 * of `r` must not grow after this call. Does nothing if `c` is NULL, or if `r` is larger than all
 * results together may be (RESULTS_BYTES_MAX, RESULTS_PARTS). */
void result_keep(struct result_cache *c, struct result *r, const char *key, const char *state);

#endif
