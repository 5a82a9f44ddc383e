/* Builds a catalogue: add the parts, then call catalogue_finish. Add a server before its prices,
 * and servers and benchmarks before scores. Otherwise the order is free. The builder copies all
 * arguments. One thread at a time. */
#ifndef RECOMMENDER_CATALOGUE_BUILD_H
#define RECOMMENDER_CATALOGUE_BUILD_H

#include "recommender/catalogue/catalogue.h"
#include "recommender/catalogue/fields.h"

struct catalogue_builder;

struct catalogue_builder *catalogue_builder_new(void);
void catalogue_builder_free(struct catalogue_builder *b);

/* In all sources a price of 0 counts as unknown: it is a mistake, or stands for "not rented out".
 *
 * Adds a server. If its min_price_* are known, also adds them as prices in the region `region_id`.
 * Defaults: api_reference is server_id, display_name is api_reference, currency is USD. -EINVAL: no
 * vendor_id or server_id. -EEXIST: the server was added before. -E2BIG: too many servers. */
int catalogue_add_server(struct catalogue_builder *b, const struct server *s, struct err *e);

/* Adds a price of a server that was added before. region_id and zone_id can be "". A price with
 * ALLOCATION_ANY is dropped when the server also has an on-demand price. -ENOENT: the server was
 * not added. */
int catalogue_add_price(struct catalogue_builder *b, const struct price_row *row, struct err *e);

/* The two steps of catalogue_add_price, for readers of many prices.
 *
 * catalogue_place_price looks up the region, the zone and the currency of `row`, and writes a
 * struct price with them to *ret. The caller can reuse *ret for all servers of the vendor in this
 * zone, and then sets only ret->price for each server.
 *
 * catalogue_add_placed adds a price of a server. `server` is the server's index: 0 is the server
 * that was added first. The index must be below catalogue_builder_servers, and the price must be
 * finite and above 0. The caller checks both. */
int catalogue_place_price(struct catalogue_builder *b, const struct price_row *row,
	struct price *ret, struct err *e);
int catalogue_add_placed(struct catalogue_builder *b, size_t server, const struct price *p,
	struct err *e);

/* Add a vendor or region. If it was added before, only its unknown members are set. A vendor with
 * compliance frameworks gets compliance_known = true, and a region with a price gets prices_known =
 * true. A data centre of Hetzner's, such as "fsn1-dc14", becomes an alias of its location, "fsn1". */
int catalogue_add_vendor(struct catalogue_builder *b, const struct vendor *v, struct err *e);
int catalogue_add_region(struct catalogue_builder *b, const struct region *r, struct err *e);

/* Sets the continent of every region in the country, if the region has no continent. */
void catalogue_add_country(struct catalogue_builder *b, const char *country_id,
	const char *continent);

/* Adds a row of a source: a new server with its price, or one more price of a server that was added
 * before. -EEXIST: the server was added before, and this row has no price or contradicts the
 * earlier row. */
int catalogue_add_row(struct catalogue_builder *b, const struct field_row *r, struct err *e);

/* Adds a benchmark without scores: benchmark->score and benchmark->single_score are not read. */
int catalogue_add_benchmark(struct catalogue_builder *b, const struct benchmark *benchmark,
	struct err *e);
/* Adds a score. Ignores the score of an unknown benchmark or server, and a score that is negative,
 * NaN or too large for a float. */
void catalogue_add_score(struct catalogue_builder *b, const char *vendor_id, const char *server_id,
	const char *benchmark_id, double score);
/* Adds a score of a configuration with one core (benchmark.single_score). If the server gets no
 * other score in this benchmark, this score is also its benchmark.score. */
void catalogue_add_single_score(struct catalogue_builder *b, const char *vendor_id,
	const char *server_id, const char *benchmark_id, double score);

/* Sets the exchange rate of a currency. `usd` is US dollars for one unit. A later call replaces the
 * rate. */
int catalogue_set_rate(struct catalogue_builder *b, const char *currency, double usd,
	struct err *e);

void catalogue_set_note(struct catalogue_builder *b, const char *note);
void catalogue_set_as_of(struct catalogue_builder *b, const char *as_of);

size_t catalogue_builder_servers(const struct catalogue_builder *b); /* number of added servers */

/* Adds all rows of a CSV text to `b`. Stops at the first error; earlier rows stay added. */
int catalogue_read_csv(struct catalogue_builder *b, const char *text, size_t len, struct err *e);

/* How to read a JSON array. All zero = read servers, and accept no errors. */
struct json_reading {
	enum { READ_SERVERS, READ_VENDORS, READ_REGIONS, READ_COUNTRIES } kind;
	/* true, for an API that can change: a value of the wrong type counts as unknown, and an
	 * object without an identity is skipped. false: both are errors. */
	bool lenient;
	const char *region_id;    /* region of all prices; NULL = each object names its region */
	const char *benchmark_id; /* benchmark of selected_benchmark_score; NULL = ignore */
	bool single_core;         /* selected_benchmark_score is of a configuration of one core */
	/* Prices to read. Use PRICES_ONDEMAND or PRICES_SPOT if the request to the Keeper named one
	 * region and this allocation. Other prices in its answer are then unreliable: without a
	 * price in the region, a Keeper returns the lowest price of all regions. */
	enum { PRICES_ALL, PRICES_ONDEMAND, PRICES_SPOT, PRICES_NONE } prices;
};
/* Adds all objects of a JSON array. *objects (may be NULL) receives the number of objects,
 * including skipped ones. The meaning of "price" depends on the source:
 * - Item of the Keeper's /servers, which has no "allocation": "price" or "min_price" is the lowest
 *   price of all allocations (field_row_price_is_lowest).
 * - Object of a user's own file, without the Keeper's min_price fields: an on-demand price.
 * - Object with a "unit", a row of sc-data's table server_price: skipped if the price is not by the
 *   hour, is inactive, or includes Windows. */
int catalogue_read_json(struct catalogue_builder *b, const char *text, size_t len,
	const struct json_reading *how, size_t *objects, struct err *e);

/* Sorts and packs `b` into a catalogue with one reference, which the caller owns. `b` is empty
 * afterwards and can be reused. */
void catalogue_finish(struct catalogue_builder *b, const char *source, struct catalogue **ret);

#endif
