/* Builds a catalogue: add the parts in any order, then call catalogue_finish. The builder copies
 * all arguments. One thread at a time. */
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
 * catalogue_place_price looks up the region, the zone and the currency of `row`, and writes a price
 * with them to *ret. The caller can set another price in *ret, and use it for each server of the
 * vendor in this zone.
 *
 * catalogue_add_placed adds a price of a server. `server` is the server's index: 0 is the server
 * that was added first. The caller checks that the index is below catalogue_builder_servers, and
 * that the price is finite and above 0. */
int catalogue_place_price(struct catalogue_builder *b, const struct price_row *row,
	struct price *ret, struct err *e);
int catalogue_add_placed(struct catalogue_builder *b, size_t server, const struct price *p,
	struct err *e);

/* Add a vendor or region. If it was added before, fill only its unknown members. A vendor with
 * frameworks gets compliance_known = true. A region with a price gets prices_known = true. */
int catalogue_add_vendor(struct catalogue_builder *b, const struct vendor *v, struct err *e);
int catalogue_add_region(struct catalogue_builder *b, const struct region *r, struct err *e);

/* Sets the continent of every region in the country, if the region has no continent. */
void catalogue_add_country(struct catalogue_builder *b, const char *country_id,
	const char *continent);

/* Adds a whole row: a new server, or one more price of a server added before. -EEXIST: the server
 * was added before, and the row has no price or contradicts the earlier row. */
int catalogue_add_row(struct catalogue_builder *b, const struct field_row *r, struct err *e);

/* Adds a benchmark without scores: benchmark->score is not read. */
int catalogue_add_benchmark(struct catalogue_builder *b, const struct benchmark *benchmark,
	struct err *e);
/* Adds a score. Ignores the score of an unknown benchmark or server, and a score that is negative,
 * NaN or too large for a float. */
void catalogue_add_score(struct catalogue_builder *b, const char *vendor_id, const char *server_id,
	const char *benchmark_id, double score);
/* Adds a score of a configuration with one core (benchmark.single_score). If the server gets no
 * score of another configuration, this score also counts as such (benchmark.score). */
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

/* How to read a JSON array. All zero = read servers strictly. */
struct json_reading {
	enum { READ_SERVERS, READ_VENDORS, READ_REGIONS, READ_COUNTRIES } kind;
	/* Accept an API that can change: a value of the wrong type counts as unknown, and an object
	 * without an identity is skipped. If false, such a value or object is an error. */
	bool lenient;
	const char *region_id;    /* region of all prices; NULL = each object names its region */
	const char *benchmark_id; /* benchmark of selected_benchmark_score; NULL = ignore */
	bool single_core;         /* selected_benchmark_score is of a configuration of one core */
	/* Prices to read. A Keeper answers a request for one region with the lowest price of all
	 * regions if the region itself has no price of that allocation. Only a price of the
	 * requested allocation is certain to be from the region. */
	enum { PRICES_ALL, PRICES_ONDEMAND, PRICES_SPOT, PRICES_NONE } prices;
};
/* Adds all objects of a JSON array. An item of the Keeper's /servers has no "allocation": its
 * "price" or "min_price" is the lowest price of all allocations (field_row_price_is_lowest). In a
 * user's own file, an object with "price" but without the Keeper's
 * min_price fields has an on-demand price. An object with a "unit" is a row of sc-data's
 * server_price. It is skipped if its price is not by the hour, is inactive, or includes Windows.
 * *objects (may be NULL) receives the number of objects, including skipped ones. */
int catalogue_read_json(struct catalogue_builder *b, const char *text, size_t len,
	const struct json_reading *how, size_t *objects, struct err *e);

/* Sorts and packs `b` into a catalogue with one reference, which the caller owns. `b` is empty
 * afterwards and can be reused. */
void catalogue_finish(struct catalogue_builder *b, const char *source, struct catalogue **ret);

#endif
