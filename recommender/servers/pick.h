/*
 * Picks servers for a demand: filter, price, forecast, sort. Pure: no I/O, no clock.
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

/* Reasons against a server, in the order of the checks: the first that applies is counted. */
enum exclusion {
	EXCLUDED_INACTIVE,
	EXCLUDED_VENDOR,
	EXCLUDED_COMPLIANCE,
	EXCLUDED_NAME, /* not in include, or in exclude */
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
	EXCLUDED_REGION,     /* has prices, but none in these regions */
	EXCLUDED_ALLOCATION, /* has prices there, but not for these allocations */
	EXCLUDED_CURRENCY,   /* its price cannot be converted to the currency */
	EXCLUDED_NO_FORECAST,
	EXCLUDED_TOO_SLOW,
	EXCLUDED_TOO_EXPENSIVE, /* above max_cost, or infinite: no run ends between interruptions */
	EXCLUDED_NO_SCORE,
	EXCLUSION_COUNT,
};
/* "inactive", "vendor", ...: keys of the answer */
extern const char *const pick_exclusion_name[EXCLUSION_COUNT];

struct objective;

#define ALLOCATION_BIT(a) (1u << (a))

/* Conditions besides the demand. All zero: any server, cheapest per hour on demand first. */
struct pick_options {
	const struct objective *objective; /* NULL = objectives[0], cheapest */
	const struct benchmark *benchmark; /* for the objectives that rank by one */
	size_t limit, page; /* picks per page, 0 = all; page 1, 2, ..., 0 = the first */
	/* of the result; NULL = USD, or the first of the fitting servers if none has USD */
	const char *currency;
	unsigned allocations; /* ALLOCATION_BITs; 0 = on demand */
	bool with_inactive;
	/* Empty = any. A vendor must comply with all frameworks. */
	struct text_list vendors, compliance;
	/* Each a server_id, api_reference, display_name or family, or "vendor~" and one of them. */
	struct text_list include, exclude;
	unsigned architectures;   /* bits 1 << enum architecture; 0 = any */
	unsigned cpu_allocations; /* bits 1 << enum cpu_allocation; 0 = any */
	/* Size as sold, whatever the demand; memory in MiB. Not above 0 = no limit. */
	double vcpus_min, vcpus_max, memory_min, memory_max;
	double gpus_min, gpu_memory_total; /* of all GPUs, MiB */
	struct text_list gpu_manufacturers, gpu_families, gpu_models;
	double gpu_memory_min; /* MiB of each GPU; not above 0 = any */
	double storage_size;   /* GB, local; not above 0 = any */
	struct text_list storage_types;
	const bool *regions;                  /* by regions_find; NULL = any */
	const struct system_reserve *reserve; /* NULL = memory as sold */
	const struct job_profile *profile;    /* NULL = only the demand's duration is known */
	double deadline_seconds; /* limit of the long runs' duration; not above 0 = none */
	double max_cost;         /* per run, in currency; not above 0 = none */
	double spot_interruptions_per_hour; /* not above 0 = none */
	bool ipv4;                          /* the cost includes a public address */
};

/* True if name names a server of the catalogue or a family. */
bool pick_names(const struct catalogue *c, const char *name);

/*
 * Default cpu_allocations of a job. Burstable and shared CPUs slow down a job that keeps its CPUs
 * busy: then all others, unknown ones included; else 0 = any. A job of unknown use counts as busy.
 */
unsigned pick_usual_cpu_allocations(const struct job_profile *p);

struct pick {
	const struct server *server;
	const struct price *priced; /* price row */
	double price;               /* per hour, in the currency of the picks */
	const char *region_id;      /* region of the price; "" = unknown */
	struct forecast forecast;
	struct cost cost; /* per run */
	double score;     /* in options.benchmark; NaN = none or not measured */
	double key;       /* value that the objective compares; lower is better */
	bool unsure;      /* its forecast assumes a speed: sorted after all others */
	/* Copies from forecast and cost; NaN if unknown. */
	double forecast_duration_seconds, forecast_cost;
};

struct picks {
	const struct objective *objective;
	size_t n, first;         /* first: number of better picks on earlier pages */
	struct pick *pick;       /* best first */
	const struct pick *best; /* the best of all pages; NULL = none */
	const char *currency;    /* of all prices and costs */
	size_t fitting;          /* fitting servers on all pages */
	size_t excluded[EXCLUSION_COUNT];
};

struct objective {
	const char *name, *help;
	/* NaN = unknown for this server. */
	double (*key)(const struct pick *p, const struct pick_options *o);
	enum exclusion lacking; /* reason counted if key is NaN */
	bool by_forecast;       /* an assumed speed makes a pick unsure */
	bool by_benchmark;      /* needs pick_options.benchmark */
	const char *unit;       /* unit of the key in words: "per hour", ... */
};

extern const struct objective objectives[]; /* name NULL ends; the first is the default */
const struct objective *objective_find(const char *name); /* NULL = unknown name */

/*
 * An unknown demand (NaN) is no condition; an unknown property of a server never satisfies one.
 * Order of equal keys: lower price, more memory, vendor_id, server_id. ret's arrays live in arena;
 * servers and texts in the catalogue.
 */
void pick_servers(const struct catalogue *c, const struct demand *d, const struct pick_options *o,
	struct arena *arena, struct picks *ret);

/*
 * Prices one server as pick_servers does, whatever the demand, for example a job's current server.
 * Returns EXCLUSION_COUNT and *ret, or the reason against it. currency NULL = USD.
 */
enum exclusion pick_one(const struct catalogue *c, const struct server *s, const struct demand *d,
	const struct pick_options *o, struct pick *ret);

/* One sentence: why the first won, or by how much pick i loses to the best. */
void pick_why(struct buf *out, const struct picks *p, size_t i);

#endif
