/* Cloud servers for rent: specifications, prices and benchmark scores in packed arrays. A shared
 * catalogue is immutable, so all threads may read it. Members have the names and units of the Spare
 * Cores Keeper (https://keeper.sparecores.net/openapi.json), unless a unit is in the name.
 *
 * Unknown numbers are NaN, unknown texts are "". The catalogue owns all texts. Equal texts of one
 * catalogue are the same pointer. */
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
	/* Unknown allocation: the source has only the lowest price over all allocations, and does
	 * not say which allocation has it. Only servers without an on-demand price have such a
	 * price. Answers use it only if no other price fits, and say that its allocation is
	 * unknown. */
	ALLOCATION_ANY,
	ALLOCATION_COUNT,
};

/* The names are spelled as in the API of the Spare Cores Keeper. The name of an unknown value is
 * "". */
extern const char *const catalogue_cpu_allocation_name[CPU_ALLOCATION_COUNT];
extern const char *const catalogue_allocation_name[ALLOCATION_COUNT];

struct vendor {
	const char *vendor_id, *name, *country_id;
	const char
		*compliance; /* ids of compliance frameworks, separated by blanks: "hipaa soc2t2" */
	/* true = the vendor complies with exactly the frameworks in `compliance`. false = the
	 * source does not say which frameworks the vendor complies with. */
	bool compliance_known;
	double billing_increment_seconds, minimum_billing_seconds;
};

struct region {
	const char *vendor_id, *region_id, *api_reference, *display_name;
	const char *aliases;                /* other names, separated by "|" */
	const char *country_id, *continent; /* ISO 3166-1 alpha-2 code; name of the continent */
	/* Lowest prices in the region: storage per GB and month, outbound traffic per GB, public
	 * IPv4 address per hour. */
	double storage_price_gb_month, outbound_price_gb, ipv4_price_hour;
	const char *extras_currency; /* currency of the three prices above; "" = USD */
	/* true = the source's prices in this region were read, so a server without a price here is
	 * not for rent here. false = these prices were not read: the Keeper is asked only for the
	 * regions of --catalogue.region and for the region of this machine. */
	bool prices_known;
};

struct server {
	const char *vendor_id, *server_id, *api_reference, *display_name, *family;
	const char *cpu_manufacturer, *gpu_manufacturer, *gpu_family, *gpu_model, *storage_type;
	double vcpus, cpu_cores;
	double memory_amount, memory_amount_actual; /* MiB: as sold; as Linux sees it */
	double gpu_count;                           /* a fraction for a part of a GPU */
	double gpu_memory_min, gpu_memory_total;    /* MiB: of the smallest GPU; of all GPUs */
	double storage_size;                        /* local storage, GB */
	double network_speed_baseline;              /* Gbps */
	double average_time_to_start;               /* seconds */
	double score, score1;                       /* SCore: multi-core, single-core */
	/* Lowest prices per hour, in `currency`. Estimates do not count. The array catalogue.price
	 * has the regions and zones. */
	double min_price_ondemand, min_price_spot;
	const char *currency;  /* currency of the two prices above, as in ISO 4217 */
	const char *region_id; /* region of the on-demand or another price; "" = unknown */
	enum architecture cpu_architecture;
	enum cpu_allocation cpu_allocation;
	bool active;
	uint16_t vendor;                /* index in catalogue.vendor */
	uint32_t first_price, n_prices; /* range in catalogue.price */
};

/* Price of a server in one region or zone. */
struct price {
	double price;       /* price of an hour */
	uint16_t region;    /* index in catalogue.region; 0 = unknown */
	uint16_t zone;      /* index in catalogue.zone; 0 = unknown, or the whole region */
	uint8_t allocation; /* value of enum allocation */
	uint8_t currency;   /* index in catalogue.currency */
	/* true = the source computed the price, so no customer pays exactly this price. An example
	 * is a spot price from the average saving that the vendor publishes. Answers mark it as an
	 * estimate, and never call its server the best. */
	bool estimated;
};

struct currency {
	const char *code; /* code of ISO 4217: "EUR" */
	double usd;       /* US dollars for one unit; NaN = unknown */
	/* Date and source of `usd`: "YYYY-MM-DD" and a name such as "ECB reference rate". Both are
	 * "" if unknown, and for USD. */
	const char *as_of, *source;
};

struct benchmark {
	const char *benchmark_id, *name, *category, *unit;
	bool higher_is_better;
	/* score[i] and single_score[i] are the best scores of server[i]; NaN = unknown.
	 * - single_score: with one core. NULL = the source has no such score in this benchmark.
	 * - score: with more cores, or an unknown number of cores. If a server has only scores with
	 *   one core, `score` equals `single_score`. */
	const float *score, *single_score;
};

struct catalogue {
	struct shared shared; /* reference count, see catalogue_hold */
	const char *source;   /* "built-in", a path, or a URL */
	const char *note;     /* origin of the data, "" = unknown */
	const char *as_of;    /* date of the data: "YYYY-MM-DD" or a prefix of it, "" = unknown */
	size_t n;
	const struct server *server; /* sorted by vendor_id, then server_id */
	size_t n_prices;
	const struct price *price; /* grouped by server, in the order of `server` */
	size_t n_vendors;
	const struct vendor *vendor;
	size_t n_regions;
	const struct region *region; /* [0] is the unknown region, whose texts are all "" */
	size_t n_zones;
	const char *const *zone; /* zone ids; [0] is "", the unknown zone */
	size_t n_currencies;
	const struct currency *currency; /* [0] is USD */
	size_t n_benchmarks;
	const struct benchmark *benchmark;
	size_t bytes;        /* size of all arrays and texts */
	struct arena memory; /* owns all texts and arrays */
};

#define CATALOGUE_SERVERS_MAX    1000000
#define CATALOGUE_PRICES_MAX     10000000
#define CATALOGUE_BENCHMARKS_MAX 1000
#define CATALOGUE_TEXT_MAX       (256u << 20) /* largest file, in bytes */
/* Largest hourly prices. A higher price is refused as a typing error: the most expensive servers of
 * the built-in catalogue cost less than 400 dollars. CATALOGUE_PRICE_MAX is for currencies without
 * a known exchange rate: one dollar may be worth 100,000 of their units. */
#define CATALOGUE_PRICE_MAX_USD 1e6
#define CATALOGUE_PRICE_MAX     1e11

/* Reads a catalogue from CSV text (RFC 4180). The header line names the columns of
 * recommender/catalogue/fields.h, in any order. Unknown columns are ignored. An empty cell means
 * unknown. vendor_id, server_id, vcpus and memory_amount are required.
 *
 * A line is either a server, or one more price of an earlier server. In a line with one more price,
 * the specifications may be empty. If there is a column "unit", a line counts only if its unit is
 * "hour" or empty. Lines that start with "#" are comments, with three exceptions: "# as_of: DATE",
 * "# source: NOTE" and "# rate: CURRENCY USD" (US dollars for one unit). An error names the line
 * and column. */
int catalogue_from_csv(struct catalogue **ret, const char *text, size_t len, const char *source,
	struct err *e);

/* Reads a catalogue from a JSON array of objects, as Keeper's /servers returns it. "vendor" and
 * "region" may be nested objects. Unknown fields are ignored. The value null means unknown.
 * vendor_id and server_id are required. An error names the line and field. */
int catalogue_from_json(struct catalogue **ret, const char *text, size_t len, const char *source,
	struct err *e);

/* Reads the catalogue compiled into the program: recommender/catalogue/built_in.pack. */
int catalogue_built_in(struct catalogue **ret, struct err *e);

/* Finds the vendor's server with this server_id or api_reference. NULL = not found. */
const struct server *catalogue_find(const struct catalogue *c, const char *vendor_id,
	const char *name);

/* Returns the benchmark with this id. NULL = not found. */
const struct benchmark *catalogue_benchmark(const struct catalogue *c, const char *benchmark_id);
/* Finds a currency by its code: in the catalogue or, if it is not there, among the compiled-in
 * rates of recommender/catalogue/reference_rates.h. NULL = neither has the code. */
const struct currency *catalogue_currency(const struct catalogue *c, const char *code);

/* Returns the number of vendors with compliance_known = false. */
size_t catalogue_vendors_of_unknown_compliance(const struct catalogue *c);

/* Replaces the exchange rate of a currency: US dollars for one unit. `source` names the source of
 * the rate. The date of the rate becomes unknown. Adds the currency if the catalogue does not have
 * it, so that answers can use it. Call it before `c` is shared. -EINVAL: the code is not three
 * capital letters. -E2BIG: too many currencies. */
int catalogue_set_usd(struct catalogue *c, const char *code, double usd, const char *source,
	struct err *e);

/* Checks whether a currency with this code can be added to `n` existing currencies. -EINVAL: the
 * code is not three capital letters. -E2BIG: too many currencies. */
int catalogue_currency_check(const char *code, size_t n, struct err *e);

/* Returns how many units of `to` one unit of `from` is worth. NaN = a rate is unknown. */
double catalogue_currency_rate(const struct currency *from, const struct currency *to);

/* Adds a reference. A new catalogue has one reference. catalogue_free drops a reference. When the
 * last reference is dropped, the catalogue is freed. */
void catalogue_hold(struct catalogue *c);
void catalogue_free(struct catalogue *c); /* accepts NULL */

#endif
