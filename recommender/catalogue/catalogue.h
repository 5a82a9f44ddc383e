/*
 * Servers that can be rented: specs, prices, benchmark scores, in packed arrays. Immutable once made;
 * shared by all threads. Field names and units are the Spare Cores Keeper's
 * (https://keeper.sparecores.net/openapi.json) unless a unit is in the name.
 *
 * Unknown numbers are NaN, unknown texts "". All texts live in the catalogue; equal texts of one
 * catalogue are the same pointer.
 */
#ifndef RECOMMENDER_CATALOGUE_CATALOGUE_H
#define RECOMMENDER_CATALOGUE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/err.h"
#include "collectors/base/latest.h"
#include "collectors/base/mem.h"
#include "recommender/catalogue/architecture.h"

enum cpu_allocation {
	CPU_ALLOCATION_UNKNOWN,
	CPU_SHARED,
	CPU_BURSTABLE,
	CPU_DEDICATED,
	CPU_ALLOCATION_COUNT,
};
enum allocation {
	ALLOCATION_ONDEMAND,
	ALLOCATION_SPOT,
	ALLOCATION_RESERVED,
	ALLOCATION_COUNT,
};

/* As Keeper spells them; [UNKNOWN] is "". */
extern const char *const catalogue_cpu_allocation_name[CPU_ALLOCATION_COUNT];
extern const char *const catalogue_allocation_name[ALLOCATION_COUNT];

struct vendor {
	const char *vendor_id, *name, *country_id;
	/* Ids of frameworks, with a blank between: "hipaa iso27001 soc2t2". */
	const char *compliance;
	double billing_increment_seconds, minimum_billing_seconds;
};

struct region {
	const char *vendor_id, *region_id, *api_reference, *display_name;
	const char *aliases;                /* other names, with "|" between */
	const char *country_id, *continent; /* ISO 3166-1 alpha-2 */
	/* What is paid beside the server, the lowest of the region. */
	double storage_price_gb_month, outbound_price_gb, ipv4_price_hour;
	const char *extras_currency; /* of these three; "" = USD */
};

struct server {
	const char *vendor_id, *server_id, *api_reference, *display_name, *family;
	const char *cpu_manufacturer, *gpu_manufacturer, *gpu_family, *gpu_model, *storage_type;
	double vcpus, cpu_cores;
	double memory_amount, memory_amount_actual; /* MiB; as sold, as the system sees it */
	double gpu_count;                           /* may be a fraction */
	double gpu_memory_min, gpu_memory_total;    /* MiB; of the smallest GPU, of all */
	double storage_size;                        /* GB, local */
	double network_speed_baseline;              /* Gbps */
	double average_time_to_start;               /* seconds */
	double score, score1;                       /* SCore multi-core, single-core */
	/* The lowest prices per hour, in currency. The rows of price say where. */
	double min_price_ondemand, min_price_spot;
	const char *currency;  /* ISO 4217; of the two above */
	const char *region_id; /* where the on-demand one holds; "" = not said */
	enum architecture cpu_architecture;
	enum cpu_allocation cpu_allocation;
	bool active;
	uint16_t vendor;                /* in catalogue.vendor */
	uint32_t first_price, n_prices; /* in catalogue.price */
};

/* What an hour costs somewhere. */
struct price {
	double price;       /* per hour, in currency[] */
	uint16_t region;    /* in catalogue.region; 0 = not said */
	uint16_t zone;      /* in catalogue.zone; 0 = not said, or all of the region */
	uint8_t allocation; /* enum allocation */
	uint8_t currency;   /* in catalogue.currency */
};

struct currency {
	const char *code; /* ISO 4217 */
	double usd;       /* US dollars for one; NaN = the source says none */
};

struct benchmark {
	const char *benchmark_id, *name, *category, *unit;
	bool higher_is_better;
	/* Of each server, its best over the configurations; NaN = not measured. */
	const float *score;
};

struct catalogue {
	struct shared shared; /* holders: see catalogue_hold */
	const char *source;   /* "built-in", a path, or a URL */
	const char *note;     /* where the source's data come from, "" = not said */
	/* Date of the data, "YYYY-MM-DD" or as much of it as is known, "" = unknown. */
	const char *as_of;
	size_t n;
	const struct server *server; /* by vendor_id, then server_id */
	size_t n_prices;
	const struct price *price; /* grouped by server, in the servers' order */
	size_t n_vendors;
	const struct vendor *vendor;
	size_t n_regions;
	const struct region *region; /* [0]: nowhere in particular, all texts "" */
	size_t n_zones;
	const char *const *zone; /* zone_ids; [0]: "" */
	size_t n_currencies;
	const struct currency *currency; /* [0] is USD */
	size_t n_benchmarks;
	const struct benchmark *benchmark;
	size_t bytes;        /* of all arrays and texts */
	struct arena memory; /* owner of all texts and arrays */
};

#define CATALOGUE_SERVERS_MAX    1000000
#define CATALOGUE_PRICES_MAX     10000000
#define CATALOGUE_BENCHMARKS_MAX 1000
#define CATALOGUE_TEXT_MAX       (256u << 20) /* bytes of a file */

/*
 * Reads a catalogue from CSV text (RFC 4180). The columns are named in the header line and may come in any
 * order; unknown columns are ignored, vendor_id, server_id, vcpus and memory_amount are required, an empty
 * cell is unknown. The columns are those of recommender/catalogue/fields.h. A line is a server, or one more price of
 * a server of an earlier line, whose specifications may then be empty. Lines that start with "#" are
 * comments; "# as_of: DATE", "# source: NOTE" and "# rate: CURRENCY USD" (US dollars for one) are read. An
 * error names the line and column.
 */
int catalogue_from_csv(struct catalogue **ret, const char *text, size_t len, const char *source,
	struct err *e);

/*
 * As CSV, but a JSON array of objects with Keeper's field names (an answer of its /servers), where "vendor"
 * and "region" may be objects of their own. Unknown fields are ignored, null is unknown, vendor_id and
 * server_id are required. An error names the line and field.
 */
int catalogue_from_json(struct catalogue **ret, const char *text, size_t len, const char *source,
	struct err *e);

/* recommender/catalogue/servers.csv, compiled in. */
int catalogue_built_in(struct catalogue **ret, struct err *e);

/* The server of that vendor whose server_id or api_reference is name; NULL = none. */
const struct server *catalogue_find(const struct catalogue *c, const char *vendor_id,
	const char *name);

/* NULL when there is none of that name. */
const struct benchmark *catalogue_benchmark(const struct catalogue *c, const char *benchmark_id);
const struct currency *catalogue_currency(const struct catalogue *c, const char *code);

/*
 * US dollars for one unit of a currency, in place of what the catalogue says; one that it has no price in is added, to
 * answer in. -EINVAL: no code of three capitals. Only while nobody else holds it.
 */
int catalogue_set_usd(struct catalogue *c, const char *currency, double usd, struct err *e);

/* May a currency of that code be added to n? -EINVAL: no code of three capitals. -E2BIG: there are too many. */
int catalogue_currency_check(const char *code, size_t n, struct err *e);

/* Units of currency to for one of currency from; NaN when that is not known. */
double catalogue_currency_rate(const struct currency *from, const struct currency *to);

/* A catalogue is made with one holder; the last one to let go frees it. */
void catalogue_hold(struct catalogue *c);
void catalogue_free(struct catalogue *c); /* lets go; NULL does nothing */

#endif
