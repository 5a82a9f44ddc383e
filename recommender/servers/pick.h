/*
 * From a demand to servers: filter, price, forecast, order. Pure: no I/O, no clock.
 *
 * Filters and objectives are tables (filters.c, objectives.c): a new one is a row.
 */
#ifndef RECOMMENDER_SERVERS_PICK_H
#define RECOMMENDER_SERVERS_PICK_H

#include <stddef.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "recommender/catalogue/catalogue.h"
#include "recommender/demand.h"
#include "recommender/servers/forecast.h"
#include "recommender/catalogue/regions.h"
#include "recommender/servers/system_reserve.h"

/* Why a server was not picked, in the order of asking: the first reason that applies is counted. */
enum exclusion {
	EXCLUDED_INACTIVE,
	EXCLUDED_VENDOR,
	EXCLUDED_COMPLIANCE,
	EXCLUDED_NAME, /* not included, or excluded, by name */
	EXCLUDED_ARCHITECTURE,
	EXCLUDED_CPU_ALLOCATION,
	EXCLUDED_TOO_FEW_VCPUS,
	EXCLUDED_TOO_MANY_VCPUS,
	EXCLUDED_TOO_LITTLE_MEMORY,
	EXCLUDED_TOO_MUCH_MEMORY,
	EXCLUDED_TOO_FEW_GPUS,
	EXCLUDED_TOO_LITTLE_VRAM,
	EXCLUDED_GPU, /* another model, family or manufacturer */
	EXCLUDED_GPU_MEMORY,
	EXCLUDED_STORAGE,
	EXCLUDED_NO_PRICE,
	EXCLUDED_REGION,     /* has prices, but none there */
	EXCLUDED_ALLOCATION, /* has prices there, but not on demand (or spot) */
	EXCLUDED_CURRENCY,   /* its price cannot be compared with the others' */
	EXCLUDED_NO_FORECAST,
	EXCLUDED_TOO_SLOW,
	EXCLUDED_TOO_EXPENSIVE, /* than max_cost, or than can be counted: no run ends between interruptions */
	EXCLUDED_NO_SCORE,
	EXCLUSION_COUNT,
};
/* "inactive", "vendor", ...: keys of the answer */
extern const char *const pick_exclusion_name[EXCLUSION_COUNT];

struct objective;

#define ALLOCATION_BIT(a) (1u << (a))

/* What is asked for beside the demand. All zero asks for the cheapest per hour on demand, any server. */
struct pick_options {
	const struct objective *objective; /* NULL = objectives[0], cheapest */
	const struct benchmark *benchmark; /* for the objectives that rank by one */
	size_t limit, page;   /* most picks, 0 = all; page 1, 2, ... of so many, 0 = the first */
	const char *currency; /* of the answer; NULL = USD, or the only one that the fitting have */
	unsigned allocations; /* ALLOCATION_BITs; 0 = on demand */
	bool with_inactive;
	/* Empty = any. A vendor must comply with all the frameworks. */
	struct text_list vendors, compliance;
	/* Each word a server_id, api_reference, display_name or family, or "vendor~" and one of them. */
	struct text_list include, exclude;
	unsigned architectures;   /* bits 1 << enum architecture; 0 = any */
	unsigned cpu_allocations; /* bits 1 << enum cpu_allocation; 0 = any */
	/* Of the server as it is sold, whatever the demand; memory in MiB. Not above 0 = no limit. */
	double vcpus_min, vcpus_max, memory_min, memory_max;
	double gpus_min, gpu_memory_total; /* of all GPUs, MiB */
	struct text_list gpu_manufacturers, gpu_families, gpu_models;
	double gpu_memory_min; /* MiB of each GPU; not above 0 = any */
	double storage_size;   /* GB, local; not above 0 = any */
	struct text_list storage_types;
	const bool *regions;                  /* by regions_find; NULL = any */
	const struct system_reserve *reserve; /* NULL = memory as sold */
	const struct job_profile *profile;    /* NULL = only the demand's duration is known */
	double deadline_seconds; /* not above 0 = none; against the long runs, where known */
	double max_cost;         /* of a run, in currency; not above 0 = none */
	double spot_interruptions_per_hour; /* not above 0 = none */
	bool ipv4;                          /* a public address is part of the cost */
};

/* Does a word of include or exclude name any server of the catalogue, or a family? */
bool pick_names(const struct catalogue *c, const char *name);

/*
 * What is right for the job when nobody says otherwise. A job that keeps its CPUs busy would be slowed down by
 * burstable and shared ones: then all others, those of which it is not said included; else 0, any. A job of
 * which nothing is known counts as busy.
 */
unsigned pick_usual_cpu_allocations(const struct job_profile *p);

struct pick {
	const struct server *server;
	const struct price *priced; /* the row of the price */
	double price;               /* per hour, in the currency of the picks */
	const char *region_id;      /* where it holds, "" = not said */
	struct forecast forecast;
	struct cost cost; /* of a run */
	double score;     /* in the benchmark asked for; NaN = none, or not measured */
	double key;       /* what the objective compares: the lower, the better */
	bool unsure;      /* compared by a forecast with an assumed speed: after all others */
	/* The two of forecast and cost that most callers want; NaN when unknown. */
	double forecast_duration_seconds, forecast_cost;
};

struct picks {
	const struct objective *objective;
	size_t n, first;         /* first: how many better ones the pages before had */
	struct pick *pick;       /* best first */
	const struct pick *best; /* the best of all pages; NULL = none */
	const char *currency;    /* of all prices and costs */
	size_t fitting;          /* servers that fit, on all pages */
	size_t excluded[EXCLUSION_COUNT];
};

struct objective {
	const char *name, *help;
	/* NaN = cannot be said of this server. */
	double (*key)(const struct pick *p, const struct pick_options *o);
	enum exclusion lacking; /* what is counted then */
	bool by_forecast;       /* an assumed speed makes it unsure */
	bool by_benchmark;      /* needs pick_options.benchmark */
	const char *unit;       /* of what is compared, in words: "per hour", ... */
};

extern const struct objective objectives[]; /* name NULL ends; the first is the default */
const struct objective *objective_find(const char *name); /* NULL = none of that name */

/*
 * An unknown demand (NaN) asks for nothing; an unknown fact of a server never satisfies one. Equal keys: lower
 * price, then more memory, then vendor_id and server_id. ret and what it points to live in arena; servers and
 * texts in the catalogue.
 */
void pick_servers(const struct catalogue *c, const struct demand *d, const struct pick_options *o,
	struct arena *arena, struct picks *ret);

/*
 * Prices one server as pick_servers would, whatever the demand: EXCLUSION_COUNT and *ret when it can be priced,
 * else the reason. For the server that a job runs on today. currency NULL = USD.
 */
enum exclusion pick_one(const struct catalogue *c, const struct server *s, const struct demand *d,
	const struct pick_options *o, struct pick *ret);

/* One sentence: why the first won, or by how much pick i loses to the best. */
void pick_why(struct buf *out, const struct picks *p, size_t i);

#endif
