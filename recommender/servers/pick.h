/* Picks servers for a demand: filter, price, forecast, sort. Pure functions: no I/O, no clock.
 *
 * The filters are in filters.c. The objectives are rows of a table in objectives.c, so a new
 * objective needs only a new row. */
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

/* Reasons why a server cannot be used, in the order of the checks. Only the first reason of a
 * server is counted. */
enum exclusion {
	EXCLUDED_INACTIVE,
	EXCLUDED_VENDOR,
	EXCLUDED_COMPLIANCE,
	EXCLUDED_NAME, /* its name is in `exclude`, or not among those in `include` */
	EXCLUDED_ARCHITECTURE,
	EXCLUDED_CPU_ALLOCATION,
	EXCLUDED_TOO_FEW_VCPUS,
	EXCLUDED_TOO_MANY_VCPUS,
	EXCLUDED_TOO_LITTLE_MEMORY,
	EXCLUDED_TOO_MUCH_MEMORY,
	EXCLUDED_TOO_FEW_GPUS,
	EXCLUDED_TOO_LITTLE_VRAM,
	EXCLUDED_GPU, /* its GPU has another model, family or manufacturer */
	EXCLUDED_GPU_MEMORY,
	EXCLUDED_STORAGE,
	EXCLUDED_NO_PRICE,
	EXCLUDED_REGION,     /* has prices, but not in the allowed regions */
	EXCLUDED_ALLOCATION, /* has prices in these regions, but not for the allowed allocations */
	EXCLUDED_CURRENCY,   /* its price cannot be converted */
	EXCLUDED_NO_FORECAST,
	EXCLUDED_TOO_SLOW,
	EXCLUDED_TOO_EXPENSIVE, /* its cost is above max_cost, or infinite because of interruptions */
	EXCLUDED_NO_SCORE,
	EXCLUSION_COUNT,
};
/* Keys of the answer: "inactive", "vendor", ... */
extern const char *const pick_exclusion_name[EXCLUSION_COUNT];

struct objective;

#define ALLOCATION_BIT(a) (1u << (a))

/* Selects which score of a benchmark counts: the score of one core, or the score of all cores. AUTO
 * takes the score of one core if the job keeps at most one core busy and the benchmark has such a
 * score. Otherwise it takes the score of all cores. */
enum benchmark_config { BENCHMARK_AUTO, BENCHMARK_SINGLE, BENCHMARK_MULTI, BENCHMARK_CONFIGS };

/* Default number of interruptions of a spot server per hour, as a number and as a text. */
#define SPOT_INTERRUPTIONS      0.05
#define SPOT_INTERRUPTIONS_TEXT "0.05"

/* Conditions besides the demand. All zero = any server that is rented on demand; the server with
 * the lowest cost of a run comes first. */
struct pick_options {
	const struct objective *objective; /* NULL = objectives[0], cost */
	const struct benchmark *benchmark; /* needed by the objectives that rank by a benchmark */
	enum benchmark_config benchmark_config;
	size_t limit, page; /* limit: picks per page, 0 = all; page: 0 and 1 = first */
	/* Currency of the result. NULL = USD or, if no price of a fitting server can be converted
	 * to USD, the currency of the first of these prices. */
	const char *currency;
	/* ALLOCATION_BITs; 0 = on demand. On demand includes prices of unknown allocation
	 * (ALLOCATION_ANY), for servers without an on-demand price. */
	unsigned allocations;
	bool with_inactive;
	/* Only these vendors; an empty list allows all. A vendor must comply with all frameworks in
	 * `compliance`. */
	struct text_list vendors, compliance;
	/* Each text is a server_id, api_reference, display_name or family. "vendor~" before it
	 * selects the vendor. */
	struct text_list include, exclude;
	unsigned architectures;   /* bits 1 << enum architecture; 0 = any */
	unsigned cpu_allocations; /* bits 1 << enum cpu_allocation; 0 = any */
	/* true = the request names architectures or cpu_allocations. false = both are defaults. */
	bool kinds_asked;
	/* Bounds of the server's size as sold. They apply in addition to the demand. Memory is in
	 * MiB; 0 or less = no limit. */
	double vcpus_min, vcpus_max, memory_min, memory_max;
	double gpus_min, gpu_memory_total; /* fewest GPUs; least memory of all GPUs, MiB */
	struct text_list gpu_manufacturers, gpu_families, gpu_models;
	/* Manufacturer of the GPUs that the job uses; NULL = any. A job that needs GPUs fits no
	 * server with GPUs of another manufacturer. A server fits if the catalogue does not name its
	 * GPUs at all, because a user's own table of servers may not name them. */
	const char *gpu_manufacturer;
	double gpu_memory_min; /* least memory of each GPU, MiB; 0 or less = any */
	double storage_size;   /* least local storage, GB; 0 or less = any */
	struct text_list storage_types;
	const bool *regions;                  /* flags from regions_find; NULL = any */
	const struct system_reserve *reserve; /* NULL = memory as sold */
	const struct job_profile *profile;    /* NULL = only the demand's duration is known */
	double deadline_seconds;              /* see pick_meets_deadline; 0 or less = no limit */
	double max_cost; /* highest cost of a run, in `currency`; 0 or less = no limit */
	double spot_interruptions_per_hour; /* 0 or less = no interruptions */
	bool ipv4;                          /* include a public address in the cost */
};

/* Returns true if the price is reliable: it is not an estimate, and its allocation is known. */
bool pick_price_is_sure(const struct price *p);

/* Returns true if `name` names a server of the catalogue or a family of servers. */
bool pick_names(const struct catalogue *c, const char *name);

/* Returns the default cpu_allocations of a job. Burstable and shared CPUs slow down a job that
 * keeps its CPUs busy. For a busy job, the default therefore allows only dedicated CPUs and CPUs of
 * an unknown kind. For an idle job, it is 0 = any. A job whose use is unknown counts as busy. */
unsigned pick_usual_cpu_allocations(const struct job_profile *p);

struct pick {
	const struct server *server;
	const struct price *priced;  /* entry of the catalogue that has the price */
	double price;                /* per hour, in the currency of the picks */
	const char *region_id;       /* region of the price; "" = unknown */
	const struct region *region; /* region of the price; never NULL */
	struct forecast forecast;
	struct cost cost; /* cost of a run */
	double score;     /* score in options.benchmark and its configuration; NaN = unknown */
	double key;       /* value that the objective compares; lower is better */
	/* Unsure picks are sorted after all other picks. A pick is unsure in two cases:
	 * - Its price is not reliable (pick_price_is_sure).
	 * - The objective compares forecasts (by_forecast). This forecast only assumes a speed,
	 *   although the speed of the job's own server is known (forecast_scales). */
	bool unsure;
	/* Copies of `forecast.seconds` and `cost.amount`; NaN = unknown. */
	double forecast_duration_seconds, forecast_cost;
	double usable_score; /* forecast_usable_score for the job's cores; NaN = unknown */
};

struct picks {
	/* The objective of the options, or the objective that replaces it because the duration or
	 * the speed is unknown. */
	const struct objective *objective;
	size_t n;                /* number of picks on this page */
	size_t first;            /* number of picks on earlier pages */
	struct pick *pick;       /* best first */
	const struct pick *best; /* best of all pages; NULL = no pick */
	const char *currency;    /* currency of all prices and costs */
	size_t fitting;          /* number of fitting servers on all pages */
	bool single_scores;      /* pick.score is the benchmark's score of one core */
	size_t excluded[EXCLUSION_COUNT];
};

struct objective {
	const char *name, *help;
	const char *also; /* another accepted name; NULL = none */
	/* Returns the value to compare. NaN = unknown for this server. If two keys are equal, the
	 * server with the lower cost or price comes first. */
	double (*key)(const struct pick *p, const struct pick_options *o);
	/* Returns the key before it was rounded to steps, for sentences about the distance between
	 * two servers. NULL = the key is not rounded. */
	double (*exact)(const struct pick *p);
	/* Name of the objective that replaces this one if the duration of a run is unknown. NULL =
	 * none. */
	const char *without_duration;
	/* The objective that replaces this one if the speed of the job's own server is unknown
	 * (forecast_scales). Both objectives have the same name. NULL = none. */
	const struct objective *without_speed;
	bool by_money;          /* the key is a cost or a price */
	enum exclusion lacking; /* the reason that is counted when the key is NaN */
	/* The objective compares forecasts. A pick with an assumed speed is then unsure, and the
	 * best price of a server is the one with the lowest cost of a run. */
	bool by_forecast;
	/* The key is a score, not a forecast. by_forecast is true as well, only to choose the best
	 * price of a server by the cost of a run. */
	bool by_speed;
	bool by_benchmark; /* the objective needs pick_options.benchmark */
	const char *unit;  /* unit of the key in words: "per hour", ... */
	const char *order; /* a sentence that says which server comes first */
};

extern const struct objective objectives[]; /* ends with name NULL; the first is the default */
const struct objective *objective_find(const char *name); /* by name or also; NULL = unknown */
const char *objective_name(size_t i); /* the i-th accepted name; NULL past the last */

/* Picks the servers that fit. An unknown demand (NaN) excludes no server. A server whose property
 * is unknown is excluded by any condition on this property. Picks with equal keys are sorted by
 * lower cost, lower price, more memory, vendor_id, server_id. The arrays of `ret` are in `arena`;
 * servers and texts belong to the catalogue. */
void pick_servers(const struct catalogue *c, const struct demand *d, const struct pick_options *o,
	struct arena *arena, struct picks *ret);

/* Returns true if even a long run is expected to end within the deadline. A long run takes
 * forecast.high seconds or, if that is unknown, forecast.seconds. A spot server can interrupt the
 * run, and each interruption restarts it: the expected restarts are included. */
bool pick_meets_deadline(const struct pick_options *o, const struct forecast *f,
	const struct price *p);

/* Computes the price, forecast and cost of one server as pick_servers does, but without the checks
 * of filters.c: the server may be too small, for example. Used for a job's current server. If
 * the server can be used, fills `ret` and returns EXCLUSION_COUNT. Otherwise returns the reason why
 * it cannot. `currency` NULL = USD. */
enum exclusion pick_one(const struct catalogue *c, const struct server *s, const struct demand *d,
	const struct pick_options *o, struct pick *ret);

/* Appends one sentence on pick `i`: why the best pick won, or how much worse pick `i` is than the
 * best. */
void pick_why(struct buf *out, const struct picks *p, size_t i);

#endif
