/*
 * Builds a catalogue: add the parts in any order, then call catalogue_finish. Arguments are copied.
 * One thread at a time.
 */
#ifndef RECOMMENDER_CATALOGUE_BUILD_H
#define RECOMMENDER_CATALOGUE_BUILD_H

#include "recommender/catalogue/catalogue.h"
#include "recommender/catalogue/fields.h"

struct catalogue_builder;

struct catalogue_builder *catalogue_builder_new(void);
void catalogue_builder_free(struct catalogue_builder *b);

/*
 * Adds a server, and its known min_price_* as prices in its region_id. Defaults: api_reference is
 * server_id, display_name is api_reference, currency is USD. -EINVAL: no vendor_id or server_id;
 * -EEXIST: the server was added before; -E2BIG: too many servers.
 */
int catalogue_add_server(struct catalogue_builder *b, const struct server *s, struct err *e);

/* Adds a price of an added server. region_id and zone_id may be "". -ENOENT: no such server. */
int catalogue_add_price(struct catalogue_builder *b, const struct price_row *row, struct err *e);

/* Add a vendor or region. For a known one, fill only its unknown members. */
int catalogue_add_vendor(struct catalogue_builder *b, const struct vendor *v, struct err *e);
int catalogue_add_region(struct catalogue_builder *b, const struct region *r, struct err *e);

/* Sets the continent of every region of the country that has none. */
void catalogue_add_country(struct catalogue_builder *b, const char *country_id,
	const char *continent);

/*
 * Adds a whole row: a new server, or one more price of a known one. -EEXIST: a known server, and
 * the row has no price or contradicts an earlier row.
 */
int catalogue_add_row(struct catalogue_builder *b, const struct field_row *r, struct err *e);

/*
 * Adds a benchmark; benchmark->score is not read. catalogue_add_score ignores unknown benchmarks
 * and servers, and scores that are negative, NaN or too large for a float.
 */
int catalogue_add_benchmark(struct catalogue_builder *b, const struct benchmark *benchmark,
	struct err *e);
void catalogue_add_score(struct catalogue_builder *b, const char *vendor_id, const char *server_id,
	const char *benchmark_id, double score);

/* Sets the US dollars for one unit of a currency. A later call replaces the rate. */
int catalogue_set_rate(struct catalogue_builder *b, const char *currency, double usd,
	struct err *e);

void catalogue_set_note(struct catalogue_builder *b, const char *note);
void catalogue_set_as_of(struct catalogue_builder *b, const char *as_of);

size_t catalogue_builder_servers(const struct catalogue_builder *b); /* number of added servers */

/* Adds all rows of a CSV text to b. Stops at the first error; earlier rows stay added. */
int catalogue_read_csv(struct catalogue_builder *b, const char *text, size_t len, struct err *e);

/* How to read a JSON array. All zero: strictly, as servers. */
struct json_reading {
	enum { READ_SERVERS, READ_VENDORS, READ_REGIONS, READ_COUNTRIES } kind;
	/*
	 * For an API that may change: a value of the wrong type is unknown, and an object without
	 * an identity is skipped. Otherwise both are errors.
	 */
	bool lenient;
	const char *region_id;    /* region of all prices; NULL = the region of each object */
	const char *benchmark_id; /* the benchmark of selected_benchmark_score; NULL = ignore it */
};
/* Adds all objects of a JSON array. *objects (may be NULL): their number, with skipped ones. */
int catalogue_read_json(struct catalogue_builder *b, const char *text, size_t len,
	const struct json_reading *how, size_t *objects, struct err *e);

/* Sorts and packs b into a catalogue with one holder. b is empty afterwards and can be reused. */
void catalogue_finish(struct catalogue_builder *b, const char *source, struct catalogue **ret);

#endif
