/*
 * From earlier runs to a demand, from a demand to resources and to servers. Pure: no I/O, no clock.
 */
#ifndef RECOMMENDER_RECOMMEND_H
#define RECOMMENDER_RECOMMEND_H

#include <stddef.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/base/mem.h"
#include "recommender/demand.h"
#include "recommender/pick.h"
#include "recommender/run.h"

/*
 * What to paste into a request: whole numbers, memory and vram in MiB. A known cpu or memory is at least 1, so
 * 0 means unknown there. gpu and vram 0 = none was seen in use; whether one could have been seen says demand.
 */
struct resources {
	uint64_t cpu, memory, gpu, vram;
};

/*
 * How far the used runs can be trusted to show the next one. low: one or two runs, or peaks that differ by
 * more than a factor of two; high: five or more whose peaks all lie within 20 %; medium: the rest.
 */
enum confidence { CONFIDENCE_NONE, CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };
const char *confidence_name(enum confidence c);

#define EXPLAIN_MAX 12

struct sizing {
	struct demand demand;
	struct resources resources;
	size_t runs, excluded; /* used; left out (newer than the oldest used) because they did not succeed */
	uint64_t samples;
	double first, last;    /* started_at of the oldest and newest run used */
	enum confidence confidence;
	size_t n_explain;
	const char *explain[EXPLAIN_MAX]; /* one sentence per number, in the caller's arena */
};

#define SIZING_RUNS 5 /* the seeds' window */

/* Zeroes are the defaults. */
struct sizing_options {
	size_t runs; /* how many of the newest successful runs to look at; 0 = the strategy's own default */
};

struct strategy {
	const char *name, *help; /* help: formula and source in one or two sentences */
	/* runs: newest first, all outcomes. -ENODATA with a sentence when nothing can be said. */
	int (*size)(const struct runs *runs, const struct sizing_options *options,
		struct arena *arena, struct sizing *ret, struct err *e);
};
extern const struct strategy strategies[]; /* name NULL ends; the first is the default */
const struct strategy *strategy_find(const char *name); /* NULL = no such strategy */

/* ---- the answer in the language of the target: one row each ---- */
struct advice_format {
	const char *name, *content_type, *help;
	/* NULL = the whole JSON answer. Otherwise writes sizing as that target's text. */
	void (*write)(struct buf *out, const struct sizing *s);
};
extern const struct advice_format advice_formats[]; /* name NULL ends; the first is the default, json */
const struct advice_format *advice_format_find(const char *name); /* NULL = no such format */

#endif
