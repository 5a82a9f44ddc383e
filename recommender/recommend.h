/*
 * From earlier runs to a demand, from a demand to resources and to servers. Pure: no I/O, no clock.
 */
#ifndef RECOMMENDER_RECOMMEND_H
#define RECOMMENDER_RECOMMEND_H

#include <stddef.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/base/mem.h"
#include "recommender/catalogue.h"
#include "recommender/run.h"

/* What the next run will need. Exact; NaN = unknown, 0 = none. */
struct demand {
	double cpu_cores, memory_bytes, gpus, vram_bytes, disk_bytes, duration_seconds;
};

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

/* ---- servers ---- */
enum exclusion { /* why a server was not picked; a row of exclusion_name[] each */
	EXCLUDED_INACTIVE,
	EXCLUDED_NO_PRICE,
	EXCLUDED_ARCHITECTURE,
	EXCLUDED_TOO_FEW_VCPUS,
	EXCLUDED_TOO_LITTLE_MEMORY,
	EXCLUDED_TOO_FEW_GPUS,
	EXCLUDED_TOO_LITTLE_VRAM,
	EXCLUDED_VENDOR,
	EXCLUSION_COUNT,
};
extern const char *const exclusion_name[EXCLUSION_COUNT];

struct pick_options {
	size_t limit;
	enum architecture architecture; /* UNKNOWN = any */
	size_t n_vendors;
	const char *const *vendors; /* none = all */
};

struct pick {
	const struct server *server;
	double price;           /* USD per hour */
	double forecast_cost;   /* USD per run: price x forecast duration; NaN when the duration is unknown */
	double forecast_duration_seconds;
};

struct picks {
	size_t n;
	struct pick *pick; /* best first: cheapest on-demand price, then more memory, then name */
	size_t fitting;    /* servers that fit, before the limit */
	size_t excluded[EXCLUSION_COUNT]; /* by the first reason that applied */
};

void pick_servers(const struct catalogue *c, const struct demand *d, const struct pick_options *o,
	struct arena *arena, struct picks *ret);

/* ---- the answer in the language of the target: one row each ---- */
struct advice_format {
	const char *name, *content_type, *help;
	/* NULL = the whole JSON answer. Otherwise writes sizing as that target's text. */
	void (*write)(struct buf *out, const struct sizing *s);
};
extern const struct advice_format advice_formats[]; /* name NULL ends; the first is the default, json */
const struct advice_format *advice_format_find(const char *name); /* NULL = no such format */

#endif
